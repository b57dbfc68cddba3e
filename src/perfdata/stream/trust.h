/*
 * Checks of several strengths whether a record begins at some bytes.
 *
 * Each caller uses the weakest check that it can: a stronger one refuses record types that are
 * not known yet, and these checks run for every record of a recording.
 *
 *   check               evidence                          callers
 *   pd_header_fits      8 bytes: PD_FITS, inline          the header after each record; each
 *                                                         position where records are searched
 *   pd_plain_size       8 bytes: a kernel's type or       runs of records, PD_CHAIN_LENGTH
 *                       FINISHED_ROUND, a usual size      ahead: nearly all of a recording
 *   pd_prove            the record's own parts fit into   runs of records, for sizes that no
 *                       its size, and no record follows   record of the type had before
 *                       them inside of it
 *   pd_record_trust     8 bytes or the whole record       see enum pd_trust
 *   pd_record_believed  the record, to which the one      the reader, for a record outside
 *                       before leads; and a header that   of runs
 *                       fits after it if it is sound
 *                       and its parts end at its size,
 *                       else a chain of records
 *   pd_resync           a chain of records to which       the reader, after damage;
 *                       no record leads: known or sound   partitions
 *
 * The last two are in resync.h.
 */
#ifndef PERFLUA_PERFDATA_TRUST_H
#define PERFLUA_PERFDATA_TRUST_H

#include "bind.h"

#define PD_LARGE 2048 /* bytes; only few records, of few types, are larger */
/* records; a chain of sizes that leads over so many is not chance */
#define PD_CHAIN_LENGTH 16

/* Degrees of evidence that bytes are a record; each value is more than the one before. */
enum pd_trust {
	/*
	 * Not a record: its type has more than 16 bits or its size is less than a header's,
	 * or its parts do not add up to its size, or no event has its id.
	 */
	PD_ODD,
	PD_FITS, /* nothing speaks against it; required by partitions */
	/* its type and flags are in use; required where chains begin or are cut */
	PD_KNOWN,
	/* all of it is as it should be; required of single records and of three in a row */
	PD_SOUND,
};

/*
 * Returns how far the `size` bytes at `bytes` are evidence for a record; all of them must be
 * there. With a size of 0 only the header is judged, as PD_KNOWN at most.
 */
enum pd_trust pd_record_trust(const struct pd_binder *binder, const uint8_t *bytes,
			      uint32_t size);

/*
 * Returns whether a header could begin at `p`. It is the check of PD_FITS for a header, inline.
 */
static inline bool pd_header_fits(const uint8_t *p, bool swap)
{
	uint32_t type = pb_load32(p, swap);

	return type - 1 < UINT16_MAX && pb_load16(p + 6, swap) >= 8;
}

/* The sizes that the parts of one record may add up to, by the events it may belong to. */
struct pd_extents {
	unsigned n;
	uint32_t sizes[4];
};

/*
 * Returns the sizes that the record at `bytes` has by its own parts, see pd_record_extent(),
 * whatever its header says; there are none if these do not tell. `size` bytes are there.
 */
struct pd_extents pd_find_extents(const struct pd_binder *binder, const uint8_t *bytes,
				  uint32_t size);

/*
 * Returns the offset, from `at` on, of the first word of eight bytes that is not zero, or of
 * the last one before `size`: perf pads some of its own records by more than it needs.
 */
uint32_t pd_skip_padding(const uint8_t *bytes, uint32_t at, uint32_t size);

/* The end of a record's own parts. Each value speaks more for its size than the one before. */
enum pd_ending {
	/* where known records begin, of which the last one ends at its end or crosses it */
	PD_SWALLOWING,
	/* likewise in a sample: the last one crosses its end, and all are older than it */
	PD_CROSSED,
	PD_CUT_SHORT, /* after the record's end */
	PD_OVERLONG,  /* before the record's end, but no record is there */
	PD_UNTOLD,    /* they do not tell */
	PD_WHOLE,     /* at the record's end, padding included */
};

/*
 * Compares the size of the record of `size` bytes at `bytes` with its own parts. `have` bytes
 * are there, `size` at least.
 */
enum pd_ending pd_record_ending(const struct pd_binder *binder, const uint8_t *bytes,
				uint32_t size, size_t have);

/*
 * Sizes of plain records that their own parts were found to have, by type: others of them are
 * believed. A record whose end only a text or a count tells is looked at each time, except a
 * sample.
 */
struct pd_proven {
	uint32_t sizes[PD_RECORD_USER][PD_LARGE / 8 / 32]; /* a bit for each eight bytes */
};

/* Returns the place of the bit of a plain record's size. */
static inline uint32_t *pd_proven_at(struct pd_proven *proven, uint32_t type, uint32_t size)
{
	/* FINISHED_ROUND is the only one of perf's own */
	return &proven->sizes[type % PD_RECORD_USER == type ? type : 0][(size / 8 - 1) / 32];
}

static inline bool pd_is_proven(struct pd_proven *proven, uint32_t type, uint32_t size)
{
	return *pd_proven_at(proven, type, size) >> (size / 8 - 1) % 32 & 1;
}

/*
 * Returns whether the plain record of `size` bytes at `bytes` has swallowed no other and is not
 * cut short, and notes its size if that is evidence for others. `have` bytes are there.
 */
bool pd_prove(struct pd_proven *proven, const struct pd_binder *binder, const uint8_t *bytes,
	      uint32_t size, size_t have);

/*
 * Returns `type` without its upper bits, which no type in use has but simpleperf's in its own
 * files.
 */
static inline uint32_t pd_low_type(const struct pd_file *file, uint32_t type)
{
	return type & (file->simpleperf ? UINT16_MAX : PD_RECORD_SIMPLEPERF - 1);
}

/*
 * Returns the type that the record of `size` bytes at `bytes` would have by pd_low_type(), if
 * that makes it a sound sample or compressed record; else 0. It is 0, too, if pd_low_type()
 * changes nothing.
 */
uint32_t pd_disguised_type(const struct pd_binder *binder, const uint8_t *bytes, uint32_t size);

/* Returns whether a type is one of simpleperf's own, in a file that simpleperf wrote. */
bool pd_is_simpleperf(const struct pd_file *file, uint32_t type);

/*
 * Returns whether a type is one of the kernel's or FINISHED_ROUND: such a record has no payload
 * after it and does not describe the recording.
 */
static inline bool pd_is_plain(uint32_t type)
{
	return type < PD_RECORD_USER || type == PD_RECORD_FINISHED_ROUND;
}

/*
 * Returns the size of the plain record at `p` if its type and size are usual and it ends at
 * `last` or before; else 0. `last` is the last position of the block where a header can be; `p`
 * must not lie after it.
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
