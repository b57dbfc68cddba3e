/*
 * The parts of a sample: which ones a sample has, their sizes and offsets.
 */
#ifndef PERFLUA_PERFDATA_SAMPLE_H
#define PERFLUA_PERFDATA_SAMPLE_H

#include "layout.h"
#include "record.h"

/* Returns whether samples of this shape have a part. */
bool pd_part_present(const struct pd_shape *shape, enum pd_part part);

/* Returns the size of a part if it is the same in every sample of this shape, else 0. */
uint32_t pd_part_fixed(const struct pd_shape *shape, enum pd_part part);

/*
 * Return the bytes of one entry of a read_format block, and of its header before the entries.
 */
uint32_t pd_read_entry_size(uint64_t read_format);
uint32_t pd_read_header_size(uint64_t read_format);

/* A branch stack; offsets are from the record's start. */
struct pd_branches {
	uint32_t count;	   /* entries of 24 bytes */
	uint32_t entries;  /* offset of the entries */
	uint32_t counters; /* offset of their u64 counters; 0: none */
	uint32_t end;
	bool has_hw_idx;
	uint64_t hw_idx;
};

/* Reads the branch stack at offset `at`. Returns false if it does not fit the record. */
bool pd_branches_read(const struct pd_record *rec, uint32_t at, struct pd_branches *out);

/*
 * Returns whether the parts of the sample fill its record exactly, as they do in the kernel's.
 */
bool pd_sample_whole(const struct pd_record *rec);

/* Returns the size that the parts of the sample add up to; 0 if they do not fit the record. */
uint32_t pd_sample_extent(const struct pd_record *rec);

#endif
