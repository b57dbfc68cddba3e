/* The call chains of a profile as a tree of lines, callers first. */
#include <stdlib.h>

#include "profile.h"

/* Calls while they are found. */
struct finding {
	struct pe_profile *profile;
	/* the last chain, callers first: its frames, and the call of each */
	uint32_t frames[PM_MAX_FRAMES + 1], calls[PM_MAX_FRAMES + 1];
	size_t n;
};

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

/* Returns the number of the last call of a chain; PE_NONE: no memory. */
static uint32_t find_chain(struct finding *f, uint32_t chain)
{
	struct pe_profile *p = f->profile;
	struct pe_call call = { PE_NONE, 0 };
	uint32_t unknown = unknown_frame(p);
	size_t n, depth = 0;
	const uint32_t *frames = pq_chains_frames(p->chains, chain, &n);

	if (!n) {
		frames = &unknown;
		n = 1;
	}
	/* chains that are met one after the other mostly have their first callers in common */
	while (depth < n && depth < f->n && f->frames[depth] == frames[n - 1 - depth])
		call.caller = f->calls[depth++];
	for (; depth < n; depth++) {
		call.frame = frames[n - 1 - depth];
		call.caller = pe_set_add(&p->calls, &call);
		if (call.caller == PE_NONE)
			return PE_NONE;
		f->frames[depth] = call.frame;
		f->calls[depth] = call.caller;
	}
	f->n = n;
	return call.caller;
}

bool pe_stacks_find(struct pe_profile *p)
{
	size_t n = count_chains(p);
	struct finding *f = calloc(1, sizeof(*f));
	bool ok;

	pe_set_init(&p->calls, sizeof(struct pe_call));
	p->chain_stacks = malloc((n + 1) * sizeof(*p->chain_stacks));
	ok = f && p->chain_stacks;
	if (ok)
		f->profile = p;
	for (uint32_t i = 0; ok && i < n; i++) {
		p->chain_stacks[i] = find_chain(f, i);
		ok = p->chain_stacks[i] != PE_NONE;
	}
	free(f);
	return ok;
}

/* Adds the call that entries without a chain have, if there are any. */
static bool add_unknown(struct pe_profile *p)
{
	uint32_t *call = &p->chain_stacks[count_chains(p)];

	*call = PE_NONE;
	for (size_t i = 0; i < p->n_entries; i++)
		if (p->entries[i].stack == PE_NONE) {
			*call = pe_set_add(&p->calls, &(struct pe_call){ PE_NONE, p->unknown });
			return *call != PE_NONE;
		}
	return true;
}

static const struct pe_call *call_at(const struct pe_profile *p, uint32_t i)
{
	return pe_set_at(&p->calls, i);
}

/* Makes a stack of each line of each call, and sets last[call] to the last of them. */
static void make_stacks(struct pe_profile *p, uint32_t *last)
{
	for (uint32_t i = 0; i < p->calls.n; i++) {
		const struct pe_call *call = call_at(p, i);
		uint32_t stack = call->caller == PE_NONE ? PE_NONE : last[call->caller];

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
	last = malloc((p->calls.n + 1) * sizeof(*last));
	ok = ok && p->rows_at && last;
	for (uint32_t i = 0; ok && i < p->n_frames; i++)
		p->rows_at[i + 1] = p->rows_at[i] + p->frames[i].n_lines;
	for (uint32_t i = 0; ok && i < p->calls.n; i++)
		n += p->frames[call_at(p, i)->frame].n_lines;
	p->stacks = ok && n < PE_NONE ? malloc((n + 1) * sizeof(*p->stacks)) : NULL;
	if (p->stacks) {
		make_stacks(p, last);
		for (size_t i = 0; i <= count_chains(p); i++)
			if (p->chain_stacks[i] != PE_NONE)
				p->chain_stacks[i] = last[p->chain_stacks[i]];
	}
	free(last);
	pe_set_deinit(&p->calls);
	return p->stacks;
}

void pe_stacks_free(struct pe_profile *p)
{
	pe_set_deinit(&p->calls);
	free(p->rows_at);
	free(p->chain_stacks);
	free(p->stacks);
}
