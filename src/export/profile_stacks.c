/* The call chains of a profile as a tree of lines, callers first. */
#include <stdlib.h>

#include "profile.h"

/* The number of the frame that is not known: see pe_profile. */
static uint32_t unknown_frame(const struct pe_profile *p)
{
	return p->chains ? pq_chains_n_frames(p->chains) : 0;
}

/* The number of chains: what entries without a chain have in their place. */
static size_t count_chains(const struct pe_profile *p)
{
	return p->chains ? pq_chains_size(p->chains) : 0;
}

bool pe_stacks_find(struct pe_profile *p)
{
	return pq_call_nodes_init(&p->calls, p->chains, unknown_frame(p));
}

/* Adds the call that entries without a chain have, if there are any. */
static bool add_unknown(struct pe_profile *p)
{
	uint32_t *end = &p->calls.ends[count_chains(p)];

	*end = PE_NONE;
	for (size_t i = 0; i < p->n_entries; i++)
		if (p->entries[i].stack == PE_NONE) {
			*end = pb_set_add(&p->calls.nodes,
					  &(struct pq_call_node){ PQ_NO_CALLER, p->unknown });
			return *end != PE_NONE;
		}
	return true;
}

/* Makes a stack of each line of each call, and sets last[call] to the last of them. */
static void make_stacks(struct pe_profile *p, uint32_t *last)
{
	for (uint32_t i = 0; i < p->calls.nodes.n; i++) {
		const struct pq_call_node *call = pq_call_node_at(&p->calls, i);
		uint32_t stack = call->caller == PQ_NO_CALLER ? PE_NONE : last[call->caller];

		for (uint32_t row = p->rows_at[call->frame]; row < p->rows_at[call->frame + 1];
		     row++) {
			p->stacks[p->n_stacks] = (struct pe_stack){ stack, row };
			stack = (uint32_t)p->n_stacks++;
		}
		last[i] = stack;
	}
}

bool pe_stacks_fill(struct pe_profile *p)
{
	size_t n = 0;
	uint32_t *last;
	bool ok = add_unknown(p);

	p->rows_at = calloc(p->n_frames + 1, sizeof(*p->rows_at));
	last = malloc((p->calls.nodes.n + 1) * sizeof(*last));
	ok = ok && p->rows_at && last;
	for (uint32_t i = 0; ok && i < p->n_frames; i++)
		p->rows_at[i + 1] = p->rows_at[i] + p->frames[i].n_lines;
	for (uint32_t i = 0; ok && i < p->calls.nodes.n; i++)
		n += p->frames[pq_call_node_at(&p->calls, i)->frame].n_lines;
	p->stacks = ok && n < PE_NONE ? malloc((n + 1) * sizeof(*p->stacks)) : NULL;
	if (p->stacks) {
		make_stacks(p, last);
		for (size_t i = 0; i <= count_chains(p); i++)
			if (p->calls.ends[i] != PE_NONE)
				p->calls.ends[i] = last[p->calls.ends[i]];
		p->chain_stacks = p->calls.ends;
		p->calls.ends = NULL;
	}
	free(last);
	pq_call_nodes_deinit(&p->calls);
	return p->stacks;
}

void pe_stacks_free(struct pe_profile *p)
{
	pq_call_nodes_deinit(&p->calls);
	free(p->rows_at);
	free(p->chain_stacks);
	free(p->stacks);
}
