/*
 * The side-band records of a session, those that describe the recorded system. They are few. A
 * pass in partitions finds them: one of their own, or one that reads all records for another
 * purpose.
 *
 *	struct pm_sideband *sideband = pm_sideband_create(session, threads);
 *
 *	pm_sideband_watch(sideband, session);
 *	… a pass over the session, by at most `threads` workers …
 *	if (pm_sideband_gather(sideband, session))
 *		… sideband->records …
 */
#ifndef PERFLUA_MACHINE_SIDEBAND_H
#define PERFLUA_MACHINE_SIDEBAND_H

#include <stdatomic.h>

#include "perfdata/order/partitions.h"

struct pm_sideband_record {
	uint64_t time; /* ns; its own, or that of the record before it */
	size_t number; /* position in the order of the session */
	struct pd_record rec;
};

struct pm_sideband {
	struct pm_sideband_record *records; /* [n]: in the order of time, as pd_walk has it */
	size_t n;
	/* private: */
	struct pd_types types;
	struct pd_partition_watch watch;
	struct pm_finder *finders; /* [n_finders]: own the bytes of the records */
	unsigned n_finders;
	atomic_size_t bytes;
	atomic_bool gave_up; /* a record found no room, or has an unknown time */
};

/* Creates one without records, for passes by up to `threads` workers; NULL without memory. */
struct pm_sideband *pm_sideband_create(const struct pd_session *session, unsigned threads);
void pm_sideband_destroy(struct pm_sideband *sideband);

/* Lets the next pass of the session find records, which costs that pass little. */
void pm_sideband_watch(struct pm_sideband *sideband, struct pd_session *session);

/*
 * Ends the watch, and gathers what was found. Returns false if that are not all records: the
 * pass was not made in partitions or was ended early, there are too many records, something
 * about the session is unusual, or memory is short. Nothing is noted about the session then; a
 * walk can find the records, or report what is wrong.
 */
bool pm_sideband_gather(struct pm_sideband *sideband, struct pd_session *session);

/*
 * Finds them in a pass of its own by up to `threads` workers, as long as `progress` says to go
 * on, and gathers them.
 */
bool pm_sideband_find(struct pm_sideband *sideband, struct pd_session *session,
		      unsigned threads, const struct pb_progress *progress);

#endif
