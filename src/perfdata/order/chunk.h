/*
 * Chunks: the unit of time order. A chunk is up to 64 KB of consecutive records of a stream.
 * Mostly their times ascend, as each copy of a processor's ring buffer is one such run of
 * records. An unsorted chunk holds several short runs.
 *
 * In this order: how a stream is cut into chunks; a chunk in memory with a list of its records;
 * the thread that loads chunks before the merge needs them.
 */
#ifndef PERFLUA_PERFDATA_CHUNK_H
#define PERFLUA_PERFDATA_CHUNK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "perfdata/container/file.h"
#include "perfdata/format/error.h"
#include "perfdata/format/record.h"
#include "perfdata/stream/reader.h"
#include "perfdata/stream/timestamp.h"

struct pd_chunk {
	uint64_t offset;       /* offset of the first record */
	uint64_t chunk_offset; /* chunk_offset of the first record, or PD_NO_CHUNK */
	/* ns: time of the first record, least and greatest time of all */
	uint64_t first, min, max;
	uint64_t number; /* ordinal in its stream */
	uint64_t types;	 /* record types in it, as bits of pd_chunk_type() */
	uint32_t size;
	bool sorted;
	/* the records' bytes, in a queue's slab; NULL: they are read from the file */
	const uint8_t *held;
};

/*
 * Returns the bit for a record type in pd_chunk.types. perf's own types and unknown ones share
 * bit 0.
 */
static inline uint64_t pd_chunk_type(uint32_t type)
{
	return UINT64_C(1) << (type < PD_RECORD_USER ? type : 0);
}

/* Returns the bits of all types of a set. */
uint64_t pd_chunk_types(const struct pd_types *types);

/*
 * Sizes of chunks, in bytes. A chunk is read whole when its first record is due: large ones
 * fill the memory, small ones cost more to read than to sort. Runs shorter than PD_CHUNK_LEAST
 * are therefore joined in an unsorted chunk, which is sorted when it is loaded.
 */
#define PD_CHUNK_MOST	       (64 * 1024)
#define PD_CHUNK_LEAST	       (4 * 1024)
#define PD_CHUNK_UNSORTED_MOST (48 * 1024)

/*
 * Cuts a stream into chunks. A record without a time takes that of the record before it, so it
 * keeps its position.
 */
struct pd_chunker {
	struct pd_chunk chunk; /* size 0: no chunk is begun */
	uint64_t last;	       /* ns: time of the last record */
	uint64_t next_number;
};

/* Returns whether `rec` lies directly after the chunk. */
static inline bool pd_chunk_continues(const struct pd_chunk *c, const struct pd_record *rec)
{
	if (rec->chunk_offset == PD_NO_CHUNK)
		return rec->offset == c->offset + c->size && c->chunk_offset == PD_NO_CHUNK;
	return rec->offset == c->offset && rec->chunk_offset == c->chunk_offset + c->size;
}

/*
 * Returns whether `rec`, whose time is `time` (ns), belongs to the chunk that is begun. If not
 * the caller takes chunker->chunk, sets its size to 0 and adds the record to a new chunk.
 */
static inline bool pd_chunker_fits(const struct pd_chunker *k, const struct pd_record *rec,
				   uint64_t time)
{
	const struct pd_chunk *c = &k->chunk;

	if (c->size == 0)
		return true;
	if (!pd_chunk_continues(c, rec) ||
	    c->size + rec->size > (c->sorted ? PD_CHUNK_MOST : PD_CHUNK_UNSORTED_MOST))
		return false;
	return time >= k->last || c->size < PD_CHUNK_LEAST || !c->sorted;
}

/* Begins a chunk with `rec`, but does not add the record's bytes: pd_chunker_add() does. */
void pd_chunker_begin(struct pd_chunker *chunker, const struct pd_record *rec, uint64_t time);

/* Adds `rec`, whose time is `time` (ns), to the chunk that is begun, or begins one. */
static inline void pd_chunker_add(struct pd_chunker *k, const struct pd_record *rec,
				  uint64_t time)
{
	struct pd_chunk *c = &k->chunk;

	if (c->size == 0)
		pd_chunker_begin(k, rec, time);
	c->sorted = c->sorted && time >= k->last;
	c->min = time < c->min ? time : c->min;
	c->max = time > c->max ? time : c->max;
	c->types |= pd_chunk_type(rec->type);
	c->size += rec->size;
	k->last = time;
}

/* A record's time (ns), its offset in the chunk and its size. */
struct pd_position {
	uint64_t time;
	uint32_t at, size;
};

/*
 * The samples that are wanted. Others may be left out before they are put in order. If no
 * record of a chunk is left, its last sample is delivered, so that a walk returns now and then
 * and can be interrupted. The lists must outlive the walk.
 */
