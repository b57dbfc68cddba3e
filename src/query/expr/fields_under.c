/* The condition under("symbol"): a function of that name is in the sample's call chain. */
#include "fields_internal.h"

bool pq_fields_under(struct pq_fields *fields, struct pq_under *under)
{
	struct pq_fields_internal *in = fields->internal;
	bool is_under = false;

	if (!fields->resolver)
		return false;
	/* filtering must not add chains to those of a result */
	if (!in->chains)
		in->chains = pq_chains_create();
	if (!in->chains ||
	    !pq_chains_under(in->chains, fields->resolver, fields->rec, under, &is_under))
		fields->failed = true;
	return is_under;
}
