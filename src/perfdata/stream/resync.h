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

#include "perfdata/input/blocks.h"
#include "trust.h"

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
