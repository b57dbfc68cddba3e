#include "rows_pairs_internal.h"

bool pq_pairs_read_key(struct pq_pairs *pairs, const uint32_t *places, uint32_t *hash)
{
	const struct pq_pairing *how = pairs->how;

	for (size_t i = 0; i < how->n_keys; i++) {
		struct pq_value *value = &pairs->key[i];

		if (places)
			pq_pairs_load(pairs, places[i], value);
		else
			pq_pairs_read_inner(pairs, how->keys[i].inner, value);
		if (value->type == PQ_INT)
			continue;
		pq_normalise(value);
		if (value->type == PQ_NIL || (value->type == PQ_BOOL && !value->u))
			return false;
	}
	*hash = pq_spans_hash(&pairs->spans, pairs->key);
	return true;
}

void pq_pairs_tell_ended(struct pq_pairs *pairs, uint32_t span, bool is_closed)
{
	const struct pq_call *call = pairs->how->ended;
	struct pq_value nothing;

	if (!call)
		return;
	/* its serial number: see keep_columns */
	pq_pairs_kept(pairs, span, 1, &pairs->args[0]);
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
	pq_pairs_tell_ended(pairs, span, false);
	if (span < pairs->n_waiting)
		pq_waiting_forget(pairs, &pairs->waiting[span]);
}

/* Makes a span the owner of its value at `i`. Returns false without memory. */
static inline bool own_value(struct pq_pairs *pairs, uint32_t span, size_t i,
			     struct pq_value *value, struct pq_pair_row *row)
{
	if (value->type != PQ_INT && !pq_pairs_own(pairs, value, row))
		return false;
	if (pq_span_set(&pairs->spans, span, i, value))
		return true;
	pq_span_forget(&pairs->spans, value, 1);
	return false;
}

/* Numbers the names of states. Returns false without memory. */
static bool number_states(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	pairs->has_names = true;
	for (size_t i = 0; i < pairs->how->n_states; i++) {
		struct pq_value name = pairs->how->states[i];

		if (!pq_row_texts_add(row->texts, row->known, &name))
			return false;
		if (name.id)
			pairs->states[i] = name;
	}
	return true;
}

uint32_t pq_pairs_open_span(struct pq_pairs *pairs, uint32_t hash, struct pb_slot *slot,
			    struct pq_pair_row *row)
{
	uint32_t span;

	if (!pairs->has_names && !number_states(pairs, row))
		return PQ_NO_SPAN;
	span = pq_spans_open(&pairs->spans, pairs->key, hash, slot);
	if (span == PQ_NO_SPAN)
		return span;
	for (size_t i = 0; i < pairs->how->n_keys; i++) {
		struct pq_value key = pairs->key[i];

		if (!own_value(pairs, span, i, &key, row))
			return PQ_NO_SPAN;
	}
	return span;
}

bool pq_pairs_begin_span(struct pq_pairs *pairs, uint32_t span, const struct pq_pair_side *side,
			 const struct pq_value *time, struct pq_pair_row *row)
{
	static const struct pq_value absent = { .type = PQ_NIL };
	size_t n_keys = pairs->how->n_keys;

	if (!pq_span_set_source(&pairs->spans, span, pairs->columns->fields->rec->source) ||
	    !pq_span_set(&pairs->spans, span, n_keys, time))
		return false;
	++*pairs->serial;
	for (size_t i = 1; i < pairs->n_opening; i++) {
		struct pq_value value = { .type = PQ_INT, .u = *pairs->serial };

		if (pairs->kept[i].place != PQ_SERIAL)
			pq_pairs_read(pairs, pairs->kept[i].place, &value);
		if (!own_value(pairs, span, n_keys + i, &value, row))
			return false;
	}
	for (size_t i = pairs->n_opening; i < pairs->n_kept; i++)
		if (!pq_span_set(&pairs->spans, span, n_keys + i, &absent))
			return false;
	if (pairs->how->n_states && (!pq_phases_begin(pairs, span, side->state, time->u) ||
				     (pairs->n_opening != pairs->n_kept &&
				      !pq_pairs_enter_state(pairs, span, side->state, row))))
		return false;
	if (pairs->next_sides)
		pq_pairs_note_begin(pairs, span);
	return !pairs->columns->items || pq_opening_keep(pairs, span);
}

bool pq_pairs_enter_state(struct pq_pairs *pairs, uint32_t span, uint32_t state,
			  struct pq_pair_row *row)
{
	for (size_t i = pairs->n_opening; i < pairs->n_kept; i++) {
		size_t at = pairs->how->n_keys + i;
		struct pq_value value;

		if (pairs->kept[i].state != state)
			continue;
		pq_pairs_read(pairs, pairs->kept[i].place, &value);
		pq_span_clear(&pairs->spans, span, at, 1);
		if (!own_value(pairs, span, at, &value, row))
			return false;
	}
	return true;
}

/* Sets *out to a value of a span itself, which ends as `part`. */
static void read_own(const struct pq_pairs *pairs, uint32_t span, const struct pq_part *part,
		     uint32_t place, struct pq_value *out)
{
	if (pq_is_key(pairs->how, place))
		pq_span_get(&pairs->spans, span, place - PQ_SPAN_KEY, out);
	else if (place == PQ_SPAN_DURATION && part->has_stop)
		*out = (struct pq_value){ .type = PQ_INT, .u = part->to - part->from };
	else if (place == PQ_SPAN_SO_FAR && part->has_stop)
		*out = (struct pq_value){ .type = PQ_NIL };
	else
		pq_part_value(pairs, span < pairs->n_phases ? &pairs->phases[span] : NULL, 0,
			      part, place, out);
}

bool pq_pairs_make_row(struct pq_pairs *pairs, uint32_t span, const struct pq_part *part,
		       struct pq_pair_row *row)
{
	const struct pq_pair_value *value = pairs->how->values;
	struct pq_value *out = row->values;
	bool beside = pairs->how->beside;

	for (size_t i = 0; i < pairs->how->n_values; i++, value++, out++) {
		if (beside && (value->of == PQ_OF_INNER) != (span == PQ_NO_SPAN))
			*out = (struct pq_value){ .type = PQ_NIL };
		else if (value->of == PQ_OF_SPAN)
			read_own(pairs, span, part, value->place, out);
		else if (value->of == PQ_OF_OPEN)
			pq_pairs_kept(pairs, span, pairs->from[i], out);
		else if (value->of == PQ_OF_INNER)
			pq_pairs_read_inner(pairs, value->place, out);
		else
			pq_pairs_read(pairs, value->place, out);
		if (out->type == PQ_INT || out->type == PQ_NIL)
			continue;
		if (value->of == PQ_OF_OPEN || value->of == PQ_OF_SPAN ?
			    !pq_pairs_lend(pairs, out, row) :
			    out->type == PQ_TEXT &&
				    !pq_row_texts_add(row->texts, row->known, out))
			return false;
	}
	row->made = true;
	return true;
}
