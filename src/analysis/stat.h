/*
 * Counts what a session holds, in one pass: records and bytes by type and by event, what was
 * lost, when it was.
 */
#ifndef PERFLUA_ANALYSIS_STAT_H
#define PERFLUA_ANALYSIS_STAT_H

#include "base/outcome.h"
#include "base/progress.h"
#include "perfdata/stream/record_batches.h"
#include "perfdata/order/walk.h"

struct pd_count {
	uint64_t records, bytes;
};

struct pd_stat {
	struct pd_count types[PD_RECORD_TYPES];
	struct pd_stat_unknown {
		uint32_t type;
		struct pd_count count;
	} * unknown; /* types from PD_RECORD_TYPES on, as met */
	size_t n_unknown;
	struct pd_stat_event {
		struct pd_count samples;
		uint64_t delivered;    /* samples of the event, as counters.h splits them */
		uint64_t lost_samples; /* of LOST_SAMPLES records with an id of this event */
	} * events;		       /* by number */
	size_t n_events;
	struct pd_count unknown_event; /* samples whose event is not known */
	uint64_t lost_records;	       /* sum of LOST: records the kernel could not store */
	uint64_t lost_samples;	       /* sum of LOST_SAMPLES */
	uint64_t payload;	       /* bytes behind AUXTRACE and TRACING_DATA records */
	bool split; /* some samples carry counter values: `delivered` is counted */
	struct pd_time_range times; /* of samples */
};

/* Counts all records, or those before `progress` said no; it is not told how far that is. */
bool pd_stat_collect(struct pd_stat *stat, struct pd_session *session,
		     const struct pb_progress *progress, struct pd_error *err);
void pd_stat_deinit(struct pd_stat *stat);

/*
 * The same in parts: a stat of nothing; all records of a reader added to it, as pd_reader_next
 * says; that of another part of the session added, whose own it was. False: no memory.
 */
bool pd_stat_init(struct pd_stat *stat, const struct pd_session *session);
int pd_stat_read(struct pd_stat *stat, const struct pd_session *session,
		 struct pd_reader *reader, const struct pb_progress *progress,
		 struct pd_error *err);
enum pb_outcome pd_stat_read_batches(struct pd_stat *stat, const struct pd_session *session,
				     struct pd_record_batches *batches,
				     const struct pb_progress *progress);
void pd_stat_merge(struct pd_stat *stat, const struct pd_stat *from);

#endif
