/*
 * Joins the recordings of a session into one. They must come from one system, and their times
 * from one clock, or be brought to one by the wall clock (struct pd_file's shift).
 *
 * Events with the same attr and name become one. Ids that mean different events get new
 * numbers. Where events would be told apart by nothing, samples get an id. Records that perf
 * made for what it found when a part began have no time: they come where the part begins, and
 * get a time just before, unless the whole begins there. A record that two parts have is
 * written once.
 *
 *	if (!pw_merge_init(&m, session, &err)) …
 *	how.description = &m.description;
 *	if (!pw_writer_init(&w, session->files[0], fd, &how, &err)) …
 *	while (… reads a record in the order of time …)
 *		if (!pw_merge_write(&m, &w, &rec, &err)) …
 *	if (!pw_merge_finish(&m, &w, &err) || !pw_writer_finish(&w, &err)) …
 */
#ifndef PERFLUA_WRITE_MERGE_H
#define PERFLUA_WRITE_MERGE_H

#include "edit.h"
#include "perfdata/container/session.h"
#include "writer.h"

/* One of the recordings. */
struct pw_part {
	struct pd_file *file;
	struct pd_timestamp_locator locator;
	struct pw_edits edits;
	size_t n_events;  /* that are known */
	uint32_t *joined; /* [n_events]: the event in the description that each has become */
	bool began;	  /* a record with a time was met; */
	uint64_t first;	  /* ns: the time of that, shifted */
	struct pb_string waiting; /* the records before it, each after its struct pd_record */
};

/* Where records that may come twice were met: hash of the bytes → part. */
struct pw_met {
	struct pb_id_map parts;
	struct pb_secret secrets[2];
};

struct pw_merge {
	struct pd_session *session;
	struct pw_description description;
	struct pw_part *parts; /* [session->n_files] */
	struct pb_id_map ids;  /* all ids → the events in the description */
	uint64_t highest;      /* the highest id */
	struct pw_met now;     /* records of the time `time` */
	struct pw_met lasting; /* records that are valid for all times */
	uint64_t time;	       /* ns: of the last record that had one; 0: none had */
	struct pd_record last; /* that record, if `now` does not have it yet */
	uint16_t last_part;
	uint8_t *last_bytes, *bytes; /* [PW_EDITED_MOST]: of `last`; of the next */
	uint64_t doubles;     /* records that an earlier part has, too, and were left out */
	uint64_t rebuilt;     /* binaries of another build-id than in an earlier part */
	bool has_other_names; /* names that were packed differ, and were left out */
	bool began;
	uint64_t first; /* ns: the least time */
	/* ns: the least time of a record that tells of a change; UINT64_MAX: none was met */
	uint64_t changed;
	struct pd_types written; /* types of records of which perf reads the first alone */
};

/*
 * Describes the recordings of `session`, which must outlive it, as one. Returns false with *err
 * if they cannot be joined; the caller calls pw_merge_deinit() also then.
 */
bool pw_merge_init(struct pw_merge *m, struct pd_session *session, struct pd_error *err);
void pw_merge_deinit(struct pw_merge *m);

/* Adds a record of the session, in the order of time. Returns as pw_write(). */
bool pw_merge_write(struct pw_merge *m, struct pw_writer *w, struct pd_record *rec,
		    struct pd_error *err);

/* Writes records that still wait, and describes what was learned. Returns as pw_write(). */
bool pw_merge_finish(struct pw_merge *m, struct pw_writer *w, struct pd_error *err);

/* Joins the events of all parts (merge_events.c). Returns false with *err. */
bool pw_merge_events(struct pw_merge *m, struct pd_error *err);

/* Prepares an empty set of bytes. pw_met_deinit() leaves it empty, too. */
void pw_met_init(struct pw_met *met);
void pw_met_deinit(struct pw_met *met);

/*
 * Returns the number with which equal bytes were met first; UINT32_MAX if they are new, and
 * were added with `number`.
 */
uint32_t pw_meet(struct pw_met *met, const void *bytes, size_t n, uint32_t number);

/*
 * Joins the tracing data of all recordings (merge_tracing.c), and adds them to `out` if they
 * are not those of the first that has some. Returns false with *err.
 */
bool pw_merge_tracing(const struct pd_session *session, struct pb_string *out,
		      struct pd_error *err);

/* Joins the header features of all parts (merge_features.c). Returns false with *err. */
bool pw_merge_features(struct pw_merge *m, struct pd_error *err);

#endif
