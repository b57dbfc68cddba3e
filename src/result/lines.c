#include "lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "base/wide.h"
#include "order.h"
#include "writer.h"

/* Returns true if something is computed of the cells of rows. */
static bool needs_fields(const struct pr_show *show)
{
	bool needs = show->n_conditions > 0;

	for (size_t i = 0; i < show->n_columns; i++)
		needs = needs || show->columns[i].role == PR_OF_EXPRESSION;
	return needs;
}

bool pr_lines_init(struct pr_lines *lines, const struct pr_result *result,
		   const struct pr_show *show)
{
	*lines = (struct pr_lines){ .result = result, .show = show };
	lines->exprs = calloc(show->n_columns + 1, sizeof(struct pq_expr *));
	lines->conditions = calloc(show->n_conditions + 1, sizeof(struct pq_expr *));
	lines->cells = calloc(show->n_columns + 1, sizeof(*lines->cells));
	lines->last_totals = calloc(result->shape.n_measures + 1, sizeof(*lines->last_totals));
	if (!lines->exprs || !lines->conditions || !lines->cells || !lines->last_totals)
		return false;
	if (needs_fields(show) && !pq_fields_init(&lines->fields, NULL, NULL))
		return false;
	for (size_t i = 0; i < show->n_columns; i++) {
		if (show->columns[i].role != PR_OF_EXPRESSION)
			continue;
		lines->exprs[i] = pq_expr_create(show->columns[i].node, &lines->fields);
		if (!lines->exprs[i])
			return false;
	}
	for (size_t i = 0; i < show->n_conditions; i++) {
		lines->conditions[i] = pq_expr_create(show->conditions[i], &lines->fields);
		if (!lines->conditions[i])
			return false;
	}
	return true;
}

void pr_lines_deinit(struct pr_lines *lines)
{
	for (size_t i = 0; lines->exprs && i < lines->show->n_columns; i++)
		pq_expr_destroy(lines->exprs[i]);
	for (size_t i = 0; lines->conditions && i < lines->show->n_conditions; i++)
		pq_expr_destroy(lines->conditions[i]);
	free(lines->exprs);
	free(lines->conditions);
	free(lines->cells);
	free(lines->last_totals);
	if (lines->fields.internal)
		pq_fields_deinit(&lines->fields);
	*lines = (struct pr_lines){ 0 };
}

/* Returns the number of the key that is the event; PR_NONE: sections are events. */
static size_t find_event_key(const struct pr_shape *shape)
{
	size_t k = 0;

	while (k < shape->n_keys && !shape->keys[k].is_event)
		k++;
	return k < shape->n_keys ? k : PR_NONE;
}

/* Sets *whole to what a group's shares are of: the event's name, or the section. */
static void find_whole(const struct pr_result *result, size_t g, size_t event_key,
		       struct pq_value *whole)
{
	if (event_key == PR_NONE)
		*whole = (struct pq_value){ .type = PQ_INT, .u = pr_section(result, g) };
	else
		pr_key_value(result, g, event_key, whole);
	if (whole->type == PQ_NIL)
		*whole = (struct pq_value){ .type = PQ_INT };
}

/* The exact sum of a measure in one section, of integers and of floats. */
struct exact_sum {
	size_t measure;
	struct pq_value whole;
	struct pb_wide integers;
	double floats;
};

struct exact_sums {
	struct exact_sum *list; /* [n] */
	size_t n, room;
};

/* Returns the sum that a group belongs to, which `last` most often is; NULL: no memory. */
static struct exact_sum *find_sum(struct exact_sums *sums, size_t measure,
				  const struct pq_value *whole, size_t *last)
{
	struct exact_sum *sum = sums->n ? &sums->list[*last] : NULL;

	if (sum && sum->measure == measure && pq_same(&sum->whole, whole))
		return sum;
	for (*last = 0; *last < sums->n; ++*last) {
		sum = &sums->list[*last];
		if (sum->measure == measure && pq_same(&sum->whole, whole))
			return sum;
	}
	if (!pb_reserve(sums->list, sums->n, sums->room))
		return NULL;
	sum = &sums->list[sums->n++];
	*sum = (struct exact_sum){ .measure = measure, .whole = *whole };
	return sum;
}

static bool add_to_sums(const struct pr_result *result, size_t m, size_t event_key,
			struct exact_sums *sums)
{
	size_t last = 0;

	for (size_t g = 0; g < pr_size(result); g++) {
		struct exact_sum *sum;
		struct pq_value whole;
		struct pq_state state;

		find_whole(result, g, event_key, &whole);
		sum = find_sum(sums, m, &whole, &last);
		if (!sum)
			return false;
		pq_groups_state(result->groups, g, m, &state);
		if (state.value.type == PQ_INT)
			pb_wide_add(&sum->integers, pb_wide_from(state.value.i, false));
		else if (state.value.type == PQ_FLOAT)
			sum->floats += state.value.f;
	}
	return true;
}