struct pd_sample_choice {
	/*
	 * [n + 1], by number of their event, the last for those without one; NULL: all are
	 * wanted, as are those of events with numbers from n on
	 */
	const uint8_t *events;
	size_t n;
	/*
	 * NULL, or by number of the recording: latest time of a sample that was left out, in ns
	 * of the recording's own clock
	 */
	uint64_t *latest;
};

struct pd_merge_stream {
	struct pd_stream *stream;
	struct pd_timestamp_locator locator;
	struct pd_types want; /* types of the records to be delivered */
	struct pd_sample_choice choice;
	uint64_t shift; /* ns to add to its times: see file->shift */
};

/*
 * Returns the time by which a record of the stream is merged. Records without a time have 0.
 * Times that are too late to be shifted are equal, so that no earlier one comes after them.
 */
static inline uint64_t pd_merge_time_of(const struct pd_merge_stream *s, uint64_t time)
{
	uint64_t shifted = time + s->shift;

	if (!s->shift || !time)
		return time;
	return shifted < time || shifted == UINT64_MAX ? UINT64_MAX - 1 : shifted;
}

struct pd_loaded_chunk {
	/* NULL once pd_loaded_chunk_free_bytes() freed them */
	const uint8_t *bytes;
	uint8_t *own;	/* the same if they were read; NULL if the chunk holds them */
	uint8_t *block; /* [room]: memory for `own`; may be NULL */
	size_t room;
	uint32_t size;	 /* less than the chunk's if the file was truncated meanwhile */
	uint32_t n;	 /* number of positions */
	uint32_t n_most; /* that there is memory for, beside the sentinel */
	uint64_t latest; /* time of a sample that was left out, see pd_sample_choice; 0: none */
	/*
	 * of the records to be delivered, in the order of time; [n] is a sentinel with a time
	 * above all others
	 */
	struct pd_position *positions;
};

#define PD_SPARE_CHUNKS 16 /* at most 200 KB each */

/*
 * Memory that is used again from chunk to chunk. Zero-initialised: empty. One thread loads
 * chunks; another one may give them back.
 */
struct pd_chunk_memory {
	struct pd_position *positions; /* [n], for listing and sorting */
	size_t n;
	/*
	 * chunks that were given back; NULL: none. free() by another thread than the one that
	 * allocates would give pages back to the kernel, which are then cleared and mapped
	 * again: a pass in the order of time would take a third longer.
	 */
	_Atomic(struct pd_loaded_chunk *) spares[PD_SPARE_CHUNKS];
};

/*
 * Loads `chunk` of stream `s`: reads its bytes, unless it holds them, and lists its records by
 * time.
 *
 * Returns NULL with *err on failure. Frees nothing of the chunk; `chunk` must outlive the
 * result if it holds bytes.
 */
struct pd_loaded_chunk *pd_chunk_load(const struct pd_chunk *chunk,
				      const struct pd_merge_stream *s,
				      struct pd_chunk_memory *memory, struct pd_error *err);

/* Gives a chunk's memory to later ones. NULL: nothing. */
void pd_loaded_chunk_give_back(struct pd_loaded_chunk *loaded, struct pd_chunk_memory *memory);

/* Frees all, once every chunk was given back. */
void pd_chunk_memory_deinit(struct pd_chunk_memory *memory);

/* Frees the bytes that were read and keeps the positions of the records. */
void pd_loaded_chunk_free_bytes(struct pd_loaded_chunk *loaded);

/* A chunk for the thread that loads, in the order in which the merge needs them. */
struct pd_chunk_request {
	const struct pd_chunk *chunk;
	const struct pd_merge_stream *stream;
	uint64_t number; /* order of requests with equal times */
};

struct pd_chunk_prefetch;

/*
 * Starts a thread that loads the chunks of `n` requests, given in any order, as a stage of
 * `pass` (NULL: the current one), into `memory`, in which no other loads meanwhile. Takes
 * ownership of `requests`, which comes from malloc, and frees it even on failure. Returns NULL
 * if there can be no thread.
 */
struct pd_chunk_prefetch *pd_chunk_prefetch_start(struct pd_chunk_request *requests, size_t n,
						  struct pd_chunk_memory *memory,
						  struct pb_pass *pass);
void pd_chunk_prefetch_stop(struct pd_chunk_prefetch *prefetch);

/*
 * Returns the next chunk by the time of its earliest record; the caller owns it. Returns NULL
 * with *err on failure.
 */
struct pd_loaded_chunk *pd_chunk_prefetch_next(struct pd_chunk_prefetch *prefetch,
					       struct pd_error *err);

#endif
