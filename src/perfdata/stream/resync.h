/*
 * Which bytes are believed to be a record, and where records go on behind something that cannot
 * be one.
 *
 * Two things speak for a record: what it says itself (its type, flags and size, the id of its
 * event, the parts of a sample, which fill it exactly), and the records that follow where it
 * ends. Either is enough at a position that the record before leads to, so that what nobody
 * here knows yet is read as well. Anywhere else more is asked for.
 */
#ifndef PERFLUA_PERFDATA_RESYNC_H
#define PERFLUA_PERFDATA_RESYNC_H

#include "bind.h"
#include "perfdata/input/blocks.h"

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

/*
 * Returns 1 if the record at the blocks' position, to which the one before leads, is believed:
 * all its `size` bytes are available. `open_end`: the recording may have been cut off anywhere.
 * 0: damage begins there; -1 on an error. Of a live stream only what is in doubt waits for the
 * bytes behind it.
 */
int pd_record_believed(struct pd_blocks *b, const struct pd_binder *binder, uint32_t size,
		       bool open_end, struct pd_error *err);

/*
 * Returns 1 if the type of the record at the blocks' position cannot be simpleperf's, whose
 * records alone are of 32-bit size: with the lower 16 bits as its size other records follow. 0:
 * it can; -1 on an error.
 */
int pd_type_damaged(struct pd_blocks *b, const struct pd_binder *binder, bool open_end,
		    struct pd_error *err);

/*
 * Returns 1 if a header can begin behind the large record of simpleperf's at the blocks'
 * position, or nothing does; 0: neither; -1 on an error. Makes nothing of the record available:
 * that is for the caller to do once it is believed so far.
 */
int pd_large_followed(struct pd_blocks *b, const struct pd_file *file, uint32_t size,
		      struct pd_error *err);

/* What lies at the blocks' position where records are searched for. */
enum pd_searched {
	PD_IN_RECORD,  /* something that cannot be one */
	PD_IN_PAYLOAD, /* what is one does not look like a record, not even like a lone one */
	PD_IN_COMPRESSED, /* it may hold whole records, so only compressed ones count */
};

/*
 * Steps on to the next position where records begin, at least one byte further unless it is
 * searched for in payload. Returns 1; 0: there is none, and the blocks are at their end; -1 on
 * an error.
 */
int pd_resync(struct pd_blocks *b, const struct pd_binder *binder, enum pd_searched searched,
	      bool open_end, struct pd_error *err);

#endif
