/*
 * Addresses relative to their binary. Each binary, and each other piece of a process's memory,
 * gets a place of its own, in the order in which they are met; so an address tells where it is
 * in the binary and nothing of the layout of memory. The kernel's code moves as a whole.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "internal.h"
#include "perfdata/format/sample.h"

#define UNIT	    (UINT64_C(1) << 32) /* places are multiples of this */
#define KERNEL_HALF (UINT64_C(1) << 63)

/* markers among the addresses of a call chain: see enum perf_callchain_context */
#define MARKERS	    ((uint64_t)-4095)
#define OF_KERNEL   ((uint64_t)-128)
#define OF_USER	    ((uint64_t)-512)
#define OF_DEFERRED ((uint64_t)-640) /* a cookie follows */

struct key {
	uint64_t words[4];
};

struct place {
	struct key key;
	uint64_t base;
};

struct pv_places {
	struct pm_system *system;
	struct place *list;
	size_t n, room;
	struct pb_map map;
	uint64_t next;	/* base of the next place */
	uint64_t delta; /* what the kernel's code moves down by */
	bool has_kernel;
};

struct pv_places *pv_places_create(struct pm_system *system)
{
	struct pv_places *places = calloc(1, sizeof(*places));

	if (!places)
		return NULL;
	places->system = system;
	places->next = UNIT;
	return places;
}

void pv_places_destroy(struct pv_places *places)
{
	if (!places)
		return;
	pb_map_deinit(&places->map);
	free(places->list);
	free(places);
}

struct search {
	const struct pv_places *places;
	const struct key *key;
};

static bool has_key(const void *arg, uint32_t item)
{
	const struct search *search = arg;

	return memcmp(&search->places->list[item].key, search->key, sizeof(struct key)) == 0;
}

/* Returns the base of a key's place, which takes `units`; 0 without memory. */
static uint64_t find_base(struct pv_scrubber *s, const struct key *key, uint64_t units)
{
	struct pv_places *places = s->places;
	struct search search = { places, key };
	uint32_t hash = pb_hash_bytes(&s->names.secret, key, sizeof(*key)), item;

	if (!pb_reserve(places->list, places->n, places->room)) {
		s->failed = true;
		return 0;
	}
	item = pb_map_intern(&places->map, hash, has_key, &search, (uint32_t)places->n);
	if (item == UINT32_MAX) {
		s->failed = true;
		return 0;
	}
	if (item == places->n) {
		places->list[places->n++] = (struct place){ *key, places->next };
		places->next += units * UNIT;
	}
	return places->list[item].base;
}

/* A mapping, as a record or the recorded system tells of it. */
struct mapping {
	const char *filename;
	size_t n; /* bytes of the name */
	uint64_t start, length, pgoff;
	int32_t pid;
};

/* Returns whether a mapping's pgoff is an offset in a file. */
static bool is_file(const struct mapping *m)
{
	return m->n > 1 && m->filename[0] == '/' && m->filename[1] != '/' &&
	       !pv_is_common_mapping((struct pd_text){ m->filename, m->n });
}

/* Returns the new address of the start of a mapping of a process. */
static uint64_t place_mapping(struct pv_scrubber *s, const struct mapping *m)
{
	bool of_file = is_file(m);
	struct key key = { { pb_hash_bytes(&s->names.secret, m->filename, m->n),
			     m->length / UNIT, of_file ? m->pgoff / UNIT : m->start,
			     of_file ? UINT64_MAX : (uint32_t)m->pid } };
	uint64_t base = find_base(s, &key, m->length / UNIT + 2);

	return of_file ? base + m->pgoff % UNIT : base;
}

/* Returns where the kernel's code begins by convention, if it began at `start`. */
static uint64_t find_kernel_base(uint64_t start)
{
	uint64_t base = start >= UINT64_C(0xffffffff80000000) ? UINT64_C(0xffffffff81000000) :
			start >= KERNEL_HALF		      ? UINT64_C(0xffff800008000000) :
			start >= UNIT			      ? UNIT :
								UINT64_C(0x100000);

	return base | (start & 0xffff);
}

static void learn_kernel(struct pv_places *places, uint64_t start)
{
	if (!places->has_kernel)
		places->delta = start - find_kernel_base(start);
	places->has_kernel = true;
}

/* Learns where the kernel's code is from the maps of the machine's kernel. */
static void learn_map(void *arg, const struct pm_map *map)
{
	if (map->filename && strncmp(map->filename, "[kernel.kallsyms]", 17) == 0)
		learn_kernel(arg, map->start);
}

/* Returns the new address of one in the kernel, or 0 if the kernel's place is not known. */
static uint64_t move_kernel(struct pv_places *places, uint32_t machine, uint64_t address)
{
	if (!places->has_kernel)
		pm_spaces_each(pm_system_spaces(places->system), machine, PM_KERNEL,
			       PM_NO_TIME - 1, learn_map, places);
	return places->has_kernel ? address - places->delta : 0;
}

/* Returns the new address of one in a process or the kernel; 0 if nothing was mapped there. */
static uint64_t move_address(struct pv_scrubber *s, const struct pm_addr_context *context,
			     enum pd_cpumode mode, uint64_t address)
{
	struct pm_addr_context own = *context;
	const struct pm_map *map;
	struct mapping m;

	if (!address)
		return 0;
	if (address >= KERNEL_HALF || mode == PD_CPUMODE_KERNEL)
		return mode == PD_CPUMODE_KERNEL || mode == PD_CPUMODE_USER ?
			       move_kernel(s->places, context->machine, address) :
			       0;
	own.mode = mode;
	map = mode == PD_CPUMODE_USER ? pm_map_at(s->places->system, &own, address) : NULL;
	if (!map || !map->filename)
		return 0;
	m = (struct mapping){ map->filename, strlen(map->filename),
			      map->start,    map->end - map->start,
			      map->pgoff,    context->pid };
	return place_mapping(s, &m) + (address - map->start);
}

