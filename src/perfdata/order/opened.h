/*
 * A chunk whose bytes are there, so that its records can be taken in the order of time.
 */
#ifndef PERFLUA_PERFDATA_OPENED_H
#define PERFLUA_PERFDATA_OPENED_H

#include "chunk.h"
#include "perfdata/format/error.h"
#include "perfdata/container/file.h"
#include "jumble.h"
#include "perfdata/stream/reader.h"

struct pd_merge_stream {
	struct pd_stream *stream;
	struct pd_timestamp_locator locator;
	struct pd_types want; /* of its records */
};

struct pd_opened {
	/* NULL: they were let go, and each record is read when it is due */
	const uint8_t *bytes;
	uint8_t *own;  /* the same, unless the chunk holds them */
	uint32_t size; /* may be less than the chunk's: of a file that was cut under us */
	uint32_t n;    /* of places */
	struct pd_place *
		/*
		 * of the records that are wanted, in the order of time; [n] is later than all
		 * times
		 */
		places;
};

/* What listing and sorting need, kept from chunk to chunk; all zero at first. */
struct pd_scratch {
	struct pd_place *places;
	size_t n;
};

/*
 * Reads a chunk of a stream, and lists its records, sorted if they are in no order. NULL: see
 * err.
 */
struct pd_opened *pd_chunk_open(const struct pd_chunk *chunk, const struct pd_merge_stream *s,
				struct pd_scratch *scratch, struct pd_error *err);
void pd_opened_destroy(struct pd_opened *opened);

/* Lets go of the bytes of a chunk, and keeps where its records are. */
void pd_opened_let_go(struct pd_opened *opened);

#endif
