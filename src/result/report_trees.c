#include "report_trees.h"

#include <stdlib.h>
#include <string.h>

#include "base/string_builder.h"
#include "base/vector.h"

/* Puts the stacks in the order of their rows. Returns false without memory. */
static bool sort_by_row(struct pr_report_trees *trees)
{
	struct pq_report_stacks *stacks = &trees->stacks;
	struct pq_report_stack *sorted = malloc((stacks->n + 1) * sizeof(*sorted));
	uint32_t *first = calloc(trees->n_rows + 2, sizeof(*first));

	if (!sorted || !first) {
		free(sorted);
		free(first);
		return false;
	}
	for (size_t i = 0; i < stacks->n; i++)
		first[stacks->list[i].row + 2]++;
	for (size_t row = 0; row <= trees->n_rows; row++)
		first[row + 1] += first[row];
	for (size_t i = 0; i < stacks->n; i++)
		sorted[first[stacks->list[i].row + 1]++] = stacks->list[i];
	free(stacks->list);
	stacks->list = sorted;
	trees->first = first;
	return true;
}

bool pr_report_trees_begin(struct pr_report_trees *trees, size_t n_rows)
{
	const struct pq_chains *chains = pq_groups_chains(trees->groups);

	trees->n_rows = n_rows;
	trees->known = calloc((chains ? pq_chains_n_frames(chains) : 0) + (size_t)1,
			      sizeof(*trees->known));
	return trees->known && sort_by_row(trees);
}

void pr_report_trees_deinit(struct pr_report_trees *trees)
{
	if (!trees->is_borrowed)
		pq_groups_destroy(trees->groups);
	free(trees->stacks.list);
	free(trees->first);
	free(trees->known);
	free(trees->steps);
	free(trees->ranks);
	pm_string_pool_deinit(&trees->names);
	*trees = (struct pr_report_trees){ 0 };
}

/*
 * Names a frame, by its function or its address, and after a NUL tells what else makes it
 * different. Returns its number; PM_NO_STRING: no memory.
 */
static uint32_t name_of_frame(struct pr_report_trees *trees, uint32_t number)
{
	const struct pq_frame *frame = pq_chains_frame(pq_groups_chains(trees->groups), number);
	struct pb_string text = { 0 };
	uint32_t name = PM_NO_STRING;

	if (frame->symbol)
		pb_string_add(&text, frame->symbol->name, frame->symbol->length);
	else if (frame->address)
		pb_string_format(&text, "0x%llx", (unsigned long long)frame->address);
	else
		pb_string_put(&text, "0");
	pb_string_add(&text, "", 1);
	if (frame->dso)
		pb_string_put(&text, frame->dso->name);
	if (pb_string_end(&text) && pb_reserve(trees->ranks, trees->names.n, trees->ranks_room))
		name = pm_string_pool_add(&trees->names, (struct pd_text){ text.p, text.n });
	if (name != PM_NO_STRING)
		trees->ranks[name] = ~(frame->symbol ? frame->symbol->start : frame->address);
	pb_string_deinit(&text);
	return name;
}

/* Sets the next of the steps. Returns false without memory. */
static bool set_step(struct pr_report_trees *trees, uint32_t frame, struct pr_step *step)
{
	uint32_t *known = &trees->known[frame];

	if (!*known)
		*known = name_of_frame(trees, frame) + 1;
	*step = (struct pr_step){ *known - 1, PR_NO_PLACE, 0 };
	return *known;
}

/* Adds a stack of a row, from the first caller on. Returns false without memory. */
static bool add_stack(struct pr_report_trees *trees, const struct pq_report_stack *stack,
		      struct pr_tree *tree)
{
	size_t n, from = 0, n_steps;
	struct pq_state count, weight;
	struct pq_value chain;
	const uint32_t *frames;

	pq_groups_key(trees->groups, stack->group, pq_groups_n_keys(trees->groups) - 1, &chain);
	if (chain.type != PQ_CHAIN)
		return true;
	frames = pq_chains_frames(pq_groups_chains(trees->groups), (uint32_t)chain.u, &n);
	if (trees->stacks.from_caller) {
		from = trees->max_frames && n > trees->max_frames ? n - trees->max_frames : 0;
		n = stack->at + (size_t)1;
	} else {
		from = stack->at;
		n = trees->max_frames && n > trees->max_frames ? trees->max_frames : n;
	}
	n_steps = n > from ? n - from : 0;
	if (!pb_reserve_more(trees->steps, 0, n_steps, trees->room))
		return false;
	for (size_t i = 0; i < n_steps; i++)
		if (!set_step(trees, frames[n - 1 - i], &trees->steps[i]))
			return false;
	pq_groups_state(trees->groups, stack->group, 0, &count);
	pq_groups_state(trees->groups, stack->group, 1, &weight);
	return pr_tree_add(tree, trees->steps, n_steps, count.value.u,
			   (union pr_amount){ .i = weight.value.i });
}

/* Returns true if no node of a row's tree weighs enough to be written. */
static bool is_too_light(const struct pr_report_trees *trees, size_t row,
			 const struct pr_tree_text *how)
{
	double least = how->least * how->total, weight = 0;

	for (uint32_t i = trees->first[row]; weight < least && i < trees->first[row + 1]; i++) {
		struct pq_state state;

		pq_groups_state(trees->groups, trees->stacks.list[i].group, 1, &state);
		weight += (double)state.value.i;
	}
	return how->form != PR_TREE_FRACTAL && weight < least;
}

void pr_report_trees_write(struct pr_report_trees *trees, size_t row,
			   const struct pr_tree_text *how, struct pb_string *text)
{
	const struct pr_shape_of_tree shape = {
		.from_callee = !trees->stacks.from_caller,
		.max_depth = UINT32_MAX,
		.ranks = (const uint64_t *const *)&trees->ranks,
	};
	struct pr_tree_text of_row = *how;
	struct pr_tree *tree;
	bool ok;

	if (is_too_light(trees, row, how))
		return;
	tree = pr_tree_create(&shape, &trees->names);
	ok = tree != NULL;
	for (uint32_t i = trees->first[row]; ok && i < trees->first[row + 1]; i++)
		ok = add_stack(trees, &trees->stacks.list[i], tree);
	ok = ok && pr_tree_finish(tree, -1) && pr_tree_sort(tree, false);
	if (ok) {
		of_row.whole = (double)tree->nodes[0].total.i;
		if (how->form == PR_TREE_FRACTAL)
			of_row.total = of_row.whole;
		pr_tree_write(tree, 0, &of_row, text);
	} else {
		text->failed = true;
	}
	pr_tree_destroy(tree);
}
