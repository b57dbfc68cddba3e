/*
 * A grouped query over one compressed stream, which is decompressed once, by a thread of its
 * own, while the caller's adds up what is in it (perfdata's record_batches.h). What the system
 * must know is read on the way (machine's incremental.h): batches wait until two more rounds of the
 * recorder's have come, behind which nothing is as early as they are.
 */
#ifndef PERFLUA_QUERY_PIPELINE_H
#define PERFLUA_QUERY_PIPELINE_H

#include "worker.h"

/* Is it for such a scope? */
bool pq_pipeline_fits(const struct pq_scope *scope);

/*
 * As pq_run. PB_RETRY_SERIAL: something about the recording is unusual; the system was read,
 * if there is one, and nothing else was done.
 */
enum pb_outcome pq_pipeline_run(const struct pq_scope *scope,
				const struct pq_grouping *grouping, struct pq_groups **groups,
				struct pd_error *err);

#endif
