#include "rows_pairs_internal.h"

/* Most spans have no spans inside, and shall not pay for calls that two callers need. */
#define INLINE inline __attribute__((always_inline))

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
	pairs->n_sources = columns->fields->session->n_files;
	pairs->last_times = calloc(pairs->n_sources, sizeof(*pairs->last_times));
	if (pairs->kept && pairs->inner && pairs->from && pairs->key && pairs->args &&
	    pairs->ended.kept && pairs->ended.close && pairs->last_times) {
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

void pq_pairs_destroy(struct pq_pairs *pairs)
{
	if (!pairs)
		return;
	pq_pairs_destroy(pairs->nested);
	free(pairs->inner_row);
	pairs->spans.calls = NULL; /* objects end with the calls that know them */
	pq_ended_forget(pairs);
	for (size_t i = 0; i < pairs->n_waiting; i++)
		pq_waiting_forget(pairs, &pairs->waiting[i]);
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
	free(pairs->last_times);
	free(pairs);
}

struct pq_pair_counts pq_pairs_counts(const struct pq_pairs *pairs)
{
	struct pq_pair_counts counts = pairs->counts;

	counts.unclosed = pq_spans_n_open(&pairs->spans);
	return counts;
}

static bool test_column(const struct pq_pairs *pairs, uint32_t place)
{
	return pq_expr_test(pairs->columns->exprs[place], pairs->columns->fields);
}

/* Reads the key of the record. Returns false if a part of it is absent. */
static bool read_pair_key(struct pq_pairs *pairs, enum pq_of of, uint32_t *hash)
{
	const struct pq_pairing *how = pairs->how;

	for (size_t i = 0; i < how->n_keys; i++) {
		struct pq_value *value = &pairs->key[i];

		if (of == PQ_OF_INNER)
			pq_pairs_read_inner(pairs, how->keys[i].of[of], value);
		else
			pq_pairs_read(pairs, how->keys[i].of[of], value);
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
			pq_pairs_read(pairs, pairs->how->ended_places[i - 1], &pairs->args[i]);
		else
			pairs->args[i].type = PQ_NIL;
	}
	call->run(call, pairs->columns->fields, pairs->args, &nothing);
}

void pq_pairs_drop_span(struct pq_pairs *pairs, uint32_t span)
{
	tell_ended(pairs, pq_spans_at(&pairs->spans, span) + pairs->how->n_keys, false);
	if (span < pairs->n_waiting)
		pq_waiting_forget(pairs, &pairs->waiting[span]);
}

/*
 * Opens a span with the key that was read; the values kept of its record are not set yet.
 * Returns its number; PQ_NO_SPAN without memory.
 */
static uint32_t open_span(struct pq_pairs *pairs, uint32_t hash, struct pq_pair_row *row)
{
	struct pq_value *values;
	uint32_t span;

	span = pq_spans_open(&pairs->spans, pairs->key, hash);
	if (span == PQ_NO_SPAN)
		return span;
	values = pq_spans_at(&pairs->spans, span);
	for (size_t i = 0; i < pairs->how->n_keys; i++) {
		struct pq_value key = pairs->key[i];

		if (!pq_pairs_own(pairs, &key, row))
			return PQ_NO_SPAN;
		values[i] = key;
	}
	return span;
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
		pq_pairs_drop_span(pairs, span);
		pq_spans_reopen(&pairs->spans, span);
	} else {
		span = open_span(pairs, hash, row);
		if (span == PQ_NO_SPAN)
			return false;
	}
	pairs->spans.states[span].source = pairs->columns->fields->rec->source;
	values = pq_spans_at(&pairs->spans, span) + pairs->how->n_keys;
	pq_span_forget(&pairs->spans, values, pairs->n_kept);
	values[0] = *time;
	++*pairs->serial;
	for (size_t i = 1; i < pairs->n_kept; i++) {
		struct pq_value value = { .type = PQ_INT, .u = *pairs->serial };

		if (pairs->kept[i] != PQ_SERIAL)
			pq_pairs_read(pairs, pairs->kept[i], &value);
		if (!pq_pairs_own(pairs, &value, row))
			return false;
		values[i] = value;
	}
	return pq_opening_keep(pairs, span);
}

/*
 * Makes the row of a span that ends, or of the record inside a span that was entered. Returns
 * false without memory.
 */
