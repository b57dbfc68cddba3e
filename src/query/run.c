#include "run.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perfdata/order/partitions.h"
#include "worker.h"

/* Runs a grouped query by several workers, which share the partitions of its session. */

#define MOMENT 50000000 /* ns: how long groups are merged after progress said stop */

/*
 * A worker. It is made when it takes its first partition, so that its memory is near its
 * thread.
 */
struct member {
	_Alignas(PB_APART) struct pq_worker worker;
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

/*
 * Returns the number of workers. Sets *why to the reason for not using more, in a few words;
 * NULL: there is none.
 */
static unsigned parallel_threads(const struct pq_scope *scope,
				 const struct pq_grouping *grouping, const char **why)
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

/*
 * Does what pq_run() does, with `threads` workers. Returns PB_RETRY_SERIAL if that turns out to
 * be impossible; then nothing was done.
 */
static enum pb_outcome parallel_run(const struct pq_scope *scope,
				    const struct pq_grouping *grouping, unsigned threads,
				    struct pq_groups **groups, struct pd_error *err)
{
	struct team team = {
		.scope = scope,
		.grouping = grouping,
		.members = pb_apart(threads, sizeof(*team.members)),
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

/* A pass by one worker. */
struct pass {
	const struct pq_scope *scope;
	struct pq_worker worker;
	uint64_t size;	 /* bytes of all that is read; 0: not known */
	uint64_t before; /* bytes of the streams, or number of records, read before */
	struct pd_walk walk;
	bool walking; /* it walks; else it reads stream after stream, or has not begun */
	const struct pd_record *rec; /* last record of the walk; NULL: none yet */
	bool ended;		     /* progress said stop */
};

/* Reports progress while a stream is read, of which `done` bytes were read. */
static bool continue_stream(void *arg, uint64_t done, uint64_t size)
{
	const struct pass *p = arg;

	(void)size;
	return pb_goes_on(&p->scope->progress, p->before + done, p->size);
}

/* Reports progress of a walk by its last record; `done` may count something else. */
static bool continue_walk(void *arg, uint64_t done, uint64_t size)
{
	struct pass *p = arg;

	(void)size;
	done = p->before;
	if (p->walking && p->rec && p->size)
		done = (uint64_t)(pd_walk_part(&p->walk, p->rec) * (double)p->size);
	p->ended = !pb_goes_on(&p->scope->progress, done, p->size);
	return !p->ended;
}

/* Reads recordings that can be read again, stream after stream. */
static enum pb_outcome read_streams(struct pass *p, struct pd_error *err)
{
	const struct pd_session *session = p->scope->session;
	const struct pb_progress progress = { .goes_on = continue_stream, .arg = p };
	enum pb_outcome read = PB_OK;

	for (size_t i = 0; i < session->n_files; i++) {
		struct pd_file *file = session->files[i];

		for (size_t k = 0; k < file->n_streams && read == PB_OK; k++) {
			struct pd_reader reader;

			if (!pd_reader_init(&reader, &file->streams[k], err))
				return PB_FAILED;
			read = pq_worker_read(&p->worker, &reader, &progress, err);
			p->before += file->streams[k].data.size;
			pd_reader_deinit(&reader);
		}
	}
	return read;
}

#define ASK_EVERY 64 /* records between two reports of progress, as each may be unwound */

/* Reads streams, and recordings in time order. */
static enum pb_outcome read_walk(struct pass *p, struct pd_error *err)
{
	const struct pq_scope *scope = p->scope;
	struct pd_walk *walk = scope->walk ? scope->walk : &p->walk;
	struct pd_record rec;
	size_t asked = 0;
	int got;

	/*
	 * Nothing is read ahead for streams and in time order. For split samples and Lua
	 * functions it could be.
	 */
	if (!scope->walk && !pq_scope_open_walk(scope, scope->calls, walk, err))
		return PB_FAILED;
	/*
	 * The scope's progress is not used: the records show how far the pass is, and the
	 * building of an index does not.
	 */
	if (!scope->walk)
		walk->options.progress = (struct pb_progress){ .goes_on = continue_walk,
							       .arg = p };
	p->walking = !scope->walk;
	while ((got = pd_walk_next(walk, &rec, err)) > 0) {
		p->rec = &rec;
		if (scope->calls)
			pq_calls_next(scope->calls);
		if (!scope->walk && (scope->calls || asked++ % ASK_EVERY == 0) &&
		    !continue_walk(p, 0, 0))
			break;
		p->before += rec.size;
		if (!pq_worker_take(&p->worker, &rec)) {
			pd_error_set(err, "ENOMEM",
				     pd_session_stream(scope->session, &rec)->input->path,
				     rec.offset, "no memory for the groups of records");
			got = -1;
			break;
		}
		/* the record was taken: the next pass begins with another one */
		if (scope->walk && !continue_walk(p, 0, 0))
			break;
	}
	p->rec = NULL;
	p->walking = false;
	pq_worker_count(&p->worker, 0);
	if (!scope->walk)
		pd_walk_deinit(walk);
	if (scope->late)
		*scope->late += walk->late;
	/* after an interrupt nobody waits for a stream */
	if (got < 0 && !pd_error_interrupted(err))
		return PB_FAILED;
	return got || p->ended ? PB_STOPPED : PB_OK;
}

static enum pb_outcome read_alone(struct pass *p, struct pd_error *err)
{
	const struct pq_scope *scope = p->scope;

