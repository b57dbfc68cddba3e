#define _GNU_SOURCE /* reallocarray */
#include "rows_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "spans.h"

#define ROLES 16 /* a power of two */

/* Most spans have no spans inside, and shall not pay for calls that two callers need. */
#define INLINE inline __attribute__((always_inline))

#define MOST_LOST \
	1024 /* records of losses: from then on all spans are dropped, which takes less time */

/* The role of all records of one layout and event. */
struct role {
	const struct pq_bound *bound; /* NULL: none was met */
	bool closes, opens, inner;
};

/* Records that wait for the end of a span: n rows of n_inner values, which are owned. */
struct waiting {
	struct pq_value *values;
	size_t n, capacity;
};

/* A copy of a record that opened a span. */
struct opening {
	struct pd_record rec;
	uint8_t *bytes; /* [room] */
	size_t room;
};

/* A span that ended, and the records that waited for it, or the items of one of its records. */
struct ended {
	struct pq_value *kept;	/* [n_kept] */
	struct pq_value *close; /* [n_values]: those of PQ_OF_CLOSE */
	struct waiting waiting;
	size_t at; /* the record whose row is next */
	enum {
		ITEMS_NONE,
		ITEMS_OF_SPAN, /* the span's own row comes next */
		ITEMS_MORE,    /* more items may come */
	} items;
	struct opening opening; /* if items are of the opening record */
};

struct pq_pairs {
	const struct pq_pairing *how;
	const struct pq_columns *columns;
	struct pq_spans spans; /* what is kept of the opening record: the time first */
	struct pq_calls *calls;
	size_t n_kept;		    /* number of values kept of an opening record */
	uint32_t *kept;		    /* [n_kept]: places of their columns */
	size_t n_inner;		    /* number of values of a record that waits */
	uint32_t *inner;	    /* [n_inner]: places of their columns */
	uint32_t *from;		    /* [how->n_values]: index in `kept` or in `inner` */
	struct pq_value *key;	    /* [how->n_keys]: key of the record that is looked at */
	struct pq_value *args;	    /* arguments of how->ended */
	struct pq_pairs *nested;    /* spans inside; NULL: records are, or nothing is */
	struct pq_value *inner_row; /* [nested->how->n_values]: the nested span that ended */
	uint64_t ended_serial;	    /* serial number of the span that ended last */
	uint64_t *serial;	    /* number of the span opened last, here or in `nested` */
	uint64_t own_serial;
	struct waiting *waiting; /* [n_waiting], by span */
	size_t n_waiting;
	struct opening *openings; /* [n_openings], by span; if their items are rows */
	size_t n_openings;
	size_t n_held; /* records that wait */
	bool too_many; /* a record found no room to wait */
	struct ended ended;
	size_t n_lost; /* records of lost records that named some spans */
	struct pq_pair_counts counts;
	bool has_serials; /* spans inside others: their serial numbers are kept */
	bool by_event;	  /* the event alone decides what a record does */
	struct role roles[ROLES];
};

/* Returns the index of a place in a list, and adds it if it is not there. */
static uint32_t add_place(uint32_t *list, size_t *n, uint32_t place)
{
	size_t i = 0;

	while (i < *n && list[i] != place)
		i++;
	if (i == *n)
		list[(*n)++] = place;
	return (uint32_t)i;
}

/*
 * Lists the columns that are kept of an opening record, and of a record that waits, each once.
 */
static void keep_columns(struct pq_pairs *pairs)
{
	const struct pq_pairing *how = pairs->how;

	pairs->kept[pairs->n_kept++] = how->time;
	if (how->ended || pairs->has_serials)
		add_place(pairs->kept, &pairs->n_kept, PQ_SERIAL);
	for (size_t i = 0; i < how->n_values; i++) {
		uint32_t place = how->values[i].place;

		if (how->values[i].of == PQ_OF_OPEN)
			pairs->from[i] = add_place(pairs->kept, &pairs->n_kept, place);
		else if (how->values[i].of == PQ_OF_INNER)
			pairs->from[i] = add_place(pairs->inner, &pairs->n_inner, place);
	}
}

