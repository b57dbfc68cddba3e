/*
 * Opens chunks by a thread, in the order in which they will be needed, before they are.
 */
#ifndef PERFLUA_PERFDATA_OPENINGS_H
#define PERFLUA_PERFDATA_OPENINGS_H

#include "opened.h"

struct pd_opening {
	const struct pd_chunk *chunk;
	const struct pd_merge_stream *stream;
	uint64_t number; /* of two that are needed at one time it tells the first */
};

struct pd_openings;

/* Takes over n openings from malloc, in any order. NULL: there can be no thread. */
struct pd_openings *pd_openings_start(struct pd_opening *due, size_t n);
void pd_openings_stop(struct pd_openings *openings);

/* The next chunk by the time of its earliest record, which is the caller's; NULL: see err. */
struct pd_opened *pd_openings_next(struct pd_openings *openings, struct pd_error *err);

#endif
