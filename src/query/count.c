#include "run.h"

#include <stdlib.h>

#include "worker.h"
#include "perfdata/order/partitions.h"

struct counting {
	const struct pq_scope *scope;
	struct pd_stat *stats; /* [workers] */
};

static bool count_partition(void *arg, const struct pd_partition *partition)
{
	struct counting *c = arg;
	struct pd_stat *stat = &c->stats[partition->worker];
	struct pd_error err;

	pd_stat_read(stat, c->scope->session, partition->reader, &partition->progress, &err);
	/*
	 * Unknown kinds are listed in the order in which they are met, which partitions do not
	 * tell.
	 */
	partition->reader->bailed_out = partition->reader->bailed_out || stat->n_unknown;
	return true;
}

/*
 * Counts recordings that can be read again. Returns true if *stat has the counts, of all
 * records or of those read until progress said stop.
 */
static bool count_partitions(struct counting *c, struct pd_stat *stat)
{
	const struct pd_session *session = c->scope->session;
	struct pd_partition_work work = {
		.workers = pd_partitions_workers(session, c->scope->threads),
		.read = count_partition,
		.arg = c,
		.progress = &c->scope->progress,
		.stage = PB_STAGE_COUNTS,
	};
	bool ok;

	c->stats = calloc(work.workers, sizeof(*c->stats));
	ok = c->stats != NULL;
	for (unsigned i = 0; ok && i < work.workers; i++)
		ok = pd_stat_init(&c->stats[i], session);
	ok = ok && pd_partitions_read(c->scope->session, &work) != PB_RETRY_SERIAL;
	/* in pipe mode the heads of the streams, which are read first, may have added events */
	ok = ok && pd_stat_init(stat, session);
	for (unsigned i = 0; c->stats && i < work.workers; i++) {
		if (ok)
			pd_stat_merge(stat, &c->stats[i]);
		pd_stat_deinit(&c->stats[i]);
	}
	free(c->stats);
	return ok;
}

/* Counts one compressed stream. Returns and sets *stat as count_partitions() does. */
static bool count_batches(const struct pq_scope *scope, struct pd_stat *stat)
{
	struct pd_session *session = scope->session;
	struct pd_record_batches *batches =
		pd_record_batches_start(&session->files[0]->streams[0], NULL, scope->threads);
	bool ok = batches && pd_stat_init(stat, session);

	if (ok &&
	    pd_stat_read_batches(stat, session, batches, &scope->progress) == PB_RETRY_SERIAL) {
		pd_stat_deinit(stat);
		ok = false;
	}
	pd_record_batches_stop(batches);
	return ok;
}

bool pq_count(const struct pq_scope *scope, struct pd_stat *stat, struct pd_error *err)
{
	struct counting counting = { .scope = scope };
	bool split = pd_session_has_counters(scope->session);

	if (!split && pq_pipeline_fits(scope) && count_batches(scope, stat))
		return true;
	if (!split && !pq_scope_passes(scope) && count_partitions(&counting, stat)) {
		/*
		 * in pipe mode the scan may have just met the first event with counter values
		 */
		if (!pd_session_has_counters(scope->session))
			return true;
		pd_stat_deinit(stat);
	}
	return pd_stat_collect(stat, scope->session, &scope->progress, err);
}

bool pq_count_shares(const struct pq_scope *scope, bool is_health)
{
	return !pd_session_has_counters(scope->session) && !pq_scope_passes(scope) &&
	       (is_health || !pq_pipeline_fits(scope));
}

unsigned pq_count_threads(const struct pq_scope *scope, bool is_health, const char **why)
{
	unsigned n = 1;

	*why = NULL;
	if (pd_session_has_counters(scope->session)) {
		*why = "counter values are differences between successive samples";
	} else if (pq_pipeline_fits(scope) && is_health) {
		*why = "the worker that decompresses counts, too";
	} else if (pq_pipeline_fits(scope)) {
		n = scope->threads > 1 ? 2 : 1;
		*why = n > 1 ? "one decompresses, the other counts" : NULL;
	} else if (pq_scope_passes(scope)) {
		*why = "a stream can be read only once";
	} else {
		n = pd_partitions_workers(scope->session, scope->threads);
		*why = n < scope->threads ? "the input is small" : NULL;
	}
	return n;
}
