#include "parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perfdata/order/partitions.h"

#define MOMENT 50000000 /* ns: how long groups are merged after progress said stop */
#define APART  128	/* bytes: two workers write to different cache lines */

/*
 * A worker. It is made when it takes its first partition, so that its memory is near its
 * thread.
 */
struct member {
	_Alignas(APART) struct pq_worker worker;
	bool made;
};

struct team {
	const struct pq_scope *scope;
	const struct pq_grouping *grouping;
	struct member *members;	 /* [workers], by number */
	uint64_t size;		 /* bytes of all that is read */
	uint64_t done;		 /* bytes that were reported last */
	size_t n_groups, merged; /* groups of all members; those merged so far */
	uint64_t until;		 /* ns: merge until then; 0: to the end */
	bool cut;		 /* merging stopped before the end */
	atomic_bool no_memory;
};

/* Returns why one worker must do all the work, in a few words; NULL if several may. */
static const char *find_serial_reason(const struct pq_scope *scope,
				      const struct pq_grouping *grouping)
{
	if (pq_scope_passes(scope))
		return "a stream can be read only once";
	if (pq_scope_splits(scope))
		return "counter values are differences between successive samples";
	if (scope->calls)
		return "a Lua function is called for each record";
	if (scope->order == PD_ORDER_TIME)
		return "records are read in time order";
	for (size_t i = 0; i < grouping->n_measures; i++) {
		const char *why = pq_measure_serial(&grouping->measures[i]);

		if (why)
			return why;
	}
	return NULL;
}

unsigned pq_parallel_threads(const struct pq_scope *scope, const struct pq_grouping *grouping,
			     const char **why)
{
	unsigned n;

	*why = NULL;
	if (scope->threads <= 1)
		return 1;
	*why = find_serial_reason(scope, grouping);
	if (*why)
		return 1;
	n = pd_partitions_workers(scope->session, scope->threads);
	if (n < scope->threads)
		*why = n == 1 ? "the input is small" : "the input has few partitions";
	return n;
}

/* Reports how much was read. */
static bool continue_partitions(void *arg, uint64_t done, uint64_t size)
{
	struct team *team = arg;

	team->done = done;
	return pb_goes_on(&team->scope->progress, done, size);
}

static uint64_t read_coarse_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * Reports how much was merged. When progress says stop, merging goes on for a moment, so that a
 * few groups are not lost. If there are many, the rest is dropped, as if it had not been read.
 */
static bool continue_merge(void *arg, uint64_t done, uint64_t size)
{
	struct team *team = arg;
	double part = (double)team->merged / (double)team->n_groups;

	(void)done;
	(void)size;
	if (team->merged + PQ_MERGED_AT_ONCE < team->n_groups)
		team->merged += PQ_MERGED_AT_ONCE;
	if (pb_goes_on(&team->scope->progress, (uint64_t)(part * (double)team->done),
		       team->size))
		return true;
	if (!team->until)
		team->until = read_coarse_clock() + MOMENT;
	team->cut = read_coarse_clock() >= team->until;
	return !team->cut;
}

static bool make_member(struct team *team, struct member *member)
{
	if (!member->made && pq_worker_init(&member->worker, team->scope, team->grouping))
		member->made = true;
	return member->made;
}

static bool group_partition(void *arg, const struct pd_partition *partition)
{
	struct team *team = arg;
	struct member *member = &team->members[partition->worker];
	struct pd_error err;

	if (make_member(team, member) &&
	    pq_worker_read(&member->worker, partition->reader, &partition->progress, &err) !=
		    PB_FAILED)
		return true;
	atomic_store(&team->no_memory, true);
	return false;
}

/* Merges the groups of all members into the first one's. */
static bool put_together(struct team *team, unsigned n)
{
	const struct pb_progress progress = { .goes_on = continue_merge, .arg = team };
	struct member *first = &team->members[0];

	if (!make_member(team, first))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (team->members[i].made)
			team->n_groups += pq_groups_size(team->members[i].worker.groups);
	team->merged = pq_groups_size(first->worker.groups);
	pb_set_phase(&team->scope->progress, "merging groups");
	for (unsigned i = 1; i < n && !team->cut; i++) {
		struct pq_worker *worker = &team->members[i].worker;

		if (team->members[i].made &&
		    (worker->fields.failed ||
		     !pq_groups_merge(first->worker.groups, worker->groups, &progress)))
			return false;
	}
	pb_set_phase(&team->scope->progress, NULL);
	/* all that was read before the stop was merged, so report that */
	if (team->until && !team->cut)
		continue_partitions(team, team->done, team->size);
	return !first->worker.fields.failed;
}

static void deinit_team(struct team *team, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		pq_worker_deinit(&team->members[i].worker);
	free(team->members);
}

enum pb_outcome pq_parallel_run(const struct pq_scope *scope,
				const struct pq_grouping *grouping, unsigned threads,
				struct pq_groups **groups, struct pd_error *err)
{
	struct team team = {
		.scope = scope,
		.grouping = grouping,
		.members = aligned_alloc(APART, threads * sizeof(*team.members)),
		.size = pq_scope_size(scope),
	};
	const struct pb_progress progress = { .goes_on = continue_partitions, .arg = &team };
	struct pd_partition_work work = {
		.workers = threads,
		.read = group_partition,
		.arg = &team,
		.progress = &progress,
		.stage = PB_STAGE_GROUPS,
	};
	enum pb_outcome ran = PB_FAILED;

	if (team.members)
		memset(team.members, 0, threads * sizeof(*team.members));
	if (team.members && (!scope->system || pm_system_prepare(scope->system)))
		ran = pd_partitions_read(scope->session, &work);
	if (ran == PB_OK)
		team.done = team.size;
	if ((ran == PB_OK || ran == PB_STOPPED) &&
	    (atomic_load(&team.no_memory) || !put_together(&team, threads)))
		ran = PB_FAILED;
	if (ran == PB_OK || ran == PB_STOPPED) {
		*groups = team.members[0].worker.groups;
		team.members[0].worker.groups = NULL;
	} else if (ran == PB_FAILED) {
		pd_error_set(err, "ENOMEM", scope->session->files[0]->path, PD_NO_OFFSET,
			     "no memory for the groups of records");
	}
	if (team.members)
		deinit_team(&team, threads);
	return team.cut && ran == PB_OK ? PB_STOPPED : ran;
}