bool pr_sum_totals(const struct pr_result *result, struct pr_total **totals, size_t *n)
{
	const struct pr_shape *shape = &result->shape;
	size_t event_key = find_event_key(shape);
	struct exact_sums sums = { 0 };
	bool ok = true;

	for (size_t m = 0; ok && m < shape->n_measures; m++)
		if (shape->measures[m].measure == PQ_M_SHARE)
			ok = add_to_sums(result, m, event_key, &sums);
	*n = sums.n;
	*totals = ok ? calloc(sums.n + 1, sizeof(**totals)) : NULL;
	for (size_t i = 0; *totals && i < sums.n; i++) {
		const struct exact_sum *sum = &sums.list[i];

		(*totals)[i] = (struct pr_total){
			sum->measure, sum->whole, sum->floats + pb_wide_to_double(sum->integers)
		};
	}
	free(sums.list);
	return *totals != NULL;
}

/* Returns the sum that a group's share is of, mostly the one found last or the next. */
static double find_total(struct pr_lines *lines, size_t g, size_t m)
{
	size_t *last = &lines->last_totals[m];
	struct pq_value whole;

	find_whole(lines->result, g, find_event_key(&lines->result->shape), &whole);
	for (size_t i = 0; i < lines->n_totals; i++) {
		const struct pr_total *total = &lines->totals[*last];

		if (total->measure == m && pq_same(&total->whole, &whole))
			return total->sum;
		*last = (*last + 1) % lines->n_totals;
	}
	return 0;
}

/* Sets *out to what a column shows of a measure. */
static void show_measure(struct pr_lines *lines, const struct pr_view_column *column, size_t g,
			 struct pq_value *out)
{
	size_t m = column->at;
	const struct pq_measure *measure = &lines->result->grouping.measures[m];
	const struct pq_measure_row *row = pq_measure_row(column->is_share ? PQ_M_SHARE :
									     measure->kind);
	struct pq_shown how = { .kind = measure->value->kind, .share = column->share };
	struct pq_state state;

	if (measure->kind == PQ_M_SHARE || column->is_share)
		how.total = find_total(lines, g, m);
	pq_groups_state(lines->result->groups, g, m, &state);
	pq_show_state(row, &how, &state, out);
	if (column->is_share && out->type == PQ_NIL)
		*out = (struct pq_value){ .type = PQ_FLOAT };
	if (row->is_single && lines->n_merged && lines->n_merged[g] > 1)
		out->type = PQ_NIL;
}

/* Sets *out to a column of a key or of a measure. */
static void show_stored(struct pr_lines *lines, size_t g, const struct pr_view_column *column,
			struct pq_value *out)
{
	if (column->role == PR_OF_KEY) {
		pr_key_value(lines->result, g, column->at, out);
		if (out->type == PQ_FLOAT)
			pq_unify(out, lines->result->grouping.keys[column->at + 1].value->kind);
	} else {
		show_measure(lines, column, g, out);
	}
}

/* Makes lines->cells the row that expressions read. Returns false without memory. */
static bool enter_cells(struct pr_lines *lines)
{
	if (!pq_fields_enter_row(&lines->fields, lines->cells, lines->show->n_columns, NULL))
		lines->fields.failed = true;
	return !lines->fields.failed;
}

/* Computes the expressions of lines->cells; without memory they are absent. */
static void compute_cells(struct pr_lines *lines)
{
	bool is_entered = false;

	for (size_t i = 0; i < lines->show->n_columns; i++) {
		if (!lines->exprs[i])
			continue;
		if (!is_entered && !enter_cells(lines))
			return;
		is_entered = true;
		pq_expr_value(lines->exprs[i], &lines->fields, &lines->cells[i]);
	}
}

void pr_lines_make(struct pr_lines *lines, size_t g)
{
	for (size_t i = 0; i < lines->show->n_columns; i++) {
		const struct pr_view_column *column = &lines->show->columns[i];

		lines->cells[i].type = PQ_NIL;
		if (column->role == PR_OF_KEY || column->role == PR_OF_MEASURE)
			show_stored(lines, g, column, &lines->cells[i]);
	}
	compute_cells(lines);
	if (lines->adjust)
		lines->adjust(lines->arg, g);
}

bool pr_lines_meet(struct pr_lines *lines)
{
	if (!lines->show->n_conditions)
		return true;
	if (!enter_cells(lines))
		return false;
	for (size_t i = 0; i < lines->show->n_conditions; i++) {
		struct pq_value value;

		pq_expr_value(lines->conditions[i], &lines->fields, &value);
		if (value.type == PQ_NIL || (value.type == PQ_BOOL && !value.u))
			return false;
	}
	return true;
}

void pr_lines_value(struct pr_lines *lines, size_t g, size_t column, struct pq_value *out)
{
	const struct pr_view_column *shown = &lines->show->columns[column];

	if (shown->role == PR_OF_EXPRESSION || lines->adjust) {
		pr_lines_make(lines, g);
		*out = lines->cells[column];
	} else {
		show_stored(lines, g, shown, out);
	}
}
