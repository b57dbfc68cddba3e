/*
 * Loads chunks in a thread, in the order in which the merge will need them, before it does.
 */
#ifndef PERFLUA_PERFDATA_CHUNK_PREFETCH_H
#define PERFLUA_PERFDATA_CHUNK_PREFETCH_H

#include "loaded_chunk.h"

struct pd_chunk_request {
	const struct pd_chunk *chunk;
	const struct pd_merge_stream *stream;
	uint64_t number; /* order of requests with equal times */
};

struct pd_chunk_prefetch;

/*
 * Starts a thread that loads the chunks of `n` requests, given in any order, as a stage of
 * `pass` (NULL: the current one). Takes ownership of `requests`, which comes from malloc, and
 * frees it even on failure. Returns NULL if there can be no thread.
 */
struct pd_chunk_prefetch *pd_chunk_prefetch_start(struct pd_chunk_request *requests, size_t n,
						  struct pb_pass *pass);
void pd_chunk_prefetch_stop(struct pd_chunk_prefetch *prefetch);

/*
 * Returns the next chunk by the time of its earliest record; the caller owns it. Returns NULL
 * with *err on failure.
 */
struct pd_loaded_chunk *pd_chunk_prefetch_next(struct pd_chunk_prefetch *prefetch,
					       struct pd_error *err);

#endif
