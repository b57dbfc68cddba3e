/*
 * How sure one can be that a record begins at some bytes.
 */
#ifndef PERFLUA_PERFDATA_TRUST_H
#define PERFLUA_PERFDATA_TRUST_H

#include "bind.h"

#define PD_LARGE 2048 /* bytes: few records have more, and few types */
#define PD_CHAIN_LENGTH \
	16 /* records: a chain of sizes that leads over so many is no accident */

/*
 * Returns whether a header could begin at `p`. Asked of every record's successor, so it is
 * quick and lenient.
 */
static inline bool pd_header_fits(const uint8_t *p, bool swap)
{
	uint32_t type = pd_load32(p, swap);

	return type - 1 < UINT16_MAX && pd_load16(p + 6, swap) >= 8;
}

/*
 * Returns the same, strictly: a type that perf, the kernel or, in its own files, simpleperf
 * writes, flags that there are.
 */
bool pd_header_known(const uint8_t *p, const struct pd_file *file);

/* What a record says of itself. */
enum pd_evidence {
	/* its parts do not add up to its size, no event has its id, or nobody has its type */
	PD_ODD,
	/* nothing speaks against it; but its type, flags or parts are not known */
	PD_UNPROVED,
	PD_SOUND, /* all that can be looked at is as it should be */
};

/* Judges the record of `size` bytes at `bytes`, at least a header, all of which are there. */
enum pd_evidence pd_record_evidence(const struct pd_binder *binder, const uint8_t *bytes,
				    uint32_t size);

/* Returns the type without the upper bits that nobody's types have, but simpleperf's in its own files. */
static inline uint32_t pd_low_type(const struct pd_file *file, uint32_t type)
{
	return type & (file->simpleperf ? UINT16_MAX : PD_RECORD_SIMPLEPERF - 1);
}

/*
 * Returns the type of the sound sample or compressed record that the one of `size` bytes at
 * `bytes` would be by pd_low_type; 0: it would be none, or has that type.
 */
uint32_t pd_disguised_type(const struct pd_binder *binder, const uint8_t *bytes, uint32_t size);

/* Tells whether a type is one of simpleperf's own, in a file that simpleperf wrote. */
bool pd_is_simpleperf(const struct pd_file *file, uint32_t type);

/*
 * Returns the size of the plain record at p if nothing about it is unusual and it ends at
 * `last`, the last position of the block where a header can be, or before; else 0. Its own
 * header must not lie behind that.
 */
static inline uint32_t pd_plain_size(const uint8_t *p, const uint8_t *last, bool swap)
{
	uint32_t type = pd_load32(p, swap), size = pd_load16(p + 6, swap), more = size - 8;

	if ((type - 1 >= PD_RECORD_USER - 1 && type != PD_RECORD_FINISHED_ROUND) ||
	    (more >> 3 | more << 29) > (PD_LARGE - 8) / 8 || size > (size_t)(last - p))
		return 0;
	return size;
}

#endif
