/*
 * Runs a query that groups or counts: one pass over the records, by as many workers as are of
 * use.
 *
 * - Recordings that can be read again are cut into partitions, which workers share (perfdata's
 *   partitions.h).
 * - If they cannot be cut, or must be read in time order, one worker walks over them.
 * - Compressed recordings are decompressed by one thread and added up by another (pipeline.c).
 * - Streams are walked over as they come, and feed the recorded system.
 */
#ifndef PERFLUA_QUERY_RUN_H
#define PERFLUA_QUERY_RUN_H

#include "analysis/stat.h"
#include "base/progress.h"
#include "query/group/group.h"
#include "query/rows/rows.h"
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

/*
 * Does what pq_run() does, over pairs of records. A producer thread makes the rows (rows.h),
 * and the caller adds them up; if functions see records, the caller does both.
 *
 * The fields of `grouping` and `kept` are those of rows. scope->calls, which may be NULL, knows
 * only the functions that see records, `calls` all of them. The counts are set unless it fails.
 * `progress` is asked in the calling thread, that of the scope in the one that makes the rows.
 */
enum pb_outcome pq_run_pairs(const struct pq_scope *scope, struct pq_calls *calls,
			     const struct pq_paired *paired, const struct pq_grouping *grouping,
			     struct pq_groups **groups, struct pq_pair_counts *counts,
			     const struct pb_progress *progress, struct pd_error *err);

/*
 * Counts a whole session by type and event: does what pd_stat_collect() does, with the session,
 * workers and progress of `scope`.
 */
bool pq_count(const struct pq_scope *scope, struct pd_stat *stat, struct pd_error *err);

/*
 * Returns the number of workers that pq_count() would use, or with `is_health`
 * pd_health_collect(). Sets *why to the reason for not using more, in a few words; NULL: there
 * is none.
 */
unsigned pq_count_threads(const struct pq_scope *scope, bool is_health, const char **why);

/*
 * Returns whether pq_count(), or with `is_health` pd_health_collect(), reads in partitions,
 * which session->watches need.
 */
bool pq_count_shares(const struct pq_scope *scope, bool is_health);

#endif
