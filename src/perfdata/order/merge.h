/*
 * Merges chunks into the order of time; of equal times the record that lies first comes first.
 *
 * A chunk's bytes are read when its first record is due and let go after its last one. If those
 * of too many are needed at once, some are let go before, and each of their records is read
 * when it is due.
 */
#ifndef PERFLUA_PERFDATA_MERGE_H
#define PERFLUA_PERFDATA_MERGE_H

#include "openings.h"
#include "perfdata/stream/reader.h"

/* A chunk that is being merged. */
struct pd_merge_item {
	const struct pd_merge_stream *stream;
	const struct pd_chunk *chunk;
	uint64_t number;	       /* of the chunk, its stream's on top */
	struct pd_opened *open;	       /* NULL: not read yet */
	uint32_t next;		       /* the next record: of its places */
	uint16_t source, number_there; /* of the stream: its file's, and its own */
};

/* A record that is due: of which item it is, and where it lies in its chunk. */
struct pd_merge_ready {
	uint32_t item, at;
};

#define PD_MERGE_READY 256 /* records that are merged at once */

struct pd_merge {
	struct pd_merge_stream *streams; /* the caller's */
	uint64_t limit;			 /* ns: what is later is not due yet */
	size_t most; /* bytes that may be read at once, if it can be helped */
	/* called when a chunk is needed no more, unless NULL */
	void (*used)(void *arg, const struct pd_chunk *chunk);
	void *arg;
	uint64_t time; /* ns: the latest that was handed out */
	/* its own */
	struct pd_merge_ready ready[PD_MERGE_READY]; /* the next records: */
	size_t n_ready, n_taken;		     /* of these, so many were handed out */
	size_t one_by_one;	    /* records that are taken so, as lanes were not worth it */
	struct pd_merge_node *heap; /* that of the record after those is on top */
	struct pd_merge_item *items;
	size_t n, capacity;
	struct pd_scratch scratch;
	uint8_t *record; /* of a chunk whose bytes were let go */
	size_t record_size;
	struct pd_openings
		*openings; /* of chunks ahead of time; NULL: each is read when it is due */
	size_t bytes;	   /* that are read */
	bool handed; /* the top's record is ready or handed out: its next one is to be found */
};

/* *merge with streams and limit set, all else zero. */
void pd_merge_deinit(struct pd_merge *merge);

/* Adds a chunk of streams[stream]. It must stay until it is used up. False: no memory. */
bool pd_merge_add(struct pd_merge *merge, const struct pd_chunk *chunk, size_t stream);

/*
 * When all chunks were added: has them read ahead of time, if they are many. Then none can be
 * added.
 */
void pd_merge_start(struct pd_merge *merge);

/* Has records ready, when all that were are handed out: as pd_merge_next. */
int pd_merge_fill(struct pd_merge *merge, struct pd_error *err);

/*
 * 1: the next record that is due, valid until the next call; 0: there is none; -1: see err.
 * Only when there was none may chunks be added, or the limit change.
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
	rec->bytes = item->open->bytes ? item->open->bytes + ready->at : m->record;
	pd_record_header(rec, rec->bytes, item->stream->locator.swap,
			 item->stream->locator.simpleperf);
	rec->source = item->source;
	rec->stream = item->number_there;
	rec->offset = chunk->offset;
	rec->chunk_offset = chunk->inside;
	if (chunk->inside == PD_NO_CHUNK)
		rec->offset += ready->at;
	else
		rec->chunk_offset += ready->at;
	pd_bind(&item->stream->locator.binder, rec);
	return 1;
}

/* The time of the next record, due or not; UINT64_MAX: there is none. */
uint64_t pd_merge_time(const struct pd_merge *merge);

#endif
