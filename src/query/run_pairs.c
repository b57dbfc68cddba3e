#include "run.h"

#include <stdlib.h>

#include "query/rows/rows_made.h"

/* The state of a pass: the rows, and the groups to which they are added. */
struct adder {
	struct pq_rows *rows;
	struct pq_made made;
	struct pq_groups *groups;
};

/* Initializes *a. Returns false without memory. */
static bool adder_init(struct adder *a, const struct pq_scope *scope, struct pq_calls *calls,
		       const struct pq_paired *paired, const struct pq_grouping *grouping)
{
	if (!pq_made_init(&a->made, scope, calls, paired, NULL, 0))
		return false;
	a->groups = pq_groups_create(grouping, &a->made.fields);
	return a->groups != NULL;
}

static void adder_destroy(void *arg)
{
	struct adder *a = arg;

	pq_rows_close(a->rows);
	pq_groups_destroy(a->groups);
	pq_made_deinit(&a->made);
	free(a);
}

/* Adds the kept rows of a batch to the groups. Returns false without memory. */
static bool add_batch(struct adder *a, const struct pq_batch *batch)
{
	const struct pq_value *row = batch->values;

	for (size_t i = 0; i < batch->n_rows; i++, row += a->made.n_row) {
		bool kept;

		if (!pq_made_enter(&a->made, row, &kept) || (kept && !pq_groups_add(a->groups)))
			return false;
		if (a->made.is_kept_span && !pq_groups_add_whole(a->groups))
			return false;
	}
	return !a->made.fields.failed;
}

static bool report_no_memory(const struct pq_scope *scope, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", scope->session->files[0]->path, PD_NO_OFFSET,
			    "no memory for the groups of spans");
}

/* Adds all rows. Returns 0 at the end, -1 with *err set on failure. */
static int add_all(struct adder *a, const struct pq_scope *scope,
		   const struct pb_progress *progress, struct pd_error *err)
{
	uint64_t size = pq_scope_passes(scope) ? 0 : pd_session_size(scope->session);
	uint64_t done = 0;
	struct pq_batch batch;
	int got;

	while ((got = pq_rows_next(a->rows, &batch, err)) > 0) {
		if (size)
			done = (uint64_t)(batch.part * (double)size);
		pb_goes_on(progress, done, size);
		if (!add_batch(a, &batch)) {
			report_no_memory(scope, err);
			return -1;
		}
	}
	pb_goes_on(progress, done, size); /* an interrupt may have come since */
	/* after an interrupt nobody waits for a stream */
	return got < 0 && pd_error_interrupted(err) ? 0 : got;
}

enum pb_outcome pq_run_pairs(const struct pq_scope *scope, struct pq_calls *calls,
			     const struct pq_paired *paired, const struct pq_grouping *grouping,
			     struct pq_groups **groups, struct pq_pair_counts *counts,
			     const struct pb_progress *progress, struct pd_error *err)
{
	struct adder *a = calloc(1, sizeof(*a));
	int got = -1;

	if (!a) {
		report_no_memory(scope, err);
		return PB_FAILED;
	}
	if (calls) {
		calls->pass = a;
		calls->destroy = adder_destroy;
	}
	if (adder_init(a, scope, calls, paired, grouping))
		a->rows = pq_rows_open_pairs(scope, paired, err);
	else
		report_no_memory(scope, err);
	if (a->rows)
		got = add_all(a, scope, progress, err);
	if (got == 0) {
		*counts = pq_rows_counts(a->rows);
		if (scope->late)
			*scope->late += pq_rows_late(a->rows);
		*groups = a->groups;
		a->groups = NULL;
	}
	if (calls)
		calls->pass = NULL;
	adder_destroy(a);
	if (got != 0)
		return PB_FAILED;
	return pb_goes_on(&scope->progress, 0, 0) ? PB_OK : PB_STOPPED;
}
