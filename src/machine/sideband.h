/*
 * The side-band records of a session, those that say something of the recorded system. They are
 * few; workers pick them out of all records.
 */
#ifndef PERFLUA_MACHINE_SIDEBAND_H
#define PERFLUA_MACHINE_SIDEBAND_H

#include "machine.h"

struct pm_sideband_record {
	uint64_t time; /* ns; its own, or that of the record before it */
	size_t number; /* position in the order of the session */
	struct pd_record rec;
};

struct pm_sideband {
	struct pm_sideband_record *records; /* [n]: in the order of time, as pd_walk has it */
	size_t n;
	struct pm_finder *finders; /* [n_finders]: own the bytes of the records */
	unsigned n_finders;
};

/*
 * Finds them in one pass by up to `threads` workers. Returns false if it gives up: there are
 * too many of them, something about the session is unusual, memory is short, or `progress` says
 * stop. Nothing is noted about the session then, and *sideband needs no deinit; a walk can find
 * the records, or report what is wrong.
 */
bool pm_sideband_find(struct pm_sideband *sideband, struct pd_session *session,
		      unsigned threads, const struct pb_progress *progress);

/*
 * Does what pm_sideband_find() does, in the pass that makes the session's index of times. Makes
 * the index also if it returns false, as far as pd_time_order_index() can; returns false if the
 * session has or needs none.
 */
bool pm_sideband_find_indexing(struct pm_sideband *sideband, struct pd_session *session,
			       unsigned threads, const struct pb_progress *progress);
void pm_sideband_deinit(struct pm_sideband *sideband);

#endif
