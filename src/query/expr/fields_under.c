/* The condition under("symbol"): a function of that name is in the sample's call chain. */
#include "fields_internal.h"

bool pq_fields_under(struct pq_fields *fields, const char *name, size_t n)
{
	struct pq_fields_internal *in = fields->internal;
	bool is = false;

	if (!fields->resolver)
		return false;
	/* filtering must not add chains to those of a result */
	if (!in->chains)
		in->chains = pq_chains_create();
	if (!in->chains || !pq_chains_under(in->chains, fields->resolver, fields->rec,
					    (struct pd_text){ name, n }, &is))
		fields->failed = true;
	return is;
}
