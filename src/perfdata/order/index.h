/*
 * The chunks of a stream that can be read again: made by one pass over its record headers and times, kept
 * with the stream, and never changed.
 */
#ifndef PERFLUA_PERFDATA_INDEX_H
#define PERFLUA_PERFDATA_INDEX_H

#include "base/progress.h"
#include "chunk.h"
#include "opened.h"
#include "perfdata/stream/reader.h"
#include "perfdata/container/session.h"

struct pd_index {
	struct pd_chunk *chunks;
	size_t n;
};

enum pd_indexed {
	PD_INDEX_MADE,	 /* stream->index is there */
	PD_INDEX_NONE,	 /* it cannot be: the records are compressed, or come but once */
	PD_INDEX_ENDED,	 /* progress said no */
	PD_INDEX_FAILED, /* see err */
};

/*
 * Makes the index of a stream, unless it has one. The numbers of its chunks are without the stream's, which
 * depends on what it is merged with.
 */
enum pd_indexed pd_index_make(struct pd_stream *stream, const struct pd_stamp *stamp,
			      const struct pb_progress *progress, struct pd_error *err);

/*
 * The same of all streams of a session at once, by several threads. PD_INDEX_NONE: it cannot be, or would make no haste,
 * and nothing was done; pd_index_make says what is in the way.
 */
enum pd_indexed pd_index_share(struct pd_session *session,
			       const struct pd_merge_stream *streams, size_t n,
			       unsigned threads, const struct pb_progress *progress);

/* Chunks of records that follow one another, while they are cut. All zero at first. */
struct pd_cutting {
	struct pd_index index;
	size_t capacity;
	struct pd_cutter cutter;
	/* the time of the first records is unknown, as nothing is before them: they are in n_leading chunks */
	bool leading;
	size_t n_leading;
};

/* Cuts the records of a reader into chunks. PD_INDEX_NONE: some are compressed. */
enum pd_indexed pd_cut(struct pd_cutting *cutting, struct pd_reader *reader,
		       const struct pd_stamp *stamp, const struct pb_progress *progress,
		       struct pd_error *err);

/* Frees an index. NULL: nothing. */
void pd_index_destroy(struct pd_index *index);

/* Gives an index to a stream, which frees it with itself. */
static inline void pd_stream_set_index(struct pd_stream *stream, struct pd_index *index)
{
	stream->index = index;
	stream->destroy_index = pd_index_destroy;
}

#endif
