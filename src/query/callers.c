#include <stdlib.h>

#include "callers_inside.h"

#define ASK_EVERY 4096 /* groups between two calls of ps_interrupted */

/* A number for a key of 64 bits: the next one if it is new. UINT32_MAX: no memory. */
static uint32_t number_of(struct pd_id_table *table, uint64_t key)
{
	uint32_t found = pd_id_table_find(table, key);

	if (found == UINT32_MAX && pd_id_table_add(table, key, (uint32_t)table->n))
		found = (uint32_t)table->n - 1;
	return found;
}

static bool name_of(struct pq_callers *c, const char *text, size_t n, uint32_t *number)
{
	*number = pm_names_add(&c->names, (struct pd_text){ text, n });
	return *number != PM_NO_NAME;
}

/* Are they shown by one letter? What is not known is shown as the hypervisor. */
static uint8_t level_of(uint8_t mode)
{
	return mode == PD_CPUMODE_UNKNOWN || mode > PD_CPUMODE_GUEST_USER ?
		       PD_CPUMODE_HYPERVISOR :
		       mode;
}

/* The part of what was asked for; UINT32_MAX: no memory. `frame` is NULL where there is no address. */
static uint32_t part_of(struct pq_callers *c, const struct pq_frame *frame)
{
	struct pq_caller_part part = { frame, PM_NO_NAME, PM_NO_NAME };
	const struct ps_dso *dso = frame ? frame->dso : NULL;
	const char *short_name = dso ? dso->short_name : PM_UNKNOWN;
	uint32_t number = 0, level = 0, found;

	if (c->by & PQ_BY_DSO && !name_of(c, short_name, strlen(short_name), &part.dso))
		return UINT32_MAX;
	if (c->by & PQ_BY_SYMBOL && frame && frame->symbol) {
		if (!name_of(c, frame->symbol->name, frame->symbol->length, &part.symbol))
			return UINT32_MAX;
		number = part.symbol * 2 + 1;
	} else if (c->by & PQ_BY_SYMBOL && frame) {
		number = number_of(&c->by_address, frame->address);
		if (number == UINT32_MAX)
			return number;
		number = number * 2 + 2;
	}
	if (c->by & PQ_BY_SYMBOL)
		level = frame ? level_of(frame->mode) : PD_CPUMODE_HYPERVISOR;
	found = number_of(&c->by_names, (uint64_t)part.dso << 32 | number);
	if (found == UINT32_MAX)
		return found;
	found = number_of(&c->by_level, (uint64_t)found << 8 | level);
	if (found != c->n_parts)
		return found;
	if (!ps_reserve(c->parts, c->n_parts, c->parts_room))
		return UINT32_MAX;
	c->parts[c->n_parts++] = part;
	return found;
}

/* The number that all groups have whose keys are the same but for the chain, the last one; UINT32_MAX: no memory. */
static uint32_t owner_of(struct pq_callers *c, size_t g, size_t n_keys)
{
	uint32_t owner = UINT32_MAX; /* of no key yet: no other is that */

	for (size_t k = 0; k + 1 < n_keys; k++) {
		struct pq_value value;
		uint32_t number;

		/* texts are the groups' own: the same ones are at one place */
		pq_groups_key(c->groups, g, k, &value);
		number = number_of(&c->by_value[value.type],
				   value.type == PQ_NIL ? 0 : pq_bits(&value));
		if (number >= UINT32_MAX / PQ_TYPES)
			return UINT32_MAX;
		owner = number_of(&c->by_owner,
				  (uint64_t)owner << 32 | (number * PQ_TYPES + value.type));
		if (owner == UINT32_MAX)
			return owner;
	}
	return owner;
}

static void describe(struct pq_callers *c, struct pq_caller_row *row,
		     const struct pq_caller_part *part)
{
	row->placed = part->frame != NULL;
	if (part->dso != PM_NO_NAME)
		row->dso = c->names.texts[part->dso].p;
	if (part->symbol != PM_NO_NAME)
		row->symbol = c->names.texts[part->symbol].p;
	else if (part->frame)
		row->address = part->frame->address;
	row->mode = part->frame ? level_of(part->frame->mode) : PD_CPUMODE_HYPERVISOR;
}

