/*
 * One or several recordings that are read as one.
 *
 * What two recordings call by one name and recorded alike is one event here:
 * events[rec->event->number]. Their times are compared when nothing says that their clocks
 * differ; else the recordings follow one another as they were given.
 */
#ifndef PERFLUA_PERFDATA_SESSION_H
#define PERFLUA_PERFDATA_SESSION_H

#include "file.h"
#include "perfdata/format/record.h"

#define PD_MAX_FILES 4096

struct pd_session {
	char **paths; /* as they were given */
	struct pd_file *
		*files; /* [n_files]: rec->source counts them from 1, or is 0 for one alone */
	size_t n_files;
	const struct pd_event **events; /* what comes late is added at the end */
	size_t n_events;
	bool one_clock;
	char clocks[200]; /* why not */
	size_t window;	  /* bytes of records that may wait for earlier ones: PD_WINDOW */
	unsigned perf;	  /* the version of perf whose text is printed: PD_PERF(…) */
	unsigned text;	  /* enum pd_perf_text: what that prints differently */
};

#define PD_WINDOW ((size_t)256 << 20)

/*
 * Opens recordings. `numbered` gives their records a source even if there is but one. `perf` is
 * the version whose text is printed, from PD_PERF_OLDEST to PD_PERF_NEWEST. On failure *out is
 * untouched and err is about the file that could not be opened. For `interrupt` see
 * pd_input_open.
 */
bool pd_session_open(struct pd_session **out, const char *const *paths, size_t n, bool numbered,
		     unsigned perf, const volatile sig_atomic_t *interrupt,
		     struct pd_error *err);

/* Sets one_clock and clocks by what the recordings say of their clocks (clocks.c). */
void pd_session_compare_clocks(struct pd_session *session);

/*
 * Gives an event the number of an equal one of another recording, or else a new one. *compared
 * counts comparisons: no more are made when there are too many. Returns false without memory.
 */
bool pd_session_add_event(struct pd_session *session, struct pd_event *event, size_t *compared);

/* Closes the files; the description stays valid for the records that point into it. */
void pd_session_close(struct pd_session *session);
void pd_session_destroy(struct pd_session *session);

/* Returns the bytes of records in all streams, which mean nothing of what passes once. */
uint64_t pd_session_size(const struct pd_session *session);

/* Where a record lies. */
static inline struct pd_stream *pd_session_stream(const struct pd_session *session,
						  const struct pd_record *rec)
{
	return &session->files[rec->source ? rec->source - 1 : 0]->streams[rec->stream];
}

/*
 * Returns which part of a session, from 0 to 1, lies before a record in file order. Negative:
 * that is not known, of a stream.
 */
double pd_session_part(const struct pd_session *session, const struct pd_record *rec);

#endif
