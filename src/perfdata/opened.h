/*
 * A chunk whose bytes are there, so that its records can be taken in the order of time.
 */
#ifndef PERFLUA_PERFDATA_OPENED_H
#define PERFLUA_PERFDATA_OPENED_H

#include "chunk.h"
#include "error.h"
#include "file.h"
#include "jumble.h"

struct pd_merge_stream {
	struct pd_stream *stream;
	struct pd_stamp stamp;
};

struct pd_opened {
	const uint8_t *bytes; /* NULL: they were let go, and each record is read when it is due */
	uint8_t *own;	      /* the same, unless the chunk holds them */
	uint32_t size; /* may be less than the chunk's: of a file that was cut under us */
	uint32_t n;    /* of places */
	struct pd_place *places; /* in the order of time; NULL: as they lie */
};

/* What sorting needs, kept from chunk to chunk; all zero at first. */
struct pd_scratch {
	struct pd_place *places;
	size_t n;
};

/* Reads a chunk of a stream, and sorts its records if they are in no order. NULL: see err. */
struct pd_opened *pd_chunk_open(const struct pd_chunk *chunk, const struct pd_merge_stream *s,
				struct pd_scratch *scratch, struct pd_error *err);
void pd_opened_destroy(struct pd_opened *opened);

/*
 * Lets go of the bytes of a chunk whose records from `next` on are still to come, and keeps where they are; `time` is
 * that of the first of them. False: no memory; then nothing has changed.
 */
bool pd_opened_let_go(struct pd_opened *opened, const struct pd_merge_stream *s, uint32_t next,
		      uint64_t time);

/* Finds the record at `at`: its header and bytes; false if there is not a whole one. */
static inline bool pd_opened_record(const struct pd_opened *opened, uint32_t at, bool swap,
				    struct pd_record *rec)
{
	if (opened->size - at < 8)
		return false;
	pd_record_header(rec, opened->bytes + at, swap);
	rec->bytes = opened->bytes + at;
	return rec->size >= 8 && rec->size <= opened->size - at;
}

#endif
