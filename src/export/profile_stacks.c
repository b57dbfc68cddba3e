/* The call chains of a profile as a tree of lines, callers first. */
#include <stdlib.h>

#include "profile.h"

/* Stacks while they are made. */
struct growing {
	struct pe_profile *profile;
	/* the last chain, callers first: its frames, and the stack that ends with each */
	uint32_t frames[PM_MAX_FRAMES + 1], stacks[PM_MAX_FRAMES + 1];
	size_t n;
};

/* Returns the number of the stack of an entry; PE_NONE: no memory. */
static uint32_t add_stack(struct growing *g, const struct pe_entry *entry)
{
	struct pe_profile *p = g->profile;
	struct pe_stack stack = { PE_NONE, 0 };
	size_t n, depth = 0;
	const uint32_t *frames = pe_entry_frames(p, entry, &n);

	/* chains that are met one after the other mostly have their first callers in common */
	while (depth < n && depth < g->n && g->frames[depth] == frames[n - 1 - depth])
		stack.caller = g->stacks[depth++];
	for (g->n = depth; depth < n; depth++) {
		uint32_t frame = frames[n - 1 - depth];

		for (stack.row = p->rows_at[frame]; stack.row < p->rows_at[frame + 1];
		     stack.row++) {
			stack.caller = pe_set_add(&p->stacks, &stack);
			if (stack.caller == PE_NONE)
				return PE_NONE;
		}
		g->frames[depth] = frame;
		g->stacks[depth] = stack.caller;
		g->n = depth + 1;
	}
	return stack.caller;
}

static bool add_stacks(struct growing *g)
{
	struct pe_profile *p = g->profile;
	size_t none = p->chains ? pq_chains_size(p->chains) : 0;

	for (uint32_t i = 0; i < p->n_frames; i++)
		p->rows_at[i + 1] = p->rows_at[i] + p->frames[i].n_lines;
	for (size_t i = 0; i <= none; i++)
		p->chain_stacks[i] = PE_NONE;
	for (size_t i = 0; i < p->n_entries; i++) {
		uint32_t chain = p->entries[i].stack;
		uint32_t *stack = &p->chain_stacks[chain == PE_NONE ? none : chain];

		if (*stack == PE_NONE)
			*stack = add_stack(g, &p->entries[i]);
		if (*stack == PE_NONE)
			return false;
	}
	return true;
}

void pe_stacks_free(struct pe_profile *p)
{
	pe_set_deinit(&p->stacks);
	free(p->rows_at);
	free(p->chain_stacks);
	p->rows_at = p->chain_stacks = NULL;
}

bool pe_stacks_fill(struct pe_profile *p)
{
	size_t none = p->chains ? pq_chains_size(p->chains) : 0;
	struct growing *g;
	bool ok;

	if (p->chain_stacks)
		return true;
	g = calloc(1, sizeof(*g));
	pe_set_init(&p->stacks, sizeof(struct pe_stack));
	p->rows_at = calloc(p->n_frames + 1, sizeof(*p->rows_at));
	p->chain_stacks = malloc((none + 1) * sizeof(*p->chain_stacks));
	ok = g && p->rows_at && p->chain_stacks;
	if (ok) {
		g->profile = p;
		ok = add_stacks(g);
	}
	free(g);
	if (!ok)
		pe_stacks_free(p);
	return ok;
}
