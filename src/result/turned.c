#define _GNU_SOURCE /* qsort_r */
#include "turned.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "order.h"

#define MOST	 1000 /* columns without a limit */
#define NO_VALUE UINT32_MAX

/* Returns the problem of sums that a result's groups have. */
static enum pr_problem problem_of_sums(const struct pr_result *result)
{
	switch (pq_groups_wrong(result->groups)) {
	case PQ_RIGHT:
		return PR_FINE;
	case PQ_WRONG_AVERAGE:
		return PR_AVERAGE;
	case PQ_WRONG_WEIGHT:
	case PQ_WRONG_WEIGHTS:
		return PR_WEIGHTS;
	default:
		return PR_SUM;
	}
}

/* The values of a key, each once. */
struct values {
	struct pq_value *list; /* [n] */
	size_t n, room;
	struct pb_map map;
	struct pb_secret secret;
	const struct pq_value *wanted;
};

static bool is_value(const void *arg, uint32_t item)
{
	const struct values *values = arg;

	return pq_same(&values->list[item], values->wanted);
}

/* Adds a value, unless it is there. Returns false without memory. */
static bool add_value(struct values *values, const struct pq_value *value)
{
	uint32_t found;

	if (!pb_reserve(values->list, values->n, values->room))
		return false;
	values->wanted = value;
	found = pb_map_intern(&values->map, pq_hash(&values->secret, value), is_value, values,
			      (uint32_t)values->n);
	if (found == values->n)
		values->list[values->n++] = *value;
	return found != UINT32_MAX;
}

/* Returns the number of a value; NO_VALUE if it is not there. */
static uint32_t find_value(struct values *values, const struct pq_value *value)
{
	struct pb_slot *slot;

	values->wanted = value;
	slot = pb_map_find(&values->map, pq_hash(&values->secret, value), is_value, values);
	return slot && slot->item ? slot->item - 1 : NO_VALUE;
}

/*
 * Adds group g of `from` to `to`: without key `pivot`, or with no key but that one. Sets *at to
 * its number there. Returns false without memory.
 */
static bool add_without(struct pr_result *to, const struct pr_result *from, size_t g,
			size_t pivot, bool is_only, struct pq_value *keys,
			struct pq_state *states, size_t *at)
{
	pq_groups_key(from->groups, g, 0, &keys[0]);
	for (size_t k = 0; k < from->shape.n_keys; k++) {
		if ((k == pivot) == is_only)
			pr_key_value(from, g, k, &keys[k + 1]);
		else
			keys[k + 1].type = PQ_NIL;
	}
	for (size_t m = 0; m < from->shape.n_measures; m++)
		pq_groups_state(from->groups, g, m, &states[m]);
	return pr_put(to, keys, states, at);
}

struct turner {
	const struct pr_lines *lines;
	const struct pr_result *result;
	size_t pivot;	       /* the key */
	struct pq_value *keys; /* room for those of a group, and its section */
	struct pq_state *states;
	struct values values;
};

/*
 * Returns the groups added up by the key that is turned, and sets n_merged[] to how many are in
 * each; NULL: no memory.
 */
static struct pr_result *add_up_by_value(struct turner *t, uint32_t *n_merged)
{
	struct pr_result *sums = pr_create(&t->result->shape, t->result->stacks);
	size_t at;

	for (size_t g = 0; sums && g < pr_size(t->result); g++) {
		if (!add_without(sums, t->result, g, t->pivot, true, t->keys, t->states, &at)) {
			pr_destroy(sums);
			return NULL;
		}
		n_merged[at]++;
	}
	return sums;
}

static int compare_key_values(const void *a, const void *b, void *arg)
{
	const struct turner *t = arg;

	return pr_compare(a, b, pr_is_unsigned(t->result->shape.keys[t->pivot].kind),
			  t->result->stacks);
}

/* Puts the values in order, and numbers them by it. */
static bool order_values(struct turner *t)
{
	struct values *values = &t->values;

	if (values->n)
		qsort_r(values->list, values->n, sizeof(*values->list), compare_key_values, t);
	pb_map_clear(&values->map);
	for (size_t i = 0; i < values->n; i++)
		if (!pb_map_add(&values->map, pq_hash(&values->secret, &values->list[i]),
				(uint32_t)i))
			return false;
	return true;
}

/* Marks which sections have which values. Returns false without memory. */
static bool mark_values_of_sections(struct turner *t, const struct pr_result *sums,
				    struct pr_turned *turned)
{
	size_t n = 0, width = t->values.n + 1;