/* Returns true if a condition reads nothing but the event. */
static bool asks_event(const struct pq_columns *columns, uint32_t place)
{
	const struct pq_node *node = columns->nodes[place];
	const struct pd_session *session = columns->fields->session;
	unsigned event = pd_field_name_id(&session->files[0]->field_names, "event", 5);

	return node->op == PQ_EVENT_IN && node->left->op == PQ_FIELD &&
	       node->left->field->name == event && !node->left->field->n_steps;
}

static bool is_by_event(const struct pq_pairing *how, const struct pq_columns *columns)
{
	return asks_event(columns, how->opens) && asks_event(columns, how->closes) &&
	       (how->inner == PQ_NO_PLACE || asks_event(columns, how->inner));
}

static struct pq_pairs *create_pairs(const struct pq_pairing *how,
				     const struct pq_columns *columns, struct pq_calls *calls,
				     bool is_nested);

/* Creates pairs->nested, if spans have spans inside. Returns false without memory. */
static bool create_nested(struct pq_pairs *pairs)
{
	const struct pq_pairing *how = pairs->how->nested;

	if (!how)
		return true;
	pairs->nested = create_pairs(how, pairs->columns, pairs->calls, true);
	pairs->inner_row = calloc(how->n_values, sizeof(*pairs->inner_row));
	if (!pairs->nested || !pairs->inner_row)
		return false;
	pairs->nested->serial = pairs->serial;
	return true;
}

static struct pq_pairs *create_pairs(const struct pq_pairing *how,
				     const struct pq_columns *columns, struct pq_calls *calls,
				     bool is_nested)
{
	struct pq_pairs *pairs = calloc(1, sizeof(*pairs));
	size_t n = how->n_values + 2;

	if (!pairs)
		return NULL;
	pairs->how = how;
	pairs->columns = columns;
	pairs->calls = calls;
	pairs->serial = &pairs->own_serial;
	pairs->has_serials = is_nested || how->nested;
	pairs->by_event = is_by_event(how, columns);
	pairs->kept = calloc(n, sizeof(*pairs->kept));
	pairs->inner = calloc(n, sizeof(*pairs->inner));
	pairs->from = calloc(n, sizeof(*pairs->from));
	pairs->key = calloc(how->n_keys + 1, sizeof(*pairs->key));
	pairs->args = calloc(how->ended ? how->ended->n_args : 1, sizeof(*pairs->args));
	pairs->ended.kept = calloc(n, sizeof(*pairs->ended.kept));
	pairs->ended.close = calloc(n, sizeof(*pairs->ended.close));
	if (pairs->kept && pairs->inner && pairs->from && pairs->key && pairs->args &&
	    pairs->ended.kept && pairs->ended.close) {
		keep_columns(pairs);
		if (pq_spans_init(&pairs->spans, how->n_keys, pairs->n_kept, calls) &&
		    create_nested(pairs))
			return pairs;
	}
	pq_pairs_destroy(pairs);
	return NULL;
}

struct pq_pairs *pq_pairs_create(const struct pq_pairing *how, const struct pq_columns *columns,
				 struct pq_calls *calls)
{
	return create_pairs(how, columns, calls, false);
}

static void forget_waiting(struct pq_pairs *pairs, struct waiting *waiting)
{
	pq_span_forget(&pairs->spans, waiting->values, waiting->n * pairs->n_inner);
	free(waiting->values);
	pairs->n_held -= waiting->n;
	*waiting = (struct waiting){ 0 };
}

static void forget_ended(struct pq_pairs *pairs)
{
	struct ended *ended = &pairs->ended;

	if (ended->kept)
		pq_span_forget(&pairs->spans, ended->kept, pairs->n_kept);
	if (ended->close)
		pq_span_forget(&pairs->spans, ended->close, pairs->how->n_values);
	forget_waiting(pairs, &ended->waiting);
	ended->at = 0;
	ended->items = ITEMS_NONE;
}

