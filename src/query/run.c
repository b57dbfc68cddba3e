#include "run.h"

#include <stdlib.h>

#include "parallel.h"
#include "pipeline.h"

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
	if (p->rec && p->size)
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
	struct pd_walk *walk = &p->walk;
	struct pd_record rec;
	size_t asked = 0;
	int got;

	/*
	 * Nothing is read ahead for streams and in time order. For split samples and Lua
	 * functions it could be.
	 */
	if (!pq_scope_open_walk(scope, scope->calls, walk, err))
		return PB_FAILED;
	/*
	 * The scope's progress is not used: the records show how far the pass is, and the
	 * building of an index does not.
	 */
	walk->options.progress = (struct pb_progress){ .goes_on = continue_walk, .arg = p };
	p->walking = true;
	while ((got = pd_walk_next(walk, &rec, err)) > 0) {
		p->rec = &rec;
		if (scope->calls)
			pq_calls_next(scope->calls);
		if ((scope->calls || asked++ % ASK_EVERY == 0) && !continue_walk(p, 0, 0))
			break;
		p->before += rec.size;
		if (!pq_worker_take(&p->worker, &rec)) {
			pd_error_set(err, "ENOMEM",
				     pd_session_stream(scope->session, &rec)->input->path,
				     rec.offset, "no memory for the groups of records");
			got = -1;
			break;
		}
	}
	p->rec = NULL;
	p->walking = false;
	pq_worker_count(&p->worker, 0);
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

	if (scope->order == PD_ORDER_TIME || scope->calls || pq_scope_passes(scope) ||
	    pq_scope_splits(scope))
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
	if (pq_worker_init(&pass->worker, scope, grouping))
		read = read_alone(pass, err);
	else
		note_no_memory(scope, err);
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
	unsigned threads = pq_parallel_threads(scope, grouping, &why);
	enum pb_outcome ran = PB_RETRY_SERIAL;

	if (pq_pipeline_fits(scope)) {
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
		ran = pq_parallel_run(scope, grouping, threads, groups, err);
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
		return pq_parallel_threads(scope, grouping, why);
	if (scope->threads > 2)
		*why = "one decompresses, the other adds up";
	return scope->threads > 1 ? 2 : 1;
}
