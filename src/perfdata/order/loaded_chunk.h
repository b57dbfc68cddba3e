/*
 * A chunk in memory with a list of its records, so that they can be taken in the order of time.
 */
#ifndef PERFLUA_PERFDATA_LOADED_CHUNK_H
#define PERFLUA_PERFDATA_LOADED_CHUNK_H

#include "chunk.h"
#include "perfdata/container/file.h"
#include "perfdata/format/error.h"
#include "perfdata/stream/reader.h"

/* A record's time (ns), its offset in the chunk and its size. */
struct pd_position {
	uint64_t time;
	uint32_t at, size;
};

/*
 * The samples that are wanted. Others may be left out before they are put in order; some are
 * delivered all the same, at least one of each chunk, so that callers see how time passes.
 */
struct pd_sample_choice {
	/*
	 * [n + 1], by number of their event, the last for those without one; NULL: all are
	 * wanted, as those of events with greater numbers always are
	 */
	const uint8_t *events;
	size_t n;
	/* NULL, or ns, by number of the recording: latest time of a sample that was left out */
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
	/* NULL once pd_loaded_chunk_release() freed them */
	const uint8_t *bytes;
	uint8_t *own;	 /* the same if they were read; NULL if the chunk holds them */
	uint32_t size;	 /* less than the chunk's if the file was truncated meanwhile */
	uint32_t n;	 /* number of positions */
	uint64_t latest; /* ns: latest time of a sample that was left out; 0: there is none */
	/*
	 * of the records to be delivered, in the order of time; [n] is a sentinel with a time
	 * above all others
	 */
	struct pd_position *positions;
};

/*
 * Memory for listing and sorting, reused from chunk to chunk. Zero-initialised: empty. The
 * owner frees `positions`.
 */
struct pd_sort_scratch {
	struct pd_position *positions;
	size_t n;
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
				      struct pd_sort_scratch *scratch, struct pd_error *err);
void pd_loaded_chunk_destroy(struct pd_loaded_chunk *loaded);

/* Frees the bytes that were read and keeps the positions of the records. */
void pd_loaded_chunk_release(struct pd_loaded_chunk *loaded);

#endif
