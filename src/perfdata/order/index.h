/*
 * The chunks of a stream that can be read again: made by one pass over its record headers and
 * times, kept with the stream, and never changed.
 */
#ifndef PERFLUA_PERFDATA_INDEX_H
#define PERFLUA_PERFDATA_INDEX_H

#include "base/outcome.h"
#include "base/progress.h"
#include "chunk.h"
#include "opened.h"
#include "perfdata/stream/reader.h"
#include "perfdata/container/session.h"

struct pd_index {
	struct pd_chunk *chunks;
	size_t n;
};

/*
 * Makes the index of a stream, unless it has one. The numbers of its chunks are without the
 * stream's, which depends on what it is merged with. PB_RETRY_SERIAL: there cannot be one, as
 * the records are compressed, or come but once: their order is a queue's.
 */
enum pb_outcome pd_index_make(struct pd_stream *stream,
			      const struct pd_timestamp_locator *locator,
			      const struct pb_progress *progress, struct pd_error *err);

/*
 * Makes the indexes of all streams of a session at once, by several threads. It never fails:
 * where it cannot, or it would make no haste, pd_index_make says what is in the way.
 */
enum pb_outcome pd_index_make_parallel(struct pd_session *session,
				       const struct pd_merge_stream *streams, size_t n,
				       unsigned workers, const struct pb_progress *progress);

/* Chunks of records that follow one another, while they are cut. All zero at first. */
struct pd_cutting {
	struct pd_index index;
	size_t capacity;
	struct pd_cutter cutter;
	/*
	 * the time of the first records is unknown, as nothing is before them: they are in
	 * n_leading chunks
	 */
	bool leading;
	size_t n_leading;
};

/* Cuts the records of a reader into chunks. PB_RETRY_SERIAL: some are compressed. */
enum pb_outcome pd_cut(struct pd_cutting *cutting, struct pd_reader *reader,
		       const struct pd_timestamp_locator *locator,
		       const struct pb_progress *progress, struct pd_error *err);

/* Frees an index. NULL: nothing. */
void pd_index_destroy(struct pd_index *index);

/* Gives an index to a stream, which frees it with itself. */
static inline void pd_stream_set_index(struct pd_stream *stream, struct pd_index *index)
{
	stream->index = index;
	stream->destroy_index = pd_index_destroy;
}

#endif
