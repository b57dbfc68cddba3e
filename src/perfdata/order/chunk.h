/*
 * Chunks: the unit of time order. A chunk is up to 64 KB of consecutive records of a stream.
 * Mostly their times ascend, as each copy of a processor's ring buffer is one such run of
 * records. An unsorted chunk holds several short runs.
 */
#ifndef PERFLUA_PERFDATA_CHUNK_H
#define PERFLUA_PERFDATA_CHUNK_H

#include <stdbool.h>
#include <stddef.h>

#include "perfdata/format/record.h"
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

#endif
