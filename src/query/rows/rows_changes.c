#include "rows_pairs_sides.h"

/* Returns true if a span has the key that was read last. */
static bool has_read_key(const struct pq_pairs *pairs, uint32_t span)
{
	for (size_t i = 0; i < pairs->how->n_keys; i++) {
		struct pq_value own;

		pq_span_get(&pairs->spans, span, i, &own);
		if (!pq_same(&own, &pairs->key[i]))
			return false;
	}
	return true;
}

/* Drops the span that has the key that was read last, if there is one. */
static void drop_there(struct pq_pairs *pairs, uint32_t hash, uint64_t time)
{
	struct pb_slot *slot = pq_spans_find(&pairs->spans, pairs->key, hash);

	if (!slot->item)
		return;
	pq_pairs_drop_open(pairs, slot->item - 1, time, &pairs->counts.restarted);
	pq_spans_close(&pairs->spans, slot);
}

/*
 * Gives a span the key that the current record has for `side`, if it is not absent. Returns
 * false without memory.
 */
static bool move_span(struct pq_pairs *pairs, uint32_t span, const struct pq_pair_side *side,
		      uint64_t time, struct pq_pair_row *row)
{
	uint32_t hash;

	pairs->moved.met = pairs->n_met;
	pairs->moved.side = pairs->known[side - pairs->how->sides].key;
	pairs->read_key.met = 0;
	if (!pq_pairs_read_key(pairs, side->to, &hash)) {
		pq_pairs_count_unkeyed(pairs, &(struct pq_value){ .type = PQ_NIL });
		return true;
	}
	if (has_read_key(pairs, span))
		return true;
	drop_there(pairs, hash, time);
	for (size_t i = 0; i < pairs->how->n_keys; i++)
		if (!pq_pairs_own(pairs, &pairs->key[i], row))
			return false;
	return pq_spans_move(&pairs->spans, span, pairs->key, hash);
}

/* Changes an open span. Returns false as pq_pairs_meet_change() does. */
static bool change_span(struct pq_pairs *pairs, uint32_t span, const struct pq_pair_side *side,
			uint64_t time, struct pq_pair_row *row)
{
	uint64_t stray = pairs->counts.stray;

	if (!pq_phases_change(pairs, span, side->state, time))
		return false;
	if (pairs->counts.stray != stray)
		return true;
	if (pairs->next_sides)
		pq_pairs_note_begin(pairs, span);
	return pq_pairs_enter_state(pairs, span, side->state, row) &&
	       (!side->to || move_span(pairs, span, side, time, row));
}

/*
 * Changes the span with the key of the current record, which belongs to `side`. `closes` are
 * the sides as which the record may close it instead. Returns false as pq_pairs_meet_change()
 * does.
 */
static bool meet_side(struct pq_pairs *pairs, const struct pq_pair_side *side, uint32_t closes,
		      const struct pq_value *time, struct pq_pair_row *row)
{
	struct pb_slot *slot;
	uint32_t hash, span;

	if (time->type != PQ_INT || !pq_side_key(pairs, side, &hash)) {
		pq_pairs_count_unkeyed(pairs, time);
		return true;
	}
	slot = pq_spans_find(&pairs->spans, pairs->key, hash);
	span = slot->item - 1;
	if (pq_pairs_changed(pairs, side, span))
		return true;
	if (span != PQ_NO_SPAN && !pq_may_close(pairs, span)) {
		pq_pairs_drop_lost(pairs, span, time->u);
		pq_spans_close(&pairs->spans, slot);
		return true;
	}
	if (span != PQ_NO_SPAN && pq_phases_in(pairs, span, side->from) &&
	    pq_side_answers(pairs, side, span))
		return change_span(pairs, span, side, time->u, row);
	if (!pq_first_side(pairs, closes))
		pq_pairs_count(pairs, time, &pairs->counts.stray);
	return true;
}

bool pq_pairs_meet_change(struct pq_pairs *pairs, uint32_t sides, uint32_t closes,
			  const struct pq_value *time, struct pq_pair_row *row)
{
	for (; sides; sides &= sides - 1) {
		const struct pq_pair_side *side = &pairs->how->sides[__builtin_ctz(sides)];

		if (pq_side_has(pairs, side) && !meet_side(pairs, side, closes, time, row))
			return false;
	}
	return true;
}