	for (size_t g = 0; g < pr_size(sums); g++)
		if (pr_section(sums, g) >= n)
			n = pr_section(sums, g) + (size_t)1;
	turned->n_sections = n;
	turned->has_value = calloc(n * width + 1, 1);
	if (!turned->has_value)
		return false;
	for (size_t g = 0; g < pr_size(sums); g++) {
		struct pq_value value;
		uint32_t at;

		pr_key_value(sums, g, t->pivot, &value);
		at = find_value(&t->values, &value);
		turned->has_value[pr_section(sums, g) * width +
				  (at == NO_VALUE ? t->values.n : at)] = 1;
	}
	return true;
}

/* Chooses the values that become columns: those of the first rows by the measure. */
static enum pr_problem choose_values(struct turner *t, struct pr_turned *turned)
{
	const struct pr_show *show = t->lines->show;
	uint32_t *n_merged = calloc(pr_size(t->result) + 1, sizeof(*n_merged));
	struct pr_result *sums = n_merged ? add_up_by_value(t, n_merged) : NULL;
	struct pr_show by_value = *show;
	struct pr_lines lines = { 0 };
	uint32_t *rows = NULL;
	size_t n = sums ? pr_size(sums) : 0;
	enum pr_problem problem = sums ? problem_of_sums(sums) : PR_NO_MEMORY;
	bool ok = problem == PR_FINE;

	by_value.top = show->n_pivot;
	by_value.per = PR_NONE;
	by_value.n_ties = 0;
	by_value.ascending = false;
	if (show->by != PR_NONE && !show->columns[show->by].shown.is_measured)
		by_value.by = PR_NONE;
	ok = ok && pr_lines_init(&lines, sums, &by_value) &&
	     (rows = malloc((n + 1) * sizeof(*rows))) != NULL;
	for (size_t i = 0; ok && i < n; i++)
		rows[i] = (uint32_t)i;
	lines.n_merged = n_merged;
	lines.totals = t->lines->totals;
	lines.n_totals = t->lines->n_totals;
	ok = ok && pr_order_rows(&lines, rows, &n);
	for (size_t i = 0; ok && i < n; i++) {
		struct pq_value value;

		pr_key_value(sums, rows[i], t->pivot, &value);
		if (find_value(&t->values, &value) != NO_VALUE)
			continue;
		/* texts are those of the sums, which go */
		if (value.type == PQ_TEXT)
			value.p = pb_arena_text(&turned->texts, value.p, value.size);
		ok = (value.type != PQ_TEXT || value.p) && add_value(&t->values, &value);
	}
	ok = ok && order_values(t) && mark_values_of_sections(t, sums, turned);
	pr_lines_deinit(&lines);
	free(rows);
	free(n_merged);
	pr_destroy(sums);
	turned->values = t->values.list;
	turned->n_values = t->values.n;
	return problem != PR_FINE ? problem : ok ? PR_FINE : PR_NO_MEMORY;
}

/* Returns how many columns the widest section has. */
static size_t count_widest(const struct pr_turned *turned)
{
	size_t widest = 0;

	for (size_t s = 0; s < turned->n_sections; s++) {
		size_t n = 0;

		for (size_t i = 0; i < turned->n_values; i++)
			n += turned->has_value[s * (turned->n_values + 1) + i];
		widest = n > widest ? n : widest;
	}
	return widest;
}

/* Adds a group to the others of its row. */
static bool add_other(struct turner *t, struct pr_turned *turned, size_t g, size_t row)
{
	size_t at;

	if (!add_without(turned->others, t->result, g, t->pivot, false, t->keys, t->states,
			 &at))
		return false;
	turned->other_of[row] = (uint32_t)at + 1;
	turned->n_others[at]++;
	return true;
}

