/*
 * The parts of a recording beside its records: the header, attrs and features of a file, or the
 * records that take their place in pipe mode. Shared by the files of this module.
 */
#ifndef PERFLUA_WRITE_SECTIONS_H
#define PERFLUA_WRITE_SECTIONS_H

#include "writer.h"

/* Writes what comes before the records of a file. The header is written at the end. */
bool pw_begin_file(struct pw_writer *w, struct pd_error *err);

/* Writes the features, then the header. Returns false with *err. */
bool pw_end_file(struct pw_writer *w, struct pd_error *err);

/* Writes what comes before the records in pipe mode. Returns false with *err. */
bool pw_begin_pipe(struct pw_writer *w, struct pd_error *err);

/*
 * Returns whether a record that describes the recording tells, in pipe mode, what was not known
 * before the records.
 */
bool pw_is_late(const struct pw_writer *w, const struct pd_record *rec);

/* Returns the events that the recording is described by, and sets *n to their number. */
const struct pd_event *pw_events(const struct pw_writer *w, size_t *n);

/*
 * Puts the first `size` bytes of an event's attr, and zeros where it has fewer. Returns false
 * with *err.
 */
bool pw_put_attr(struct pw_writer *w, const struct pd_event *event, size_t size,
		 struct pd_error *err);

/*
 * Change an attr, and those of a feature EVENT_DESC, which have the byte order of `like`, to
 * tell of the records as w->how has them written.
 */
void pw_change_attr(const struct pw_writer *w, uint8_t *attr, size_t n);
void pw_change_event_desc(const struct pw_writer *w, uint8_t *bytes, size_t n);

/* How a feature is written. */
enum pw_feature {
	PW_ABSENT,
	PW_COPIED,
	PW_MADE, /* by pw_put_feature(), from what was written */
};

/* Finds how a feature is written; notes one that cannot be read. */
enum pw_feature pw_find_feature(struct pw_writer *w, unsigned bit);

/*
 * Returns the bytes of a feature that is copied, which the caller frees, and sets *n to their
 * number; NULL with *err.
 */
uint8_t *pw_feature_bytes(struct pw_writer *w, unsigned bit, size_t *n, struct pd_error *err);

/* Puts a feature whose content follows from what was written. Returns false with *err. */
bool pw_put_feature(struct pw_writer *w, unsigned bit, struct pd_error *err);

/* Counts of records that were written together. */
struct pw_counts {
	uint64_t first, last; /* the range of the samples' times; first > last: none has one */
	uint64_t records, samples, sample_bytes, bytes;
};

/* Adds counts to the summary. */
void pw_add_counts(struct pw_writer *w, const struct pw_counts *counts);

/* Returns whether a record describes data of an AUX area. */
bool pw_is_aux(uint32_t type);

/* Puts bytes of a stream, which must hold them all. Returns false with *err. */
bool pw_put_range(struct pw_writer *w, struct pd_stream *stream, struct pd_section at,
		  struct pd_error *err);

#endif
