/* Rows of call stacks, added up by what the stacks begin with. */
#include "compare_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* The rows of stacks, and those of their beginnings, which replace them. */
struct adding_up {
	struct pc_comparison *c;
	struct pr_result *rows;
	uint8_t *has;	   /* [n * n_runs] */
	uint32_t *parents; /* [n] */
	uint32_t *ends;	   /* [rows of c]: the beginning that is all of a stack */
	bool *is_rare;	   /* [n]: has so few samples that its errors do not matter */
	size_t n_has, n_parents;
	struct slice_cells cells[PC_SIDES];
	size_t *starts[PC_SIDES]; /* pc_index_cells() of the stacks */
	struct pq_state *states;
	struct pq_value *keys;
};

/*
 * Adds a stack to one of its beginnings: the row of a frame below that of its caller, *node,
 * which it becomes.
 */
static bool add_beginning(struct adding_up *a, size_t row, struct pd_text frame, uint32_t *node)
{
	const struct pc_comparison *c = a->c;
	uint32_t caller = *node;
	struct pq_value keys[] = {
		{ .type = PQ_INT, .u = pr_section(c->rows, row) },
		{ .type = PQ_INT, .u = caller == PC_NO_CALLER ? 0 : (uint64_t)caller + 1 },
		{ .type = PQ_TEXT, .p = frame.p, .size = (uint32_t)frame.n },
		{ .type = PQ_NIL },
	};
	size_t to, n = pr_size(a->rows);

	if (!pr_put(a->rows, keys, a->states, &to) || to >= PC_NO_CALLER)
		return false;
	if (to >= a->n_parents && !pb_extend(a->parents, a->n_parents, 2 * to + 64))
		return false;
	if ((to + 1) * c->n_runs > a->n_has &&
	    !pb_extend(a->has, a->n_has, (2 * to + 64) * c->n_runs))
		return false;
	if (to == n) /* it is new */
		a->parents[to] = caller;
	for (size_t r = 0; r < c->n_runs; r++)
		a->has[to * c->n_runs + r] |= c->has[row * c->n_runs + r];
	*node = (uint32_t)to;
	return true;
}

/* Adds a stack to all its beginnings, of which the first one is empty. */
static bool add_stack(struct adding_up *a, size_t row, struct pd_text path)
{
	uint32_t *node = &a->ends[row];
	size_t from = 0;

	for (size_t m = 0; m < a->c->rows->shape.n_measures; m++)
		pq_groups_state(a->c->rows->groups, row, m, &a->states[m]);
	*node = PC_NO_CALLER;
	if (!add_beginning(a, row, (struct pd_text){ path.p, 0 }, node))
		return false;
	for (size_t n = 1; n <= path.n; n++) {
		if (n < path.n && path.p[n] != ';')
			continue;
		if (!add_beginning(a, row, (struct pd_text){ path.p + from, n - from }, node))
			return false;
		from = n + 1;
	}
	return true;
}

/* Sets a->is_rare. */
static void find_rare(struct adding_up *a)
{
	const struct pc_comparison *c = a->c;
	bool has_counts = true;

	for (size_t r = 0; r < c->n_runs; r++)
		has_counts = has_counts && c->runs[r].has_count;
	for (size_t node = 0; has_counts && node < pr_size(a->rows); node++) {
		struct pq_state before, after;

		pq_groups_state(a->rows->groups, node, samples_measure(c, PC_BEFORE), &before);
		pq_groups_state(a->rows->groups, node, samples_measure(c, PC_AFTER), &after);
		a->is_rare[node] = before.value.u + after.value.u < PC_MIN_SAMPLES;
	}
}

/* Adds the cells of a stack to those of its beginnings. */
static bool add_cells(struct adding_up *a, size_t row)
{
	for (uint32_t node = a->ends[row]; node != PC_NO_CALLER; node = a->parents[node]) {
		if (a->is_rare[node])
			continue;
		for (size_t side = 0; side < PC_SIDES; side++) {
			const struct slice_cell *list = a->c->cells[side].list;
			const size_t *starts = a->starts[side];

			for (size_t i = starts[row]; i < starts[row + 1]; i++) {
				struct slice_cell cell = list[i];

				cell.row = node;
				if (!pc_add_cell(&a->cells[side], &cell))
					return false;
			}
		}
	}
	return true;
}