/* Adds the groups up to rows, and notes the cells of each. */
static bool make_rows(struct turner *t, struct pr_turned *turned)
{
	size_t n = pr_size(t->result), n_rows, *row_of = malloc((n + 1) * sizeof(*row_of));
	bool ok = row_of != NULL;

	for (size_t g = 0; ok && g < n; g++)
		ok = add_without(turned->rows, t->result, g, t->pivot, false, t->keys,
				 t->states, &row_of[g]);
	n_rows = pr_size(turned->rows);
	turned->starts = calloc(n_rows + 2, sizeof(*turned->starts));
	turned->other_of = calloc(n_rows + 1, sizeof(*turned->other_of));
	turned->n_others = calloc(n_rows + 1, sizeof(*turned->n_others));
	turned->n_merged = calloc(n_rows + 1, sizeof(*turned->n_merged));
	turned->entries = malloc((n + 1) * sizeof(*turned->entries));
	turned->group_of = calloc(turned->n_values + 1, sizeof(*turned->group_of));
	turned->row = SIZE_MAX;
	ok = ok && turned->group_of && turned->starts && turned->other_of && turned->n_others &&
	     turned->n_merged && turned->entries;
	for (size_t g = 0; ok && g < n; g++) {
		turned->starts[row_of[g] + 2]++;
		turned->n_merged[row_of[g]]++;
	}
	for (size_t r = 0; ok && r < n_rows; r++)
		turned->starts[r + 2] += turned->starts[r + 1];
	for (size_t g = 0; ok && g < n; g++) {
		struct pq_value value;
		uint32_t at;

		pr_key_value(t->result, g, t->pivot, &value);
		at = find_value(&t->values, &value);
		turned->entries[turned->starts[row_of[g] + 1]++] = (struct pr_turned_entry){
			(uint32_t)g, at
		};
		if (at == NO_VALUE)
			ok = add_other(t, turned, g, row_of[g]);
	}
	free(row_of);
	return ok;
}

enum pr_problem pr_turn(struct pr_turned *turned, size_t *n)
{
	const struct pr_lines *lines = &turned->cells;
	const struct pr_result *result = lines->result;
	const struct pr_show *show = lines->show;
	struct turner t = {
		.lines = lines,
		.result = result,
		.pivot = show->columns[show->pivot].at,
		.keys = calloc(result->shape.n_keys + 1, sizeof(*t.keys)),
		.states = calloc(result->shape.n_measures + 1, sizeof(*t.states)),
	};
	enum pr_problem problem = PR_NO_MEMORY;

	pb_secret_make(&t.values.secret);
	turned->rows = pr_create(&result->shape, result->stacks);
	turned->others = pr_create(&result->shape, result->stacks);
	if (t.keys && t.states && turned->rows && turned->others)
		problem = choose_values(&t, turned);
	*n = problem == PR_FINE ? count_widest(turned) : 0;
	if (show->n_pivot == PR_NONE && *n > MOST)
		problem = PR_TOO_WIDE;
	if (problem == PR_FINE && !make_rows(&t, turned))
		problem = PR_NO_MEMORY;
	if (problem == PR_FINE)
		problem = problem_of_sums(turned->rows);
	if (problem == PR_FINE)
		problem = problem_of_sums(turned->others);
	if (problem == PR_FINE && !pr_lines_init(&turned->other_cells, turned->others, show))
		problem = PR_NO_MEMORY;
	turned->other_cells.n_merged = turned->n_others;
	turned->other_cells.totals = lines->totals;
	turned->other_cells.n_totals = lines->n_totals;
	pb_map_deinit(&t.values.map);
	free(t.keys);
	free(t.states);
	return problem;
}

void pr_turned_deinit(struct pr_turned *turned)
{
	pr_lines_deinit(&turned->cells);
	pr_lines_deinit(&turned->other_cells);
	pr_destroy(turned->rows);
	pr_destroy(turned->others);
	pb_arena_deinit(&turned->texts);
	free(turned->values);
	free(turned->has_value);
	free(turned->n_others);
	free(turned->n_merged);
	free(turned->other_of);
	free(turned->starts);
	free(turned->entries);
	free(turned->group_of);
	*turned = (struct pr_turned){ 0 };
}

/* Sets turned->group_of to the groups of row r. */
static void enter_row(struct pr_turned *turned, size_t r)
{
	if (turned->row == r)
		return;
	memset(turned->group_of, 0, turned->n_values * sizeof(*turned->group_of));
	for (size_t i = turned->starts[r]; i < turned->starts[r + 1]; i++)
		if (turned->entries[i].value != NO_VALUE)
			turned->group_of[turned->entries[i].value] = turned->entries[i].g + 1;
	turned->row = r;
}

const struct pq_value *pr_turned_cells(struct pr_turned *turned, size_t r, size_t value)
{
	struct pr_lines *lines = &turned->cells;
	size_t g = SIZE_MAX;

	if (value == turned->n_values) {
		if (!turned->other_of[r])
			return NULL;
		lines = &turned->other_cells;
		g = turned->other_of[r] - 1;
	} else {
		enter_row(turned, r);
		if (turned->group_of[value])
			g = turned->group_of[value] - 1;
	}
	if (g == SIZE_MAX)
		return NULL;
	pr_lines_make(lines, g);
	return lines->cells;
}
