#include <stdlib.h>

#include "report_internal.h"
#include "perfdata/format/views.h"

#define BY_DSO	  1u
#define BY_SYMBOL 2u

#define ASK_EVERY  4096	      /* groups between two calls of ps_interrupted() */
#define DROP_EVERY (1u << 20) /* frames that are freed together */

static bool name_of(struct pq_report *r, const char *text, size_t n, uint32_t *number)
{
	*number = pm_string_pool_add(&r->strings, (struct pd_text){ text, n });
	return *number != PM_NO_STRING;
}

static uint32_t hash_part(const struct pq_report *r, const struct pq_report_part *p)
{
	uint64_t flags = (uint64_t)p->placed << 1 | p->named;

	return pb_hash_pair(&r->secret, p->named ? (uintptr_t)p->symbol : p->address,
			    (uint64_t)p->dso << 16 | (uint64_t)p->mode << 8 | flags);
}

/* Returns true if a part equals the new one, which lies behind the last. */
static bool is_new_part(const void *arg, uint32_t item)
{
	const struct pq_report *r = arg;
	const struct pq_report_part *a = &r->parts[item], *b = &r->parts[r->n_parts];

	return (a->named ? a->symbol == b->symbol : a->address == b->address) &&
	       a->named == b->named && a->dso == b->dso && a->mode == b->mode &&
	       a->placed == b->placed;
}

/* Returns the number of a part, added if it is new; UINT32_MAX: no memory. */
static uint32_t add_part(struct pq_report *r, const struct pq_report_part *part)
{
	uint32_t found;

	if (r->n_parts >= UINT32_MAX || !pb_reserve(r->parts, r->n_parts, r->parts_room) ||
	    !pb_reserve(r->first_rows, r->n_parts, r->first_room))
		return UINT32_MAX;
	r->parts[r->n_parts] = *part;
	r->first_rows[r->n_parts] = UINT32_MAX;
	found = pb_map_intern(&r->by_part, hash_part(r, part), is_new_part, r,
			      (uint32_t)r->n_parts);
	r->n_parts += found == r->n_parts;
	return found;
}

/*
 * Returns the mode whose letter is shown for a mode: an unknown one is shown as the hypervisor.
 */
static uint8_t level_of(uint8_t mode)
{
	return mode == PD_CPUMODE_UNKNOWN || mode > PD_CPUMODE_GUEST_USER ?
		       PD_CPUMODE_HYPERVISOR :
		       mode;
}

/*
 * Returns the part of a frame; UINT32_MAX: no memory. `frame` is NULL if there is no address.
 */
static uint32_t part_of_frame(struct pq_report *r, const struct pq_frame *frame)
{
	struct pq_report_part part = { .dso = PM_NO_STRING, .placed = frame != NULL };
	const struct ps_dso *dso = frame ? frame->dso : NULL;
	const char *short_name = dso ? dso->short_name : PM_UNKNOWN;
	uint32_t symbol;

	if (r->by & BY_DSO && !name_of(r, short_name, strlen(short_name), &part.dso))
		return UINT32_MAX;
	if (r->by & BY_SYMBOL) {
		part.mode = frame ? level_of(frame->mode) : PD_CPUMODE_HYPERVISOR;
		if (frame && !frame->symbol)
			part.address = frame->address;
	}
	if (r->by & BY_SYMBOL && frame && frame->symbol) {
		if (!name_of(r, frame->symbol->name, frame->symbol->length, &symbol))
			return UINT32_MAX;
		part.symbol = r->strings.texts[symbol].p;
		part.named = true;
	}
	return add_part(r, &part);
}

/* Lists the binaries of the system whose short names are not the ends of their paths. */
static bool read_binaries(struct pq_report *r)
{
	for (uint32_t machine = 0; machine < r->asked->n_machines; machine++) {
		const struct ps_store *store = pm_system_store(r->asked->system, machine);

		for (size_t i = 0; store && i < ps_store_count(store); i++) {
			const struct ps_dso *dso = ps_store_at(store, i);
			uint32_t number;

			if (dso->id.kind == PS_USER || dso->id.kind == PS_DATA)
				continue;
			number = pm_string_pool_add(&r->binaries.strings,
						    (struct pd_text){ dso->name,
								      strlen(dso->name) });
			if (number == PM_NO_STRING ||
			    !pb_reserve(r->binaries.shown, number, r->binaries.room))
				return false;
			r->binaries.shown[number] = dso->short_name;
		}
	}
	return true;
}