/* The number of a row; UINT32_MAX: no memory. */
static uint32_t row_of(struct pq_callers *c, uint32_t owner, uint32_t part, size_t g)
{
	uint32_t found = number_of(&c->by_row, (uint64_t)owner << 32 | part);

	if (found != c->n_rows)
		return found;
	if (!ps_reserve(c->rows, c->n_rows, c->rows_room) ||
	    !ps_reserve(c->latest, c->n_rows, c->latest_room))
		return UINT32_MAX;
	c->rows[c->n_rows] = (struct pq_caller_row){ .group = g, .owner = owner, .part = part };
	describe(c, &c->rows[c->n_rows], &c->parts[part]);
	c->latest[c->n_rows++] = UINT32_MAX;
	return found;
}

/* Of what is at most PQ_TOO_LARGE, which stands for all that is more. */
static uint64_t sum(uint64_t a, uint64_t b)
{
	return a >= PQ_TOO_LARGE || b >= PQ_TOO_LARGE - a ? PQ_TOO_LARGE : a + b;
}

/* Adds what group g measured to the row of a frame. */
static bool add(struct pq_callers *c, uint32_t owner, uint32_t part, size_t g, bool own,
		const struct pq_state measured[2])
{
	uint32_t number = part == UINT32_MAX ? part : row_of(c, owner, part, g);
	struct pq_caller_row *row;

	if (number == UINT32_MAX)
		return false;
	row = &c->rows[number];
	if (own) {
		row->samples += measured[0].value.u;
		row->period = sum(row->period, measured[1].value.u);
	}
	if (c->latest[number] != g) {
		row->children = sum(row->children, measured[1].value.u);
		c->latest[number] = (uint32_t)g;
	}
	return true;
}

static bool add_group(struct pq_callers *c, size_t g, size_t n_keys)
{
	const struct pq_chains *chains = pq_groups_chains(c->groups);
	uint32_t owner = owner_of(c, g, n_keys);
	struct pq_state measured[2];
	const uint32_t *frames;
	struct pq_value chain;
	size_t n;

	for (size_t m = 0; m < 2; m++)
		pq_groups_state(c->groups, g, m, &measured[m]);
	pq_groups_key(c->groups, g, n_keys - 1, &chain);
	if (owner == UINT32_MAX && n_keys > 1)
		return false;
	if (chain.type != PQ_CHAIN)
		return add(c, owner, part_of(c, NULL), g, true, measured);
	frames = pq_chains_frames(chains, (uint32_t)chain.u, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t *part = &c->part_of_frame[frames[i]];

		if (*part == UINT32_MAX)
			*part = part_of(c, pq_chains_frame(chains, frames[i]));
		if (!add(c, owner, *part, g, i == 0, measured))
			return false;
	}
	return true;
}

static bool fill(struct pq_callers *c, size_t n_keys, struct ps_interrupt *interrupt)
{
	const struct pq_chains *chains = pq_groups_chains(c->groups);
	size_t n = chains ? pq_chains_n_frames(chains) : 0, size = pq_groups_size(c->groups);

	c->part_of_frame = malloc((n + 1) * sizeof(*c->part_of_frame));
	if (!c->part_of_frame || size >= UINT32_MAX)
		return false;
	memset(c->part_of_frame, 0xff, n * sizeof(*c->part_of_frame));
	for (size_t g = 0; g < size; g++, c->taken++) {
		if (g % ASK_EVERY == 0 && ps_interrupted(interrupt))
			break;
		if (!add_group(c, g, n_keys))
			return false;
	}
	return true;
}

struct pq_callers *pq_callers_create(const struct pq_groups *groups, size_t n_keys, unsigned by,
				     struct ps_interrupt *interrupt)
{
	struct pq_callers *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->groups = groups;
	c->by = by;
	if (fill(c, n_keys, interrupt))
		return c;
	pq_callers_destroy(c);
	return NULL;
}

void pq_callers_destroy(struct pq_callers *c)
{
	if (!c)
		return;
	pm_names_deinit(&c->names);
	pd_id_table_deinit(&c->by_address);
	pd_id_table_deinit(&c->by_names);
	pd_id_table_deinit(&c->by_level);
	for (size_t type = 0; type < PQ_TYPES; type++)
		pd_id_table_deinit(&c->by_value[type]);
	pd_id_table_deinit(&c->by_owner);
	pd_id_table_deinit(&c->by_row);
	free(c->parts);
	free(c->part_of_frame);
	free(c->rows);
	free(c->latest);
	free(c->sorted);
	free(c);
}

size_t pq_callers_taken(const struct pq_callers *c)
{
	return c->taken;
}

size_t pq_callers_size(const struct pq_callers *c)
{
	return c->n_rows;
}

const struct pq_caller_row *pq_callers_row(const struct pq_callers *c, size_t i)
{
	return &c->rows[c->sorted ? c->sorted[i] : i];
}
