/* Names of functions at addresses of a record, which are looked up one by one. */
#include <stdlib.h>
#include <string.h>

#include "chains_internal.h"

static bool make_names(struct pq_chains *c)
{
	size_t size = PQ_NAME_SETS * sizeof(*c->names);

	c->names = aligned_alloc(64, size);
	if (c->names)
		memset(c->names, 0, size);
	return c->names;
}

static bool is_seen(const struct pq_seen_name *seen, uint64_t ip, uint64_t tag)
{
	return seen->ip == ip && seen->tag == tag && seen->is_filled;
}

bool pq_chains_name(struct pq_chains *c, const struct pd_frame *at, struct pd_text *name)
{
	const struct pq_looked *looked = &c->entered;
	uint64_t tag = looked->tags[at->mode == PD_CPUMODE_KERNEL] +
		       at->mode * c->keys.factors[1];
	uint64_t hash = pb_scatter(at->ip ^ tag);
	const struct ps_symbol *symbol;
	struct pq_seen_name *seen, other;
	uint32_t number;

	if (!c->names && !make_names(c))
		return false;
	seen = c->names[hash >> 40 & (PQ_NAME_SETS - 1)];
	if (looked->known && is_seen(&seen[0], at->ip, tag)) {
		*name = (struct pd_text){ seen[0].name, seen[0].size };
		return true;
	}
	if (looked->known && is_seen(&seen[1], at->ip, tag)) {
		other = seen[0];
		seen[0] = seen[1];
		seen[1] = other;
		*name = (struct pd_text){ seen[0].name, seen[0].size };
		return true;
	}
	number = pq_chains_at(c, at);
	if (number == UINT32_MAX)
		return false;
	symbol = pq_chains_function(c, number);
	*name = (struct pd_text){ 0 };
	if (symbol)
		*name = (struct pd_text){ symbol->name, symbol->length };
	if (looked->known &&
	    !(pq_code_at(c, number)->dso && pq_code_at(c, number)->dso->jitdump)) {
		seen[1] = seen[0];
		seen[0] = (struct pq_seen_name){ at->ip, tag, name->p, (uint32_t)name->n,
						 true };
	}
	return true;
}
