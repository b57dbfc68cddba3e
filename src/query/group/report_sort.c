#define _GNU_SOURCE /* qsort_r */
/*
 * Sorts the rows of a report. Their values are first replaced by small numbers: the ranks
 * within a column. Columns with one value are ignored, and most rows differ already in their
 * measures.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/outcome.h"
#include "report_internal.h"

/*
 * A value to be ranked: an integer, or a text. A value with `behind` sorts behind all others:
 * it is an address, or begins like one.
 */
struct ranked {
	union {
		uint64_t number;
		const char *p;
	};
	uint32_t of;	    /* number of the owner or part */
	uint32_t size : 29; /* bytes of the text */
	uint32_t is_text : 1, behind : 1;
};

#define MAX_TEXT ((1u << 29) - 1) /* bytes of a text that count */
#define HEX_ROOM 24
#define FEW	 10000 /* rows that are sorted by columns even after an interrupt */

/* Returns the text that a value is compared by, as in spec/support/model/report/order.lua. */
static struct pd_text as_text(const struct ranked *r, char room[HEX_ROOM])
{
	int n;

	if (r->is_text)
		return (struct pd_text){ r->p, r->size };
	n = snprintf(room, HEX_ROOM, r->behind ? "0x%016llx" : "%016llx",
		     (unsigned long long)r->number);
	return (struct pd_text){ room, (size_t)n };
}

