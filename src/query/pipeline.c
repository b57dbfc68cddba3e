#include "worker.h"

#define SMALL  ((uint64_t)128 << 10) /* bytes of a stream: smaller ones get no thread */
#define ROUNDS 2
#define WAITS  112 /* batches that may wait; their size together is bounded */

struct pipeline {
	const struct pq_scope *scope;
	struct pd_stream *stream;
	struct pd_record_batches *batches;
	const struct pd_binder *binder;
	/* NULL: the recorded system is not needed, or was read */
	struct pm_incremental *incremental;
	struct pq_worker worker;
	struct pd_record_batch *waiting[WAITS]; /* ring buffer of [n] from `first` on */
	size_t first, n;
	uint64_t latest; /* time up to which records were added up */
};

bool pq_pipeline_fits(const struct pq_scope *scope)
{
	const struct pd_session *session = scope->session;
	const struct pd_file *file = session->files[0];

	return session->n_files == 1 && file->n_streams == 1 && !file->input.stream &&
	       scope->order == PD_ORDER_FILE && !scope->calls && !pq_scope_splits(scope) &&
	       pd_file_feature(file, PD_FEATURE_COMPRESSED) != NULL;
}

/* Adds up the batch that has waited longest. */
static enum pb_outcome take_first(struct pipeline *p)
{
	struct pd_record_batch *batch = p->waiting[p->first];
	bool unknown = false, ok = true, is_due;
	struct pb_lap lap;

	p->first = (p->first + 1) % WAITS;
	p->n--;
	if (batch->latest > p->latest)
		p->latest = batch->latest;
	lap = pb_stage_enter(p->scope->session->timing, NULL, PB_STAGE_NAMES);
	is_due = !p->incremental ||
		 (!batch->untimed && pm_incremental_advance(p->incremental, p->latest));
	pb_stage_leave(&lap);
	if (!is_due) {
		pd_record_batches_give_back(p->batches, batch);
		return PB_RETRY_SERIAL;
	}
	for (size_t i = 0; ok && i < batch->n_ranges; i++)
		ok = pq_worker_take_range(&p->worker, p->stream, p->binder, &batch->ranges[i],
					  &unknown);
	pd_record_batches_give_back(p->batches, batch);
	if (!ok)
		return PB_FAILED;
	/* the time of an unknown event is not known */
	return p->incremental && unknown ? PB_RETRY_SERIAL : PB_OK;
}

/* Returns true if the first batch may be added up after `rounds` rounds. */
static bool is_due(const struct pipeline *p, uint64_t rounds)
{
	return p->n && (!p->incremental || p->n == WAITS ||
			rounds >= p->waiting[p->first]->rounds + ROUNDS);
}

/* Adds a batch to those waiting, and adds up those that are due. */
static enum pb_outcome take_batch(struct pipeline *p, struct pd_record_batch *batch)
{
	struct pb_lap lap = pb_stage_enter(p->scope->session->timing, NULL, PB_STAGE_NAMES);
	enum pb_outcome piped = PB_OK;
	bool ok = true;

	p->waiting[(p->first + p->n++) % WAITS] = batch;
	for (size_t i = 0; ok && p->incremental && i < batch->n_picked; i++) {
		struct pd_record *rec = &batch->picked[i].rec;

		pd_bind(p->binder, rec);
		ok = pm_incremental_add(p->incremental, rec, batch->picked[i].last);
	}
	pb_stage_leave(&lap);
	pb_stage_count(p->scope->session->timing, NULL, PB_STAGE_NAMES, batch->n_picked, 0);
	if (!ok)
		return PB_RETRY_SERIAL;
	while (piped == PB_OK && is_due(p, batch->rounds))
		piped = take_first(p);
	return piped;
}

/* Adds up all waiting batches. */
static enum pb_outcome take_all(struct pipeline *p)
{
	enum pb_outcome piped = PB_OK;
	struct pd_record_batch *batch;
	bool bailed_out = false;

