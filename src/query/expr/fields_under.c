/*
 * The condition under("symbol"): whose work a sample is, near or far.
 */
#include "fields_internal.h"

bool pq_fields_under(struct pq_fields *fields, const char *name, size_t n)
{
	struct pq_fields_internal *in = fields->internal;
	bool is = false;

	if (!fields->resolver)
		return false;
	/* chains that were only filtered are none of a result's */
	if (!in->chains)
		in->chains = pq_chains_create();
	if (!in->chains || !pq_chains_under(in->chains, fields->resolver, fields->rec,
					    (struct pd_text){ name, n }, &is))
		fields->failed = true;
	return is;
}
