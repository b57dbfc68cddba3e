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
	size_t n_has, n_parents;
	struct slice_cells cells[PC_SIDES];
	size_t *starts[PC_SIDES]; /* pc_index_cells() of the stacks */
	struct pq_state *states;
	struct pq_value *keys;
};

/* Adds the cells of a stack to those of a beginning. */
static bool add_cells(struct adding_up *a, size_t from, size_t to)
{
	for (size_t side = 0; side < PC_SIDES; side++) {
		const struct slice_cell *list = a->c->cells[side].list;

		for (size_t i = a->starts[side][from]; i < a->starts[side][from + 1]; i++) {
			struct slice_cell cell = list[i];

			cell.row = (uint32_t)to;
			if (!pc_add_cell(&a->cells[side], &cell))
				return false;
		}
	}
	return true;
}

/* Adds a stack to one of its beginnings, whose caller is row *parent, which it becomes. */
static bool add_beginning(struct adding_up *a, size_t row, struct pd_text path, size_t *parent)
{
	const struct pc_comparison *c = a->c;
	struct pq_value keys[] = {
		{ .type = PQ_INT, .u = pr_section(c->rows, row) },
		{ .type = PQ_TEXT, .p = path.p, .size = (uint32_t)path.n },
		{ .type = PQ_NIL },
	};
	size_t to, n = pr_size(a->rows);

	if (!pr_put(a->rows, keys, a->states, &to))
		return false;
	if (to >= a->n_parents && !pb_extend(a->parents, a->n_parents, 2 * to + 64))
		return false;
	if ((to + 1) * c->n_runs > a->n_has &&
	    !pb_extend(a->has, a->n_has, (2 * to + 64) * c->n_runs))
		return false;
	if (to == n) /* it is new */
		a->parents[to] = (uint32_t)*parent;
	for (size_t r = 0; r < c->n_runs; r++)
		a->has[to * c->n_runs + r] |= c->has[row * c->n_runs + r];
	*parent = to;
	return add_cells(a, row, to);
}

/* Adds a stack to all its beginnings, of which the first one is empty. */
static bool add_stack(struct adding_up *a, size_t row, struct pd_text path)
{
	size_t parent = 0;

	for (size_t m = 0; m < a->c->rows->shape.n_measures; m++)
		pq_groups_state(a->c->rows->groups, row, m, &a->states[m]);
	if (!add_beginning(a, row, (struct pd_text){ path.p, 0 }, &parent))
		return false;
	for (size_t n = 1; n <= path.n; n++)
		if ((n == path.n || path.p[n] == ';') &&
		    !add_beginning(a, row, (struct pd_text){ path.p, n }, &parent))
			return false;
	return true;
}

static bool start(struct adding_up *a)
{
	static const struct pr_key key = { .kind = PR_STRING };
	struct pc_comparison *c = a->c;

	for (size_t side = 0; side < PC_SIDES; side++) {
		pc_join_cells(&c->cells[side]);
		a->starts[side] = pc_index_cells(&c->cells[side], pc_size(c));
	}
	a->rows = pc_create_rows(c, &key, 1);
	a->states = calloc(c->n_runs + PC_SIDES, sizeof(*a->states));
	a->keys = calloc(c->options.n_keys + 1, sizeof(*a->keys));
	return a->starts[PC_BEFORE] && a->starts[PC_AFTER] && a->rows && a->states && a->keys;
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
		replace_rows(&a);
	stop(&a);
	return problem;
}
