#define _GNU_SOURCE /* reallocarray */
#include "base/vector.h"
#include "rows_pairs_internal.h"

void pq_waiting_forget(struct pq_pairs *pairs, struct pq_waiting *waiting)
{
	pq_span_forget(&pairs->spans, waiting->values, waiting->n * pairs->n_inner);
	free(waiting->values);
	pairs->n_held -= waiting->n;
	*waiting = (struct pq_waiting){ 0 };
}

void pq_ended_forget(struct pq_pairs *pairs)
{
	struct pq_ended *ended = &pairs->ended;

	if (ended->kept)
		pq_span_forget(&pairs->spans, ended->kept, pairs->n_kept);
	if (ended->close)
		pq_span_forget(&pairs->spans, ended->close, pairs->how->n_values);
	pq_waiting_forget(pairs, &ended->waiting);
	ended->at = 0;
	ended->left = PQ_LEFT_NONE;
}

bool pq_opening_keep(struct pq_pairs *pairs, uint32_t span)
{
	const struct pd_record *rec = pairs->columns->fields->rec;
	struct pq_opening *opening;

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

/* Reads a value of a span that ends: a part of its key, or one of the record that closes it. */
static void read_ended(struct pq_pairs *pairs, uint32_t span, const struct pq_pair_value *value,
		       struct pq_value *out)
{
	if (value->of == PQ_OF_CLOSE && !pairs->is_finished)
		pq_pairs_read(pairs, value->place, out);
	else if (value->of == PQ_OF_SPAN && pq_is_key(pairs->how, value->place))
		pq_span_get(&pairs->spans, span, value->place - PQ_SPAN_KEY, out);
}

/* Takes the values that rows need from a span that ends. Returns false without memory. */
static bool take_span(struct pq_pairs *pairs, uint32_t span, struct pq_pair_row *row)
{
	static const struct pq_value moved = { .type = PQ_NIL };
	struct pq_ended *ended = &pairs->ended;

	for (size_t i = 0; i < pairs->how->n_values; i++) {
		read_ended(pairs, span, &pairs->how->values[i], &ended->close[i]);
		if (!pq_pairs_own(pairs, &ended->close[i], row)) {
			ended->close[i].type = PQ_NIL;
			return false;
		}
	}
	for (size_t i = 0; i < pairs->n_kept; i++) {
		pq_pairs_kept(pairs, span, i, &ended->kept[i]);
		if (pairs->spans.kinds) /* else they are integers, of which nothing is owned */
			pq_span_set(&pairs->spans, span, pairs->how->n_keys + i, &moved);
	}
	return true;
}

static void take_phases(struct pq_pairs *pairs, uint32_t span)
{
	struct pq_phases before = pairs->ended.phases;

	if (!pairs->how->n_states)
		return;
	pairs->ended.phases = pairs->phases[span];
	pairs->n_changes -= before.n;
	before.n = 0;
	pairs->phases[span] = before;
	pairs->ended.phase = 0;
}

static void take_opening(struct pq_pairs *pairs, uint32_t span)
{
	struct pq_opening before = pairs->ended.opening;

	pairs->ended.opening = pairs->openings[span];
	pairs->openings[span] = before;
}

bool pq_ended_take(struct pq_pairs *pairs, uint32_t span, const struct pq_part *whole,
		   const struct pq_part *part, struct pq_pair_row *row)
{
	struct pq_ended *ended = &pairs->ended;

	if (pairs->how->waits && (span >= pairs->n_waiting || !pairs->waiting[span].n))
		return true;
	if (!take_span(pairs, span, row))
		return false;
	take_phases(pairs, span);
	ended->whole = *whole;
	ended->part = *part;
	if (pairs->how->waits) {
		ended->waiting = pairs->waiting[span];
		pairs->waiting[span] = (struct pq_waiting){ 0 };
	} else if (pairs->columns->items && pairs->how->items_of == PQ_OF_OPEN) {
		take_opening(pairs, span);
	}
	ended->left = pairs->how->waits ? PQ_LEFT_WAITING : PQ_LEFT_SPAN;
	return true;
}

/* Returns true if spans that are open at the end make rows that are left. */
static bool has_unfinished(const struct pq_pairs *pairs)
{
	return pairs->is_finished && pairs->how->unfinished &&
	       pq_spans_n_open(&pairs->spans) != 0;
}

bool pq_pairs_has_rows(const struct pq_pairs *pairs)
{
	return pairs->ended.left != PQ_LEFT_NONE || pairs->left.role.bound ||
	       has_unfinished(pairs);
}

bool pq_pairs_finish(struct pq_pairs *pairs)
{
	/* spans that are open last until the latest sample, whatever its event */
	for (size_t i = 0; pairs->left_out && i < pairs->n_sources; i++)
		if (pairs->left_out[i] > pairs->last_times[i].time)
			pairs->last_times[i].time = pairs->left_out[i];
	pairs->is_finished = true;
	return !pairs->how->unfinished || !pairs->how->keeps_lost ||
	       pq_spans_find_lost(&pairs->spans);
}

/* Ends the unfinished span that was opened first. Returns false without memory. */
static bool end_unfinished(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	struct pq_spans *spans = &pairs->spans;
	struct pq_part part, whole = {
		.from = pq_pairs_start(pairs, spans->first),
		.to = pq_pairs_last_time(pairs, spans->first),
		.is_last = true,
	};
	bool has_rows = pq_part_first(pairs, &whole, &part);

	if (pairs->limit != PQ_LIMIT_NONE ||
	    (has_rows && !pq_ended_take(pairs, spans->first, &whole, &part, row)))
		return false;
	pq_spans_close(spans, pq_spans_slot(spans, spans->first));
	pairs->counts.unfinished += has_rows;
	return true;
}

/*
 * Makes a row of the span that ended: of the record that waited whose values are `inner`, or
 * (NULL) of the current item, or its own. Returns false without memory.
 */
static bool make_ended_row(struct pq_pairs *pairs, const struct pq_value *inner,
			   struct pq_pair_row *row)
{
	struct pq_ended *ended = &pairs->ended;
	const struct pq_phases *phases = &ended->phases;

	while (ended->phase + 1 < phases->n &&
	       pq_phases_list(phases)[ended->phase + 1].since <= ended->part.from)
		ended->phase++;
	for (size_t i = 0; i < pairs->how->n_values; i++) {
		const struct pq_pair_value *value = &pairs->how->values[i];
		struct pq_value *out = &row->values[i];

		if (value->of == PQ_OF_OPEN)
			*out = ended->kept[pairs->from[i]];
		else if (value->of == PQ_OF_INNER && inner)
			*out = inner[pairs->from[i]];
		else if (value->of == PQ_OF_ITEM && ended->left == PQ_LEFT_ITEMS)
			pq_pairs_read(pairs, value->place, out);
		else if (value->of == PQ_OF_SPAN && !pq_is_key(pairs->how, value->place))
			pq_part_value(pairs, phases, ended->phase, &ended->part, value->place,
				      out);
		else
			*out = ended->close[i];
		if (!pq_pairs_lend(pairs, out, row))
			return false;
	}
	row->made = true;
	return true;
}

/* Goes on to the next part of the span that ended, if there is one. */
static void go_to_part(struct pq_pairs *pairs)
{
	struct pq_ended *ended = &pairs->ended;

	ended->left = PQ_LEFT_SPAN;
	if (!pq_part_next(pairs->how, &ended->whole, &ended->part))
		pq_ended_forget(pairs);
}

/* Makes the row of the next item, if there is one. Returns false without memory. */
static bool next_item(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	if (pq_items_next(pairs->columns->items))
		return make_ended_row(pairs, NULL, row);
	go_to_part(pairs);
	return true;
}

/* Makes the span's own row, and begins its items, if these are rows, too. */
static bool next_own(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	struct pq_ended *ended = &pairs->ended;

	if (!make_ended_row(pairs, NULL, row))
		return false;
	if (!pairs->columns->items ||
	    (pairs->how->items_of == PQ_OF_CLOSE && pairs->is_finished)) {
		go_to_part(pairs);
		return true;
	}
	/* the last record is the one that closed the span */
	if (pairs->how->items_of == PQ_OF_OPEN &&
	    !pq_fields_enter(pairs->columns->fields, &ended->opening.rec))
		return false;
	pq_items_begin(pairs->columns->items);
	ended->left = PQ_LEFT_ITEMS;
	return true;
}

bool pq_pairs_next_row(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	struct pq_ended *ended = &pairs->ended;

	switch (ended->left) {
	case PQ_LEFT_SPAN:
		return next_own(pairs, row);
	case PQ_LEFT_ITEMS:
		return next_item(pairs, row);
	case PQ_LEFT_WAITING:
		if (!make_ended_row(pairs, &ended->waiting.values[ended->at * pairs->n_inner],
				    row))
			return false;
		if (++ended->at == ended->waiting.n)
			pq_ended_forget(pairs);
		return true;
	default:
		return pairs->left.role.bound ? pq_pairs_go_on(pairs, row) :
						end_unfinished(pairs, row);
	}
}

bool pq_waiting_hold(struct pq_pairs *pairs, uint32_t span, struct pq_pair_row *row)
{
	size_t size = pairs->n_inner ? pairs->n_inner * sizeof(struct pq_value) : 1;
	struct pq_waiting *waiting;

	if (span >= pairs->n_waiting &&
	    !pb_extend(pairs->waiting, pairs->n_waiting, pairs->spans.capacity))
		return false;
	if (pairs->n_held >= PQ_MOST_WAITING) {
		pairs->limit = PQ_LIMIT_WAITING;
		return false;
	}
	waiting = &pairs->waiting[span];
	if (!pb_reserve_bytes(&waiting->values, waiting->n, 1, &waiting->capacity, size))
		return false;
	for (size_t i = 0; i < pairs->n_inner; i++) {
		struct pq_value value;

		pq_pairs_read_inner(pairs, pairs->inner[i], &value);
		/* a function may raise an error: the span does not have this record yet */
		if (!pq_pairs_own(pairs, &value, row)) {
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