static int compare_ranked(const void *left, const void *right, void *arg)
{
	const struct ranked *a = left, *b = right;
	struct pd_text text, other;
	char room[2][HEX_ROOM];
	int order;

	(void)arg;
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

static bool is_interrupted(const struct ps_interrupt *interrupt)
{
	return interrupt && interrupt->flag && *interrupt->flag;
}

typedef int compare_fn(const void *left, const void *right, void *arg);

/* A list of n elements of `size` bytes that is being sorted. */
struct sorting {
	size_t n, size;
	compare_fn *compare;
	void *arg;
};

/* Merges the sorted elements from..middle and middle..to of `list` into `other`. */
static void merge_runs(const struct sorting *s, const char *list, char *other, size_t from,
		       size_t middle, size_t to)
{
	const char *a = list + from * s->size, *a_end = list + middle * s->size;
	const char *b = a_end, *b_end = list + to * s->size;
	char *at = other + from * s->size;

	while (a < a_end && b < b_end) {
		const char **least = s->compare(a, b, s->arg) <= 0 ? &a : &b;

		memcpy(at, *least, s->size);
		*least += s->size;
		at += s->size;
	}
	memcpy(at, a, (size_t)(a_end - a));
	memcpy(at + (a_end - a), b, (size_t)(b_end - b));
}

/*
 * Sorts `list`. Returns PB_STOPPED, with the elements in any order, when an interrupt comes
 * while there are many, and PB_FAILED without memory.
 */
static enum pb_outcome sort_list(const struct sorting *s, char *list,
				 const struct ps_interrupt *interrupt)
{
	char *other = malloc((s->n + 1) * s->size), *from = list, *to = other;
	bool stopped = false;

	if (!other)
		return PB_FAILED;
	for (size_t i = 0; i < s->n && !stopped; i += FEW) {
		qsort_r(list + i * s->size, s->n - i < FEW ? s->n - i : FEW, s->size,
			s->compare, s->arg);
		stopped = s->n > FEW && is_interrupted(interrupt);
	}
	for (size_t run = FEW; run < s->n && !stopped; run *= 2) {
		for (size_t i = 0; i < s->n && !stopped; i += 2 * run) {
			size_t middle = i + run < s->n ? i + run : s->n;
			size_t end = middle + run < s->n ? middle + run : s->n;

			merge_runs(s, from, to, i, middle, end);
			stopped = is_interrupted(interrupt);
		}
		if (!stopped) {
			char *merged = to;

			to = from;
			from = merged;
		}
	}
	if (from != list)
		memcpy(list, from, s->n * s->size);
	free(other);
	return stopped ? PB_STOPPED : PB_OK;
}

/*
 * Sets ranks[of] to the place of each among the different ones, and *differ to whether there
 * are several. An interrupt may end it, as it may end sort_list().
 */
static enum pb_outcome rank_values(struct ranked *list, size_t n, uint32_t *ranks, bool *differ,
				   const struct ps_interrupt *interrupt)
{
	const struct sorting sorting = { n, sizeof(*list), compare_ranked, NULL };
	enum pb_outcome sorted = sort_list(&sorting, (char *)list, interrupt);
	uint32_t at = 0;

	for (size_t i = 0; i < n && sorted == PB_OK; i++) {
		if (i && compare_ranked(&list[i - 1], &list[i], NULL) != 0)
			at++;
		ranks[list[i].of] = at;
	}
	*differ = at;
	return sorted;
}

/* Writes a float as Lua shows it. */
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

/* Keeps a copy of a text. Returns false without memory. */
static bool keep_text(struct pq_report *report, const char *text, size_t n, struct ranked *r)
{
	uint32_t number = pm_string_pool_add(&report->strings,
					     (struct pd_text){ text, strnlen(text, n) });

	if (number != PM_NO_STRING)
		set_text(r, report->strings.texts[number]);
	return number != PM_NO_STRING;
}

/* Converts a key's value for ranking. Returns false without memory. */
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

/* Lists the values of a key, by owner. An interrupt may end it. */
static enum pb_outcome list_key(struct pq_report *report, const struct pq_report_column *column,
				struct ranked *list, const struct ps_interrupt *interrupt)
{
	struct pq_value value;

	for (size_t i = 0; i < report->n_owners; i++) {
		if (i % FEW == FEW - 1 && is_interrupted(interrupt))
			return PB_STOPPED;
		list[i] = (struct ranked){ .of = (uint32_t)i };
		pq_groups_key(report->groups, report->owners[i], column->key, &value);
		if (!rank_of_value(report, &value, column->is_signed, &list[i]))
			return PB_FAILED;
	}
	return PB_OK;
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

/* Ranks cpumodes by name. */
static uint64_t rank_of_mode(uint8_t mode)
{
	static const uint8_t by_name[] = {
		[PD_CPUMODE_GUEST_KERNEL] = 0, [PD_CPUMODE_GUEST_USER] = 1,
		[PD_CPUMODE_HYPERVISOR] = 2,   [PD_CPUMODE_KERNEL] = 3,
		[PD_CPUMODE_UNKNOWN] = 4,      [PD_CPUMODE_USER] = 5,
	};

	return by_name[mode];
}

/* Lists the values that a column shows of the parts, by part. */
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

/* Ranks of the columns that have several values. */
struct ranks {
	struct {
		uint32_t *ranks; /* rank of each owner, or part */
		bool of_parts;
	} * columns; /* [n] */
	size_t n;
};

/* Makes the ranks of a column. An interrupt may end it. */
static enum pb_outcome add_column(struct pq_report *report,
				  const struct pq_report_column *column, struct ranks *ranks,
				  const struct ps_interrupt *interrupt)
{
	bool of_parts = column->from != PQ_FROM_KEY;
	size_t n = of_parts ? report->n_parts : report->n_owners;
	struct ranked *list = malloc((n + 1) * sizeof(*list));
	uint32_t *by_number = malloc((n + 1) * sizeof(*by_number));
	enum pb_outcome listed = list && by_number ? PB_OK : PB_FAILED;
	bool differ = false;

	if (listed == PB_OK && of_parts)
		list_parts(report, column->from, list);
	else if (listed == PB_OK)
		listed = list_key(report, column, list, interrupt);
	if (listed == PB_OK)
		listed = rank_values(list, n, by_number, &differ, interrupt);
	if (listed == PB_OK && differ) {
		ranks->columns[ranks->n].ranks = by_number;
		ranks->columns[ranks->n++].of_parts = of_parts;
		by_number = NULL;
	}
	free(list);
	free(by_number);
	return listed;
}

/* The sort key of a row, apart from its ranks. */
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
	return a->row < b->row ? -1 : 1; /* in the order in which they were met */
}

/*
 * Sorts the first rows of items[n], which are of one event; the others follow in any order.
 * After an interrupt there is no time to sort them all.
 */
static void sort_first(struct item *items, size_t n, const struct order *order)
{
	size_t from = 0, to = n, most = n < PQ_REPORT_FIRST ? n : PQ_REPORT_FIRST;

	while (from < most && most < to) {
		struct item pivot = items[from + (to - from) / 2];
		size_t before = from, behind = to;

		/*
		 * from … before: before the pivot; before … i: equal to it; behind … to: behind
		 * it
		 */
		for (size_t i = from; i < behind;) {
			struct item item = items[i];
			int c = compare_items(&item, &pivot, (void *)order);

			if (item.row == pivot.row) {
				i++;
			} else if (c < 0) {
				items[i++] = items[before];
				items[before++] = item;
			} else {
				items[i] = items[--behind];
				items[behind] = item;
			}
		}
		if (most <= before)
			to = before;
		else
			from = behind;
	}
	qsort_r(items, most, sizeof(*items), compare_items, (void *)order);
}

/*
 * Returns the section of an event (NULL: not known) in report->sections, which has the one for
 * no event first, then one for each number of an event. Returns NULL without memory.
 */
static struct pq_report_section *open_section(struct pq_report *report, size_t *capacity,
					      const struct pd_event *event)
{
	size_t at = event ? event->number + 1 : 0, n = report->n_sections;

	if (at >= n) {
		if (!pb_reserve_more(report->sections, n, at + 1 - n, *capacity))
			return NULL;
		memset(report->sections + n, 0, (at + 1 - n) * sizeof(*report->sections));
		report->n_sections = at + 1;
	}
	report->sections[at].event = event;
	return &report->sections[at];
}

/* Puts the sections in the order of rows, and leaves out those without rows. */
static void place_sections(struct pq_report *report)
{
	struct pq_report_section *sections = report->sections, unknown = sections[0];
	size_t n = 0, from = 0;

	for (size_t i = 1; i <= report->n_sections; i++) {
		struct pq_report_section s = i < report->n_sections ? sections[i] : unknown;

		if (!s.n)
			continue;
		s.from = from;
		from += s.n;
		sections[n++] = s;
	}
	report->n_sections = n;
}

/* Lists the sort keys of the rows, and adds up their sections. Returns false without memory. */
static bool list_items(struct pq_report *report, struct item *items)
{
	size_t capacity = 0;

	if (!open_section(report, &capacity, NULL))
		return false;
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct pq_report_item *row = &report->rows[i];
		const struct pd_event *event = pq_report_event(report, row);
		struct pq_report_section *s = open_section(report, &capacity, event);

		if (!s)
			return false;
		s->n++;
		s->samples += row->samples;
		s->period = pq_report_sum(s->period, row->period);
		if (!report->parts[row->part].symbol)
			s->unresolved += row->samples;
		items[i] = (struct item){
			.children = row->children,
			.event = event ? event->number : UINT32_MAX,
			.row = (uint32_t)i,
		};
	}
	place_sections(report);
	return true;
}

