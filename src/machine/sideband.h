/*
 * The records of a session that say something of the system: few, which threads look for among
 * all.
 */
#ifndef PERFLUA_MACHINE_SIDEBAND_H
#define PERFLUA_MACHINE_SIDEBAND_H

#include "machine.h"

struct pm_sideband_record {
	uint64_t time; /* its own, or that of the record before it */
	size_t number; /* as they lie in the session */
	struct pd_record rec;
};

struct pm_sideband {
	struct pm_sideband_record *records; /* [n], as pd_walk has them in the order of time */
	size_t n;
	struct pm_finder *finders; /* [n_finders]: whose memory the records' bytes are */
	unsigned n_finders;
};

/*
 * Finds them in one pass by at most so many threads. False: that cannot be done, as they are
 * too many, or something about the session is unusual, there is no memory, or progress said no;
 * nothing is noted of it.
 */
bool pm_sideband_find(struct pm_sideband *sideband, struct pd_session *session,
		      unsigned threads, const struct pb_progress *progress);
void pm_sideband_deinit(struct pm_sideband *sideband);

#endif
