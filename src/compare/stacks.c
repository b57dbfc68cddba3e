/* Rows of call stacks, added up by what the stacks begin with. */
#include "compare_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* The rows of stacks, and those of their beginnings, which replace them. */
struct adding_up {
	struct pc_comparison *c;
	struct pr_tree *tree;
	struct pm_string_pool frames;
	struct pr_result *rows;
	uint8_t *has;	/* [nodes * n_runs] */
	uint32_t *ends; /* [rows of c]: the node of all of a stack */
	bool *is_rare;	/* [nodes]: has so few samples that its errors do not matter */
	struct slice_cells cells[PC_SIDES];
	size_t *starts[PC_SIDES]; /* pc_index_cells() of the stacks */
	struct pq_value *keys;
	struct pr_step *steps; /* [room] */
	size_t room;
};

/* Returns what a row weighs on both sides. */
static struct pq_value add_sides(const struct pc_row *row)
{
	const struct pq_value *a = &row->parts[PC_BEFORE].value;
	const struct pq_value *b = &row->parts[PC_AFTER].value;
	struct pq_value sum = { .type = PQ_INT };

	if (a->type != PQ_FLOAT && b->type != PQ_FLOAT &&
	    !__builtin_add_overflow(a->type == PQ_INT ? a->i : 0, b->type == PQ_INT ? b->i : 0,
				    &sum.i))
		return sum;
	return (struct pq_value){ .type = PQ_FLOAT, .f = pc_row_weight(row) };
}

/* Returns true if the weight of a row is a float, and so are those of the tree. */
static bool has_float_weights(const struct pc_comparison *c)
{
	for (size_t i = 0; i < pc_size(c); i++) {
		const struct pc_row *row = pc_row(c, i);

		if (row && add_sides(row).type == PQ_FLOAT)
			return true;
	}
	return false;
}

/* Sets the next step. Returns false without memory. */
static bool add_step(struct adding_up *a, size_t n, struct pd_text name)
{
	uint32_t frame = pm_string_pool_add(&a->frames, name);

	if (frame == PM_NO_STRING || !pb_reserve(a->steps, n, a->room))
		return false;
	a->steps[n] = (struct pr_step){ frame, PR_NO_PLACE, 'u' };
	return true;
}

static bool add_event_step(struct adding_up *a, uint32_t event)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", event);

	return add_step(a, 0, (struct pd_text){ text, (size_t)n });
}

/* Adds the stack of a row to the tree. Returns false without memory. */
static bool add_stack(struct adding_up *a, size_t i, struct pd_text path)
{
	const struct pc_row *row = pc_row(a->c, i);
	union pr_amount weight = { 0 };
	size_t n = 1;

	if (!add_event_step(a, pr_section(a->c->rows, i)))
		return false;
	for (const char *at = path.p, *end = at + path.n, *stop; at < end; at = stop + 1) {
		stop = memchr(at, ';', (size_t)(end - at));
		stop = stop ? stop : end;
		if (stop > at && !add_step(a, n++, (struct pd_text){ at, (size_t)(stop - at) }))
			return false;
	}
	if (row && a->tree->shape.is_float)
		weight.f = pc_row_weight(row);
	else if (row)
		weight.i = add_sides(row).i;
	if (!pr_tree_add(a->tree, a->steps, n, 1, weight))
		return false;
	a->ends[i] = a->tree->end;
	return true;
}

/* Makes a row for each node but the root. Returns false without memory. */
static bool make_rows(struct adding_up *a)
{
	static const struct pr_key number[] = { { .kind = PR_UNSIGNED } };
	const struct pr_node *nodes = a->tree->nodes;

	a->rows = pc_create_rows(a->c, number, 1);
	a->has = calloc(a->tree->n, a->c->n_runs + 1);
	a->is_rare = calloc(a->tree->n, sizeof(*a->is_rare));
	if (!a->rows || !a->has || !a->is_rare)
		return false;
	for (uint32_t node = 1; node < a->tree->n; node++) {
		uint32_t caller = nodes[node].caller;
		uint64_t event = caller ? pr_section(a->rows, caller - 1) :
					  strtoul(pr_tree_name(a->tree, node).p, NULL, 10);
		struct pq_value keys[] = {
			{ .type = PQ_INT, .u = event },
			{ .type = PQ_INT, .u = node },
			{ .type = PQ_NIL },
		};

		if (!pr_put(a->rows, keys, NULL, NULL))
			return false;
	}
	return true;
}