	if (scope->order == PD_ORDER_TIME || scope->calls || scope->walk ||
	    pq_scope_passes(scope) || pq_scope_splits(scope))
		return read_walk(p, err);
	return read_streams(p, err);
}

static void note_no_memory(const struct pq_scope *scope, struct pd_error *err)
{
	pd_error_set(err, "ENOMEM", scope->session->files[0]->path, PD_NO_OFFSET,
		     "no memory for the groups of records");
}

static void destroy_pass(void *arg)
{
	struct pass *p = arg;

	if (p->walking)
		pd_walk_deinit(&p->walk);
	pq_worker_deinit(&p->worker);
	free(p);
}

/* Does what pq_run() does, in the caller's thread alone. */
static enum pb_outcome run_alone(const struct pq_scope *scope,
				 const struct pq_grouping *grouping, struct pq_groups **groups,
				 struct pd_error *err)
{
	struct pass *pass = calloc(1, sizeof(*pass));
	enum pb_outcome read = PB_FAILED;

	if (!pass) {
		note_no_memory(scope, err);
		return PB_FAILED;
	}
	pass->scope = scope;
	pass->size = pq_scope_size(scope);
	if (scope->calls) {
		scope->calls->pass = pass;
		scope->calls->destroy = destroy_pass;
	}
	if (pq_worker_init(&pass->worker, scope, grouping)) {
		if (scope->growing)
			*scope->growing = pass->worker.groups;
		read = read_alone(pass, err);
	} else {
		note_no_memory(scope, err);
	}
	if (scope->growing)
		*scope->growing = NULL;
	if (read != PB_FAILED && pass->worker.fields.failed) {
		note_no_memory(scope, err);
		read = PB_FAILED;
	}
	if (read != PB_FAILED) {
		*groups = pass->worker.groups;
		pass->worker.groups = NULL;
	}
	if (scope->calls)
		scope->calls->pass = NULL;
	destroy_pass(pass);
	return read;
}

/* Does what pq_run() does, for the events that are known. */
static enum pb_outcome run_pass(const struct pq_scope *scope,
				const struct pq_grouping *grouping, struct pq_groups **groups,
				struct pd_error *err)
{
	const char *why;
	unsigned threads = scope->growing ? 1 : parallel_threads(scope, grouping, &why);
	enum pb_outcome ran = PB_RETRY_SERIAL;

	if (!scope->growing && pq_pipeline_fits(scope)) {
		ran = pq_pipeline_run(scope, grouping, groups, err);
		if (ran != PB_RETRY_SERIAL)
			return ran;
	} else if (scope->unread && *scope->unread) {
		if (!pm_system_read(scope->system, NULL, scope->threads, false,
				    &scope->progress, err))
			return PB_FAILED;
		*scope->unread = false;
	}
	if (threads > 1)
		ran = parallel_run(scope, grouping, threads, groups, err);
	return ran == PB_RETRY_SERIAL ? run_alone(scope, grouping, groups, err) : ran;
}

enum pb_outcome pq_run(const struct pq_scope *scope, const struct pq_grouping *grouping,
		       struct pq_groups **groups, struct pd_error *err)
{
	bool split = pq_scope_splits(scope);
	enum pb_outcome ran = run_pass(scope, grouping, groups, err);

	/* in pipe mode the pass may meet the first event whose samples are split */
	if (ran != PB_OK || split || pq_scope_passes(scope) || !pq_scope_splits(scope))
		return ran;
	pq_groups_destroy(*groups);
	*groups = NULL;
	return run_pass(scope, grouping, groups, err);
}

bool pq_run_reads(const struct pq_scope *scope)
{
	return pq_pipeline_fits(scope);
}

unsigned pq_run_threads(const struct pq_scope *scope, const struct pq_grouping *grouping,
			const char **why)
{
	*why = NULL;
	if (!pq_pipeline_fits(scope))
		return parallel_threads(scope, grouping, why);
	if (scope->threads > 2)
		*why = "one decompresses, the other adds up";
	return scope->threads > 1 ? 2 : 1;
}
