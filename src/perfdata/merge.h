/*
 * Merges chunks into the order of time; of equal times the record that lies first comes first.
 *
 * A chunk's bytes are read when its first record is due and let go after its last one. If those of too many
 * are needed at once, some are let go before, and each of their records is read when it is due.
 */
#ifndef PERFLUA_PERFDATA_MERGE_H
#define PERFLUA_PERFDATA_MERGE_H

#include "openings.h"
#include "reader.h"

struct pd_merge {
	struct pd_merge_stream *streams; /* the caller's */
	struct pd_types want;
	uint64_t limit; /* ns: what is later is not due yet */
	size_t most;	/* bytes that may be read at once, if it can be helped */
	/* called when a chunk is needed no more, unless NULL */
	void (*used)(void *arg, const struct pd_chunk *chunk);
	void *arg;
	uint64_t time; /* ns: the latest that was handed out */
	/* its own */
	struct pd_merge_node *heap; /* the next record's is on top */
	struct pd_merge_item *items;
	size_t n, capacity;
	struct pd_scratch scratch;
	uint8_t *record; /* of a chunk whose bytes were let go */
	size_t record_size;
	struct pd_openings
		*openings; /* of chunks ahead of time; NULL: each is read when it is due */
	size_t bytes;	   /* that are read */
	bool handed;	   /* the top's record was handed out: the next call goes on */
};

/* *merge with streams, want and limit set, all else zero. */
void pd_merge_deinit(struct pd_merge *merge);

/* Adds a chunk of streams[stream]. It must stay until it is used up. False: no memory. */
bool pd_merge_add(struct pd_merge *merge, const struct pd_chunk *chunk, size_t stream);

/* When all chunks were added: has them read ahead of time, if they are many. Then none can be added. */
void pd_merge_start(struct pd_merge *merge);

/* 1: the next record that is due, valid until the next call; 0: there is none; -1: see err. */
int pd_merge_next(struct pd_merge *merge, struct pd_record *rec, struct pd_error *err);

/* The time of the next record, due or not; UINT64_MAX: there is none. */
uint64_t pd_merge_time(const struct pd_merge *merge);

#endif
