/*
 * How sure one can be that a record begins at some bytes.
 *
 * Who asks for more than it needs loses records that nobody here knows yet, and time: these
 * questions are asked of each record of a recording. So there are several strengths:
 *
 *   strength            what is looked at                 who asks
 *   pd_header_fits      8 bytes: PD_FITS, inline          the header behind each record; each
 *                                                         position where records are searched
 *   pd_plain_size       8 bytes: a kernel's type or the   runs of records, PD_CHAIN_LENGTH
 *                       end of a round, a usual size      ahead: nearly all of a recording
 *   pd_record_trust     8 bytes or the whole record       see enum pd_trust
 *   pd_record_believed  the record, to which the one      the reader, of a record outside of
 *                       before leads; and a header that   runs
 *                       fits behind it if it is sound,
 *                       else a chain of records
 *   pd_resync           a chain of records to which       the reader, behind damage;
 *                       nothing leads: known or sound     partitions
 *
 * The last two are in resync.h.
 */
#ifndef PERFLUA_PERFDATA_TRUST_H
#define PERFLUA_PERFDATA_TRUST_H

#include "bind.h"

#define PD_LARGE 2048 /* bytes: few records have more, and few types */
#define PD_CHAIN_LENGTH \
	16 /* records: a chain of sizes that leads over so many is no accident */

/* How far the bytes of a record prove it, each more than the one before. */
enum pd_trust {
	/*
	 * It is none: a type of more than 16 bits, or a size of less than a header; or its
	 * parts do not add up to its size, or no event has its id.
	 */
	PD_ODD,
	PD_FITS, /* nothing of it speaks against it; asked by partitions */
	/* and somebody writes its type and flags; asked where chains begin or are cut */
	PD_KNOWN,
	/* and all of it is as it should be; asked in rows of three, and of single records */
	PD_SOUND,
};

/*
 * Returns what speaks for the record of `size` bytes at `bytes`, all of which are there. With a
 * size of 0 only its header is looked at, and it is at most PD_KNOWN.
 */
enum pd_trust pd_record_trust(const struct pd_binder *binder, const uint8_t *bytes,
			      uint32_t size);

/* Returns whether a header could begin at `p`: the same as PD_FITS of a header, quickly. */
static inline bool pd_header_fits(const uint8_t *p, bool swap)
{
	uint32_t type = pb_load32(p, swap);

	return type - 1 < UINT16_MAX && pb_load16(p + 6, swap) >= 8;
}

/*
 * Returns the type without the upper bits that nobody's types have, except simpleperf's in its
 * own files.
 */
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
	uint32_t type = pb_load32(p, swap), size = pb_load16(p + 6, swap), more = size - 8;

	if ((type - 1 >= PD_RECORD_USER - 1 && type != PD_RECORD_FINISHED_ROUND) ||
	    (more >> 3 | more << 29) > (PD_LARGE - 8) / 8 || size > (size_t)(last - p))
		return 0;
	return size;
}

#endif
