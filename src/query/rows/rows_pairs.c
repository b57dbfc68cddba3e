#include "rows_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "spans.h"

#define ROLES 16 /* a power of two */
#define MOST_LOST \
	1024 /* records that tell of lost ones: from then on all spans are meant, which takes less time */

/* What all records of one layout and event do. */
struct role {
	const struct pq_bound *bound; /* NULL: none was met */
	bool closes, opens;
};

struct pq_pairs {
	const struct pq_pairing *how;
	const struct pq_columns *columns;
	struct pq_spans spans; /* what is kept of the opening record: the time first */
	size_t n_kept;	       /* of the record that opened it */
	uint32_t *kept;	       /* [n_kept], places of their columns */
	uint32_t *from; /* [how->n_values]: of those of_open which of the kept ones it is */
	struct pq_value *key; /* [how->n_keys], of the record that is looked at */
	size_t n_lost;	      /* records that told of lost ones of some spans */
	struct pq_pair_counts counts;
	bool by_event; /* the event alone decides what a record does */
	struct role roles[ROLES];
};

/* The columns that are kept of an opening record, each once. */
static void keep_columns(struct pq_pairs *pairs)
{
	const struct pq_pairing *how = pairs->how;

	pairs->kept[pairs->n_kept++] = how->time;
	for (size_t i = 0; i < how->n_values; i++) {
		size_t k = 0;

		if (!how->values[i].of_open)
			continue;
		while (k < pairs->n_kept && pairs->kept[k] != how->values[i].place)
			k++;
		if (k == pairs->n_kept)
			pairs->kept[pairs->n_kept++] = how->values[i].place;
		pairs->from[i] = (uint32_t)k;
	}
}

/* Does a condition ask for nothing but the event? */
static bool asks_event(const struct pq_columns *columns, uint32_t place)
{
	const struct pq_node *node = columns->nodes[place];
	const struct pd_session *session = columns->fields->session;
	unsigned event = pd_field_name_id(&session->files[0]->field_names, "event", 5);

	return node->op == PQ_EVENT_IN && node->left->op == PQ_FIELD &&
	       node->left->field->name == event && !node->left->field->n_steps;
}

struct pq_pairs *pq_pairs_create(const struct pq_pairing *how, const struct pq_columns *columns)
{
	struct pq_pairs *pairs = calloc(1, sizeof(*pairs));

	if (!pairs)
		return NULL;
	pairs->how = how;
	pairs->columns = columns;
	pairs->by_event = asks_event(columns, how->opens) && asks_event(columns, how->closes);
	pairs->kept = calloc(how->n_values + 1, sizeof(*pairs->kept));
	pairs->from = calloc(how->n_values + 1, sizeof(*pairs->from));
	pairs->key = calloc(how->n_keys + 1, sizeof(*pairs->key));
	if (pairs->kept && pairs->from && pairs->key) {
		keep_columns(pairs);
		if (pq_spans_init(&pairs->spans, how->n_keys, pairs->n_kept))
			return pairs;
	}
	pq_pairs_destroy(pairs);
	return NULL;
}

void pq_pairs_destroy(struct pq_pairs *pairs)
{
	if (!pairs)
		return;
	pq_spans_deinit(&pairs->spans);
	free(pairs->kept);
	free(pairs->from);
	free(pairs->key);
	free(pairs);
}

struct pq_pair_counts pq_pairs_counts(const struct pq_pairs *pairs)
{
	struct pq_pair_counts counts = pairs->counts;

	counts.unclosed = pq_spans_n_open(&pairs->spans);
	return counts;
}

static void read_column(const struct pq_pairs *pairs, uint32_t place, struct pq_value *out)
{
	const struct pq_columns *columns = pairs->columns;

	if (columns->numbers[place] != UINT32_MAX)
		pq_fields_get(columns->fields, columns->numbers[place], out);
	else
		pq_expr_value(columns->exprs[place], columns->fields, out);
}

