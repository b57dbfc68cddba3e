/* The tree of calls of a result's stacks, and a tree as text. */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "tree.h"

struct maker {
	const struct pr_result *result;
	const struct pr_tree_asked *asked;
	struct pm_string_pool *names;
	uint32_t *known; /* [frames of the stacks]: 1 + number of its name; 0: not named yet */
	struct pb_string text;
	struct pr_step *steps; /* [room] */
	size_t room;
};

/* Adds the name of a frame's binary, as frames without a function have it. */
static void add_binary_name(struct pb_string *text, const struct pq_stack_frame *frame)
{
	struct pd_text none = { 0 };

	if (pb_string_reserve(text, pm_frame_name(none, frame->binary.p, NULL)))
		text->n += pm_frame_name(none, frame->binary.p, text->p + text->n);
}

/* Adds the name of a frame's function, with the offset in it, or the address if it has none. */
static void add_address(struct pb_string *text, const struct pq_stack_frame *frame)
{
	if (frame->symbol.p && frame->has_symoff)
		pb_string_format(text, "+0x%llx", (unsigned long long)frame->symoff);
	else
		pb_string_format(text, " 0x%llx", (unsigned long long)frame->address);
}

/*
 * Makes the name of a frame, and after a NUL what else tells it apart. Returns its number;
 * UINT32_MAX: no memory.
 */
static uint32_t name_frame(struct maker *m, const struct pq_stack_frame *frame)
{
	enum pr_by by = m->asked->by;
	const char *line = by == PR_BY_SRCLINE ? m->asked->line_of(m->asked->arg, frame) : NULL;
	struct pb_string *text = &m->text;
	struct pd_text unknown = { PM_UNKNOWN, sizeof(PM_UNKNOWN) - 1 };
	struct pd_text binary = frame->binary.p ? frame->binary : unknown;

	pb_string_clear(text);
	if (by == PR_BY_DSO)
		pb_string_add(text, binary.p, binary.n);
	else if (line)
		pb_string_put(text, line);
	else if (frame->symbol.p)
		pb_string_add(text, frame->symbol.p, frame->symbol.n);
	else
		add_binary_name(text, frame);
	if (by == PR_BY_ADDRESS)
		add_address(text, frame);
	if (by != PR_BY_DSO && !line) {
		pb_string_add(text, "", 1);
		pb_string_add(text, binary.p, binary.n);
	}
	if (!pb_string_end(text))
		return UINT32_MAX;
	return pm_string_pool_add(m->names, (struct pd_text){ text->p, text->n });
}

/* Sets the steps to those of a stack. Returns false without memory. */
static bool find_steps(struct maker *m, uint32_t stack, size_t *n)
{
	const struct pq_stacks *stacks = m->result->stacks;
	size_t n_frames;
	const uint32_t *frames = pq_stacks_frames(stacks, stack, &n_frames);

	*n = 0;
	if (!pb_reserve_more(m->steps, 0, n_frames, m->room))
		return false;
	while (n_frames) {
		uint32_t number = frames[--n_frames], *known = &m->known[number];

		if (!*known)
			*known = name_frame(m, pq_stacks_frame(stacks, number)) + 1;
		if (!*known)
			return false;
		if (m->asked->by != PR_BY_DSO || !*n || m->steps[*n - 1].frame != *known - 1)
			m->steps[(*n)++] = (struct pr_step){ *known - 1, number, 0 };
	}
	return true;
}

/* Sets *amount to what a measure of a group adds to a tree. */
static void find_amount(const struct pr_tree *tree, const struct pq_value *value,
			union pr_amount *amount)
{
	*amount = (union pr_amount){ 0 };
	if (tree->shape.is_float)
		amount->f = value->type == PQ_FLOAT ? value->f : (double)value->i;
	else if (value->type == PQ_INT)
		amount->i = value->i;
}

/* Adds the stack of a group. Returns false without memory. */
static bool add_group(struct maker *m, struct pr_tree *tree, size_t g)
{
	const struct pr_tree_asked *asked = m->asked;
	struct pq_state weight, count;
	struct pq_value stack;
	union pr_amount amount;
	size_t n = 0;

	if (asked->section && pr_section(m->result, g) != asked->section)
		return true;
	pr_key_value(m->result, g, asked->key, &stack);
	if (stack.type == PQ_CHAIN && !find_steps(m, (uint32_t)stack.u, &n))
		return false;
	pq_groups_state(m->result->groups, g, asked->weight, &weight);
	pq_groups_state(m->result->groups, g, asked->count, &count);
	find_amount(tree, &weight.value, &amount);
	/* without a count a float tells only that there is something */
	return pr_tree_add(tree, m->steps, n, count.value.type == PQ_INT ? count.value.u : 1,
			   amount);
}

/* Returns true if a measure of a group is a float. */
static bool has_float(const struct pr_result *result, size_t measure)
{
	struct pq_state state;

	for (size_t g = 0; g < pr_size(result); g++) {
		pq_groups_state(result->groups, g, measure, &state);
		if (state.value.type == PQ_FLOAT)
			return true;
	}
	return false;
}

struct pr_tree *pr_tree_of_result(const struct pr_result *result,
				  const struct pr_tree_asked *asked,
				  struct pm_string_pool *names)
{
	const struct pr_shape_of_tree shape = {
		.from_callee = asked->from_callee,
		.is_float = has_float(result, asked->weight),
		.max_depth = UINT32_MAX,
	};
	struct maker m = { .result = result, .asked = asked, .names = names };
	struct pr_tree *tree = pr_tree_create(&shape, names);
	bool ok;

	m.known = calloc(pq_stacks_n_frames(result->stacks) + (size_t)1, sizeof(*m.known));
	ok = tree && m.known;
	for (size_t g = 0; ok && g < pr_size(result); g++)
		ok = add_group(&m, tree, g);
	ok = ok && pr_tree_finish(tree, -1) && pr_tree_sort(tree, false);
	free(m.known);
	free(m.steps);
	pb_string_deinit(&m.text);
	if (ok)
		return tree;
	pr_tree_destroy(tree);
	return NULL;
}
