/*
 * A thread that opens chunks ahead of the merge: reading and sorting them takes as long as all else does.
 */
#ifndef PERFLUA_PERFDATA_AHEAD_H
#define PERFLUA_PERFDATA_AHEAD_H

#include "opened.h"

struct pd_due {
	const struct pd_chunk *chunk;
	const struct pd_merge_stream *stream;
};

struct pd_ahead;

/* Starts to open n chunks, in the order they are given, which it takes over (from malloc). NULL: it cannot. */
struct pd_ahead *pd_ahead_start(struct pd_due *due, size_t n);
void pd_ahead_stop(struct pd_ahead *ahead);

/* The next chunk, opened, which is the caller's then. NULL: see err; there must be one. */
struct pd_opened *pd_ahead_next(struct pd_ahead *ahead, struct pd_error *err);

#endif
