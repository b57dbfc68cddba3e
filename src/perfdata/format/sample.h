/*
 * The parts of a sample: which there are, how large each is, where it lies.
 */
#ifndef PERFLUA_PERFDATA_SAMPLE_H
#define PERFLUA_PERFDATA_SAMPLE_H

#include "layout.h"
#include "record.h"

/* Has a sample of this shape that part? */
bool pd_part_present(const struct pd_shape *shape, enum pd_part part);

/* Its size if that is the same in every sample of this shape, else 0. */
uint32_t pd_part_fixed(const struct pd_shape *shape, enum pd_part part);

/* Bytes of one entry and of what comes before the entries of a read_format block. */
uint32_t pd_read_entry_size(uint64_t read_format);
uint32_t pd_read_header_size(uint64_t read_format);

/* A branch stack, its optional words resolved; offsets are of the record. */
struct pd_branches {
	uint32_t count;	   /* entries of 24 bytes */
	uint32_t entries;  /* where they start */
	uint32_t counters; /* where their u64 counters start; 0: none */
	uint32_t end;
	bool has_hw_idx;
	uint64_t hw_idx;
};

/* Reads the branch stack that starts at `at`; false if it does not fit the record. */
bool pd_branches_read(const struct pd_record *rec, uint32_t at, struct pd_branches *out);

/* Do the parts of this sample fill its record exactly? What a kernel wrote does. */
bool pd_sample_whole(const struct pd_record *rec);

#endif