/*
 * Returns the end of a path, without slashes behind it: see dso__set_basename,
 * tools/perf/util/dso.c.
 */
static struct pd_text base_of(struct pd_text path)
{
	size_t n = path.n, from;

	while (n && path.p[n - 1] == '/')
		n--;
	for (from = n; from && path.p[from - 1] != '/'; from--)
		;
	return n ? (struct pd_text){ path.p + from, n - from } : path;
}

/* Sets *number to that of the name that a binary is shown by. Returns false without memory. */
static bool short_name_of(struct pq_report *r, const struct pq_value *dso, uint32_t *number)
{
	struct pd_text path, text = { PM_UNKNOWN, strlen(PM_UNKNOWN) };
	size_t n = r->binaries.strings.n;
	uint32_t known;

	if (dso->type == PQ_TEXT) {
		path = (struct pd_text){ dso->p, dso->size };
		text = base_of(path);
		known = pm_string_pool_add(&r->binaries.strings, path);
		if (known == PM_NO_STRING ||
		    (known == n && !pb_reserve(r->binaries.shown, n, r->binaries.room)))
			return false;
		if (known == n)
			r->binaries.shown[n] = NULL;
		if (r->binaries.shown[known])
			text = (struct pd_text){ r->binaries.shown[known],
						 strlen(r->binaries.shown[known]) };
	}
	return name_of(r, text.p, text.n, number);
}

static uint8_t mode_of(const struct pq_value *name)
{
	for (uint8_t mode = 0; name->type == PQ_TEXT && mode <= PD_CPUMODE_GUEST_USER; mode++) {
		const char *known = pd_cpumode_name(mode);

		if (strlen(known) == name->size && memcmp(known, name->p, name->size) == 0)
			return mode;
	}
	return PD_CPUMODE_UNKNOWN;
}

/* Returns the part of a group's keys; UINT32_MAX: no memory. */
static uint32_t part_of_group(struct pq_report *r, size_t g)
{
	struct pq_report_part part = { .dso = PM_NO_STRING };
	struct pq_value value;

	for (size_t i = 0; i < r->asked->n_columns; i++) {
		const struct pq_report_column *column = &r->asked->columns[i];

		if (column->from == PQ_FROM_KEY)
			continue;
		pq_groups_key(r->groups, g, column->key, &value);
		if (column->from == PQ_FROM_MODE) {
			part.mode = mode_of(&value);
		} else if (column->from == PQ_FROM_DSO) {
			if (!short_name_of(r, &value, &part.dso))
				return UINT32_MAX;
		} else {
			part.named = value.type == PQ_TEXT;
			if (part.named)
				part.symbol = value.p;
			else
				part.address = value.type == PQ_INT ? value.u : 0;
			part.placed = value.type != PQ_NIL;
		}
	}
	return add_part(r, &part);
}

/* Returns true if a key is a column of its own, and not a part of what is shown of a frame. */
static bool is_own(const struct pq_report *r, size_t key)
{
	if (r->asked->callers)
		return key + 1 < r->asked->n_keys;
	for (size_t i = 0; i < r->asked->n_columns; i++)
		if (r->asked->columns[i].from != PQ_FROM_KEY && r->asked->columns[i].key == key)
			return false;
	return true;
}

static uint32_t hash_owner(const struct pq_report *r, size_t group)
{
	const struct pq_table *table = &r->groups->table;
	uint64_t *words = pq_table_group(table, group), h = r->secret.b;

	for (size_t k = 0; k < r->asked->n_keys; k++)
		if (r->own[k])
			h = pb_mix(words[k] ^ r->secret.a, h + pq_table_tags(table, words)[k]);
	return (uint32_t)h;
}

static bool is_new_owner(const void *arg, uint32_t item)
{
	const struct pq_report *r = arg;
	const struct pq_table *table = &r->groups->table;
	uint64_t *a = pq_table_group(table, r->owners[item]);
	uint64_t *b = pq_table_group(table, r->owners[r->n_owners]);

	/* texts are the groups', so equal ones have one address */
	for (size_t k = 0; k < r->asked->n_keys; k++)
		if (r->own[k] &&
		    (a[k] != b[k] || pq_table_tags(table, a)[k] != pq_table_tags(table, b)[k]))
			return false;
	return true;
}