/* Returns the index of the section of an event number. */
static size_t find_section(const struct pq_report *report, uint32_t event)
{
	size_t low = 0, high = report->n_sections - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct pd_event *e = report->sections[middle].event;

		if (e && e->number < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Sorts the first rows of each section, after an interrupt: see sort_first(). Returns false
 * without memory.
 */
static bool sort_sections(struct pq_report *report, struct item *items, struct order *order)
{
	struct item *placed = malloc((report->n_rows + 1) * sizeof(*placed));
	size_t *next = malloc((report->n_sections + 1) * sizeof(*next));
	bool done = placed && next;

	order->ranks.n = 0;
	for (size_t i = 0; done && i < report->n_sections; i++)
		next[i] = report->sections[i].from;
	for (size_t i = 0; done && i < report->n_rows; i++)
		placed[next[find_section(report, items[i].event)]++] = items[i];
	for (size_t i = 0; done && i < report->n_sections; i++)
		sort_first(placed + report->sections[i].from, report->sections[i].n, order);
	if (done)
		memcpy(items, placed, report->n_rows * sizeof(*placed));
	free(placed);
	free(next);
	return done;
}

/* Returns true if there is no time to sort by columns. */
static bool is_late(const struct pq_report *report, const struct ps_interrupt *interrupt)
{
	return report->n_rows > FEW && is_interrupted(interrupt);
}

/*
 * Sorts the rows by their ranks; after an interrupt, only the first. Returns false without
 * memory.
 */
static bool sort_rows(struct pq_report *report, struct order *order,
		      const struct ps_interrupt *interrupt)
{
	struct item *items = malloc((report->n_rows + 1) * sizeof(*items));
	const struct sorting sorting = { report->n_rows, sizeof(*items), compare_items, order };
	enum pb_outcome sorted = PB_FAILED;

	if (items && list_items(report, items))
		sorted = is_late(report, interrupt) ?
				 PB_STOPPED :
				 sort_list(&sorting, (char *)items, interrupt);
	if (sorted == PB_STOPPED && sort_sections(report, items, order))
		sorted = PB_OK;
	if (sorted == PB_OK)
		report->sorted = malloc((report->n_rows + 1) * sizeof(*report->sorted));
	for (size_t i = 0; report->sorted && i < report->n_rows; i++)
		report->sorted[i] = items[i].row;
	free(items);
	return report->sorted;
}

bool pq_report_sort(struct pq_report *report, const struct ps_interrupt *interrupt)
{
	const struct pq_report_asked *asked = report->asked;
	struct order order = { .report = report };
	enum pb_outcome added = PB_OK;
	bool done;
	size_t n;

	order.ranks.columns = calloc(asked->n_columns + 1, sizeof(*order.ranks.columns));
	done = order.ranks.columns;
	for (size_t k = 0; done && k < asked->n_columns && added == PB_OK; k++) {
		if (is_late(report, interrupt))
			break;
		added = add_column(report, &asked->columns[k], &order.ranks, interrupt);
		done = added != PB_FAILED;
	}
	n = order.ranks.n;
	done = done && sort_rows(report, &order, interrupt);
	for (size_t i = 0; i < n; i++)
		free(order.ranks.columns[i].ranks);
	free(order.ranks.columns);
	return done;
}
