/*
 * Finds the time of a record before its event is known: nearly all events of a recording have
 * it at the same offset.
 */
#ifndef PERFLUA_PERFDATA_TIMESTAMP_H
#define PERFLUA_PERFDATA_TIMESTAMP_H

#include "bind.h"
#include "perfdata/container/session.h"

struct pd_timestamp_locator {
	struct pd_binder binder;
	bool swap, simpleperf; /* copied from the file */
	bool any;	       /* some event records times */
	unsigned time_id;
	uint32_t trailer_end; /* size of header and trailer together, in bytes */
	/* by type: offset of the time, negative from the end; 0: it differs by event */
	int16_t at[PD_RECORD_USER];
};

/* Prepares a locator for the records of `file`, which must outlive it. It needs no deinit. */
void pd_timestamp_locator_init(struct pd_timestamp_locator *locator,
			       const struct pd_file *file);

/*
 * Reads the time of a record through its layout, for types whose time differs by event. Binds
 * `rec`. Returns false, with *time unchanged, if it has none.
 */
bool pd_timestamp_decode(const struct pd_timestamp_locator *locator, struct pd_record *rec,
			 uint64_t *time);

/*
 * Sets *time (ns) to the record's time. Returns false, with *time unchanged, if it has none.
 * perf's own records have no time that tells when they are due, and those it wrote on behalf of
 * the kernel have the time 0.
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
 * Sets *times to the times of the first and the last sample (ns): from the files' headers, or
 * else by one pass over the samples of a file, whose result is kept. times->known is false if
 * no sample has a time. Returns false with *err if the pass failed.
 */
bool pd_session_times(struct pd_session *session, struct pd_time_range *times,
		      struct pd_error *err);

/*
 * Makes the clocks of recordings that can be read again find their start when it is first
 * needed. A pass that fails leaves it unknown.
 */
void pd_session_find_starts(struct pd_session *session);

#endif
