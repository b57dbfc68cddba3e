/*
 * One or several recordings that are read as one.
 *
 * Events of two recordings that have the same name and were recorded alike are one event of the
 * session: events[rec->event->number]. Times of recordings are compared unless their clocks are
 * known to differ; then their wall times, if all recordings know theirs; else the recordings
 * are read one after another, in the given order.
 */
#ifndef PERFLUA_PERFDATA_SESSION_H
#define PERFLUA_PERFDATA_SESSION_H

#include "file.h"
#include "perfdata/format/record.h"

#define PD_MAX_FILES 4096

struct pd_partition_watch; /* see perfdata/order/partitions.h */

struct pd_session {
	char **paths; /* as given */
	/* [n_files]; rec->source is the index + 1, or 0 if there is only one */
	struct pd_file **files;
	size_t n_files;
	const struct pd_event **events; /* events that come late are appended */
	size_t n_events, events_room;
	bool one_clock;
	/* the time order merges all recordings, by a record's time plus its file's shift */
	bool merged;
	char clocks[200]; /* the reason if !one_clock */
	size_t window;	  /* bytes of records that may wait for earlier ones; PD_WINDOW */
	unsigned perf;	  /* version of perf whose texts are printed: PD_PERF(…) */
	unsigned text;	  /* enum pd_perf_text: the differences that version has */
	struct pb_timing *timing; /* NULL: nothing is measured */
	unsigned number;	  /* of the session, in `timing` */
	/* they watch the next pass in partitions; NULL: nobody */
	struct pd_partition_watch *watches;
	/*
	 * Offsets where the partitions of the first whole pass end, in their order, and how
	 * large they were to be; NULL: there was no such pass. Later ones need not look for
	 * these positions.
	 */
	uint64_t *ends, end_size;
};

#define PD_WINDOW ((size_t)256 << 20)

/*
 * Opens `n` recordings as one session.
 *
 * `numbered` gives records a source even if there is one recording only. `perf` is the version
 * whose texts are printed, from PD_PERF_OLDEST to PD_PERF_NEWEST, or PD_PERF_RECORDED, which is
 * that of the first recording. For `interrupt` see pd_input_open(). Returns false with *out
 * untouched and *err about the file that could not be opened.
 */
bool pd_session_open(struct pd_session **out, const char *const *paths, size_t n, bool numbered,
		     unsigned perf, const volatile sig_atomic_t *interrupt,
		     struct pd_error *err);

/* Measures all that is done with the session from now on, as that of session `number`. */
void pd_session_measure(struct pd_session *session, struct pb_timing *timing, unsigned number);

/*
 * Gives `event` the number of an equal event of another recording, or else a new number.
 * *compared counts comparisons over all calls; after too many no more are made. Returns false
 * without memory.
 */
bool pd_session_add_event(struct pd_session *session, struct pd_event *event, size_t *compared);

/*
 * Closes the files. The description stays valid, for the records that point into it, until
 * pd_session_destroy(), which frees it.
 */
void pd_session_close(struct pd_session *session);
void pd_session_destroy(struct pd_session *session);

/* Returns the bytes of records in all streams; it has no meaning if a stream is one-shot. */
uint64_t pd_session_size(const struct pd_session *session);

/* Returns the stream that a record lies in. */
static inline struct pd_stream *pd_session_stream(const struct pd_session *session,
						  const struct pd_record *rec)
{
	return &session->files[rec->source ? rec->source - 1 : 0]->streams[rec->stream];
}

/*
 * Returns the part of the session, from 0 to 1, that lies before a record in file order;
 * negative if that is not known, in a one-shot stream.
 */
double pd_session_part(const struct pd_session *session, const struct pd_record *rec);

#endif
