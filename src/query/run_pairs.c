#include "run_pairs.h"

/* What rows are added up with. */
struct adder {
	size_t n_values;
	struct pq_fields fields;
	struct pq_expr *kept; /* NULL: all rows */
	struct pq_groups *groups;
};

/* False: no memory; then, too, adder_deinit is to be called. */
static bool adder_init(struct adder *a, const struct pq_scope *scope,
		       const struct pq_paired *paired, const struct pq_grouping *grouping)
{
	*a = (struct adder){ .n_values = paired->how->n_values };
	if (!pq_fields_init(&a->fields, scope->session, NULL))
		return false;
	if (paired->kept && !(a->kept = pq_expr_create(paired->kept, &a->fields)))
		return false;
	a->groups = pq_groups_create(grouping, &a->fields);
	return a->groups != NULL;
}

static void adder_deinit(struct adder *a)
{
	pq_groups_destroy(a->groups);
	pq_expr_destroy(a->kept);
	pq_fields_deinit(&a->fields);
}

/* False: no memory. */
static bool add(struct adder *a, const struct pq_batch *batch)
{
	const struct pq_value *row = batch->values;

	for (size_t i = 0; i < batch->n_rows; i++, row += a->n_values) {
		if (!pq_fields_enter_row(&a->fields, row, a->n_values))
			return false;
		if (a->kept && !pq_expr_test(a->kept, &a->fields))
			continue;
		if (!pq_groups_add(a->groups))
			return false;
	}
	return !a->fields.failed;
}

static bool no_memory(const struct pq_scope *scope, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", scope->session->files[0]->path, PD_NO_OFFSET,
			    "no memory for the groups of spans");
}

/* As pq_rows_next: 0 when all rows were added. */
static int add_all(struct adder *a, const struct pq_scope *scope, struct pq_rows *rows,
		   double *part, struct pd_error *err)
{
	struct pq_batch batch;
	int got;

	*part = pq_scope_passes(scope) ? -1 : 0;
	while ((got = pq_rows_next(rows, &batch, err)) > 0) {
		*part = batch.part;
		if (!add(a, &batch)) {
			no_memory(scope, err);
			return -1;
		}
	}
	/* nobody waits for a stream once there is an interrupt */
	return got < 0 && pd_error_interrupted(err) ? 0 : got;
}

enum pb_outcome pq_run_pairs(const struct pq_scope *scope, const struct pq_paired *paired,
			     const struct pq_grouping *grouping, struct pq_groups **groups,
			     struct pq_pair_counts *counts, double *part, struct pd_error *err)
{
	struct pq_rows *rows = NULL;
	struct adder a;
	int got = -1;

	if (adder_init(&a, scope, paired, grouping))
		rows = pq_rows_open_pairs(scope, paired->nodes, paired->n, paired->how, err);
	else
		no_memory(scope, err);
	if (rows)
		got = add_all(&a, scope, rows, part, err);
	if (got == 0) {
		*counts = pq_rows_counts(rows);
		if (scope->late)
			*scope->late += pq_rows_late(rows);
		*groups = a.groups;
		a.groups = NULL;
	}
	pq_rows_close(rows);
	adder_deinit(&a);
	if (got != 0)
		return PB_FAILED;
	return pb_goes_on(&scope->progress, 0, 0) ? PB_OK : PB_STOPPED;
}