	while (piped == PB_OK && (batch = pd_record_batches_next(p->batches, &bailed_out))) {
		uint64_t done = batch->done;

		piped = take_batch(p, batch);
		if (piped == PB_OK &&
		    !pb_goes_on(&p->scope->progress, done, p->stream->data.size))
			piped = PB_STOPPED;
	}
	if (bailed_out)
		return PB_RETRY_SERIAL;
	while (piped == PB_OK && p->n)
		piped = take_first(p);
	if (piped == PB_OK && p->incremental &&
	    !pm_incremental_advance(p->incremental, UINT64_MAX))
		return PB_RETRY_SERIAL;
	return piped;
}

static bool begin_pipeline(struct pipeline *p, const struct pq_grouping *grouping)
{
	const struct pq_scope *scope = p->scope;
	struct pd_types pick = { .unknown = false };

	pm_system_types(&pick);
	if (!pq_worker_init(&p->worker, scope, grouping))
		return false;
	p->batches = pd_record_batches_start(p->stream, p->incremental ? &pick : NULL,
					     p->stream->data.size < SMALL ? 1 : scope->threads);
	if (p->batches)
		p->binder = pd_record_batches_binder(p->batches);
	return p->batches != NULL;
}

/* Runs the pipeline; reads the recorded system on the way unless `incremental` is NULL. */
static enum pb_outcome run_pipeline(const struct pq_scope *scope,
				    const struct pq_grouping *grouping,
				    struct pm_incremental *incremental,
				    struct pq_groups **groups)
{
	struct pipeline p = {
		.scope = scope,
		.stream = &scope->session->files[0]->streams[0],
		.incremental = incremental,
	};
	enum pb_outcome piped = begin_pipeline(&p, grouping) ? take_all(&p) : PB_FAILED;

	for (; p.n; p.n--, p.first = (p.first + 1) % WAITS)
		pd_record_batches_give_back(p.batches, p.waiting[p.first]);
	pd_record_batches_stop(p.batches);
	pq_worker_count(&p.worker, 0);
	if ((piped == PB_OK || piped == PB_STOPPED) && p.worker.fields.failed)
		piped = PB_FAILED;
	if (piped == PB_OK || piped == PB_STOPPED) {
		*groups = p.worker.groups;
		p.worker.groups = NULL;
	}
	pq_worker_deinit(&p.worker);
	return piped;
}

static bool asks_for_samples_only(const struct pq_scope *scope)
{
	struct pd_types samples = { .unknown = false };

	pd_types_add(&samples, PD_RECORD_SAMPLE);
	return !scope->types.unknown && scope->types.bits[0] == samples.bits[0] &&
	       scope->types.bits[1] == samples.bits[1];
}

/* Runs the pipeline, and reads the recorded system in the same pass. */
static enum pb_outcome run_once(const struct pq_scope *scope,
				const struct pq_grouping *grouping, struct pq_groups **groups)
{
	struct pm_incremental *incremental;
	enum pb_outcome piped = PB_RETRY_SERIAL;

	if (!asks_for_samples_only(scope) || !pm_can_read_incrementally(scope->session))
		return PB_RETRY_SERIAL;
	incremental = pm_incremental_create(scope->system, scope->later_names);
	if (incremental)
		piped = run_pipeline(scope, grouping, incremental, groups);
	pm_incremental_destroy(incremental);
	if (piped == PB_OK)
		*scope->unread = false;
	else if (piped == PB_RETRY_SERIAL && !pm_system_clear(scope->system))
		piped = PB_FAILED;
	return piped;
}

enum pb_outcome pq_pipeline_run(const struct pq_scope *scope,
				const struct pq_grouping *grouping, struct pq_groups **groups,
				struct pd_error *err)
{
	enum pb_outcome piped = PB_RETRY_SERIAL;

	if (scope->system && scope->unread && *scope->unread) {
		piped = run_once(scope, grouping, groups);
		if (piped == PB_RETRY_SERIAL &&
		    !pm_system_read(scope->system, NULL, scope->threads, false,
				    &scope->progress, err))
			return PB_FAILED;
		if (piped == PB_RETRY_SERIAL)
			*scope->unread = false;
	}
	if (piped == PB_RETRY_SERIAL)
		piped = run_pipeline(scope, grouping, NULL, groups);
	if (piped == PB_FAILED)
		pd_error_set(err, "ENOMEM", scope->session->files[0]->path, PD_NO_OFFSET,
			     "no memory for the groups of records");
	return piped;
}
