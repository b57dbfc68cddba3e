/*
 * The time of a record, before it is known of which event it is: nearly all events of a
 * recording have it in the same place.
 */
#ifndef PERFLUA_PERFDATA_TIMESTAMP_H
#define PERFLUA_PERFDATA_TIMESTAMP_H

#include "bind.h"
#include "perfdata/container/session.h"

struct pd_timestamp_locator {
	struct pd_binder binder;
	bool swap, simpleperf; /* as the file's */
	bool any;	       /* some event records times */
	unsigned time_id;
	uint32_t trailer_end;	    /* bytes of header and trailer */
	int16_t at[PD_RECORD_USER]; /* by type: offset of the time, < 0: from the end; 0: ask */
};

void pd_timestamp_locator_init(struct pd_timestamp_locator *locator,
			       const struct pd_file *file);

bool pd_timestamp_decode(const struct pd_timestamp_locator *locator, struct pd_record *rec,
			 uint64_t *time);

/*
 * Sets *time; false if the record has none. perf's own records have none that says when they
 * are to be seen, and what it wrote for the kernel has zero.
 */
static inline bool pd_timestamp_of(const struct pd_timestamp_locator *locator,
				   struct pd_record *rec, uint64_t *time)
{
	int at = rec->type < PD_RECORD_USER ? locator->at[rec->type] : 0;
	uint64_t t;

	if (at > 0 && (uint32_t)at + 8 <= rec->size)
		t = pb_load64(rec->bytes + at, locator->swap);
	else if (at < 0 && rec->size >= locator->trailer_end)
		t = pb_load64(rec->bytes + rec->size + at, locator->swap);
	else if (at || rec->type >= PD_RECORD_USER || !pd_timestamp_decode(locator, rec, &t))
		return false;
	if (t == 0 || t == UINT64_MAX)
		return false;
	*time = t;
	return true;
}

/*
 * Sets *times to the times of the first and the last sample (ns): those of the headers, else
 * those that one pass over the samples finds, once per file. times->known is false if no sample
 * has a time. Returns false if the pass failed.
 */
bool pd_session_times(struct pd_session *session, struct pd_time_range *times,
		      struct pd_error *err);

#endif
