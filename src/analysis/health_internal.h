/* Shared by the files of health: the state of a pass, and what each of its records is. */
#ifndef PERFLUA_ANALYSIS_HEALTH_INTERNAL_H
#define PERFLUA_ANALYSIS_HEALTH_INTERNAL_H

#include "health.h"

/* Fields that are looked up by name. */
enum pd_health_field {
	PD_HEALTH_LOST,
	PD_HEALTH_ID,
	PD_HEALTH_STREAM_ID,
	PD_HEALTH_TIME,
	PD_HEALTH_CPU,
	PD_HEALTH_FLAGS,
	PD_HEALTH_FIELDS
};

struct pd_health_pass {
	struct pd_health *health;
	const struct pd_session *session;
	unsigned fields[PD_HEALTH_FIELDS]; /* numbers of their names */
	struct pd_gaps gaps;
	struct pd_counters *counters;
	struct pd_bounded_map throttled; /* time of the last THROTTLE, by id and stream id */
	struct pd_bounded_map streams;	 /* time of the last sample, by id or cpu */
	uint16_t source;
	bool no_memory;
};

/*
 * Returns the counts of the record's event, valid until the next call: those for no known event
 * without memory, which sets pass->no_memory.
 */
struct pd_health_event *pd_health_event_of(struct pd_health_pass *pass,
					   const struct pd_record *rec);

/*
 * Returns the time (ns) by which perf sorts a record: a sample's own, otherwise the trailer's.
 * Returns false if it has none.
 */
bool pd_health_time_of(const struct pd_record *rec, uint64_t *time);

/* Counts a sample. */
void pd_health_add_sample(struct pd_health_pass *pass, const struct pd_record *rec);

#endif
