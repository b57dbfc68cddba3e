/*
 * Samples that carry counter values (PERF_SAMPLE_READ with PERF_FORMAT_ID), as perf delivers
 * them: one sample for each value whose id is known and which differs from the previous value
 * of its counter. Such a sample has the event and the id of the counter, and its period is the
 * difference; everything else is the record's. See evlist__deliver_sample,
 * tools/perf/util/session.c.
 *
 *	struct pd_counters *counters = pd_counters_create(session);
 *
 *	pd_counters_split(counters, &rec);
 *	while ((got = pd_counters_next(counters, &sample)) > 0) …
 *
 * The previous value is that of the record that was split before, so a caller that leaves
 * records out gets other periods.
 */
#ifndef PERFLUA_PERFDATA_COUNTERS_H
#define PERFLUA_PERFDATA_COUNTERS_H

#include "perfdata/container/session.h"

struct pd_counters;

/*
 * Returns whether an event is known by now whose samples carry counter values with their ids.
 */
bool pd_session_has_counters(const struct pd_session *session);

/* Returns whether the record must be split: it is a sample of such an event. */
static inline bool pd_has_counters(const struct pd_record *rec)
{
	return rec->type == PD_RECORD_SAMPLE && rec->event && rec->event->split;
}

/* Returns NULL if there is no memory. All counters start from 0. */
struct pd_counters *pd_counters_create(struct pd_session *session);
void pd_counters_destroy(struct pd_counters *counters);

/*
 * Starts to split a record for which pd_has_counters is true. Its bytes must stay until its
 * last sample was taken.
 */
void pd_counters_split(struct pd_counters *counters, const struct pd_record *rec);

/*
 * Stores the next sample of the record in `out`. Returns 1, 0 if there are no more, and -1 if
 * there is no memory. A record whose values are cut off is stored as it lies. A value below the
 * previous one gives no sample: the first of each event is noted as damage, and counting goes
 * on from it.
 */
int pd_counters_next(struct pd_counters *counters, struct pd_record *out);

#endif
