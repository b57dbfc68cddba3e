#define _GNU_SOURCE /* qsort_r */

#include "levels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/vector.h"
#include "machine/machine.h"
#include "perfdata/format/print_scalar.h"
#include "result/writer.h"

#define INDENT 3 /* blanks of a level, as in perf */
#define GAP    2 /* blanks between columns */

/* A row of some level; the root stands above the first one. */
struct node {
	uint32_t parent, text;
	uint32_t first, n; /* of those below it, in levels->order */
	size_t row;	   /* number of a row that was added, on the last level */
};

union sum {
	uint64_t u;
	double f;
};

struct px_levels {
	struct px_report_column *columns; /* [n_columns] */
	size_t n_columns;
	struct px_level_measure *measures; /* [n_measures] */
	size_t n_measures;
	struct node *nodes; /* [n], a parent before those below it */
	size_t n, room;
	union sum *sums; /* [n * n_measures] */
	size_t sums_room;
	uint32_t *order; /* [n]: nodes below each node side by side */
	struct pb_map by_text;
	struct pb_secret secret;
	struct pm_string_pool texts;
};

struct px_levels *px_levels_create(const struct px_report_column *columns, size_t n_columns,
				   const struct px_level_measure *measures, size_t n_measures)
{
	struct px_levels *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->columns = malloc((n_columns + 1) * sizeof(*l->columns));
	l->measures = malloc((n_measures + 1) * sizeof(*l->measures));
	if (!l->columns || !l->measures || !pb_reserve(l->nodes, 0, l->room) ||
	    !pb_reserve_more(l->sums, 0, n_measures + 1, l->sums_room)) {
		px_levels_destroy(l);
		return NULL;
	}
	memcpy(l->columns, columns, n_columns * sizeof(*columns));
	memcpy(l->measures, measures, n_measures * sizeof(*measures));
	memset(l->sums, 0, n_measures * sizeof(*l->sums));
	l->n_columns = n_columns;
	l->n_measures = n_measures;
	l->nodes[l->n++] = (struct node){ 0 };
	pb_secret_make(&l->secret);
	return l;
}

void px_levels_destroy(struct px_levels *l)
{
	if (!l)
		return;
	free(l->columns);
	free(l->measures);
	free(l->nodes);
	free(l->sums);
	free(l->order);
	pb_map_deinit(&l->by_text);
	pm_string_pool_deinit(&l->texts);
	free(l);
}

size_t px_levels_room(const struct px_levels *l, size_t column)
{
	return l->columns[column].room;
}

/* Returns true if a node has the parent and text of the new one, which lies after the last. */
static bool is_new_node(const void *arg, uint32_t item)
{
	const struct px_levels *l = arg;
	const struct node *a = &l->nodes[item], *b = &l->nodes[l->n];

	return a->parent == b->parent && a->text == b->text;
}

/* Returns the node below another that has a text, added if it is new; 0: no memory. */
static uint32_t find_below(struct px_levels *l, uint32_t parent, struct pd_text text)
{
	uint32_t number = pm_string_pool_add(&l->texts, text), found;

	if (number == PM_NO_STRING || l->n >= UINT32_MAX - 1 ||
	    !pb_reserve(l->nodes, l->n, l->room) ||
	    !pb_reserve_more(l->sums, l->n * l->n_measures, l->n_measures + 1, l->sums_room))
		return 0;
	l->nodes[l->n] = (struct node){ .parent = parent, .text = number };
	found = pb_map_intern(&l->by_text, pb_hash_pair(&l->secret, parent, number),
			      is_new_node, l, (uint32_t)l->n);
	if (found == l->n)
		memset(l->sums + l->n++ * l->n_measures, 0, l->n_measures * sizeof(*l->sums));
	return found == UINT32_MAX ? 0 : found;
}

/* Adds the measures of the row that was entered to the nodes from `node` up. */
static void add_measures(struct px_levels *l, const struct pq_value *row, uint32_t node)
{
	for (; node; node = l->nodes[node].parent) {
		union sum *sums = l->sums + node * l->n_measures;

		for (size_t m = 0; m < l->n_measures; m++) {
			const struct pq_value *cell = &row[l->measures[m].at];

			if (cell->type == PQ_FLOAT && l->measures[m].is_share)
				sums[m].f += cell->f;
			else if (cell->type == PQ_INT && l->measures[m].is_share)
				sums[m].f += (double)cell->i;
			else if (cell->type == PQ_INT)
				sums[m].u += cell->u;
		}
	}
}

bool px_levels_add(struct px_levels *l, const struct pr_source *rows, size_t first)
{
	const struct px_report report = { .columns = l->columns,
					  .n_columns = l->n_columns,
					  .rows = rows };
	struct px_cells cells;
	bool ok = px_cells_init(&cells, &report);

	for (size_t i = 0; ok && i < rows->n_rows; i++) {
		uint32_t node = 0;

		rows->row(rows->arg, i, cells.row);
		for (size_t c = 0; ok && c < l->n_columns; c++) {
			struct px_cell cell = px_cell_text(&cells, &l->columns[c]);

			if (cell.width > l->columns[c].room)
				l->columns[c].room = cell.width;
			node = find_below(l, node, cell.text);
			ok = node;
		}
		l->nodes[node].row = first + i;
		add_measures(l, cells.row, node);
	}
	return px_cells_deinit(&cells) && ok;
}