/* Adds a row of a stack to those of its beginnings. Returns false without memory. */
static bool add_states(struct adding_up *a, size_t row)
{
	const struct pc_comparison *c = a->c;

	for (uint32_t node = a->ends[row]; node; node = a->tree->nodes[node].caller) {
		for (size_t m = 0; m < c->rows->shape.n_measures; m++) {
			struct pq_state state;

			pq_groups_state(c->rows->groups, row, m, &state);
			if (!pr_put_state(a->rows, node - 1, m, &state))
				return false;
		}
		for (size_t r = 0; r < c->n_runs; r++)
			a->has[(node - 1) * c->n_runs + r] |= c->has[row * c->n_runs + r];
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
	for (size_t i = 0; has_counts && i < pr_size(a->rows); i++) {
		struct pq_state before, after;

		pq_groups_state(a->rows->groups, i, samples_measure(c, PC_BEFORE), &before);
		pq_groups_state(a->rows->groups, i, samples_measure(c, PC_AFTER), &after);
		a->is_rare[i + 1] = before.value.u + after.value.u < PC_MIN_SAMPLES;
	}
}

/* Adds the cells of a stack to those of its beginnings. Returns false without memory. */
static bool add_cells(struct adding_up *a, size_t row)
{
	for (uint32_t node = a->ends[row]; node; node = a->tree->nodes[node].caller) {
		if (a->is_rare[node])
			continue;
		for (size_t side = 0; side < PC_SIDES; side++) {
			const struct slice_cell *list = a->c->cells[side].list;
			const size_t *starts = a->starts[side];

			for (size_t i = starts[row]; i < starts[row + 1]; i++) {
				struct slice_cell cell = list[i];

				cell.row = node - 1;
				if (!pc_add_cell(&a->cells[side], &cell))
					return false;
			}
		}
	}
	return true;
}

static bool start(struct adding_up *a)
{
	struct pc_comparison *c = a->c;
	const struct pr_shape_of_tree shape = {
		.is_float = has_float_weights(c),
		.max_depth = UINT32_MAX,
	};

	for (size_t side = 0; side < PC_SIDES; side++) {
		if (!pc_join_cells(&c->cells[side]))
			return false;
		a->starts[side] = pc_index_cells(&c->cells[side], pc_size(c));
	}
	a->tree = pr_tree_create(&shape, &a->frames);
	a->ends = malloc((pc_size(c) + 1) * sizeof(*a->ends));
	a->keys = calloc(c->options.n_keys + 1, sizeof(*a->keys));
	return a->starts[PC_BEFORE] && a->starts[PC_AFTER] && a->tree && a->ends && a->keys;
}

/* Makes the beginnings the rows of the comparison. */
static void replace_rows(struct adding_up *a)
{
	struct pc_comparison *c = a->c;

	pr_destroy(c->rows);
	c->rows = a->rows;
	free(c->has);
	c->has = a->has;
	c->tree = a->tree;
	c->frames = a->frames;
	c->tree->names = &c->frames;
	for (size_t side = 0; side < PC_SIDES; side++) {
		free(c->cells[side].list);
		c->cells[side] = a->cells[side];
	}
	c->options.n_keys = 1;
	a->rows = NULL;
	a->has = NULL;
	a->tree = NULL;
	a->frames = (struct pm_string_pool){ 0 };
	memset(a->cells, 0, sizeof(a->cells));
}

static void stop(struct adding_up *a)
{
	pr_tree_destroy(a->tree);
	pm_string_pool_deinit(&a->frames);
	pr_destroy(a->rows);
	free(a->has);
	free(a->ends);
	free(a->is_rare);
	for (size_t side = 0; side < PC_SIDES; side++) {
		free(a->cells[side].list);
		free(a->starts[side]);
	}
	free(a->keys);
	free(a->steps);
}

/* Adds up all rows by the nodes of the tree. Returns false without memory. */
static bool add_up(struct adding_up *a)
{
	size_t n = pc_size(a->c);
	bool ok = pr_tree_finish(a->tree, -1) && make_rows(a);

	for (size_t i = 0; ok && i < n; i++)
		ok = add_states(a, i);
	if (ok)
		find_rare(a);
	for (size_t i = 0; ok && i < n; i++)
		ok = add_cells(a, i);
	return ok;
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
	if (problem == PC_FINE && a.tree->is_too_heavy)
		problem = PC_TOO_HEAVY;
	if (problem == PC_FINE && !add_up(&a))
		problem = PC_NO_MEMORY;
	if (problem == PC_FINE)
		replace_rows(&a);
	stop(&a);
	return problem;
}

const struct pr_tree *pc_tree(const struct pc_comparison *c)
{
	return c->tree;
}

uint32_t pc_event_node(const struct pc_comparison *c, uint32_t event)
{
	for (uint32_t i = 0; i < pr_size(c->rows); i++)
		if (!c->tree->nodes[i + 1].caller && pr_section(c->rows, i) == event)
			return i + 1;
	return 0;
}
