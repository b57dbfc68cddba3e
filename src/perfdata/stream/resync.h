/*
 * Decides which bytes are believed to be a record, and finds where records continue after
 * damage.
 *
 * Two things are evidence for a record: its own bytes (type, flags and size, the id of its
 * event, the parts of a sample, which fill it exactly) and the records that follow it. Either
 * is enough at a position to which the record before leads, so that record types nobody knows
 * yet are read as well. At any other position both are needed.
 */
#ifndef PERFLUA_PERFDATA_RESYNC_H
#define PERFLUA_PERFDATA_RESYNC_H

#include "perfdata/input/blocks.h"
#include "trust.h"

/*
 * Returns 1 if the record at the blocks' position, to which the record before leads, is
 * believed, 0 if damage begins there, -1 with *err. All its `size` bytes must be available.
 * `open_end`: the recording may have been cut off anywhere. On a live stream only records in
 * doubt wait for the bytes after them.
 */
int pd_record_believed(struct pd_blocks *b, const struct pd_binder *binder, uint32_t size,
		       bool open_end, struct pd_error *err);

/*
 * Returns 1 if the type of the record at the blocks' position is damaged: it claims to be one
 * of simpleperf's, which alone have 32-bit sizes, but other records follow if only the lower 16
 * bits are its size. Returns 0 if not, -1 with *err.
 */
int pd_type_damaged(struct pd_blocks *b, const struct pd_binder *binder, bool open_end,
		    struct pd_error *err);

/*
 * Returns 1 if a header can begin after the large simpleperf record of `size` bytes at the
 * blocks' position, or the data ends there; 0 if not; -1 with *err. Does not make the record's
 * bytes available, so that its size is checked before memory is allocated.
 */
int pd_large_followed(struct pd_blocks *b, const struct pd_file *file, uint32_t size,
		      struct pd_error *err);

/*
 * Moves the blocks after the record at their position, which is damaged, if its own parts tell
 * where it ends, and records continue there, or before at its size. Returns 1; 0 if they do not
 * tell; -1 with *err.
 */
int pd_step_over_parts(struct pd_blocks *b, const struct pd_binder *binder, bool open_end,
		       struct pd_error *err);

/* Contents of the blocks' position when a search for records begins. */
enum pd_searched {
	PD_IN_RECORD, /* bytes that cannot be a record */
	/* a payload; its bytes do not look like a record, not even like a lone one */
	PD_IN_PAYLOAD,
	/* a compressed record; it may hold whole records, so only compressed ones count */
	PD_IN_COMPRESSED,
};

/*
 * Moves the blocks to the next position where records begin, at least one byte further unless
 * the search is in a payload. Returns 1; 0 if there is none, with the blocks at their end; -1
 * with *err.
 */
int pd_resync(struct pd_blocks *b, const struct pd_binder *binder, enum pd_searched searched,
	      bool open_end, struct pd_error *err);

/* Chains of records, each of which leads to the next: the evidence that records are there. */

#define PD_HEADER_SIZE 8 /* bytes */

/* A chain that is to be checked. */
struct pd_chain {
	struct pd_blocks *b;
	const struct pd_binder *binder;
	bool open_end; /* the last record may be cut off */
	/* no record leads to the first one, so its bytes must be evidence enough */
	bool strict;
	bool lone;	 /* a single record at the very end is enough */
	bool compressed; /* the first must be a compressed record or FINISHED_ROUND */
	/* it begins at an offset where hardly any record does, which needs more evidence */
	bool unaligned;
	bool all;      /* few sound records are not enough: PD_CHAIN_LENGTH must follow */
	bool tolerant; /* allow unknown types if the chain leads to sound records */
};

/*
 * Returns the size of the payload after the record of `size` bytes at `p`, all of which are
 * there.
 */
uint64_t pd_chain_payload(const struct pd_chain *c, const uint8_t *p, uint32_t size);

#define PD_UNSEEN 2 /* on a stream: what lies after a payload is not there yet */

/*
 * Returns 1 if a known record or the end of the recording is after the payload at offset `at`
 * from the blocks' position, 0 if not, PD_UNSEEN, or -1 with *err.
 */
int pd_chain_payload_followed(const struct pd_chain *c, uint64_t at, uint64_t payload,
			      struct pd_error *err);

/*
 * Returns 1 if the record of `size` bytes at offset `at` from the blocks' position, to which no
 * record leads, is followed by its payload, as far as can be seen; 0 if not, -1 with *err.
 */
int pd_chain_has_payload(const struct pd_chain *c, uint64_t at, uint32_t size, uint64_t payload,
			 struct pd_error *err);

/*
 * Returns 1 if a chain of records begins at offset `at` from the blocks' position, 0 if not, -1
 * with *err.
 */
int pd_chain_continues(const struct pd_chain *c, uint64_t at, struct pd_error *err);

/*
 * Returns 1 if records begin at offset `at` from the blocks' position, to which no record
 * leads; 0 if not; -1 with *err.
 */
int pd_chain_begins(struct pd_chain *c, uint64_t at, bool aligned, struct pd_error *err);

#endif