static bool start(struct adding_up *a)
{
	static const struct pr_key beginning[] = { { .kind = PR_UNSIGNED },
						   { .kind = PR_STRING } };
	struct pc_comparison *c = a->c;

	for (size_t side = 0; side < PC_SIDES; side++) {
		if (!pc_join_cells(&c->cells[side]))
			return false;
		a->starts[side] = pc_index_cells(&c->cells[side], pc_size(c));
	}
	a->rows = pc_create_rows(c, beginning, 2);
	a->ends = malloc((pc_size(c) + 1) * sizeof(*a->ends));
	a->states = calloc(c->n_runs + N_COUNTS, sizeof(*a->states));
	a->keys = calloc(c->options.n_keys + 1, sizeof(*a->keys));
	return a->starts[PC_BEFORE] && a->starts[PC_AFTER] && a->rows && a->ends && a->states &&
	       a->keys;
}

/* Makes the beginnings the rows of the comparison. */
static void replace_rows(struct adding_up *a)
{
	struct pc_comparison *c = a->c;

	pr_destroy(c->rows);
	c->rows = a->rows;
	free(c->has);
	c->has = a->has;
	c->parents = a->parents;
	for (size_t side = 0; side < PC_SIDES; side++) {
		free(c->cells[side].list);
		c->cells[side] = a->cells[side];
	}
	c->options.n_keys = 1;
	a->rows = NULL;
	a->has = NULL;
	a->parents = NULL;
	memset(a->cells, 0, sizeof(a->cells));
}

static void stop(struct adding_up *a)
{
	pr_destroy(a->rows);
	free(a->has);
	free(a->parents);
	free(a->ends);
	free(a->is_rare);
	for (size_t side = 0; side < PC_SIDES; side++) {
		free(a->cells[side].list);
		free(a->starts[side]);
	}
	free(a->states);
	free(a->keys);
}

enum pc_problem pc_add_up_stacks(struct pc_comparison *c,
				 bool (*path)(void *arg, const struct pq_value *keys,
					      struct pd_text *to),
				 void *arg)
{
	struct adding_up a = { .c = c };
	enum pc_problem problem = start(&a) ? PC_FINE : PC_NO_MEMORY;

	for (size_t i = 0; problem == PC_FINE && i < pc_size(c); i++) {
		struct pd_text text;

		for (size_t k = 0; k < c->options.n_keys; k++)
			pc_row_key(c, i, k, &a.keys[k]);
		if (!path(arg, a.keys, &text))
			problem = PC_NOT_MATCHED;
		else if (!add_stack(&a, i, text))
			problem = PC_NO_MEMORY;
	}
	if (problem == PC_FINE)
		a.is_rare = calloc(pr_size(a.rows) + 1, sizeof(*a.is_rare));
	if (a.is_rare)
		find_rare(&a);
	else if (problem == PC_FINE)
		problem = PC_NO_MEMORY;
	for (size_t i = 0; problem == PC_FINE && i < pc_size(c); i++)
		if (!add_cells(&a, i))
			problem = PC_NO_MEMORY;
	if (problem == PC_FINE)
		replace_rows(&a);
	stop(&a);
	return problem;
}

/* Returns the size of a frame on a path, with the semicolon that parts it from its caller. */
static size_t step_size(const struct pc_comparison *c, uint32_t node, struct pd_text *frame)
{
	*frame = pc_last_frame(c, node);
	return frame->n + (c->parents[c->parents[node]] != PC_NO_CALLER);
}

bool pc_row_path(const struct pc_comparison *c, size_t row, struct pb_string *path)
{
	struct pd_text frame;
	size_t n = 0;

	for (uint32_t i = (uint32_t)row; c->parents[i] != PC_NO_CALLER; i = c->parents[i])
		n += step_size(c, i, &frame);
	pb_string_clear(path);
	if (!pb_string_reserve(path, n))
		return false;
	path->n = n;
	for (uint32_t i = (uint32_t)row; c->parents[i] != PC_NO_CALLER; i = c->parents[i]) {
		size_t size = step_size(c, i, &frame);

		n -= size;
		path->p[n] = ';';
		if (frame.n)
			memcpy(path->p + n + size - frame.n, frame.p, frame.n);
	}
	return pb_string_end(path);
}
