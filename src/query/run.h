/*
 * Runs a grouped query: one pass over the records, by as many workers as are of use.
 *
 * - Recordings that can be read again are cut into partitions, which workers share (perfdata's
 *   partitions.h).
 * - If they cannot be cut, or must be read in time order, one worker walks over them.
 * - Compressed recordings are decompressed by one thread and added up by another (pipeline.h).
 * - Streams are walked over as they come, and feed the recorded system.
 */
#ifndef PERFLUA_QUERY_RUN_H
#define PERFLUA_QUERY_RUN_H

#include "base/progress.h"
#include "query/group/group.h"
#include "query/scope/scope.h"

/*
 * Groups all records in the scope, and sets *groups, which the caller destroys, unless it
 * returns PB_FAILED. PB_STOPPED: the groups are of the records read until progress said stop.
 * PB_FAILED: *err is set, with code ENOMEM if no file is at fault. Never returns
 * PB_RETRY_SERIAL.
 */
enum pb_outcome pq_run(const struct pq_scope *scope, const struct pq_grouping *grouping,
		       struct pq_groups **groups, struct pd_error *err);

/*
 * Returns true if pq_run() may read the recorded system itself, at less cost than before it:
 * see scope.unread.
 */
bool pq_run_reads(const struct pq_scope *scope);

/*
 * Returns the number of workers that pq_run() would use. Sets *why to the reason for not using
 * more, a few words for explain(); NULL: there is none.
 */
unsigned pq_run_threads(const struct pq_scope *scope, const struct pq_grouping *grouping,
			const char **why);

#endif
