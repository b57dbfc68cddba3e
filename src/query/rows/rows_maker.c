#include "rows_maker.h"

#include <stdlib.h>

static bool rows_ask_system(const struct pq_row_maker *maker)
{
	const struct pq_scope *scope = maker->scope;
	bool asks = (scope->filter && pq_asks_system(scope->filter, scope->session)) ||
		    pq_items_ask(scope->unnest, scope->session);

	for (size_t i = 0; i < maker->n; i++)
		asks = asks || pq_asks_system(maker->nodes[i], scope->session);
	return asks;
}

bool pq_row_maker_init(struct pq_row_maker *maker, const struct pq_scope *scope,
		       const struct pq_node *const *nodes, size_t n)
{
	bool asks;

	maker->scope = scope;
	maker->nodes = nodes;
	maker->n = n;
	asks = scope->system && rows_ask_system(maker);
	maker->exprs = calloc(n ? n : 1, sizeof(*maker->exprs));
	maker->numbers = calloc(n ? n : 1, sizeof(*maker->numbers));
	maker->resolver = asks ? pm_resolver_create(scope->system) : NULL;
	if (!maker->exprs || !maker->numbers || !pq_plain_rows_init(&maker->plain, n) ||
	    (asks && !maker->resolver) ||
	    !pq_fields_init(&maker->fields, scope->session, maker->resolver))
		return false;
	if (scope->filter && !(maker->filter = pq_expr_create(scope->filter, &maker->fields)))
		return false;
	if (scope->unnest && !(maker->items = pq_items_create(scope->unnest, &maker->fields)))
		return false;
	for (size_t i = 0; i < n; i++) {
		maker->exprs[i] = pq_expr_create(nodes[i], &maker->fields);
		if (!maker->exprs[i])
			return false;
		maker->numbers[i] = pq_expr_field(maker->exprs[i]);
	}
	return true;
}

void pq_row_maker_deinit(struct pq_row_maker *maker)
{
	for (size_t i = 0; maker->exprs && i < maker->n; i++)
		pq_expr_destroy(maker->exprs[i]);
	pq_expr_destroy(maker->filter);
	pq_items_destroy(maker->items);
	pq_fields_deinit(&maker->fields);
	pq_known_texts_deinit(&maker->known);
	pq_plain_rows_deinit(&maker->plain);
	pm_resolver_destroy(maker->resolver);
	free(maker->exprs);
	free(maker->numbers);
}

bool pq_row_make_values(struct pq_row_maker *maker, struct pq_row_texts *texts,
			struct pq_value *row)
{
	struct pq_fields *fields = &maker->fields;

	for (size_t i = 0; i < maker->n; i++) {
		if (maker->numbers[i] == UINT32_MAX)
			pq_expr_value(maker->exprs[i], fields, &row[i]);
		else if (!fields->chains || i != maker->chain_at)
			pq_fields_get(fields, maker->numbers[i], &row[i]);
		else if (!pq_fields_key(fields, maker->numbers[i], &row[i]))
			return false;
		if (row[i].type == PQ_TEXT && !pq_row_texts_add(texts, &maker->known, &row[i]))
			return false;
	}
	return !fields->failed;
}

struct pq_record_rows {
	struct pq_row_maker maker;
	struct pq_row_texts texts; /* of the record's rows */
	uint64_t n_rows;	   /* made so far */
	struct pq_value row[];	   /* [maker.n] */
};

struct pq_record_rows *pq_record_rows_create(const struct pq_row_maker *maker)
{
	struct pq_record_rows *rows = calloc(1, sizeof(*rows) + maker->n * sizeof(*rows->row));

	if (rows && pq_row_maker_init(&rows->maker, maker->scope, maker->nodes, maker->n))
		return rows;
	pq_record_rows_destroy(rows);
	return NULL;
}

void pq_record_rows_destroy(struct pq_record_rows *rows)
{
	if (!rows)
		return;
	pq_row_maker_deinit(&rows->maker);
	pq_row_texts_deinit(&rows->texts);
	free(rows);
}

bool pq_record_rows_each(struct pq_record_rows *rows, const struct pd_record *rec,
			 void (*row)(void *arg, const struct pq_value *values), void *arg)
{
	struct pq_row_maker *maker = &rows->maker;
	bool ok = pq_fields_enter(&maker->fields, rec);

	if (!ok || (maker->filter && !pq_expr_test(maker->filter, &maker->fields)))
		return ok && !maker->fields.failed;
	if (maker->items)
		pq_items_begin(maker->items);
	while (!maker->items || pq_items_next(maker->items)) {
		pq_row_texts_clear(&rows->texts);
		if (!pq_row_make(maker, &rows->texts, rows->row))
			return false;
		rows->n_rows++;
		row(arg, rows->row);
		if (!maker->items)
			break;
	}
	return !maker->fields.failed;
}

uint64_t pq_record_rows_count(const struct pq_record_rows *rows)
{
	return rows->n_rows;
}
