#define _GNU_SOURCE /* qsort_r */
/*
 * Sorts the rows of a report. Their values are first replaced by small numbers: the ranks
 * within a column, of which as many as fit are one number. Columns with one value are ignored.
 */
#include <stdlib.h>

#include "report_rank.h"

/* The sort key of a row. Rows and ranks lie elsewhere in memory, so few are looked at. */
struct item {
	uint64_t children;
	uint64_t columns; /* its ranks in the first columns, as one number */
	uint32_t event, row;
};

struct order {
	const struct pq_report *report;
	struct pq_ranks ranks;
	size_t n_first; /* columns whose ranks fit the number */
};

static uint32_t rank_of_row(const struct order *order, size_t column,
			    const struct pq_report_item *row)
{
	bool of_parts = order->ranks.columns[column].of_parts;

	return order->ranks.columns[column].ranks[of_parts ? row->part : row->owner];
}

static int compare_items(const void *left, const void *right, void *arg)
{
	const struct item *a = left, *b = right;
	const struct order *order = arg;
	const struct pq_report_item *x, *y;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->children != b->children)
		return a->children > b->children ? -1 : 1;
	if (a->columns != b->columns)
		return a->columns < b->columns ? -1 : 1;
	x = &order->report->rows[a->row];
	y = &order->report->rows[b->row];
	for (size_t i = order->n_first; i < order->ranks.n; i++) {
		uint32_t one = rank_of_row(order, i, x), other = rank_of_row(order, i, y);

		if (one != other)
			return one < other ? -1 : 1;
	}
	return a->row < b->row ? -1 : 1; /* in the order in which they were met */
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

/* Sets order->n_first. */
static void count_first(struct order *order)
{
	const struct pq_ranks *ranks = &order->ranks;
	uint64_t numbers = 1;

	while (order->n_first < ranks->n &&
	       numbers <= UINT64_MAX / ranks->columns[order->n_first].n)
		numbers *= ranks->columns[order->n_first++].n;
}

static uint64_t number_columns(const struct order *order, const struct pq_report_item *row)
{
	uint64_t number = 0;

	for (size_t i = 0; i < order->n_first; i++)
		number = number * order->ranks.columns[i].n + rank_of_row(order, i, row);
	return number;
}

/* Frees the ranks that the sort keys have. */
static void free_first(struct order *order)
{
	for (size_t i = 0; i < order->n_first; i++) {
		free(order->ranks.columns[i].ranks);
		order->ranks.columns[i].ranks = NULL;
	}
}

/* Lists the sort keys of the rows, and adds up their sections. Returns false without memory. */
static bool list_items(struct pq_report *report, struct order *order, struct item *items)
{
	size_t capacity = 0;

	count_first(order);
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
		if (!report->parts[row->part].named)
			s->unresolved += row->samples;
		items[i] = (struct item){
			.children = row->children,
			.columns = number_columns(order, row),
			.event = event ? event->number : UINT32_MAX,
			.row = (uint32_t)i,
		};
	}
	free_first(order);
	place_sections(report);
	return true;
}

#define ROWS_AHEAD 32 /* of which the memory is asked for before it is used */

/*
 * Copies the rows and their parts to the order of `numbers`, once: they lie all over the
 * memory. Returns false without memory.
 */
static bool place_rows(struct pq_report *report, const uint32_t *numbers)
{
	const struct pq_report_item *rows = report->rows;
	const struct pq_report_part *parts = report->parts;
	struct pq_report_shown *shown = malloc((report->n_rows + 1) * sizeof(*shown));

	for (size_t i = 0; shown && i < report->n_rows; i++) {
		const struct pq_report_item *row = &rows[numbers[i]];

		if (i + ROWS_AHEAD < report->n_rows) {
			const struct pq_report_item *next = &rows[numbers[i + ROWS_AHEAD]];

			__builtin_prefetch(next);
			__builtin_prefetch(&next->children); /* perhaps in the next line */
			next = &rows[numbers[i + ROWS_AHEAD / 2]];
			__builtin_prefetch(&parts[next->part]);
		}
		shown[i] = (struct pq_report_shown){
			.part = parts[row->part],
			.group = report->owners[row->owner],
			.samples = row->samples,
			.period = row->period,
			.children = row->children,
		};
	}
	report->shown = shown;
	return shown;
}

/* Sorts the rows by their ranks. Returns false without memory. */
static bool sort_rows(struct pq_report *report, struct order *order)
{
	struct item *items = malloc((report->n_rows + 1) * sizeof(*items));
	uint32_t *numbers = NULL;
	bool placed;

	if (items && list_items(report, order, items)) {
		qsort_r(items, report->n_rows, sizeof(*items), compare_items, order);
		numbers = malloc((report->n_rows + 1) * sizeof(*numbers));
	}
	for (size_t i = 0; numbers && i < report->n_rows; i++)
		numbers[i] = items[i].row;
	free(items);
	placed = numbers && place_rows(report, numbers);
	free(numbers);
	return placed;
}

bool pq_report_sort(struct pq_report *report)
{
	const struct pq_report_asked *asked = report->asked;
	struct order order = { .report = report };
	bool done;
	size_t n;

	order.ranks.columns = calloc(asked->n_columns + 1, sizeof(*order.ranks.columns));
	done = order.ranks.columns;
	for (size_t k = 0; done && k < asked->n_columns; k++)
		done = pq_ranks_add(report, &asked->columns[k], &order.ranks);
	n = order.ranks.n;
	done = done && sort_rows(report, &order);
	for (size_t i = 0; i < n; i++)
		free(order.ranks.columns[i].ranks);
	free(order.ranks.columns);
	free(report->rows);
	report->rows = NULL;
	free(report->parts);
	report->parts = NULL;
	return done;
}
