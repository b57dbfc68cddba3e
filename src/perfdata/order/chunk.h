/*
 * Records that lie in a row, as time order handles them: some tens of kilobytes whose times
 * ascend, or fewer that are in no order. A recording is a sequence of such runs, for each
 * processor's buffer was written out in one piece; here and there a record is out of place.
 */
#ifndef PERFLUA_PERFDATA_CHUNK_H
#define PERFLUA_PERFDATA_CHUNK_H

#include <stdbool.h>
#include <stddef.h>

#include "perfdata/format/record.h"
#include "perfdata/stream/timestamp.h"

struct pd_chunk {
	uint64_t offset;	  /* of the first record, as it says itself */
	uint64_t inside;	  /* its chunk_offset */
	uint64_t first, min, max; /* ns: of the first record; of all */
	uint64_t number;	  /* of the chunks of its stream, as they lie */
	uint64_t types;		  /* of its records: bits by pd_chunk_type */
	uint32_t size;
	bool sorted;
	const uint8_t *held; /* its bytes, if they cannot be read again */
};

/* The bit of a type; perf's own types and unknown ones share one. */
static inline uint64_t pd_chunk_type(uint32_t type)
{
	return UINT64_C(1) << (type < PD_RECORD_USER ? type : 0);
}

/*
 * A chunk is read at once when its first record is due, so it is neither so large that many of
 * them fill the memory, nor so small that reading it costs more than its records. Runs shorter
 * than the least are put together, to be sorted when they are read.
 */
#define PD_CHUNK_MOST	(64 * 1024)
#define PD_CHUNK_LEAST	(4 * 1024)
#define PD_CHUNK_JUMBLE (48 * 1024)

/*
 * Cuts a stream into chunks. A record without a time keeps its place: it has that of the one
 * before it.
 */
struct pd_cutter {
	struct pd_chunk chunk; /* size 0: none was begun */
	uint64_t last;	       /* time of the last record */
	uint64_t next_number;
};

static inline bool pd_chunk_goes_on(const struct pd_chunk *c, const struct pd_record *rec)
{
	if (rec->chunk_offset == PD_NO_CHUNK)
		return rec->offset == c->offset + c->size && c->inside == PD_NO_CHUNK;
	return rec->offset == c->offset && rec->chunk_offset == c->inside + c->size;
}

/*
 * Does the record belong to the chunk that was begun? Else the caller takes cutter->chunk away,
 * and begins a new one by adding the record.
 */
static inline bool pd_cutter_fits(const struct pd_cutter *k, const struct pd_record *rec,
				  uint64_t time)
{
	const struct pd_chunk *c = &k->chunk;

	if (c->size == 0)
		return true;
	if (!pd_chunk_goes_on(c, rec) ||
	    c->size + rec->size > (c->sorted ? PD_CHUNK_MOST : PD_CHUNK_JUMBLE))
		return false;
	return time >= k->last || c->size < PD_CHUNK_LEAST || !c->sorted;
}

/* Begins a chunk with a record. */
void pd_cutter_begin(struct pd_cutter *cutter, const struct pd_record *rec, uint64_t time);

static inline void pd_cutter_add(struct pd_cutter *k, const struct pd_record *rec,
				 uint64_t time)
{
	struct pd_chunk *c = &k->chunk;

	if (c->size == 0)
		pd_cutter_begin(k, rec, time);
	c->sorted = c->sorted && time >= k->last;
	c->min = time < c->min ? time : c->min;
	c->max = time > c->max ? time : c->max;
	c->types |= pd_chunk_type(rec->type);
	c->size += rec->size;
	k->last = time;
}

#endif