static bool test(const struct pq_pairs *pairs, uint32_t place)
{
	return pq_expr_test(pairs->columns->exprs[place], pairs->columns->fields);
}

/* The value as a span may have it. False: no memory. */
static bool own(struct pq_value *value, struct pq_pair_row *row)
{
	char *copy;

	if (value->type != PQ_TEXT)
		return true;
	if (!pq_row_texts_add(row->texts, row->known, value))
		return false;
	if (value->id)
		return true;
	copy = malloc(value->size ? value->size : 1);
	if (!copy)
		return false;
	memcpy(copy, value->p, value->size);
	value->p = copy;
	return true;
}

/* Reads the key of the record. False: a part of it is not there. */
static bool read_key(struct pq_pairs *pairs, bool of_open, uint32_t *hash)
{
	const struct pq_pairing *how = pairs->how;

	for (size_t i = 0; i < how->n_keys; i++) {
		struct pq_value *value = &pairs->key[i];

		read_column(pairs, of_open ? how->keys[i].of_open : how->keys[i].of_close,
			    value);
		if (value->type != PQ_INT)
			pq_normalise(value);
		if (value->type == PQ_NIL)
			return false;
	}
	*hash = pq_spans_hash(&pairs->spans, pairs->key);
	return true;
}

/*
 * A span of the key that was read, without what is kept of the record; UINT32_MAX: no memory.
 */
static uint32_t open_span(struct pq_pairs *pairs, uint32_t hash, struct pq_pair_row *row)
{
	struct pq_value *values;
	uint32_t span;

	span = pq_spans_open(&pairs->spans, pairs->key, hash);
	if (span == UINT32_MAX)
		return span;
	values = pq_spans_at(&pairs->spans, span);
	for (size_t i = 0; i < pairs->how->n_keys; i++) {
		struct pq_value key = pairs->key[i];

		if (!own(&key, row))
			return UINT32_MAX;
		values[i] = key;
	}
	return span;
}

/* The record opens a span. False: no memory. */
static bool meet_open(struct pq_pairs *pairs, const struct pq_value *time,
		      struct pq_pair_row *row)
{
	struct pq_value *values;
	struct pb_slot *slot;
	uint32_t hash, span;

	if (time->type != PQ_INT || !read_key(pairs, true, &hash)) {
		pairs->counts.unkeyed++;
		return true;
	}
	slot = pq_spans_find(&pairs->spans, pairs->key, hash);
	if (slot->item) {
		span = slot->item - 1;
		pairs->counts.restarted++;
	} else {
		span = open_span(pairs, hash, row);
		if (span == UINT32_MAX)
			return false;
	}
	values = pq_spans_at(&pairs->spans, span) + pairs->how->n_keys;
	pq_span_forget(values, pairs->n_kept);
	values[0] = *time;
	for (size_t i = 1; i < pairs->n_kept; i++) {
		struct pq_value value;

		read_column(pairs, pairs->kept[i], &value);
		if (!own(&value, row))
			return false;
		values[i] = value;
	}
	return true;
}

/* The row of a span that ends. False: no memory. */
static bool make_row(struct pq_pairs *pairs, const struct pq_value *kept,
		     struct pq_pair_row *row)
{
	for (size_t i = 0; i < pairs->how->n_values; i++) {
		const struct pq_pair_value *value = &pairs->how->values[i];

		if (value->of_open)
			row->values[i] = kept[pairs->from[i]];
		else
			read_column(pairs, value->place, &row->values[i]);
		if (row->values[i].type == PQ_TEXT &&
		    !pq_row_texts_add(row->texts, row->known, &row->values[i]))
			return false;
	}
	row->made = true;
	return true;
}

/* The record closes a span. False: no memory. */
static bool meet_close(struct pq_pairs *pairs, const struct pq_value *time,
		       struct pq_pair_row *row)
{
	const struct pq_value *kept;
	struct pb_slot *slot;
	uint32_t hash;

