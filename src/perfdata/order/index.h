/*
 * Time index of a stream that can be read again: its chunks with their times and record types.
 * One pass over record headers and times makes it; it stays with the stream and never changes.
 */
#ifndef PERFLUA_PERFDATA_INDEX_H
#define PERFLUA_PERFDATA_INDEX_H

#include "base/progress.h"
#include "chunk.h"
#include "perfdata/stream/reader.h"
#include "perfdata/container/session.h"

struct pd_index {
	struct pd_chunk *chunks;
	size_t n;
};

/*
 * Makes the index of `stream`, unless it has one. `locator` is for the stream's file.
 *
 * Chunks are numbered within the stream. Returns PB_OK; PB_STOPPED if `progress` said no;
 * PB_RETRY_SERIAL if the records are compressed or the stream is one-shot, so that they need a
 * queue; PB_FAILED with *err.
 */
enum pb_outcome pd_index_make(struct pd_stream *stream,
			      const struct pd_timestamp_locator *locator,
			      const struct pb_progress *progress, struct pd_error *err);

/*
 * Makes the indexes of all `n` streams of a session at once, with at most `workers` threads.
 *
 * Returns PB_OK; PB_STOPPED if `progress` said no; PB_RETRY_SERIAL if that is not possible or
 * not worth it: then pd_index_make() does it or says what is wrong.
 */
enum pb_outcome pd_index_make_parallel(struct pd_session *session,
				       const struct pd_merge_stream *streams, size_t n,
				       unsigned workers, const struct pb_progress *progress);

/* The indexes that a pass in partitions makes on its way. */
struct pd_index_watch;

/*
 * Lets the next pass of a session make the indexes of its `n` streams, which costs that pass
 * little; `streams` must outlive the watch. Returns NULL without memory, and if some stream has
 * an index or compressed records.
 */
struct pd_index_watch *pd_index_watch(struct pd_session *session,
				      const struct pd_merge_stream *streams, size_t n);

/*
 * Ends a watch, and frees it. Returns false if the streams have no indexes: the pass was not
 * made in partitions or was ended early, or memory is short. NULL is ignored.
 */
bool pd_index_watch_end(struct pd_index_watch *watch);

/* Chunks of consecutive records that are listed while a reader delivers these. */
struct pd_chunk_list {
	struct pd_index index;
	const struct pd_timestamp_locator *locator; /* for the file; borrowed */
	struct pd_reader_watch watch;
	/* PB_RETRY_SERIAL: records are compressed; PB_FAILED: no memory; else PB_OK */
	enum pb_outcome wrong;
	size_t capacity;
	struct pd_chunker chunker;
	/*
	 * The first n_leading chunks hold records whose time is unknown, as no record before
	 * them has one. `leading` is true until a record with a time is met.
	 */
	bool leading;
	size_t n_leading;
};

/*
 * Begins *list, which watches all records that a reader delivers from its position on. The
 * caller frees list->index.chunks.
 */
void pd_chunk_list_begin(struct pd_chunk_list *list, struct pd_reader *reader,
			 const struct pd_timestamp_locator *locator);

/* Ends the last chunk, after all records. Returns list->wrong. */
enum pb_outcome pd_chunk_list_end(struct pd_chunk_list *list);

/* Frees an index and its chunks; NULL is ignored. */
void pd_index_destroy(struct pd_index *index);

/* Makes `stream` the owner of `index`, which is destroyed with it. */
static inline void pd_stream_set_index(struct pd_stream *stream, struct pd_index *index)
{
	stream->index = index;
	stream->destroy_index = pd_index_destroy;
}

#endif