void pq_pairs_destroy(struct pq_pairs *pairs)
{
	if (!pairs)
		return;
	pq_pairs_destroy(pairs->nested);
	free(pairs->inner_row);
	pairs->spans.calls = NULL; /* objects end with the calls that know them */
	forget_ended(pairs);
	for (size_t i = 0; i < pairs->n_waiting; i++)
		forget_waiting(pairs, &pairs->waiting[i]);
	for (size_t i = 0; i < pairs->n_openings; i++)
		free(pairs->openings[i].bytes);
	pq_spans_deinit(&pairs->spans);
	free(pairs->openings);
	free(pairs->ended.opening.bytes);
	free(pairs->waiting);
	free(pairs->ended.kept);
	free(pairs->ended.close);
	free(pairs->kept);
	free(pairs->inner);
	free(pairs->from);
	free(pairs->key);
	free(pairs->args);
	free(pairs);
}

struct pq_pair_counts pq_pairs_counts(const struct pq_pairs *pairs)
{
	struct pq_pair_counts counts = pairs->counts;

	counts.unclosed = pq_spans_n_open(&pairs->spans);
	return counts;
}

static void read_pair_column(const struct pq_pairs *pairs, uint32_t place, struct pq_value *out)
{
	const struct pq_columns *columns = pairs->columns;

	if (columns->numbers[place] != UINT32_MAX)
		pq_fields_get(columns->fields, columns->numbers[place], out);
	else
		pq_expr_value(columns->exprs[place], columns->fields, out);
}

static bool test_column(const struct pq_pairs *pairs, uint32_t place)
{
	return pq_expr_test(pairs->columns->exprs[place], pairs->columns->fields);
}

/*
 * Makes a value ready to be kept by a span: objects are held, and texts copied. Returns false
 * without memory.
 */