/* Puts the nodes below each node side by side. Returns false without memory. */
static bool put_in_order(struct px_levels *l)
{
	uint32_t at = 0;

	free(l->order);
	l->order = malloc(l->n * sizeof(*l->order));
	for (size_t i = 0; l->order && i < l->n; i++)
		l->nodes[i].n = 0;
	for (size_t i = 1; l->order && i < l->n; i++)
		l->nodes[l->nodes[i].parent].n++;
	for (size_t i = 0; l->order && i < l->n; i++) {
		l->nodes[i].first = at;
		at += l->nodes[i].n;
		l->nodes[i].n = 0;
	}
	for (uint32_t i = 1; l->order && i < l->n; i++) {
		struct node *parent = &l->nodes[l->nodes[i].parent];

		l->order[parent->first + parent->n++] = i;
	}
	return l->order;
}

/* Levels that are written. */
struct writing {
	struct px_levels *levels;
	const struct px_levels_how *how;
	struct pd_print *out;
	size_t before,
		margin; /* terminal columns of all measures, and between them and texts */
};

static double sum_of(const struct px_levels *l, uint32_t node, size_t measure)
{
	union sum sum = l->sums[node * l->n_measures + measure];

	return l->measures[measure].is_share ? sum.f : (double)sum.u;
}

/* Compares nodes by the measures that are asked for; equal ones stay in their order. */
static int compare_nodes(const void *left, const void *right, void *arg)
{
	const struct writing *w = arg;
	const struct px_levels *l = w->levels;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	for (size_t i = 0; i < w->how->n_order; i++) {
		size_t m = w->how->order[i];
		union sum x = l->sums[a * l->n_measures + m],
			  y = l->sums[b * l->n_measures + m];
		int order = l->measures[m].is_share ? (x.f < y.f) - (x.f > y.f) :
						      (x.u < y.u) - (x.u > y.u);

		if (order)
			return order;
	}
	return (a > b) - (a < b);
}

/* Prints the cells of a node's measures. */
static void print_measures(struct writing *w, uint32_t node)
{
	const struct px_levels *l = w->levels;

	for (size_t m = 0; m < l->n_measures; m++) {
		const struct px_level_measure *measure = &l->measures[m];
		double sum = sum_of(l, node, m), total = measure->total;
		size_t room = measure->room + (measure->is_joined ? 0 : GAP), n;
		double share = measure->is_share ? sum : total > 0 ? 100 * sum / total : 0;
		bool is_colored = w->how->is_colored && !measure->is_number;
		char text[PX_NUMBER_TEXT];

		if (measure->is_number)
			n = (size_t)snprintf(text, sizeof(text), "%" PRIu64,
					     l->sums[node * l->n_measures + m].u);
		else
			n = (size_t)snprintf(text, sizeof(text), "%.2f%%", share);
		px_print_blanks(w->out, room > n ? room - n : 0);
		pr_print_colored(w->out, is_colored ? pr_share_color(share) : NULL,
				 (struct pd_text){ text, n });
	}
}

static void print_node(struct writing *w, uint32_t number, size_t level)
{
	const struct node *node = &w->levels->nodes[number];
	struct pd_text text = w->levels->texts.texts[node->text];

	px_print_blanks(w->out, level * INDENT);
	print_measures(w, number);
	px_print_blanks(w->out, w->margin);
	pd_print_bytes(w->out, text.p, text.n);
	pd_print_char(w->out, '\n');
	if (level + 1 == w->levels->n_columns && w->how->after_row)
		w->how->after_row(w->how->arg, node->row, w->out);
}

/* Writes the nodes below a node that weigh enough, and what is below them. */
static void write_below(struct writing *w, uint32_t above, size_t level)
{
	struct px_levels *l = w->levels;
	const struct node *parent = &l->nodes[above];
	uint32_t *nodes = l->order + parent->first;
	bool is_empty = true;

	qsort_r(nodes, parent->n, sizeof(*nodes), compare_nodes, w);
	for (uint32_t i = 0; i < parent->n; i++) {
		double sum = sum_of(l, nodes[i], w->how->limited);

		if (w->how->total <= 0 || 100 * sum / w->how->total < w->how->limit)
			continue;
		is_empty = false;
		print_node(w, nodes[i], level);
		if (level + 1 < l->n_columns)
			write_below(w, nodes[i], level + 1);
	}
	if (is_empty && level) {
		px_print_blanks(w->out, level * INDENT + w->before + w->margin);
		pd_print_const(w->out, "no entry >= ");
		w->out->n += (size_t)snprintf(pd_print_room(w->out, PX_NUMBER_TEXT),
					      PX_NUMBER_TEXT, "%.2f%%\n", w->how->limit);
	}
}

bool px_levels_write(struct px_levels *l, const struct px_levels_how *how, struct pd_print *out)
{
	struct writing w = {
		.levels = l, .how = how, .out = out, .margin = GAP + (l->n_columns - 1) * INDENT
	};

	for (size_t m = 0; m < l->n_measures; m++)
		w.before += l->measures[m].room + (l->measures[m].is_joined ? 0 : GAP);
	if (!put_in_order(l))
		return false;
	write_below(&w, 0, 0);
	return true;
}
