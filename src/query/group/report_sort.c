#define _GNU_SOURCE /* qsort_r */
/*
 * The order of the rows of a report. What they are sorted by becomes small numbers first: the
 * places of a column's values among the different ones. Columns of one value say nothing, and
 * most rows differ in what they measured.
 */
#include <stdio.h>
#include <stdlib.h>

#include "report_internal.h"

/*
 * A value that is ranked: an integer, or text; `behind` all others if it is an address, or
 * begins as one.
 */
struct ranked {
	union {
		uint64_t number;
		const char *p;
	};
	uint32_t of;	    /* whose: an owner, a part */
	uint32_t size : 29; /* of text */
	uint32_t is_text : 1, behind : 1;
};

#define MAX_TEXT ((1u << 29) - 1) /* of longer texts the rest does not count */
#define HEX_ROOM 24
#define FEW	 10000 /* rows that are sorted by columns in any case */

/* As lua/perflua/report/order.lua has it. */
static struct pd_text as_text(const struct ranked *r, char room[HEX_ROOM])
{
	int n;

	if (r->is_text)
		return (struct pd_text){ r->p, r->size };
	n = snprintf(room, HEX_ROOM, r->behind ? "0x%016llx" : "%016llx",
		     (unsigned long long)r->number);
	return (struct pd_text){ room, (size_t)n };
}

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	struct pd_text text, other;
	char room[2][HEX_ROOM];
	int order;

	if (a->behind != b->behind)
		return a->behind ? 1 : -1;
	if (!a->is_text && !b->is_text)
		return (a->number > b->number) - (a->number < b->number);
	if (a->is_text && b->is_text && a->p == b->p)
		return 0;
	text = as_text(a, room[0]);
	other = as_text(b, room[1]);
	order = memcmp(text.p, other.p, text.n < other.n ? text.n : other.n);
	return order ? order : (text.n > other.n) - (text.n < other.n);
}

/*
 * Sets ranks[of] to the place of each among the different ones. Returns whether there are
 * several.
 */
static bool rank(struct ranked *list, size_t n, uint32_t *ranks)
{
	uint32_t at = 0;

	qsort(list, n, sizeof(*list), compare_ranked);
	for (size_t i = 0; i < n; i++) {
		if (i && compare_ranked(&list[i - 1], &list[i]) != 0)
			at++;
		ranks[list[i].of] = at;
	}
	return at;
}

/* What Lua shows of a float. */
static void float_text(double f, char *room, size_t size)
{
	int n = snprintf(room, size, "%.14g", f);

	if (n > 0 && (size_t)n + 3 < size && !room[strspn(room, "-0123456789")])
		memcpy(room + n, ".0", 3);
}

static void set_text(struct ranked *r, struct pd_text text)
{
	r->p = text.p;
	r->size = text.n < MAX_TEXT ? (uint32_t)text.n & MAX_TEXT : MAX_TEXT;
	r->is_text = 1;
}

/* Text that stays. False: no memory. */
static bool keep_text(struct pq_report *report, const char *text, size_t n, struct ranked *r)
{
	uint32_t number = pm_string_pool_add(&report->strings,
					     (struct pd_text){ text, strnlen(text, n) });

	if (number != PM_NO_STRING)
		set_text(r, report->strings.texts[number]);
	return number != PM_NO_STRING;
}

/* A key's value; false: no memory. */
static bool rank_of_value(struct pq_report *report, const struct pq_value *v, bool is_signed,
			  struct ranked *r)
{
	const char *text;
	char room[40];
	size_t n;

	switch (v->type) {
	case PQ_NIL:
		set_text(r, (struct pd_text){ "\xff", 1 });
		return true;
	case PQ_INT:
		r->number = is_signed ? v->u ^ UINT64_C(1) << 63 : v->u;
		return true;
	case PQ_BOOL:
		set_text(r,
			 v->u ? (struct pd_text){ "true", 4 } : (struct pd_text){ "false", 5 });
		return true;
	case PQ_EVENT:
		set_text(r, (struct pd_text){ v->event->name, strlen(v->event->name) });
		return true;
	case PQ_FLOAT:
		float_text(v->f, room, sizeof(room));
		return keep_text(report, room, sizeof(room), r);
	case PQ_CHAIN:
		text = pq_chains_text(pq_groups_chains(report->groups), (uint32_t)v->u, &n);
		return text && keep_text(report, text, n, r);
	default:
		set_text(r, (struct pd_text){ v->p, v->size });
		return true;
	}
}

/* Lists the values of a key, by owner. False: no memory. */
static bool list_key(struct pq_report *report, const struct pq_report_column *column,
		     struct ranked *list)
{
	struct pq_value value;

	for (size_t i = 0; i < report->n_owners; i++) {
		list[i] = (struct ranked){ .of = (uint32_t)i };
		pq_groups_key(report->groups, report->owners[i], column->key, &value);
		if (!rank_of_value(report, &value, column->is_signed, &list[i]))
			return false;
	}
	return true;
}

static void rank_of_symbol(const struct pq_report *report, const struct pq_report_part *part,
			   struct ranked *r)
{
	struct pd_text name = pq_report_symbol(report, part);

