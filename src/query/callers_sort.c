#define _GNU_SOURCE /* qsort_r */
/*
 * The order of the rows of a report with callers. What they are sorted by becomes small numbers first: those of a row lie
 * beside each other, and most rows are alike in all but the last of them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "callers_inside.h"

/* A value that is ranked: an integer, or text; `behind` all others if it is an address, or begins as one. */
struct ranked {
	uint64_t number; /* without text */
	const char *text;
	uint32_t of; /* whose: an owner, a part */
	bool behind;
};

#define HEX_ROOM 24
#define FEW	 10000 /* rows that are sorted in any case */

/* As lua/perflua/report/order.lua has it. */
static const char *as_text(const struct ranked *r, char room[HEX_ROOM])
{
	if (r->text)
		return r->text;
	snprintf(room, HEX_ROOM, r->behind ? "0x%016llx" : "%016llx",
		 (unsigned long long)r->number);
	return room;
}

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	char room[2][HEX_ROOM];

	if (a->behind != b->behind)
		return a->behind ? 1 : -1;
	if (!a->text && !b->text)
		return (a->number > b->number) - (a->number < b->number);
	if (a->text == b->text)
		return 0;
	return strcmp(as_text(a, room[0]), as_text(b, room[1]));
}

/* The place of each among the different ones, into ranks[of]. */
static void rank(struct ranked *list, size_t n, uint32_t *ranks)
{
	uint32_t at = 0;

	qsort(list, n, sizeof(*list), compare_ranked);
	for (size_t i = 0; i < n; i++) {
		if (i && compare_ranked(&list[i - 1], &list[i]) != 0)
			at++;
		ranks[list[i].of] = at;
	}
}

/* What Lua shows of a float. */
static void float_text(double f, char *room, size_t size)
{
	int n = snprintf(room, size, "%.14g", f);

	if (n > 0 && (size_t)n + 3 < size && !room[strspn(room, "-0123456789")])
		memcpy(room + n, ".0", 3);
}

/* Text that stays. False: no memory. */
static bool keep(struct pq_callers *c, const char *text, size_t n, struct ranked *r)
{
	uint32_t number = pm_names_add(&c->names, (struct pd_text){ text, strnlen(text, n) });

	if (number != PM_NO_NAME)
		r->text = c->names.texts[number].p;
	return number != PM_NO_NAME;
}

/* A key's value; false: no memory. */
static bool rank_of_value(struct pq_callers *c, const struct pq_value *v, bool is_signed,
			  struct ranked *r)
{
	const char *text;
	char room[40];
	size_t n;

	switch (v->type) {
	case PQ_NIL:
		r->text = "\xff";
		return true;
	case PQ_INT:
		r->number = is_signed ? v->u ^ UINT64_C(1) << 63 : v->u;
		return true;
	case PQ_BOOL:
		r->text = v->u ? "true" : "false";
		return true;
	case PQ_EVENT:
		r->text = v->event->name;
		return true;
	case PQ_FLOAT:
		float_text(v->f, room, sizeof(room));
		return keep(c, room, sizeof(room), r);
	case PQ_CHAIN:
		text = pq_chains_text(pq_groups_chains(c->groups), (uint32_t)v->u, &n);
		return text && keep(c, text, n, r);
	default:
		return keep(c, v->p, v->size, r);
	}
}

/* Ranks of a key, by owner. False: no memory. */
static bool rank_key(struct pq_callers *c, const struct pq_caller_column *column,
		     struct ranked *list, uint32_t *ranks)
{
	struct pq_value value;
	size_t n = 0;

	memset(ranks, 0xff, c->by_owner.n * sizeof(*ranks));
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct pq_caller_row *row = &c->rows[i];

		if (ranks[row->owner] != UINT32_MAX)
			continue;
		ranks[row->owner] = 0;
		list[n] = (struct ranked){ .of = row->owner };
		pq_groups_key(c->groups, row->group, column->key, &value);
		if (!rank_of_value(c, &value, column->is_signed, &list[n++]))
			return false;
	}
	rank(list, n, ranks);
	return true;
}

/* Ranks of the names of binaries, or of functions, by part. */
static void rank_parts(struct pq_callers *c, bool symbols, struct ranked *list, uint32_t *ranks)
{
	for (size_t i = 0; i < c->n_parts; i++) {
		const struct pq_caller_part *part = &c->parts[i];
		uint32_t name = symbols ? part->symbol : part->dso;

		list[i] = (struct ranked){ .of = (uint32_t)i };
		if (name != PM_NO_NAME)
			list[i].text = c->names.texts[name].p;
		else if (symbols && part->frame)
			list[i].number = part->frame->address;
		else
			list[i].text = PM_UNKNOWN;
		list[i].behind = symbols &&
				 (!list[i].text || strncmp(list[i].text, "0x", 2) == 0);
	}
	rank(list, c->n_parts, ranks);
}