/* Returns the number of all groups with the same own keys; UINT32_MAX: no memory. */
static uint32_t owner_of(struct pq_report *r, size_t g)
{
	uint32_t found;

	if (!pb_reserve(r->owners, r->n_owners, r->owners_room))
		return UINT32_MAX;
	r->owners[r->n_owners] = (uint32_t)g;
	found = pb_map_intern(&r->by_owner, hash_owner(r, g), is_new_owner, r,
			      (uint32_t)r->n_owners);
	r->n_owners += found == r->n_owners;
	return found;
}

static uint32_t hash_row(const struct pq_report *r, uint32_t owner, uint32_t part)
{
	return pb_hash_pair(&r->secret, owner, part);
}

static bool is_new_row(const void *arg, uint32_t item)
{
	const struct pq_report *r = arg;
	const struct pq_report_item *a = &r->rows[item], *b = &r->rows[r->n_rows];

	return a->owner == b->owner && a->part == b->part;
}

/* Returns the number of a row, added if it is new; UINT32_MAX: no memory. */
static uint32_t row_of(struct pq_report *r, uint32_t owner, uint32_t part)
{
	uint32_t *first = &r->first_rows[part], found = (uint32_t)r->n_rows;

	if (*first != UINT32_MAX && r->rows[*first].owner == owner)
		return *first;
	if (r->n_rows >= UINT32_MAX || !pb_reserve(r->rows, r->n_rows, r->rows_room))
		return UINT32_MAX;
	r->rows[r->n_rows] = (struct pq_report_item){
		.owner = owner,
		.part = part,
		.latest = UINT32_MAX,
	};
	if (*first == UINT32_MAX)
		*first = found;
	else
		found = pb_map_intern(&r->by_row, hash_row(r, owner, part), is_new_row, r,
				      found);
	r->n_rows += found == r->n_rows;
	return found;
}

/* Adds the measures of group `g` to the row of a part. */
static bool add_to_row(struct pq_report *r, uint32_t owner, uint32_t part, size_t g, bool own,
		       const struct pq_state measured[2])
{
	uint32_t number = part == UINT32_MAX ? part : row_of(r, owner, part);
	struct pq_report_item *row;

	if (number == UINT32_MAX)
		return false;
	row = &r->rows[number];
	if (own) {
		row->samples += measured[0].value.u;
		row->period = pq_report_sum(row->period, measured[1].value.u);
	}
	if (row->latest != g) {
		row->children = pq_report_sum(row->children, measured[1].value.u);
		row->latest = (uint32_t)g;
	}
	return true;
}

/* Adds group g to the rows of its frames. */
static bool add_frames(struct pq_report *r, uint32_t owner, size_t g,
		       const struct pq_state measured[2])
{
	const struct pq_chains *chains = pq_groups_chains(r->groups);
	const uint32_t *frames;
	struct pq_value chain;
	size_t n;

	pq_groups_key(r->groups, g, r->asked->n_keys - 1, &chain);
	if (chain.type != PQ_CHAIN)
		return add_to_row(r, owner, part_of_frame(r, NULL), g, true, measured);
	frames = pq_chains_frames(chains, (uint32_t)chain.u, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t *part = &r->part_of_frame[frames[i]];

		if (*part == UINT32_MAX)
			*part = part_of_frame(r, pq_chains_frame(chains, frames[i]));
		if (!add_to_row(r, owner, *part, g, i == 0, measured))
			return false;
	}
	return true;
}

static bool add_group(struct pq_report *r, size_t g)
{
	uint32_t owner = owner_of(r, g);
	struct pq_state measured[2];

	if (owner == UINT32_MAX)
		return false;
	for (size_t m = 0; m < 2; m++)
		pq_groups_state(r->groups, g, m, &measured[m]);
	return r->asked->callers ? add_frames(r, owner, g, measured) :
				   add_to_row(r, owner, part_of_group(r, g), g, true, measured);
}

/* Records which names of a frame tell rows apart, and which keys. */
static bool read_asked(struct pq_report *r)
{
	const struct pq_report_asked *asked = r->asked;

	for (size_t i = 0; i < asked->n_columns; i++) {
		if (asked->columns[i].from == PQ_FROM_DSO)
			r->by |= BY_DSO;
		else if (asked->columns[i].from != PQ_FROM_KEY)
			r->by |= BY_SYMBOL;
	}
	r->own = calloc(asked->n_keys + 1, sizeof(*r->own));
	for (size_t k = 0; r->own && k < asked->n_keys; k++)
		r->own[k] = is_own(r, k);
	return r->own;
}

