/* Chains of records, each of which leads to the next: the evidence that records are there. */
#ifndef PERFLUA_PERFDATA_CHAIN_H
#define PERFLUA_PERFDATA_CHAIN_H

#include "perfdata/input/blocks.h"
#include "trust.h"

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
