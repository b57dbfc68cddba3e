/*
 * Counts the records of a session in one pass: records and bytes by type and by event, losses,
 * and the range of times.
 */
#ifndef PERFLUA_ANALYSIS_STAT_H
#define PERFLUA_ANALYSIS_STAT_H

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
	} * unknown; /* types from PD_RECORD_TYPES on, in the order they are met */
	size_t n_unknown, unknown_room;
	struct pd_stat_event {
		struct pd_count samples;
		uint64_t delivered; /* samples as counters.h splits them; see `split` */
		/* sum of LOST_SAMPLES records with an id of this event */
		uint64_t lost_samples;
	} * events; /* [n_events], by number */
	size_t n_events;
	struct pd_count unknown_event; /* samples whose event is not known */
	/* sum of LOST records, which the kernel had no room for */
	uint64_t lost_records;
	uint64_t lost_samples; /* sum of LOST_SAMPLES records */
	uint64_t payload;      /* bytes after AUXTRACE and TRACING_DATA records */
	bool split; /* some samples carry counter values, so `delivered` is counted */
	struct pd_time_range times; /* times of the samples */
};

/*
 * Counts all records, or those before `progress` said no; `progress` is not told how far that
 * is. Returns false with *err on failure, else true, with *stat to be freed by
 * pd_stat_deinit().
 */
bool pd_stat_collect(struct pd_stat *stat, struct pd_session *session,
		     const struct pb_progress *progress, struct pd_error *err);
void pd_stat_deinit(struct pd_stat *stat);

/*
 * Count a session in parts: pd_stat_init() makes a stat of nothing; pd_stat_read() adds all
 * records of a reader and returns as pd_reader_next(); pd_stat_read_batches() adds those of
 * batches and returns PB_RETRY_SERIAL if their reader bailed out; pd_stat_merge() adds the stat
 * of another part of the session. pd_stat_init() returns false without memory.
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
