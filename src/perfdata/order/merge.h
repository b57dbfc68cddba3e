/*
 * Merges chunks into the order of time. Records with equal times come in the order of their
 * streams and positions.
 *
 * A chunk is loaded when its first record is due. After its last one its memory is used again
 * for a later chunk. If too many bytes are loaded at once, those of some chunks are freed
 * early; then each of their records is read from the file when it is due.
 */
#ifndef PERFLUA_PERFDATA_MERGE_H
#define PERFLUA_PERFDATA_MERGE_H

#include "chunk.h"
#include "perfdata/stream/reader.h"

/* A chunk that is being merged. */
struct pd_merge_item {
	const struct pd_merge_stream *stream;
	const struct pd_chunk *chunk;
	uint64_t number; /* order among equal times: the stream's number above the chunk's */
	struct pd_loaded_chunk *loaded; /* NULL until it is loaded */
	uint32_t next;			/* index in loaded->positions of the next record */
	uint16_t source,
		number_there; /* numbers of the stream: that of its file, and its own there */
};

/* A record that is due: its item and its offset in the chunk. */
struct pd_merge_ready {
	uint32_t item, at;
};

#define PD_MERGE_READY 256 /* records that are merged at once */

struct pd_merge {
	struct pd_merge_stream *streams; /* owned by the caller */
	uint64_t limit;			 /* ns: later records are not due yet */
	size_t most; /* bytes that may be loaded at once; exceeded if a single chunk needs it */
	/* called when a chunk is used up; may be NULL */
	void (*used)(void *arg, const struct pd_chunk *chunk);
	void *arg;
	uint64_t time;	      /* ns: latest time of a record that is ready or was delivered */
	struct pb_pass *pass; /* that it belongs to; NULL: that of the thread */
	/* private: */
	struct pd_merge_ready ready[PD_MERGE_READY]; /* the next records */
	size_t n_ready,
		n_taken; /* numbers of records that are ready, and that were delivered */
	/* records still to be taken one by one, as merging runs did not pay */
	size_t one_by_one;
	/* its top is the item of the first record after those in `ready` */
	struct pd_merge_node *heap;
	struct pd_merge_item *items;
	size_t n, capacity;
	struct pd_chunk_memory memory;
	uint8_t *record; /* a record of a chunk whose bytes were freed */
	size_t record_size;
	/* loads chunks in a thread; NULL: each is loaded when it is due */
	struct pd_chunk_prefetch *prefetch;
	size_t bytes; /* number of loaded bytes */
	/*
	 * the top's record is in `ready` or delivered, so advance_top() must find the next one
	 */
	bool handed;
};

/*
 * The caller sets streams and limit (and most, used, arg and pass if it needs them) and zeroes
 * the rest; pd_merge_deinit() frees what the merge allocated.
 */
void pd_merge_deinit(struct pd_merge *merge);

/*
 * Adds a chunk of merge->streams[stream]; *chunk must stay valid until it is used up. Returns
 * false without memory.
 */
bool pd_merge_add(struct pd_merge *merge, const struct pd_chunk *chunk, size_t stream);

/*
 * Starts loading chunks ahead of time in a thread, if there are many. Call it after the last
 * pd_merge_add().
 */
void pd_merge_start(struct pd_merge *merge);

/* Makes the next records ready when all before are delivered. Returns as pd_merge_next(). */
int pd_merge_fill(struct pd_merge *merge, struct pd_error *err);

/*
 * Reads the next record that is due into *rec, whose bytes are valid until the next call.
 *
 * Returns 1; 0 if no record is due; -1 with *err. Chunks may be added, and the limit changed,
 * only after it returned 0.
 */
static inline int pd_merge_next(struct pd_merge *m, struct pd_record *rec, struct pd_error *err)
{
	const struct pd_merge_ready *ready;
	const struct pd_merge_item *item;
	const struct pd_chunk *chunk;

	if (m->n_taken == m->n_ready) {
		int got = pd_merge_fill(m, err);

		if (got <= 0)
			return got;
	}
	ready = &m->ready[m->n_taken++];
	item = &m->items[ready->item];
	chunk = item->chunk;
	rec->bytes = item->loaded->bytes ? item->loaded->bytes + ready->at : m->record;
	pd_record_header(rec, rec->bytes, item->stream->locator.swap,
			 item->stream->locator.simpleperf);
	rec->source = item->source;
	rec->stream = item->number_there;
	rec->offset = chunk->offset;
	rec->chunk_offset = chunk->chunk_offset;
	if (chunk->chunk_offset == PD_NO_CHUNK)
		rec->offset += ready->at;
	else
		rec->chunk_offset += ready->at;
	pd_bind(&item->stream->locator.binder, rec);
	return 1;
}

/* Returns the time (ns) of the next record, due or not; UINT64_MAX if there is none. */
uint64_t pd_merge_time(const struct pd_merge *merge);

#endif