static uint32_t rank_of_mode(uint8_t mode)
{
	static const uint8_t by_name[] = {
		[PD_CPUMODE_GUEST_KERNEL] = 0, [PD_CPUMODE_GUEST_USER] = 1,
		[PD_CPUMODE_HYPERVISOR] = 2,   [PD_CPUMODE_KERNEL] = 3,
		[PD_CPUMODE_USER] = 4,
	};

	return by_name[mode];
}

/* What a row is sorted by. */
struct item {
	uint32_t event;
	uint32_t row;
	uint64_t children;
	uint32_t ranks[]; /* by column */
};

static int compare_items(const void *left, const void *right, void *arg)
{
	const struct item *a = left, *b = right;
	size_t n = *(const size_t *)arg;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->children != b->children)
		return a->children > b->children ? -1 : 1;
	for (size_t i = 0; i < n; i++)
		if (a->ranks[i] != b->ranks[i])
			return a->ranks[i] < b->ranks[i] ? -1 : 1;
	return a->row < b->row ? -1 : 1; /* as they were met */
}

struct items {
	size_t each; /* bytes of one */
	char *list;
	struct ranked *room;
	uint32_t *ranks; /* [more than owners and parts] */
};

static struct item *item_at(const struct items *items, size_t i)
{
	return (struct item *)(items->list + i * items->each);
}

/* Of a column, the ranks of all rows. False: no memory. */
static bool fill_column(struct pq_callers *c, const struct items *items,
			const struct pq_caller_column *column, size_t at)
{
	if (column->from == PQ_FROM_KEY) {
		if (!rank_key(c, column, items->room, items->ranks))
			return false;
	} else if (column->from != PQ_FROM_MODE) {
		rank_parts(c, column->from == PQ_FROM_SYMBOL, items->room, items->ranks);
	}
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct pq_caller_row *row = &c->rows[i];
		uint32_t *to = &item_at(items, i)->ranks[at];

		if (column->from == PQ_FROM_MODE)
			*to = rank_of_mode(row->mode);
		else
			*to = items->ranks[column->from == PQ_FROM_KEY ? row->owner : row->part];
	}
	return true;
}

static void fill_rest(const struct pq_callers *c, const struct items *items, size_t event_key)
{
	struct pq_value value = { .type = PQ_NIL };

	for (size_t i = 0; i < c->n_rows; i++) {
		struct item *item = item_at(items, i);

		if (event_key != SIZE_MAX)
			pq_groups_key(c->groups, c->rows[i].group, event_key, &value);
		item->event = value.type == PQ_EVENT ? value.event->number : UINT32_MAX;
		item->row = (uint32_t)i;
		item->children = c->rows[i].children;
	}
}

static bool sort(struct pq_callers *c, const struct items *items, size_t event_key,
		 const struct pq_caller_column *columns, size_t n,
		 const struct ps_interrupt *interrupt)
{
	for (size_t k = 0; k < n; k++) {
		/* names of many rows take longer to sort than all that is left to do */
		if (c->n_rows > FEW && interrupt && interrupt->flag && *interrupt->flag)
			n = 0;
		else if (!fill_column(c, items, &columns[k], k))
			return false;
	}
	fill_rest(c, items, event_key);
	qsort_r(items->list, c->n_rows, items->each, compare_items, &n);
	for (size_t i = 0; i < c->n_rows; i++)
		c->sorted[i] = item_at(items, i)->row;
	return true;
}

bool pq_callers_sort(struct pq_callers *c, size_t event_key,
		     const struct pq_caller_column *columns, size_t n,
		     const struct ps_interrupt *interrupt)
{
	size_t each = (sizeof(struct item) + n * sizeof(uint32_t) + 7) / 8 * 8;
	size_t most = c->by_owner.n > c->n_parts ? c->by_owner.n : c->n_parts;
	struct items items = { .each = each };
	bool done = false;

	c->sorted = calloc(c->n_rows + 1, sizeof(*c->sorted));
	items.list = calloc(c->n_rows + 1, each);
	items.room = calloc(most + 1, sizeof(*items.room));
	items.ranks = calloc(most + 1, sizeof(*items.ranks));
	if (c->sorted && items.list && items.room && items.ranks)
		done = sort(c, &items, event_key, columns, n, interrupt);
	free(items.list);
	free(items.room);
	free(items.ranks);
	return done;
}
