/*
 * Walks the records of a stream in file order.
 *
 * The reader reads blocks that fit the processor's cache and returns records that point into
 * them: a record is valid until the next call. Records inside compressed records are delivered
 * in the position of the compressed record. Bytes that cannot be a record are noted as damage
 * of the file.
 */
#ifndef PERFLUA_PERFDATA_READER_H
#define PERFLUA_PERFDATA_READER_H

#include "bind.h"
#include "perfdata/input/blocks.h"
#include "perfdata/input/decompress.h"
#include "perfdata/container/file.h"
#include "perfdata/format/record.h"
#include "resync.h"

struct pd_reader;

/* Gets the records that a reader delivers, before the next ones are read. */
struct pd_reader_watch {
	struct pd_reader_watch *next; /* another watch of the same reader, or NULL */
	/*
	 * Called with `size` bytes of plain records, or of one record of any type. `first` is
	 * the first record, with its header, and without event and layout. Records of types
	 * that are not wanted are among them.
	 */
	void (*take)(void *arg, struct pd_reader *reader, const struct pd_record *first,
		     size_t size);
	void *arg;
};

struct pd_reader {
	struct pd_stream *stream;
	struct pd_file *file; /* stream->file */
	struct pd_blocks blocks;
	struct pd_binder binder;
	struct pd_types want; /* types to deliver; all, unless the caller changes it */
	bool swap;	      /* copied from the file */
	struct pd_decompress *decompress; /* NULL until a compressed record is met */
	bool in_compressed; /* the next record is one inside a compressed record */
	bool cut; /* the recording ends inside a compressed record, and that was noted */
	/* bytes of the last record's payload, if not all of them are there; else 0 */
	uint64_t missing;
	uint8_t before_payload[64]; /* the last record, if its payload was kept */
	/* the compressed stream is damaged; it continues at the start of a new frame */
	bool lost;
	/*
	 * Look-ahead: from offset lead_at on there are PD_CHAIN_LENGTH plain records of
	 * lead_size bytes in all; before offset no_lead there are fewer.
	 */
	uint64_t lead_at, no_lead;
	size_t lead_size;
	struct pd_proven proven; /* by the events that are known */
	uint64_t compressed_at;	 /* offset of the compressed record */
	/*
	 * where an unfinished record begins: offset of the compressed record, and offset in its
	 * decompressed payload
	 */
	uint64_t began_offset, began_chunk_offset;
	/*
	 * Set by the caller: stop early and set `bailed_out` on damage, metadata or error,
	 * instead of noting damage, taking over metadata or returning -1. To the caller that
	 * looks like the end.
	 */
	bool speculative;
	bool accepts_metadata;		 /* if speculative: take metadata over nevertheless */
	bool uncompressed_only;		 /* if speculative: stop at compressed records, too */
	bool bailed_out;		 /* the reader stopped early */
	struct pd_reader_watch *watches; /* the caller's; NULL: nobody watches */
};

/*
 * Prepares a reader at the start of `stream`, which must outlive it. Returns false with *err;
 * then there is nothing to deinit.
 */
bool pd_reader_init(struct pd_reader *reader, struct pd_stream *stream, struct pd_error *err);
void pd_reader_deinit(struct pd_reader *reader);

/* Adds a watch, which must outlive its use by the reader. */
static inline void pd_reader_add_watch(struct pd_reader *reader, struct pd_reader_watch *watch)
{
	watch->next = reader->watches;
	reader->watches = watch;
}

/*
 * Reads the next record of a type in reader->want, with its event and layout, into *rec.
 *
 * Returns 1; 0 at the end; -1 with *err if the stream could not be read.
 */
int pd_reader_next(struct pd_reader *reader, struct pd_record *rec, struct pd_error *err);

/*
 * Reads the next record of any type, as pd_reader_next(), but without event and layout, which
 * pd_bind(&reader->binder, rec) finds.
 */
int pd_reader_advance(struct pd_reader *reader, struct pd_record *rec, struct pd_error *err);

/*
 * A run of plain records in the reader's block that are beyond doubt, as PD_CHAIN_LENGTH others
 * follow each of them. It makes loops over nearly all records of a recording cheap:
 *
 *	struct pd_run run;
 *
 *	pd_run_begin(&run, reader);
 *	for (; pd_run_has(&run, swap); pd_run_skip(&run, size))
 *		… the record at run.at …
 *	pd_run_end(&run, reader);
 *
 * The run looks PD_CHAIN_LENGTH records ahead, so that the loop rarely waits for memory.
 */
struct pd_run {
	const uint8_t *at;
	const uint8_t *front; /* the record PD_CHAIN_LENGTH records after `at` */
	const uint8_t *last;  /* last position of the block where a header can be */
	uint32_t ahead;	      /* size of the record at `front` */
	struct pd_reader *reader;
};

/*
 * Returns the record at the reader's position in its block, without header, bytes, event and
 * layout: those of a run differ in these and in their offset.
 */
static inline struct pd_record pd_reader_record(const struct pd_reader *reader)
{
	return (struct pd_record){
		.offset = reader->blocks.offset,
		.chunk_offset = PD_NO_CHUNK,
		.source = reader->file->source,
		.stream = reader->stream->number,
	};
}

/*
 * Begins a run at the reader's position. The run is empty if there are too few plain records.
 */
void pd_run_begin(struct pd_run *run, struct pd_reader *reader);

/*
 * Returns the size of the plain record at `p`, not after `last`, if it has swallowed no other;
 * 0 if there is none.
 */
static inline uint32_t pd_reader_plain_size(struct pd_reader *reader, const uint8_t *p,
					    const uint8_t *last, bool swap)
{
	uint32_t size = pd_plain_size(p, last, swap);

	if (!size || pd_is_proven(&reader->proven, pb_load32(p, swap), size) ||
	    pd_prove(&reader->proven, &reader->binder, p, size, (size_t)(last - p)))
		return size;
	return 0;
}

/* Returns whether there is a record at run->at, and finds the size of the one at run->front. */
static inline bool pd_run_has(struct pd_run *run, bool swap)
{
	run->ahead = pd_reader_plain_size(run->reader, run->front, run->last, swap);
	return run->ahead != 0;
}

/* Steps over the record of `size` bytes at run->at. */
static inline void pd_run_skip(struct pd_run *run, uint32_t size)
{
	run->at += size;
	run->front += run->ahead;
}

/* Moves the reader to run->at. */
void pd_run_end(const struct pd_run *run, struct pd_reader *reader);

/* Steps over the run at the reader's position: its records are for the watches alone. */
void pd_run_pass(struct pd_reader *reader);

/*
 * Returns the section of the payload after a record, of size 0 if there is none. The size is
 * the record's own word: the recording may end before.
 */
struct pd_section pd_record_payload(const struct pd_record *rec);

#endif