	if (time->type != PQ_INT || !read_key(pairs, false, &hash)) {
		pairs->counts.unkeyed++;
		return true;
	}
	slot = pq_spans_find(&pairs->spans, pairs->key, hash);
	kept = slot->item ? pq_spans_at(&pairs->spans, slot->item - 1) + pairs->how->n_keys :
			    NULL;
	/* what comes too late for its place in time may be before its open */
	if (!kept || (int64_t)(time->u - kept[0].u) < 0) {
		pairs->counts.unopened++;
		return true;
	}
	if (!make_row(pairs, kept, row))
		return false;
	pq_spans_close(&pairs->spans, slot);
	pairs->counts.pairs++;
	return true;
}

/*
 * Does the record that tells of lost ones say which spans are meant? Reads what these have in
 * their keys.
 */
static bool read_lost(struct pq_pairs *pairs)
{
	const struct pq_pairing *how = pairs->how;
	bool says = false;

	for (size_t i = 0; i < how->n_keys; i++) {
		pairs->key[i].type = PQ_NIL;
		if (how->keys[i].loses)
			read_column(pairs, how->keys[i].of_open, &pairs->key[i]);
		says = says || pairs->key[i].type != PQ_NIL;
	}
	return says;
}

static bool is_meant(const struct pq_pairs *pairs, uint32_t span)
{
	const struct pq_value *key = pq_spans_at(&pairs->spans, span);

	for (size_t i = 0; i < pairs->how->n_keys; i++)
		if (pairs->key[i].type != PQ_NIL && !pq_same(&pairs->key[i], &key[i]))
			return false;
	return true;
}

/* Records were lost: spans that it may be about end in nothing. */
static void drop(struct pq_pairs *pairs)
{
	struct pq_spans *spans = &pairs->spans;

	if (!read_lost(pairs) || ++pairs->n_lost > MOST_LOST) {
		pairs->counts.lost += pq_spans_n_open(spans);
		pq_spans_clear(spans);
		return;
	}
	/*
	 * some slots move up when one is freed, from the last ones to the first, too: these
	 * come again
	 */
	for (size_t at = 0; at < 2 * spans->map.n_slots && pq_spans_n_open(spans);) {
		struct pb_slot *slot = &spans->map.slots[at & (spans->map.n_slots - 1)];

		if (slot->item && is_meant(pairs, slot->item - 1)) {
			pq_spans_close(spans, slot);
			pairs->counts.lost++;
		} else {
			at++;
		}
	}
}

/* Tells the record of lost ones? What is open then is dropped. */
static bool is_lost(const struct pq_pairs *pairs)
{
	return pd_record_loss(pairs->columns->fields->rec) != PD_LOSS_NONE;
}

/* What the record that was entered does. */
static struct role role_of(struct pq_pairs *pairs)
{
	const struct pq_bound *bound = pairs->columns->fields->bound;
	struct role *role = &pairs->roles[(uintptr_t)bound / sizeof(*bound->loads) % ROLES];

	if (pairs->by_event && role->bound == bound)
		return *role;
	*role = (struct role){ bound, test(pairs, pairs->how->closes),
			       test(pairs, pairs->how->opens) };
	return *role;
}

bool pq_pairs_meet(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	const struct pq_pairing *how = pairs->how;
	bool lost = is_lost(pairs);
	struct role role = { NULL, false, false };
	struct pq_value time;

	if (!lost || how->pairs_lost)
		role = role_of(pairs);
	if (!role.closes && !role.opens && !lost)
		return true;
	read_column(pairs, how->time, &time);
	if (!role.closes && !role.opens) {
		/* of those that perf adds in the end nobody knows when it was */
		if (time.type == PQ_INT)
			drop(pairs);
		return true;
	}
	return (!role.closes || meet_close(pairs, &time, row)) &&
	       (!role.opens || meet_open(pairs, &time, row));
}
