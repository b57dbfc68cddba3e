/*
 * The records of a compressed stream in batches, which a thread decompresses while others are
 * looked at.
 *
 * A batch owns its bytes, so several may be kept. The stream is read by a speculative reader:
 * nothing is noted, and where it is unusual or damaged there are no more batches; then whoever
 * reads it alone says what is wrong.
 */
#ifndef PERFLUA_PERFDATA_RECORD_BATCHES_H
#define PERFLUA_PERFDATA_RECORD_BATCHES_H

#include "reader.h"
#include "timestamp.h"

/*
 * Records in a range: as they lie in a compressed record, or (chunk_offset PD_NO_CHUNK) outside
 * of them.
 */
struct pd_record_range {
	const uint8_t *bytes;
	size_t size;
	uint64_t offset, chunk_offset; /* of the first */
};

/* A record that is looked for, among others in a range. */
struct pd_picked {
	struct pd_record rec; /* without event and layout */
	uint64_t last; /* the time of the last record before it that has one; 0: none has */
};

struct pd_record_batch {
	struct pd_record_range *ranges; /* [n_ranges], as they lie in the stream */
	size_t n_ranges;
	struct pd_picked *picked; /* [n_picked], likewise */
	size_t n_picked;
	uint64_t latest; /* of the times of its samples; 0: there are none */
	/*
	 * there are samples whose time is not where those of all events are, or which have none
	 */
	bool untimed;
	uint64_t rounds; /* FINISHED_ROUND records in the stream up to its end */
	uint64_t done;	 /* bytes of the stream up to its end */
	/* the maker's: */
	struct pd_record_batch *next;
	uint8_t *block, *outer; /* what was decompressed; what was not */
	size_t ranges_capacity, picked_capacity, outer_size, outer_capacity;
};

#define PD_RECORD_BATCH_SIZE ((size_t)512 * 1024) /* bytes of a batch, about */

struct pd_record_batches;

/*
 * Batches of a stream that can be read again. Of the records outside of compressed ones only
 * those of the types of `outside` are in them; those of the types of `pick` are picked.
 * `threads` 1: they are made when they are asked for. NULL: no memory.
 */
struct pd_record_batches *pd_record_batches_start(struct pd_stream *stream,
						  const struct pd_types *outside,
						  const struct pd_types *pick,
						  unsigned threads);
void pd_record_batches_stop(struct pd_record_batches *batches);

/* Of the thread's reader: what never changes. */
const struct pd_binder *pd_record_batches_binder(const struct pd_record_batches *batches);

/*
 * The next batch, to be given back before the end. NULL: there is none, or (*bailed_out) it is
 * not known how to go on.
 */
struct pd_record_batch *pd_record_batches_next(struct pd_record_batches *batches,
					       bool *bailed_out);
void pd_record_batches_give_back(struct pd_record_batches *batches,
				 struct pd_record_batch *batch);

#endif