static void move_at(struct pv_scrubber *s, const struct pm_addr_context *context, bool swap,
		    uint32_t at)
{
	uint64_t address = pb_load64(s->room + at, swap);

	pv_store64(s->room + at, move_address(s, context, context->mode, address), swap);
}

/* Moves the addresses of a call chain, of which markers say the mode. */
static void move_chain(struct pv_scrubber *s, const struct pm_addr_context *context, bool swap,
		       uint32_t at, uint64_t n)
{
	enum pd_cpumode mode = context->mode;

	for (uint64_t i = 0; i < n; i++, at += 8) {
		uint64_t address = pb_load64(s->room + at, swap);

		if (address < MARKERS) {
			address = move_address(s, context, mode, address);
			pv_store64(s->room + at, address, swap);
			continue;
		}
		mode = address == OF_KERNEL ? PD_CPUMODE_KERNEL :
		       address == OF_USER   ? PD_CPUMODE_USER :
					      PD_CPUMODE_UNKNOWN;
		if (address == OF_DEFERRED) {
			i++;
			at += 8;
		}
	}
}

static void move_branches(struct pv_scrubber *s, const struct pd_record *rec,
			  const struct pm_addr_context *context, uint32_t at)
{
	enum {
		FROM = 0,
		TO = 8,
		EACH = 24
	};
	struct pd_branches b;

	if (!pd_branches_read(rec, at, &b))
		return;
	for (uint32_t i = 0; i < b.count; i++) {
		move_at(s, context, rec->layout->swap, b.entries + i * EACH + FROM);
		move_at(s, context, rec->layout->swap, b.entries + i * EACH + TO);
	}
}

/* Makes s->room hold the record, and *rec point to it. */
static void take_record(struct pv_scrubber *s, struct pd_record *rec)
{
	if (rec->bytes != s->room)
		memcpy(s->room, rec->bytes, rec->size);
	rec->bytes = s->room;
}

void pv_move_sample(struct pv_scrubber *s, struct pd_record *rec)
{
	bool swap = rec->layout->swap;
	struct pm_addr_context context;
	uint32_t at, size;

	take_record(s, rec);
	pm_addr_context_of(s->places->system, rec, &context);
	if (pd_part_find(rec, PD_PART_CALLCHAIN, &at, &size))
		move_chain(s, &context, swap, at + 8, size / 8 - 1);
	if (pd_part_find(rec, PD_PART_BRANCH_STACK, &at, &size))
		move_branches(s, rec, &context, at);
	if (pd_part_find(rec, PD_PART_ADDR, &at, &size))
		move_at(s, &context, swap, at);
	if (pd_part_find(rec, PD_PART_PHYS_ADDR, &at, &size))
		memset(s->room + at, 0, size);
	if (pd_part_find(rec, PD_PART_IP, &at, &size))
		move_at(s, &context, swap, at);
}

void pv_move_deferred(struct pv_scrubber *s, struct pd_record *rec)
{
	enum {
		COUNT = 16,
		FIRST = 24
	};
	struct pm_addr_context context;

	take_record(s, rec);
	pm_addr_context_of(s->places->system, rec, &context);
	context.mode = PD_CPUMODE_USER;
	move_chain(s, &context, rec->layout->swap, FIRST, pd_rec64(rec, COUNT));
}

void pv_move_symbol(struct pv_scrubber *s, struct pd_record *rec)
{
	enum {
		ADDRESS = 8
	};
	struct pm_addr_context context;

	take_record(s, rec);
	pm_addr_context_of(s->places->system, rec, &context);
	context.mode = PD_CPUMODE_KERNEL;
	move_at(s, &context, rec->layout->swap, ADDRESS);
}

void pv_move_mapping(struct pv_scrubber *s, const struct pd_record *rec, struct pd_text name)
{
	enum {
		PID = 8,
		START = 16,
		LENGTH = 24,
		PGOFF = 32
	};
	bool swap = rec->layout->swap;
	struct mapping m = { name.p,
			     name.n,
			     pd_rec64(rec, START),
			     pd_rec64(rec, LENGTH),
			     pd_rec64(rec, PGOFF),
			     (int32_t)pd_rec32(rec, PID) };
	unsigned mode = rec->misc & PD_MISC_CPUMODE;
	uint64_t start = 0, pgoff = m.pgoff;

	if (mode == PD_CPUMODE_KERNEL) {
		if (name.n >= 17 && memcmp(name.p, "[kernel.kallsyms]", 17) == 0)
			learn_kernel(s->places, m.start);
		start = move_kernel(s->places, 0, m.start);
		/* of the kernel itself it is the address of a symbol */
		if (pgoff - m.start < m.length)
			pgoff = move_kernel(s->places, 0, pgoff);
	} else if (mode == PD_CPUMODE_USER) {
		start = place_mapping(s, &m);
		pgoff = is_file(&m) ? pgoff : 0;
	} else {
		pgoff = 0; /* guests tell nothing of their addresses */
	}
	pv_store64(s->room + START, start, swap);
	pv_store64(s->room + PGOFF, pgoff, swap);
}

bool pv_move(struct pv_scrubber *s, int32_t pid, uint64_t *address)
{
	const struct pm_addr_context context = { .pid = pid, .time = PM_NO_TIME - 1 };

	*address = pid == PM_KERNEL ? move_kernel(s->places, 0, *address) :
				      move_address(s, &context, PD_CPUMODE_USER, *address);
	return *address;
}
