/*
 * The functions that samples were taken in, with the addresses of the samples: made of groups
 * by address, which one pass makes.
 */
#ifndef PERFLUA_ANNOTATE_FUNCTIONS_H
#define PERFLUA_ANNOTATE_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "query/group/group.h"

/* The samples of one event at one address. */
struct pa_hits {
	struct ps_dso *dso;
	const struct ps_symbol *symbol;
	uint64_t address; /* in the dso */
	uint32_t event;	  /* number of the event */
	uint64_t samples, period;
};

struct pa_function {
	const struct pa_hits *hits; /* [n], n > 0: by address, then by event */
	size_t n;
};

/* The samples of an event, in functions or elsewhere. */
struct pa_total {
	uint64_t samples, period;
};

struct pa_functions;

/*
 * Makes functions of groups whose key 0 is the event and key 1 a chain of PQ_CHAIN_ADDRESS, and
 * whose measures are a count and, if `has_sums`, the sum of periods. Without sums each sample
 * has a period of 1. Looks up the symbols that the groups lack. Samples without a function are
 * left out. Numbers of events are below `n_events`. Returns NULL without memory.
 */
struct pa_functions *pa_functions_create(const struct pq_groups *groups, bool has_sums,
					 size_t n_events);
void pa_functions_destroy(struct pa_functions *functions);

/* Return the number of functions, and function `i`. They are ordered by binary and address. */
size_t pa_functions_size(const struct pa_functions *functions);
const struct pa_function *pa_functions_at(const struct pa_functions *functions, size_t i);

/* Returns the totals of all events, by their numbers. */
const struct pa_total *pa_functions_totals(const struct pa_functions *functions, size_t *n);

#endif
