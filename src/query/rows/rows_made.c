#include "rows_made.h"

#include <stdlib.h>

bool pq_made_init(struct pq_made *made, const struct pq_scope *scope, struct pq_calls *calls,
		  const struct pq_paired *paired, const struct pq_node *const *nodes, size_t n)
{
	*made = (struct pq_made){
		.calls = scope->calls ? NULL : calls,
		.n_row = paired->n_row,
		.event = paired->event,
		.index = paired->index,
	};
	made->exprs = calloc(n ? n : 1, sizeof(*made->exprs));
	if (!made->exprs || !pq_fields_init(&made->fields, scope->session, NULL))
		return false;
	if (paired->kept && !(made->kept = pq_expr_create(paired->kept, &made->fields)))
		return false;
	if (paired->item_filter &&
	    !(made->item_filter = pq_expr_create(paired->item_filter, &made->fields)))
		return false;
	if (!pq_once_init(&made->once, paired->once, &made->fields))
		return false;
	for (; made->n < n; made->n++) {
		made->exprs[made->n] = pq_expr_create(nodes[made->n], &made->fields);
		if (!made->exprs[made->n])
			return false;
	}
	return true;
}

void pq_made_deinit(struct pq_made *made)
{
	for (size_t i = 0; i < made->n; i++)
		pq_expr_destroy(made->exprs[i]);
	free(made->exprs);
	pq_expr_destroy(made->kept);
	pq_expr_destroy(made->item_filter);
	pq_once_deinit(&made->once);
	pq_fields_deinit(&made->fields);
	*made = (struct pq_made){ .n = 0 };
}

static bool row_passes(const struct pq_expr *condition, struct pq_fields *fields)
{
	return !condition || pq_expr_test(condition, fields);
}

bool pq_made_enter(struct pq_made *made, const struct pq_value *row, bool *kept)
{
	const struct pq_value *event = made->event ? &row[made->event - 1] : NULL;

	if (made->calls)
		pq_calls_next(made->calls);
	if (!pq_fields_enter_row(&made->fields, row, made->n_row,
				 event && event->type == PQ_EVENT ? event->event : NULL))
		return false;
	made->is_kept_span = false;
	if (!made->index) {
		*kept = row_passes(made->kept, &made->fields);
		return true;
	}
	if (row[made->index - 1].type == PQ_NIL) {
		*kept = false;
		made->keeps_items = made->is_kept_span = row_passes(made->kept, &made->fields);
		pq_once_begin(&made->once);
		return true;
	}
	*kept = made->keeps_items && row_passes(made->item_filter, &made->fields) &&
		(!made->once.expr || pq_once_is_first(&made->once, &made->fields));
	return !made->fields.failed;
}

bool pq_made_values(struct pq_made *made, struct pq_value *values)
{
	for (size_t i = 0; i < made->n; i++)
		pq_expr_value(made->exprs[i], &made->fields, &values[i]);
	return !made->fields.failed;
}