	if (name.p)
		set_text(r, name);
	else if (part->placed)
		r->number = part->address;
	else
		set_text(r, (struct pd_text){ PM_UNKNOWN, strlen(PM_UNKNOWN) });
	r->behind = !r->is_text || (r->size >= 2 && memcmp(r->p, "0x", 2) == 0);
}

/* By the name of a cpumode. */
static uint64_t rank_of_mode(uint8_t mode)
{
	static const uint8_t by_name[] = {
		[PD_CPUMODE_GUEST_KERNEL] = 0, [PD_CPUMODE_GUEST_USER] = 1,
		[PD_CPUMODE_HYPERVISOR] = 2,   [PD_CPUMODE_KERNEL] = 3,
		[PD_CPUMODE_UNKNOWN] = 4,      [PD_CPUMODE_USER] = 5,
	};

	return by_name[mode];
}

/* Lists what a column shows of the parts, by part. */
static void list_parts(const struct pq_report *report, enum pq_report_from from,
		       struct ranked *list)
{
	for (size_t i = 0; i < report->n_parts; i++) {
		const struct pq_report_part *part = &report->parts[i];

		list[i] = (struct ranked){ .of = (uint32_t)i };
		if (from == PQ_FROM_MODE)
			list[i].number = rank_of_mode(part->mode);
		else if (from == PQ_FROM_SYMBOL)
			rank_of_symbol(report, part, &list[i]);
		else
			set_text(&list[i], report->strings.texts[part->dso]);
	}
}

/* The ranks of the columns of which there are several values. */
struct ranks {
	struct {
		uint32_t *ranks; /* of owners, or parts */
		bool of_parts;
	} * columns; /* [n] */
	size_t n;
};

/* Makes the ranks of a column. False: no memory. */
static bool add_column(struct pq_report *report, const struct pq_report_column *column,
		       struct ranks *ranks)
{
	bool of_parts = column->from != PQ_FROM_KEY;
	size_t n = of_parts ? report->n_parts : report->n_owners;
	struct ranked *list = malloc((n + 1) * sizeof(*list));
	uint32_t *by_number = malloc((n + 1) * sizeof(*by_number));
	bool listed = list && by_number;

	if (listed && of_parts)
		list_parts(report, column->from, list);
	else if (listed)
		listed = list_key(report, column, list);
	if (listed && rank(list, n, by_number)) {
		ranks->columns[ranks->n].ranks = by_number;
		ranks->columns[ranks->n++].of_parts = of_parts;
		by_number = NULL;
	}
	free(list);
	free(by_number);
	return listed;
}

/* What a row is sorted by at first. */
struct item {
	uint64_t children;
	uint32_t event, row;
};

struct order {
	const struct pq_report *report;
	struct ranks ranks;
};

static int compare_items(const void *left, const void *right, void *arg)
{
	const struct item *a = left, *b = right;
	const struct order *order = arg;
	const struct pq_report_item *x, *y;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->children != b->children)
		return a->children > b->children ? -1 : 1;
	x = &order->report->rows[a->row];
	y = &order->report->rows[b->row];
	for (size_t i = 0; i < order->ranks.n; i++) {
		const uint32_t *ranks = order->ranks.columns[i].ranks;
		bool of_parts = order->ranks.columns[i].of_parts;
		uint32_t one = ranks[of_parts ? x->part : x->owner];
		uint32_t other = ranks[of_parts ? y->part : y->owner];

		if (one != other)
			return one < other ? -1 : 1;
	}
	return a->row < b->row ? -1 : 1; /* as they were met */
}

/* Sorts the rows by their ranks. False: no memory. */
static bool sort_rows(struct pq_report *report, struct order *order)
{
	struct item *items = malloc((report->n_rows + 1) * sizeof(*items));

	for (size_t i = 0; items && i < report->n_rows; i++) {
		const struct pd_event *event = pq_report_event(report, &report->rows[i]);

		items[i] = (struct item){
			.children = report->rows[i].children,
			.event = event ? event->number : UINT32_MAX,
			.row = (uint32_t)i,
		};
	}
	report->sorted = items ? malloc((report->n_rows + 1) * sizeof(*report->sorted)) : NULL;
	if (report->sorted) {
		qsort_r(items, report->n_rows, sizeof(*items), compare_items, order);
		for (size_t i = 0; i < report->n_rows; i++)
			report->sorted[i] = items[i].row;
	}
	free(items);
	return report->sorted;
}

/* Is there no time to sort by columns? That takes longer than all that is left to do. */
static bool is_late(const struct pq_report *report, const struct ps_interrupt *interrupt)
{
	return report->n_rows > FEW && interrupt && interrupt->flag && *interrupt->flag;
}

bool pq_report_sort(struct pq_report *report, const struct ps_interrupt *interrupt)
{
	const struct pq_report_asked *asked = report->asked;
	struct order order = { .report = report };
	size_t n;
	bool done;

	order.ranks.columns = calloc(asked->n_columns + 1, sizeof(*order.ranks.columns));
	done = order.ranks.columns;
	for (size_t k = 0; done && k < asked->n_columns && !is_late(report, interrupt); k++)
		done = add_column(report, &asked->columns[k], &order.ranks);
	n = order.ranks.n;
	if (is_late(report, interrupt))
		order.ranks.n = 0;
	done = done && sort_rows(report, &order);
	for (size_t i = 0; i < n; i++)
		free(order.ranks.columns[i].ranks);
	free(order.ranks.columns);
	return done;
}
