/*
 * A reader's steps over damaged and missing records, which are noted as damage. A speculative
 * reader bails out instead.
 */
#ifndef PERFLUA_PERFDATA_READER_DAMAGE_H
#define PERFLUA_PERFDATA_READER_DAMAGE_H

#include "reader.h"

/* a larger payload is damage, even in a stream, whose end is not known */
#define PD_MAX_PAYLOAD (UINT64_C(1) << 40)

/* Reasons why the bytes at a position are not accepted as a record. */
enum pd_problem {
	PD_NOTHING,
	PD_TOO_SMALL, /* its size is less than a header's */
	PD_TOO_LARGE, /* its size is more than the bytes that are left */
	PD_TOO_LONG,  /* its size is more than any record's */
	PD_NOT_FOLLOWED,
	PD_WRONG_TYPE,
	PD_DISGUISED, /* it is known but for the upper bits of its type */
};

/* Ends a speculative reader: sets bailed_out and goes to the end of the blocks. Returns 0. */
int pd_reader_bail_out(struct pd_reader *reader);

/*
 * Notes damage of the compressed record at reader->compressed_at: `what` was found. The
 * compressed stream is lost up to the next frame.
 */
void pd_reader_lose_stream(struct pd_reader *reader, const char *what);

/* Notes what is missing at the end of the records. Returns 0. */
int pd_reader_end(struct pd_reader *reader);

/*
 * Ends the walk where fewer bytes are left than a header has, and notes them as damage. Returns
 * 0.
 */
int pd_reader_end_in_header(struct pd_reader *reader);

/*
 * Skips bytes that cannot be a record and notes them as damage. Returns 1 if records continue
 * after them; 0 if not, or the reader bailed out; -1 with *err.
 */
int pd_reader_recover(struct pd_reader *reader, const struct pd_record *rec,
		      enum pd_problem problem, struct pd_error *err);

/*
 * Steps over a payload that is not all there. If records continue before its end the size is
 * damaged. Returns 0, or -1 with *err.
 */
int pd_reader_lose_payload(struct pd_reader *reader, struct pd_error *err);

#endif