static bool make_row(struct pq_pairs *pairs, uint32_t span, struct pq_pair_row *row)
{
	const struct pq_value *kept = pq_spans_at(&pairs->spans, span) + pairs->how->n_keys;

	for (size_t i = 0; i < pairs->how->n_values; i++) {
		const struct pq_pair_value *value = &pairs->how->values[i];

		if (value->of == PQ_OF_OPEN)
			row->values[i] = kept[pairs->from[i]];
		else if (value->of == PQ_OF_INNER)
			pq_pairs_read_inner(pairs, value->place, &row->values[i]);
		else if (value->of == PQ_OF_SPAN)
			pq_ended_value(pairs, span, value->place, &row->values[i]);
		else
			pq_pairs_read(pairs, value->place, &row->values[i]);
		if (value->of == PQ_OF_OPEN ?
			    !pq_pairs_lend(pairs, &row->values[i], row) :
			    row->values[i].type == PQ_TEXT &&
				    !pq_row_texts_add(row->texts, row->known, &row->values[i]))
			return false;
	}
	row->made = true;
	return true;
}

/* Closes a span for the record that was entered. Returns false without memory. */
static INLINE bool meet_close(struct pq_pairs *pairs, const struct pq_value *time,
			      struct pq_pair_row *row)
{
	const struct pq_pairing *how = pairs->how;
	const struct pq_value *kept;
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
	    !make_row(pairs, slot->item - 1, row))
		return false;
	pairs->ended_serial = pairs->has_serials ? kept[1].u : 0; /* see keep_columns */
	tell_ended(pairs, kept, true);
	if ((how->waits || pairs->columns->items) && !pq_ended_take(pairs, slot->item - 1, row))
		return false;
	pq_spans_close(&pairs->spans, slot);
	pairs->counts.pairs++;
	return true;
}

/*
 * Handles a record, or a nested span that ended, which may be inside a span. Returns false as
 * pq_waiting_hold() does.
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
		return pq_waiting_hold(pairs, slot->item - 1, row);
	return make_row(pairs, slot->item - 1, row);
}

/*
 * Returns true if the record says that records were lost: spans that are open then are dropped.
 */
static bool is_lost(const struct pq_pairs *pairs)
{
	return pd_record_loss(pairs->columns->fields->rec) != PD_LOSS_NONE;
}

/* Reads the time of the record that was entered, and notes it as that of the last one. */
static INLINE struct pq_value read_time(struct pq_pairs *pairs)
{
	uint64_t *last = &pairs->last_times[pairs->columns->fields->rec->source];
	struct pq_value time;

	pq_pairs_read(pairs, pairs->how->time, &time);
	if (time.type == PQ_INT && time.u > *last)
		*last = time.u;
	return time;
}

/* Returns the role of the record that was entered. */
static INLINE struct pq_pair_role role_of(struct pq_pairs *pairs)
{
	const struct pq_bound *bound = pairs->columns->fields->bound;
	struct pq_pair_role *role = &pairs->roles[bound->number % PQ_ROLES];

	if (pairs->by_event && role->bound == bound)
		return *role;
	*role = (struct pq_pair_role){
		.bound = bound,
		.closes = test_column(pairs, pairs->how->closes),
		.opens = test_column(pairs, pairs->how->opens),
		.inner = pairs->how->inner != PQ_NO_PLACE &&
			 test_column(pairs, pairs->how->inner),
	};
	return *role;
}

/*
 * Closes a nested span for the record that was entered. Returns false as pq_waiting_hold()
 * does.
 */
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
	struct pq_pair_role role = { .bound = NULL }, inner = { .bound = NULL };
	struct pq_value time = read_time(pairs);
	bool lost = is_lost(pairs);

	if (!lost || pairs->how->pairs_lost)
		role = role_of(pairs);
	if (!lost || nested->how->pairs_lost)
		inner = role_of(nested);
	lost = lost && !role.closes && !role.opens && !inner.closes && !inner.opens;
	if (inner.closes && !meet_nested_close(pairs, &time, row))
		return false;
	if (role.closes && !meet_close(pairs, &time, row))
		return false;
	if (role.opens && !meet_open(pairs, &time, row))
		return false;
	if (inner.opens && !meet_open(nested, &time, row))
		return false;
	if (lost && time.type == PQ_INT) {
		pq_pairs_drop_lost(pairs);
		pq_pairs_drop_lost(nested);
	}
	return true;
}

bool pq_pairs_meet(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	const struct pq_pairing *how = pairs->how;
	bool lost = is_lost(pairs), ends;
	struct pq_pair_role role = { .bound = NULL };
	struct pq_value time;

	if (pairs->nested)
		return meet_both(pairs, row);
	time = read_time(pairs);
	if (!lost || how->pairs_lost || how->inner != PQ_NO_PLACE)
		role = role_of(pairs);
	ends = role.closes || role.opens;
	if (!ends && !role.inner && !lost)
		return true;
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
		pq_pairs_drop_lost(pairs);
	return true;
}
