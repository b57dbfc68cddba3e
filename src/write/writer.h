/*
 * Writes a recording: a file of version 2, or pipe mode. It is described as the recording that
 * its records come from: attrs and ids have the same bytes, as have the header features, except
 * those that depend on the data. Records keep their bytes, unless they are turned to the other
 * byte order (turn.h).
 *
 *	if (!pw_writer_init(&w, file, fd, &how, &err)) …
 *	while (… reads a record …)
 *		if (!pw_write(&w, &rec, &err)) …
 *	if (!pw_writer_finish(&w, &err)) …
 *	pw_writer_deinit(&w);
 *
 * See tools/perf/util/header.c for the form of both, and perf_session__write_header there for
 * the order of a file's sections.
 */
#ifndef PERFLUA_WRITE_WRITER_H
#define PERFLUA_WRITE_WRITER_H

#include "base/string_builder.h"
#include "perfdata/container/file.h"
#include "perfdata/format/record.h"
#include "perfdata/stream/reader.h"
#include "perfdata/stream/timestamp.h"
#include "output.h"
#include "description.h"

enum pw_byte_order {
	PW_SAME_ORDER, /* the byte order of `like` */
	PW_LITTLE,
	PW_BIG,
};

struct pw_how {
	bool pipe;    /* it is in pipe mode; else a file, for which the descriptor must seek */
	int level;    /* level of zstd; 0: records are not compressed */
	bool padded;  /* compressed records are of type COMPRESSED2 */
	bool selects; /* only some records are written */
	bool sorts;   /* records come in the order of time: they get rounds of their own */
	enum pw_byte_order order;
	/*
	 * the directory in which the file is "data", and has the files to which records with
	 * a time go; NULL: none
	 */
	struct pw_directory *directory;
	/*
	 * The records come from a pw_rewriter (rewriter.h), which makes call chains of copies
	 * of user stacks, and of chains that were recorded later. Attrs tell of it.
	 */
	bool unwinds, joins;
	bool keeps_stacks; /* some samples keep their copy: those without one tell so */
	/*
	 * events and features instead of those of `like`; NULL: none. It may change until
	 * pw_writer_finish(), which must find it.
	 */
	const struct pw_description *description;
	/* [bundle_size]: borrowed bundle instead of that of `like`; NULL: its own is copied */
	const char *bundle;
	size_t bundle_size;
};

/* Returns whether copies of stacks in samples of a type become call chains. */
bool pw_unwinds(const struct pw_how *how, uint64_t sample_type);

/* The contents of a written recording, and what was left out. */
struct pw_summary {
	uint64_t records, samples;
	/* bytes of the records, and of samples among them, before they are compressed */
	uint64_t plain_bytes, sample_bytes;
	uint64_t bytes;		    /* bytes of the whole recording */
	struct pd_time_range times; /* times of samples */
	/* records, mostly of AUX areas, that were left out, and the bytes of data after them */
	uint64_t aux_records, aux_bytes;
	/*
	 * records that cannot be turned to the other byte order; samples that lost data by that
	 */
	uint64_t unturned_records, unturned_data;
	/*
	 * features, by bit, that could not be read, that a pipe cannot have, or that cannot be
	 * turned
	 */
	bool unreadable[PD_FEATURES], unfit[PD_FEATURES], unturned[PD_FEATURES];
};

/* The offsets of a record with data after it: in `like`, and in the written recording. */
struct pw_moved {
	uint64_t from, to;
};

struct pw_writer {
	struct pd_file *like;
	struct pw_how how;
	struct pw_output out;
	struct pw_compressor *compressor; /* NULL: nothing is compressed */
	struct pw_summary summary;
	bool big;   /* the written byte order is big-endian */
	bool turns; /* the written byte order is not that of `like` */
	/* private: */
	struct pd_timestamp_locator locator;
	size_t n_events; /* events of `like` that were described before the records */
	bool described[PD_FEATURES]; /* features of a pipe that were written before them */
	uint64_t stride;    /* of a file: bytes of an attr and of the section of its ids */
	uint32_t attr_size; /* of a file: the size that all attrs get; 0: each keeps its own */
	struct pd_section attrs, event_types, data;
	uint64_t in_round;		  /* records since the last round ended */
	bool keeps_round;		  /* the round does not end yet, if how.sorts */
	uint64_t round_at;		  /* offset where the round began, if how.sorts */
	struct pb_string changed, turned; /* bytes of the record that is being written */
	struct pw_moved *moved;		  /* in the order of `from` within each stream */
	size_t n_moved, moved_room;
};

/*
 * Begins a recording like `like`, which must outlive the writer, at offset 0 of `fd`, which
 * stays the caller's. Returns false with *err if it cannot be described, or without memory; the
 * caller calls pw_writer_deinit() also then.
 */
bool pw_writer_init(struct pw_writer *w, struct pd_file *like, int fd, const struct pw_how *how,
		    struct pd_error *err);
void pw_writer_deinit(struct pw_writer *w);

/*
 * Adds a record of `like`, with the payload after it. Records that describe a recording in pipe
 * mode, and compressed ones, are left out: the writer makes its own. Returns false with *err,
 * of the code "WRITE" if the output fails (out.error).
 */
bool pw_write(struct pw_writer *w, struct pd_record *rec, struct pd_error *err);

/* Does the same for a record whose time the caller knows; `time` (ns) is 0 if it has none. */
bool pw_write_timed(struct pw_writer *w, const struct pd_record *rec, uint64_t time,
		    struct pd_error *err);

/*
 * Returns whether records are written as they come, so that pw_write_run() may be called where
 * all are read in the order of the file.
 */
bool pw_copies_runs(const struct pw_writer *w);

/*
 * Adds the records of the kernel that follow in the reader's block, as far as they are beyond
 * doubt, and moves the reader after them. Returns as pw_write().
 */
bool pw_write_run(struct pw_writer *w, struct pd_reader *reader, struct pd_error *err);

/* Changes a sample: it then may have other bytes. Returns false if it is to be left out. */
typedef bool pw_change_fn(void *arg, struct pd_record *rec);

/* Does the same for samples alone, as `change` makes them, in a file without compression. */
bool pw_change_run(struct pw_writer *w, struct pd_reader *reader, pw_change_fn *change,
		   void *arg, struct pd_error *err);

/* Writes what follows the records. Returns false as pw_write() does. */
bool pw_writer_finish(struct pw_writer *w, struct pd_error *err);

/*
 * Makes *rec, of another recording, a record of `like`: binds it to the event that has its id.
 * Returns false with *err if `like` has no such event, or one whose records have other fields,
 * or if the record has data after it.
 */
bool pw_adopt(const struct pd_file *like, struct pd_record *rec, struct pd_error *err);

#endif
