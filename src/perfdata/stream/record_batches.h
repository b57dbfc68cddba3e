/*
 * Delivers the records of a compressed stream in batches. A thread decompresses the next
 * batches while the caller works on earlier ones. The thread finds where records begin; what
 * they say is the caller's work, as decompression takes longer than most queries.
 *
 * A batch owns its bytes, so several may be kept. The reader is speculative: nothing is noted
 * as damage. If it bails out there are no more batches, and one thread must read the stream
 * with a pd_reader, which reports what is wrong.
 */
#ifndef PERFLUA_PERFDATA_RECORD_BATCHES_H
#define PERFLUA_PERFDATA_RECORD_BATCHES_H

#include "reader.h"
#include "timestamp.h"

/*
 * Bytes of consecutive records: inside a compressed record, or outside of them if chunk_offset
 * is PD_NO_CHUNK.
 */
struct pd_record_range {
	const uint8_t *bytes;
	size_t size;
	uint64_t offset, chunk_offset; /* offset and chunk_offset of the first record */
};

/* A record of a type the caller asked for, besides being in a range. */
struct pd_picked {
	struct pd_record rec; /* without event and layout */
	/* ns: the time of the last record with one before it; 0: there is none */
	uint64_t last;
};

struct pd_record_batch {
	struct pd_record_range *ranges; /* [n_ranges], in file order */
	size_t n_ranges;
	uint64_t done; /* bytes of the stream up to the end of the batch */
	/* with types to pick: */
	struct pd_picked *picked; /* [n_picked], in file order */
	size_t n_picked;
	uint64_t latest; /* ns: latest time of its samples; 0: it has none */
	/* some samples have no time, or not at the offset common to all events */
	bool untimed;
	uint64_t rounds; /* FINISHED_ROUND records in the stream up to the end of the batch */
	/* private: */
	struct pd_record_batch *next;
	/* decompressed bytes; copies of records outside of compressed ones */
	uint8_t *block, *uncompressed;
	size_t ranges_capacity, picked_capacity, uncompressed_size, uncompressed_capacity;
};

#define PD_RECORD_BATCH_SIZE ((size_t)512 * 1024) /* bytes of a batch, about */

struct pd_record_batches;

/*
 * Starts to read `stream`, which must be one that can be read again.
 *
 * Records of the types in `pick` are also listed as `picked`. With `pick` NULL nothing is said
 * about records but where they lie. With `threads` 1 there is no thread: a batch is made when
 * it is asked for. Returns NULL without memory.
 */
struct pd_record_batches *pd_record_batches_start(struct pd_stream *stream,
						  const struct pd_types *pick,
						  unsigned threads);
void pd_record_batches_stop(struct pd_record_batches *batches);

/* Returns the binder of the stream's file; it does not change while batches are read. */
const struct pd_binder *pd_record_batches_binder(const struct pd_record_batches *batches);

/*
 * Returns the next batch, which must be given back before pd_record_batches_stop(). Returns
 * NULL at the end, or if the reader bailed out: then *bailed_out is true.
 */
struct pd_record_batch *pd_record_batches_next(struct pd_record_batches *batches,
					       bool *bailed_out);
void pd_record_batches_give_back(struct pd_record_batches *batches,
				 struct pd_record_batch *batch);

#endif
