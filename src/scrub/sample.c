/*
 * Samples: their raw data, registers, copies of stacks, pieces of AUX areas, and words of call
 * chains that are not addresses: where code keeps no frame pointers, a chain has words of the
 * stack, such as pieces of texts.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "perfdata/format/sample.h"
#include "perfdata/format/views.h"
#include "perfdata/order/walk.h"
#include "internal.h"

#define MOST_UNSORTED 64

/* markers among the words of a call chain: see enum perf_callchain_context */
#define MARKERS	    ((uint64_t)-4095)
#define OF_USER	    ((uint64_t)-512)
#define OF_DEFERRED ((uint64_t)-640) /* a cookie follows */

struct range {
	uint64_t start, end;
};

/* The addresses at which processes had mappings, whichever and whenever. */
struct pv_mapped {
	struct range *list; /* [n]: up to n_sorted apart and in order */
	size_t n, room, n_sorted;
	size_t last; /* the range that was found last */
	bool is_whole;
};

struct pv_mapped *pv_mapped_create(void)
{
	return calloc(1, sizeof(struct pv_mapped));
}

void pv_mapped_destroy(struct pv_mapped *mapped)
{
	if (mapped)
		free(mapped->list);
	free(mapped);
}

void pv_note_mapping(struct pv_scrubber *s, const struct pd_record *rec)
{
	enum {
		START = 16,
		LENGTH = 24
	};
	struct pv_mapped *mapped = s->mapped;
	unsigned mode = rec->misc & PD_MISC_CPUMODE;
	struct range range;

	if (mapped->is_whole || mode == PD_CPUMODE_KERNEL || mode == PD_CPUMODE_GUEST_KERNEL)
		return;
	range.start = pd_rec64(rec, START);
	range.end = range.start + pd_rec64(rec, LENGTH);
	if (range.end < range.start)
		range.end = UINT64_MAX;
	if (pb_reserve(mapped->list, mapped->n, mapped->room))
		mapped->list[mapped->n++] = range;
	else
		s->failed = true;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Sorts the ranges, and joins those that touch. */
static void sort_ranges(struct pv_mapped *mapped)
{
	size_t n = 0;

	qsort(mapped->list, mapped->n, sizeof(*mapped->list), compare_ranges);
	for (size_t i = 0; i < mapped->n; i++) {
		const struct range range = mapped->list[i];

		if (!n || range.start > mapped->list[n - 1].end)
			mapped->list[n++] = range;
		else if (range.end > mapped->list[n - 1].end)
			mapped->list[n - 1].end = range.end;
	}
	mapped->n = mapped->n_sorted = n;
	mapped->last = 0;
}

/*
 * Reads the mappings of the whole recording: in a file a sample may come before the record of
 * its mapping, which another processor's buffer had.
 */
static void read_ahead(struct pv_scrubber *s)
{
	struct pd_walk walk;
	struct pd_record rec;
	struct pd_error err;

	s->mapped->is_whole = false;
	if (pd_walk_init(&walk, s->session, PD_ORDER_FILE, &err)) {
		walk.options.types = (struct pd_types){ .bits = { 0 } };
		pd_types_add(&walk.options.types, PD_RECORD_MMAP);
		pd_types_add(&walk.options.types, PD_RECORD_MMAP2);
		while (pd_walk_next(&walk, &rec, &err) > 0)
			if (pd_fits(&rec, 16, 16))
				pv_note_mapping(s, &rec);
		pd_walk_deinit(&walk);
	}
	s->mapped->is_whole = true;
}

static bool has_address(const struct range *range, uint64_t address)
{
	return address >= range->start && address < range->end;
}

/* Returns whether a process had a mapping at an address. */
static bool is_mapped(struct pv_scrubber *s, uint64_t address)
{
	struct pv_mapped *mapped = s->mapped;
	size_t low = 0, high;

	if (s->session && !mapped->is_whole)
		read_ahead(s);
	if (mapped->n - mapped->n_sorted > MOST_UNSORTED || mapped->is_whole)
		if (mapped->n > mapped->n_sorted)
			sort_ranges(mapped);
	for (size_t i = mapped->n_sorted; i < mapped->n; i++)
		if (has_address(&mapped->list[i], address))
			return true;
	if (mapped->n_sorted && has_address(&mapped->list[mapped->last], address))
		return true;
	for (high = mapped->n_sorted; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (mapped->list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !has_address(&mapped->list[low - 1], address))
		return false;
	mapped->last = low - 1;
	return true;
}

/* Returns whether four bytes of a word in a row are letters, digits, signs or blanks. */
static inline bool has_letters(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	uint64_t low = word & ~tops;
	uint64_t letters = (low + ones * 0x60) & ~(low + ones) & ~word & tops;

	letters &= letters >> 16;
	return letters & letters >> 8;
}

/* Makes zeros of a word of the record, which then is in s->room. */
static void drop_word(struct pv_scrubber *s, struct pd_record *rec, uint32_t at)
{
	if (rec->bytes != s->room)
		memcpy(s->room, rec->bytes, rec->size);
	rec->bytes = s->room;
	memset(s->room + at, 0, 8);
}

void pv_clean_chain(struct pv_scrubber *s, struct pd_record *rec, uint32_t at, uint64_t n)
{
	uint64_t from = s->impossible.from, many = s->impossible.to - from;
	bool swap = rec->layout->swap, is_users = rec->type != PD_RECORD_SAMPLE;

	for (uint64_t i = 0; i < n; i++, at += 8) {
		uint64_t word = pb_load64(rec->bytes + at, swap);

		if (word >= MARKERS) {
			is_users = word == OF_USER || word == OF_DEFERRED;
			i += word == OF_DEFERRED;
			at += word == OF_DEFERRED ? 8 : 0;
		} else if (word - from < many || (is_users && !s->places && has_letters(word) &&
						  !is_mapped(s, word))) {
			drop_word(s, rec, at);
		}
	}
}

/* The sample in the making. */
struct made {
	uint32_t from; /* bytes of the sample that were taken */
	uint32_t n;    /* bytes that were put to s->room */
};

static void copy_up_to(struct pv_scrubber *s, const struct pd_record *rec, struct made *made,
		       uint32_t end)
{
	memcpy(s->room + made->n, rec->bytes + made->from, end - made->from);
	made->n += end - made->from;
	made->from = end;
}

/* Puts raw data: a u32 size, the data, which with the size are a multiple of 8. */
static void put_raw(struct pv_scrubber *s, const struct pd_record *rec, struct made *made,
		    uint32_t at, uint32_t size)
{
	uint32_t room = PV_RECORD_MOST - (rec->size - (at + size)) - made->n - 4, n;

	n = pv_raw(s, rec, rec->bytes + at + 4, size - 4, s->room + made->n + 4, room);
	pv_store32(s->room + made->n, n, rec->layout->swap);
	made->n += 4 + n;
}

/* Puts a part that holds nothing: registers without an ABI, a copy of no bytes. */
static void put_empty(struct pv_scrubber *s, struct made *made)
{
	memset(s->room + made->n, 0, 8);
	made->n += 8;
}

/* The parts that are more than numbers, in their order. */
static const struct {
	enum pd_part part;
	uint64_t bit;
	enum pv_kind kind;
} parts[] = {
	{ PD_PART_RAW, PD_SAMPLE_RAW, PV_RAW },
	{ PD_PART_REGS_USER, PD_SAMPLE_REGS_USER, PV_REGISTERS },
	{ PD_PART_STACK_USER, PD_SAMPLE_STACK_USER, PV_STACKS },
	{ PD_PART_REGS_INTR, PD_SAMPLE_REGS_INTR, PV_REGISTERS },
	{ PD_PART_AUX, PD_SAMPLE_AUX, PV_AUX },
};

#define PARTS                                                                               \
	(PD_SAMPLE_RAW | PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER | PD_SAMPLE_REGS_INTR | \
	 PD_SAMPLE_AUX)

/* Scrubs the parts of a sample. Returns false if one cannot be read. */
static bool scrub_parts(struct pv_scrubber *s, struct pd_record *rec, uint32_t extent)
{
	struct made made = { 0, 0 };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		uint32_t at, size;

		if (!(rec->layout->shape->sample_type & parts[i].bit))
			continue;
		if (!pd_part_find(rec, parts[i].part, &at, &size) || at < made.from)
			return false;
		copy_up_to(s, rec, &made, at);
		if (parts[i].part == PD_PART_RAW)
			put_raw(s, rec, &made, at, size);
		else if (size > 8 && !pv_meet(s, parts[i].kind, size))
			put_empty(s, &made);
		else
			continue;
		made.from = at + size;
	}
	copy_up_to(s, rec, &made, extent);
	memset(s->room + made.n, 0, rec->size - extent);
	return pv_finish(s, rec, made.n + rec->size - extent);
}

/*
 * Scrubs a sample in place, or leaves it as it is, if plain raw data are the only part that
 * could change. Returns false if they are not.
 */
static bool scrub_plain_raw(struct pv_scrubber *s, struct pd_record *rec)
{
	const struct pv_plan *plan;
	const uint8_t *raw;
	uint32_t n;

	if ((rec->layout->shape->sample_type & PARTS) != PD_SAMPLE_RAW ||
	    !pd_args_raw(rec, &raw, &n))
		return false;
	plan = pv_plain_plan(s, rec, n);
	if (!plan)
		return false;
	if (!pv_plain_stays(plan, raw, n)) {
		memcpy(s->room, rec->bytes, rec->size);
		pv_put_plain(s, plan, raw, n, s->room + (raw - rec->bytes));
		rec->bytes = s->room;
	}
	return true;
}

/* Scrubs all but addresses. */
static bool scrub_sample(struct pv_scrubber *s, struct pd_record *rec)
{
	uint32_t extent = pd_sample_extent(rec);

	if (!extent || extent > rec->size || !pd_recorded_event(rec))
		return false;
	if (extent == rec->size &&
	    (!(rec->layout->shape->sample_type & PARTS) || scrub_plain_raw(s, rec)))
		return true;
	return scrub_parts(s, rec, extent);
}

bool pv_sample(struct pv_scrubber *s, struct pd_record *rec)
{
	uint32_t at, size;

	if (!scrub_sample(s, rec)) {
		s->unreadable++;
		return false;
	}
	s->found[PV_ADDRESSES].n++;
	if (rec->layout->shape->sample_type & PD_SAMPLE_CALLCHAIN &&
	    pd_part_find(rec, PD_PART_CALLCHAIN, &at, &size))
		pv_clean_chain(s, rec, at + 8, size / 8 - 1);
	if (s->places)
		pv_move_sample(s, rec);
	return true;
}