static bool own_value(struct pq_pairs *pairs, struct pq_value *value, struct pq_pair_row *row)
{
	char *copy;

	if (value->type == PQ_OBJECT && pairs->calls)
		pairs->calls->hold(pairs->calls, value);
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

/* Makes a value of a span ready to be put into a row. Returns false without memory. */
static bool lend_value(struct pq_pairs *pairs, struct pq_value *value, struct pq_pair_row *row)
{
	if (value->type == PQ_OBJECT && pairs->calls)
		pairs->calls->lend(pairs->calls, value);
	return value->type != PQ_TEXT || pq_row_texts_add(row->texts, row->known, value);
}

/* Reads a value of the record inside, or of the span inside. */
static void read_inner(const struct pq_pairs *pairs, uint32_t place, struct pq_value *out)
{
	if (pairs->nested)
		*out = pairs->inner_row[place];
	else
		read_pair_column(pairs, place, out);
}

/* Reads the key of the record. Returns false if a part of it is absent. */
static bool read_pair_key(struct pq_pairs *pairs, enum pq_of of, uint32_t *hash)
{
	const struct pq_pairing *how = pairs->how;

	for (size_t i = 0; i < how->n_keys; i++) {
		struct pq_value *value = &pairs->key[i];

		if (of == PQ_OF_INNER)
			read_inner(pairs, how->keys[i].of[of], value);
		else
			read_pair_column(pairs, how->keys[i].of[of], value);
		if (value->type != PQ_INT)
			pq_normalise(value);
		if (value->type == PQ_NIL || (value->type == PQ_BOOL && !value->u))
			return false;
	}
	*hash = pq_spans_hash(&pairs->spans, pairs->key);
	return true;
}

/*
 * Calls how->ended for a span that ends, with the record that was entered (`is_closed`) or
 * without one.
 */
static void tell_ended(struct pq_pairs *pairs, const struct pq_value *kept, bool is_closed)
{
	const struct pq_call *call = pairs->how->ended;
	struct pq_value nothing;

	if (!call)
		return;
	pairs->args[0] = kept[1]; /* the serial number: see keep_columns */
	for (size_t i = 1; i < call->n_args; i++) {
		if (is_closed)
			read_pair_column(pairs, pairs->how->ended_places[i - 1],
					 &pairs->args[i]);
		else
			pairs->args[i].type = PQ_NIL;
	}
	call->run(call, pairs->columns->fields, pairs->args, &nothing);
}

/* Drops a span that has no end, with the records that wait for its end. */
static void drop_span(struct pq_pairs *pairs, uint32_t span)
{
	tell_ended(pairs, pq_spans_at(&pairs->spans, span) + pairs->how->n_keys, false);
	if (span < pairs->n_waiting)
		forget_waiting(pairs, &pairs->waiting[span]);
}

/*
 * Opens a span with the key that was read; the values kept of its record are not set yet.
 * Returns its number; UINT32_MAX without memory.
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

		if (!own_value(pairs, &key, row))
			return UINT32_MAX;
		values[i] = key;
	}
	return span;
}

/* Copies the record that was entered, which opens a span. Returns false without memory. */
static bool keep_opening(struct pq_pairs *pairs, uint32_t span)
{
	const struct pd_record *rec = pairs->columns->fields->rec;
	struct opening *opening;

	if (!pairs->columns->items || pairs->how->items_of != PQ_OF_OPEN)
		return true;
	if (span >= pairs->n_openings &&
	    !pb_extend(pairs->openings, pairs->n_openings, pairs->spans.capacity))
		return false;
	opening = &pairs->openings[span];
	if (opening->room < rec->size) {
		free(opening->bytes);
		opening->bytes = malloc(rec->size);
		opening->room = opening->bytes ? rec->size : 0;
		if (!opening->bytes)
			return false;
	}
	memcpy(opening->bytes, rec->bytes, rec->size);
	opening->rec = *rec;
	opening->rec.bytes = opening->bytes;
	return true;
}

/* Opens a span for the record that was entered. Returns false without memory. */
static INLINE bool meet_open(struct pq_pairs *pairs, const struct pq_value *time,
			     struct pq_pair_row *row)
{
	struct pq_value *values;
	struct pb_slot *slot;
	uint32_t hash, span;

	if (time->type != PQ_INT || !read_pair_key(pairs, PQ_OF_OPEN, &hash)) {
		pairs->counts.unkeyed++;
		return true;
	}
	slot = pq_spans_find(&pairs->spans, pairs->key, hash);
	if (slot->item) {
		span = slot->item - 1;
		pairs->counts.restarted++;
		drop_span(pairs, span);
	} else {
		span = open_span(pairs, hash, row);
		if (span == UINT32_MAX)
			return false;
	}
	values = pq_spans_at(&pairs->spans, span) + pairs->how->n_keys;
	pq_span_forget(&pairs->spans, values, pairs->n_kept);
	values[0] = *time;
	++*pairs->serial;
	for (size_t i = 1; i < pairs->n_kept; i++) {
		struct pq_value value = { .type = PQ_INT, .u = *pairs->serial };

		if (pairs->kept[i] != PQ_SERIAL)
			read_pair_column(pairs, pairs->kept[i], &value);
		if (!own_value(pairs, &value, row))
			return false;
		values[i] = value;
	}
	return keep_opening(pairs, span);
}

/*
 * Makes the row of a span that ends, or of the record inside a span that was entered. `kept`
 * has the values kept of the opening record. Returns false without memory.
 */
static bool make_row(struct pq_pairs *pairs, const struct pq_value *kept,
		     struct pq_pair_row *row)
{
	for (size_t i = 0; i < pairs->how->n_values; i++) {
		const struct pq_pair_value *value = &pairs->how->values[i];

		if (value->of == PQ_OF_OPEN)
			row->values[i] = kept[pairs->from[i]];
		else if (value->of == PQ_OF_INNER)
			read_inner(pairs, value->place, &row->values[i]);
		else
			read_pair_column(pairs, value->place, &row->values[i]);
		if (value->of == PQ_OF_OPEN ?
			    !lend_value(pairs, &row->values[i], row) :
			    row->values[i].type == PQ_TEXT &&
				    !pq_row_texts_add(row->texts, row->known, &row->values[i]))
			return false;
	}
	row->made = true;
	return true;
}

/*
 * Takes the values that rows need from a span, which is then closed by the record that was
 * entered. Returns false without memory.
 */
static bool take_span(struct pq_pairs *pairs, struct pq_value *kept, struct pq_pair_row *row)
{
	struct ended *ended = &pairs->ended;

	for (size_t i = 0; i < pairs->how->n_values; i++) {
		const struct pq_pair_value *value = &pairs->how->values[i];

		if (value->of != PQ_OF_CLOSE)
			continue;
		read_pair_column(pairs, value->place, &ended->close[i]);
		if (!own_value(pairs, &ended->close[i], row)) {
			ended->close[i].type = PQ_NIL;
			return false;
		}
	}
	memcpy(ended->kept, kept, pairs->n_kept * sizeof(*kept));
	for (size_t i = 0; i < pairs->n_kept; i++)
		kept[i].type = PQ_NIL;
	return true;
}

/* Makes the records that wait for the end of a span into rows. Returns false without memory. */
static bool end_waiting(struct pq_pairs *pairs, uint32_t span, struct pq_value *kept,
			struct pq_pair_row *row)
{
	if (span >= pairs->n_waiting || !pairs->waiting[span].n)
		return true;
	if (!take_span(pairs, kept, row))
		return false;
	pairs->ended.waiting = pairs->waiting[span];
	pairs->waiting[span] = (struct waiting){ 0 };
	return true;
}

/* Makes the items of a span that ends into rows. Returns false without memory. */
static bool end_items(struct pq_pairs *pairs, uint32_t span, struct pq_value *kept,
		      struct pq_pair_row *row)
{
	struct ended *ended = &pairs->ended;

	if (!take_span(pairs, kept, row))
		return false;
	if (pairs->how->items_of == PQ_OF_OPEN) {
		struct opening before = ended->opening;

		ended->opening = pairs->openings[span];
		pairs->openings[span] = before;
	}
	ended->items = ITEMS_OF_SPAN;
	return true;
}

bool pq_pairs_has_rows(const struct pq_pairs *pairs)
{
	return pairs->ended.waiting.n != 0 || pairs->ended.items != ITEMS_NONE;
}

/*
 * Makes the row of the next item of the span that ended, if there is one. Returns false without
 * memory.
 */
static bool next_item(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	struct ended *ended = &pairs->ended;
	bool is_item = ended->items == ITEMS_MORE;

	if (is_item && !pq_items_next(pairs->columns->items)) {
		forget_ended(pairs);
		return true;
	}
	for (size_t i = 0; i < pairs->how->n_values; i++) {
		const struct pq_pair_value *value = &pairs->how->values[i];
		struct pq_value *out = &row->values[i];

		if (value->of == PQ_OF_ITEM) {
			out->type = PQ_NIL;
			if (is_item)
				read_pair_column(pairs, value->place, out);
		} else {
			*out = value->of == PQ_OF_OPEN ? ended->kept[pairs->from[i]] :
							 ended->close[i];
		}
		if (!lend_value(pairs, out, row))
			return false;
	}
	row->made = true;
	if (is_item)
		return true;
	/* the record that was entered last is the one that ended the span */
	if (pairs->how->items_of == PQ_OF_OPEN &&
	    !pq_fields_enter(pairs->columns->fields, &ended->opening.rec))
		return false;
	pq_items_begin(pairs->columns->items);
	ended->items = ITEMS_MORE;
	return true;
}

bool pq_pairs_next_row(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	struct ended *ended = &pairs->ended;
	const struct pq_value *inner;

	if (ended->items != ITEMS_NONE)
		return next_item(pairs, row);
	inner = &ended->waiting.values[ended->at * pairs->n_inner];
	for (size_t i = 0; i < pairs->how->n_values; i++) {
		enum pq_of of = pairs->how->values[i].of;

		row->values[i] = of == PQ_OF_OPEN  ? ended->kept[pairs->from[i]] :
				 of == PQ_OF_INNER ? inner[pairs->from[i]] :
						     ended->close[i];
		if (!lend_value(pairs, &row->values[i], row))
			return false;
	}
	row->made = true;
	if (++ended->at == ended->waiting.n)
		forget_ended(pairs);
	return true;
}

bool pq_pairs_has_too_many(const struct pq_pairs *pairs)
{
	return pairs->too_many;
}

/* Closes a span for the record that was entered. Returns false without memory. */
static INLINE bool meet_close(struct pq_pairs *pairs, const struct pq_value *time,
			      struct pq_pair_row *row)
{
	const struct pq_pairing *how = pairs->how;
	struct pq_value *kept;
	struct pb_slot *slot;
	uint32_t hash;

	if (time->type != PQ_INT || !read_pair_key(pairs, PQ_OF_CLOSE, &hash)) {
		pairs->counts.unkeyed++;
		return true;
	}
	slot = pq_spans_find(&pairs->spans, pairs->key, hash);
	kept = slot->item ? pq_spans_at(&pairs->spans, slot->item - 1) + how->n_keys : NULL;
	/* a record that comes too late for its place in time may be earlier than its open */
	if (!kept || (int64_t)(time->u - kept[0].u) < 0) {
		pairs->counts.unopened++;
		return true;
	}
	if (how->inner == PQ_NO_PLACE && !pairs->nested && !pairs->columns->items &&
	    !make_row(pairs, kept, row))
		return false;
	pairs->ended_serial = pairs->has_serials ? kept[1].u : 0; /* see keep_columns */
	tell_ended(pairs, kept, true);
	if (how->waits && !end_waiting(pairs, slot->item - 1, kept, row))
		return false;
	if (pairs->columns->items && !end_items(pairs, slot->item - 1, kept, row))
		return false;
	pq_spans_close(&pairs->spans, slot);
	pairs->counts.pairs++;
	return true;
}

/*
 * Keeps the record that was entered until the end of the span that it is in. Returns false
 * without memory, or if too many records wait.
 */
static bool hold_record(struct pq_pairs *pairs, uint32_t span, struct pq_pair_row *row)
{
	size_t size = pairs->n_inner ? pairs->n_inner * sizeof(struct pq_value) : 1;
	struct waiting *waiting;

	if (span >= pairs->n_waiting &&
	    !pb_extend(pairs->waiting, pairs->n_waiting, pairs->spans.capacity))
		return false;
	pairs->too_many = pairs->n_held >= PQ_MOST_WAITING;
	if (pairs->too_many)
		return false;
	waiting = &pairs->waiting[span];
	if (!pb_reserve_bytes(&waiting->values, waiting->n, 1, &waiting->capacity, size))
		return false;
	for (size_t i = 0; i < pairs->n_inner; i++) {
		struct pq_value value;

		read_inner(pairs, pairs->inner[i], &value);
		/* a function may raise an error: the span does not have this record yet */
		if (!own_value(pairs, &value, row)) {
			pq_span_forget(&pairs->spans,
				       &waiting->values[waiting->n * pairs->n_inner], i);
			return false;
		}
		waiting->values[waiting->n * pairs->n_inner + i] = value;
	}
	waiting->n++;
	pairs->n_held++;
	return true;
}

/*
 * Handles a record, or a nested span that ended, which may be inside a span. Returns false as
 * hold_record() does.
 */
static bool meet_inner(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	const struct pq_value *kept;
	struct pb_slot *slot;
	uint32_t hash;

	if (!read_pair_key(pairs, PQ_OF_INNER, &hash))
		return true;
	slot = pq_spans_find(&pairs->spans, pairs->key, hash);
	if (!slot->item)
		return true;
	kept = pq_spans_at(&pairs->spans, slot->item - 1) + pairs->how->n_keys;
	if (pairs->nested && kept[1].u > pairs->nested->ended_serial) /* it was opened later */
		return true;
	if (pairs->how->waits)
		return hold_record(pairs, slot->item - 1, row);
	return make_row(pairs, kept, row);
}

/*
 * Reads the parts of the key that a record of lost records has. Returns true if it has any:
 * then only the spans with these parts are dropped.
 */
static bool read_lost(struct pq_pairs *pairs)
{
	const struct pq_pairing *how = pairs->how;
	bool says = false;

	for (size_t i = 0; i < how->n_keys; i++) {
		pairs->key[i].type = PQ_NIL;
		if (how->keys[i].loses)
			read_pair_column(pairs, how->keys[i].of[PQ_OF_OPEN], &pairs->key[i]);
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

/* Drops the open spans that may have lost records. */
static void drop_lost_spans(struct pq_pairs *pairs)
{
	struct pq_spans *spans = &pairs->spans;

	if (!read_lost(pairs) || ++pairs->n_lost > MOST_LOST) {
		pairs->counts.lost += pq_spans_n_open(spans);
		for (size_t i = 0; i < spans->map.n_slots; i++)
			if (spans->map.slots[i].item)
				drop_span(pairs, spans->map.slots[i].item - 1);
		pq_spans_clear(spans);
		return;
	}
	/*
	 * freeing a slot moves others up, also from the end of the table to its start, so go
	 * around twice
	 */
	for (size_t at = 0; at < 2 * spans->map.n_slots && pq_spans_n_open(spans);) {
		struct pb_slot *slot = &spans->map.slots[at & (spans->map.n_slots - 1)];

		if (slot->item && is_meant(pairs, slot->item - 1)) {
			drop_span(pairs, slot->item - 1);
			pq_spans_close(spans, slot);
			pairs->counts.lost++;
		} else {
			at++;
		}
	}
}

/*
 * Returns true if the record says that records were lost: spans that are open then are dropped.
 */
static bool is_lost(const struct pq_pairs *pairs)
{
	return pd_record_loss(pairs->columns->fields->rec) != PD_LOSS_NONE;
}

/* Returns the role of the record that was entered. */
static INLINE struct role role_of(struct pq_pairs *pairs)
{
	const struct pq_bound *bound = pairs->columns->fields->bound;
	struct role *role = &pairs->roles[bound->number % ROLES];

	if (pairs->by_event && role->bound == bound)
		return *role;
	*role = (struct role){
		.bound = bound,
		.closes = test_column(pairs, pairs->how->closes),
		.opens = test_column(pairs, pairs->how->opens),
		.inner = pairs->how->inner != PQ_NO_PLACE &&
			 test_column(pairs, pairs->how->inner),
	};
	return *role;
}

/* Closes a nested span for the record that was entered. Returns false as hold_record() does. */
static bool meet_nested_close(struct pq_pairs *pairs, const struct pq_value *time,
			      struct pq_pair_row *row)
{
	struct pq_pair_row inner = { pairs->inner_row, row->texts, row->known, false };

	return meet_close(pairs->nested, time, &inner) &&
	       (!inner.made || meet_inner(pairs, row));
}

/*
 * Does what pq_pairs_meet() does, for spans that have spans inside: these open last, and close
 * first.
 */
static __attribute__((noinline)) bool meet_both(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	struct pq_pairs *nested = pairs->nested;
	struct role role = { .bound = NULL }, inner = { .bound = NULL };
	bool lost = is_lost(pairs);
	struct pq_value time;

	if (!lost || pairs->how->pairs_lost)
		role = role_of(pairs);
	if (!lost || nested->how->pairs_lost)
		inner = role_of(nested);
	lost = lost && !role.closes && !role.opens && !inner.closes && !inner.opens;
	read_pair_column(pairs, pairs->how->time, &time);
	if (inner.closes && !meet_nested_close(pairs, &time, row))
		return false;
	if (role.closes && !meet_close(pairs, &time, row))
		return false;
	if (role.opens && !meet_open(pairs, &time, row))
		return false;
	if (inner.opens && !meet_open(nested, &time, row))
		return false;
	if (lost && time.type == PQ_INT) {
		drop_lost_spans(pairs);
		drop_lost_spans(nested);
	}
	return true;
}

bool pq_pairs_meet(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	const struct pq_pairing *how = pairs->how;
	bool lost = is_lost(pairs), ends;
	struct role role = { .bound = NULL };
	struct pq_value time;

	if (pairs->nested)
		return meet_both(pairs, row);
	if (!lost || how->pairs_lost || how->inner != PQ_NO_PLACE)
		role = role_of(pairs);
	ends = role.closes || role.opens;
	if (!ends && !role.inner && !lost)
		return true;
	read_pair_column(pairs, how->time, &time);
	if (role.closes && !meet_close(pairs, &time, row))
		return false;
	if (role.opens && !meet_open(pairs, &time, row))
		return false;
	if (role.inner)
		return meet_inner(pairs, row);
	/*
	 * records that perf adds at the end have no time: it is not known when others were lost
	 */
	if (!ends && time.type == PQ_INT)
		drop_lost_spans(pairs);
	return true;
}