/*
 * Finds the parts of all frames, and frees what that takes, before there are rows. It begins
 * with the last frame, so that frames go while parts come. Returns false without memory.
 */
static bool find_parts(struct pq_report *r)
{
	struct pq_chains *chains = pq_groups_chains(r->groups);
	bool dropped = false;

	for (uint32_t i = chains ? pq_chains_n_frames(chains) : 0; i-- > 0;) {
		r->part_of_frame[i] = part_of_frame(r, pq_chains_frame(chains, i));
		if (r->part_of_frame[i] == UINT32_MAX)
			return false;
		if (i % DROP_EVERY == 0)
			dropped = pq_chains_drop_frames(chains, i);
	}
	/* The only part to come is that of no frame, which equals none of these. */
	if (dropped)
		pb_map_deinit(&r->by_part);
	return true;
}

static bool fill_rows(struct pq_report *r, struct ps_interrupt *interrupt)
{
	const struct pq_chains *chains = pq_groups_chains(r->groups);
	size_t n = chains ? pq_chains_n_frames(chains) : 0, size = pq_groups_size(r->groups);

	if (!read_asked(r) || size >= UINT32_MAX ||
	    (r->by & BY_DSO && !r->asked->callers && r->asked->system && !read_binaries(r)))
		return false;
	r->part_of_frame = malloc((n + 1) * sizeof(*r->part_of_frame));
	if (!r->part_of_frame)
		return false;
	memset(r->part_of_frame, 0xff, n * sizeof(*r->part_of_frame));
	if (r->asked->callers && !find_parts(r))
		return false;
	for (size_t g = 0; g < size; g++, r->taken++) {
		if (g % ASK_EVERY == 0 && ps_interrupted(interrupt))
			break;
		if (!add_group(r, g))
			return false;
	}
	return true;
}

/* Frees memory that only serves to find rows. */
static void free_row_maps(struct pq_report *r)
{
	pb_map_deinit(&r->by_part);
	pb_map_deinit(&r->by_owner);
	pb_map_deinit(&r->by_row);
	pm_string_pool_deinit(&r->binaries.strings);
	free(r->binaries.shown);
	r->binaries.shown = NULL;
	free(r->part_of_frame);
	r->part_of_frame = NULL;
	free(r->first_rows);
	r->first_rows = NULL;
}

struct pq_report *pq_report_create(struct pq_groups *groups,
				   const struct pq_report_asked *asked,
				   struct ps_interrupt *interrupt)
{
	struct pq_report *r = calloc(1, sizeof(*r));
	bool filled;

	if (!r)
		return NULL;
	r->groups = groups;
	r->asked = asked;
	pb_secret_make(&r->secret);
	pq_groups_seal(groups);
	filled = fill_rows(r, interrupt);
	free_row_maps(r);
	if (filled && pq_report_sort(r))
		return r;
	pq_report_destroy(r);
	return NULL;
}

void pq_report_destroy(struct pq_report *r)
{
	if (!r)
		return;
	free_row_maps(r);
	pm_string_pool_deinit(&r->strings);
	free(r->own);
	free(r->parts);
	free(r->owners);
	free(r->rows);
	free(r->shown);
	free(r->sections);
	free(r);
}

size_t pq_report_taken(const struct pq_report *r)
{
	return r->taken;
}

size_t pq_report_size(const struct pq_report *r)
{
	return r->n_rows;
}

const struct pq_report_section *pq_report_sections(const struct pq_report *r, size_t *n)
{
	*n = r->n_sections;
	return r->sections;
}

void pq_report_row(const struct pq_report *r, size_t i, struct pq_report_row *row)
{
	const struct pq_report_shown *shown = &r->shown[i];
	const struct pq_report_part *part = &shown->part;

	*row = (struct pq_report_row){
		.group = shown->group,
		.dso = part->dso == PM_NO_STRING ? NULL : r->strings.texts[part->dso].p,
		.symbol = pq_report_symbol(r, part),
		.address = part->named ? 0 : part->address,
		.placed = part->placed,
		.mode = part->mode,
		.samples = shown->samples,
		.period = shown->period,
		.children = shown->children,
	};
}
