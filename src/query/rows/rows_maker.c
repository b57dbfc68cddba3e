#include "rows_maker.h"

#include <stdlib.h>

#include "base/vector.h"

/* Returns false without memory. */
static bool init_plain_rows(struct pq_plain_rows *plain, size_t n)
{
	for (size_t i = 0; i < PQ_PLAIN_ROWS; i++) {
		plain->rows[i].loads = calloc(n ? n : 1, sizeof(*plain->rows[i].loads));
		if (!plain->rows[i].loads)
			return false;
	}
	return true;
}

void pq_plain_row_bind(struct pq_plain_row *row, const struct pq_bound *bound,
		       const uint32_t *numbers, size_t n)
{
	row->bound = bound;
	row->end = row->raw_least = row->raw_at = 0;
	for (size_t i = 0; i < n; i++) {
		const struct pq_load *load;

		if (numbers[i] == UINT32_MAX) {
			row->end = UINT32_MAX;
			return;
		}
		load = &bound->loads[numbers[i]];
		if (load->read == pq_read_nothing) { /* of another event, most likely */
			row->loads[i] = (struct pq_plain_load){ .is_constant = true };
			continue;
		}
		/* recordings of the other byte order are rare, so they take the slow way */
		if (load->end == UINT32_MAX || load->swap) {
			row->end = UINT32_MAX;
			return;
		}
		row->loads[i] = (struct pq_plain_load){
			.constant = load->constant.i,
			.type = PQ_INT,
			.at = load->at,
			.narrow = load->narrow,
			.wide = load->wide,
			.is_constant = load->is_constant,
			.is_signed = load->is_signed,
		};
		if (load->raw_at) /* a sample has one piece of raw data */
			row->raw_at = load->raw_at;
		if (load->raw_least > row->raw_least)
			row->raw_least = load->raw_least;
		if (load->end > row->end)
			row->end = load->end;
	}
}

#define LONG 64	  /* bytes: longer texts do not come again often enough */
#define KEPT 4096 /* texts */

struct wanted {
	const struct pq_known_texts *known;
	const struct pq_value *value;
};

static bool has_text(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct pd_text *text = &wanted->known->list[item];

	return text->n == wanted->value->size &&
	       pb_same_bytes(text->p, wanted->value->p, text->n);
}

/*
 * Sets *id to the number of a text, added if it is new; to 0 if there is no room for it.
 * Returns false without memory.
 */
static bool find_or_add_known(struct pq_known_texts *known, const struct pq_value *value,
			      uint32_t *id)
{
	const struct wanted wanted = { known, value };
	struct pb_slot *slot;
	uint32_t hash;
	const char *p;

	if (!known->n)
		pb_secret_make(&known->secret);
	if (!pb_map_reserve(&known->map) || !pb_reserve(known->list, known->n, known->capacity))
		return false;
	hash = pb_hash_bytes(&known->secret, value->p, value->size);
	slot = pb_map_find(&known->map, hash, has_text, &wanted);
	if (!slot->item && known->n < KEPT) {
		p = pb_arena_text(&known->arena, value->p, value->size);
		if (!p)
			return false;
		pb_map_fill(&known->map, slot, hash, (uint32_t)known->n);
		known->list[known->n++] = (struct pd_text){ p, value->size };
	}
	*id = slot->item;
	return true;
}

/*
 * Looks up a short text among those that are kept, and adds it if there is room. Sets value->id
 * to its number. Returns false without memory.
 */
static bool keep_known(struct pq_known_texts *known, struct pq_value *value)
{
	uint32_t place = (uint32_t)((uintptr_t)value->p >> 3 ^ (uintptr_t)value->p >> 9) %
			 PQ_RECENT_TEXTS;
	const struct wanted wanted = { known, value };
	uint32_t id = known->recent[place].id;

	if (known->recent[place].p != value->p || !id || !has_text(&wanted, id - 1)) {
		if (!find_or_add_known(known, value, &id))
			return false;
		known->recent[place].p = value->p;
		known->recent[place].id = (uint16_t)id;
	}
	value->id = (uint16_t)id;
	if (id)
		value->p = known->list[id - 1].p;
	return true;
}

bool pq_row_texts_add(struct pq_row_texts *texts, struct pq_known_texts *known,
		      struct pq_value *value)
{
	value->id = 0;
	if (value->size <= LONG && !keep_known(known, value))
		return false;
	if (!value->id) {
		value->p = pb_arena_text(&texts->arena, value->p, value->size);
		texts->bytes += value->size;
	}
	return value->p != NULL;
}

void pq_row_texts_clear(struct pq_row_texts *texts)
{
	pb_arena_clear(&texts->arena);
	texts->bytes = 0;
}

void pq_row_texts_deinit(struct pq_row_texts *texts)
{
	pb_arena_deinit(&texts->arena);
}

static void deinit_known_texts(struct pq_known_texts *known)
{
	free(known->list);
	pb_map_deinit(&known->map);
	pb_arena_deinit(&known->arena);
	*known = (struct pq_known_texts){ 0 };
}

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
	if (!maker->exprs || !maker->numbers || !init_plain_rows(&maker->plain, n) ||
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
	deinit_known_texts(&maker->known);
	for (size_t i = 0; i < PQ_PLAIN_ROWS; i++)
		free(maker->plain.rows[i].loads);
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
