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
	ended->items = PQ_ITEMS_NONE;
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

/*
 * Takes the values that rows need from a span, which is then closed by the record that was
 * entered. Returns false without memory.
 */
static bool take_span(struct pq_pairs *pairs, struct pq_value *kept, struct pq_pair_row *row)
{
	struct pq_ended *ended = &pairs->ended;

	for (size_t i = 0; i < pairs->how->n_values; i++) {
		const struct pq_pair_value *value = &pairs->how->values[i];

		if (value->of != PQ_OF_CLOSE)
			continue;
		pq_pairs_read(pairs, value->place, &ended->close[i]);
		if (!pq_pairs_own(pairs, &ended->close[i], row)) {
			ended->close[i].type = PQ_NIL;
			return false;
		}
	}
	memcpy(ended->kept, kept, pairs->n_kept * sizeof(*kept));
	for (size_t i = 0; i < pairs->n_kept; i++)
		kept[i].type = PQ_NIL;
	return true;
}

bool pq_ended_take_waiting(struct pq_pairs *pairs, uint32_t span, struct pq_value *kept,
			   struct pq_pair_row *row)
{
	if (span >= pairs->n_waiting || !pairs->waiting[span].n)
		return true;
	if (!take_span(pairs, kept, row))
		return false;
	pairs->ended.waiting = pairs->waiting[span];
	pairs->waiting[span] = (struct pq_waiting){ 0 };
	return true;
}

bool pq_ended_take_items(struct pq_pairs *pairs, uint32_t span, struct pq_value *kept,
			 struct pq_pair_row *row)
{
	struct pq_ended *ended = &pairs->ended;

	if (!take_span(pairs, kept, row))
		return false;
	if (pairs->how->items_of == PQ_OF_OPEN) {
		struct pq_opening before = ended->opening;

		ended->opening = pairs->openings[span];
		pairs->openings[span] = before;
	}
	ended->items = PQ_ITEMS_OF_SPAN;
	return true;
}

bool pq_pairs_has_rows(const struct pq_pairs *pairs)
{
	return pairs->ended.waiting.n != 0 || pairs->ended.items != PQ_ITEMS_NONE;
}

/*
 * Makes the row of the next item of the span that ended, if there is one. Returns false without
 * memory.
 */
static bool next_item(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	struct pq_ended *ended = &pairs->ended;
	bool is_item = ended->items == PQ_ITEMS_MORE;

	if (is_item && !pq_items_next(pairs->columns->items)) {
		pq_ended_forget(pairs);
		return true;
	}
	for (size_t i = 0; i < pairs->how->n_values; i++) {
		const struct pq_pair_value *value = &pairs->how->values[i];
		struct pq_value *out = &row->values[i];

		if (value->of == PQ_OF_ITEM) {
			out->type = PQ_NIL;
			if (is_item)
				pq_pairs_read(pairs, value->place, out);
		} else {
			*out = value->of == PQ_OF_OPEN ? ended->kept[pairs->from[i]] :
							 ended->close[i];
		}
		if (!pq_pairs_lend(pairs, out, row))
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
	ended->items = PQ_ITEMS_MORE;
	return true;
}

bool pq_pairs_next_row(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	struct pq_ended *ended = &pairs->ended;
	const struct pq_value *inner;

	if (ended->items != PQ_ITEMS_NONE)
		return next_item(pairs, row);
	inner = &ended->waiting.values[ended->at * pairs->n_inner];
	for (size_t i = 0; i < pairs->how->n_values; i++) {
		enum pq_of of = pairs->how->values[i].of;

		row->values[i] = of == PQ_OF_OPEN  ? ended->kept[pairs->from[i]] :
				 of == PQ_OF_INNER ? inner[pairs->from[i]] :
						     ended->close[i];
		if (!pq_pairs_lend(pairs, &row->values[i], row))
			return false;
	}
	row->made = true;
	if (++ended->at == ended->waiting.n)
		pq_ended_forget(pairs);
	return true;
}

bool pq_waiting_hold(struct pq_pairs *pairs, uint32_t span, struct pq_pair_row *row)
{
	size_t size = pairs->n_inner ? pairs->n_inner * sizeof(struct pq_value) : 1;
	struct pq_waiting *waiting;

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

bool pq_pairs_has_too_many(const struct pq_pairs *pairs)
{
	return pairs->too_many;
}
