/*
 * The current record and the sides of a pairing: whether it belongs to one, its key, and
 * whether it answers to the span with that key.
 */
#ifndef PERFLUA_QUERY_ROWS_PAIRS_SIDES_H
#define PERFLUA_QUERY_ROWS_PAIRS_SIDES_H

#include "rows_pairs_internal.h"

/* Most spans have no spans inside, and shall not pay for calls that two callers need. */
#define INLINE inline __attribute__((always_inline))

static inline bool pq_pairs_test(const struct pq_pairs *pairs, uint32_t place)
{
	return pq_expr_test(pairs->columns->exprs[place], pairs->columns->fields);
}

/*
 * Returns true if the current record, for which the condition of a side holds, belongs
 * to it.
 */
static INLINE bool pq_side_has(struct pq_pairs *pairs, const struct pq_pair_side *side)
{
	struct pq_pair_known *known = pairs->known;

	if (side->test == PQ_NO_PLACE)
		return true;
	known = &pairs->known[known[side - pairs->how->sides].test];
	if (known->tested != pairs->n_met) {
		known->holds = pq_pairs_test(pairs, side->test);
		known->tested = pairs->n_met;
	}
	return known->holds;
}

/* Reads the key of the current record, as pq_pairs_read_key() does. */
static INLINE bool pq_side_key(struct pq_pairs *pairs, const struct pq_pair_side *side,
			       uint32_t *hash)
{
	uint8_t first = pairs->known[side - pairs->how->sides].key;

	if (pairs->read_key.met != pairs->n_met || pairs->read_key.side != first) {
		pairs->read_key.is_whole = pq_pairs_read_key(pairs, side->keys,
							     &pairs->read_key.hash);
		pairs->read_key.met = pairs->n_met;
		pairs->read_key.side = first;
	}
	*hash = pairs->read_key.hash;
	return pairs->read_key.is_whole;
}

/* Returns true if the key that was read last is that of a side. */
static INLINE bool pq_is_key_read(const struct pq_pairs *pairs, const struct pq_pair_side *side)
{
	return pairs->read_key.met == pairs->n_met && pairs->read_key.is_whole &&
	       pairs->read_key.side == pairs->known[side - pairs->how->sides].key;
}

/*
 * Drops a span because of a record of its key at `time`, and counts it in *count unless it is
 * lost. The caller closes it or opens it again.
 */
static inline void pq_pairs_drop_open(struct pq_pairs *pairs, uint32_t span, uint64_t time,
				      uint64_t *count)
{
	if (pq_span_is_lost(&pairs->spans, span)) {
		pq_pairs_drop_lost(pairs, span, time);
		return;
	}
	*count += time >= pairs->how->from;
	pq_pairs_drop_span(pairs, span);
}

/* Counts a record in *count if it is in the window, or has no time. */
static inline void pq_pairs_count(const struct pq_pairs *pairs, const struct pq_value *time,
				  uint64_t *count)
{
	*count += time->type != PQ_INT ||
		  (time->u >= pairs->how->from && time->u < pairs->how->to);
}

/* Counts the current record, which lacks a key or a time, once. */
static inline void pq_pairs_count_unkeyed(struct pq_pairs *pairs, const struct pq_value *time)
{
	if (pairs->unkeyed != pairs->n_met)
		pq_pairs_count(pairs, time, &pairs->counts.unkeyed);
	pairs->unkeyed = pairs->n_met;
}

/* Returns false if a span may have ended before, among records that were lost. */
static inline bool pq_may_close(const struct pq_pairs *pairs, uint32_t span)
{
	return !pq_span_is_lost(&pairs->spans, span) || pairs->how->keeps_lost;
}

/* Returns the first of the sides that the record belongs to; NULL: none. */
static INLINE const struct pq_pair_side *pq_first_side(struct pq_pairs *pairs, uint32_t sides)
{
	for (; sides; sides &= sides - 1) {
		const struct pq_pair_side *side = &pairs->how->sides[__builtin_ctz(sides)];

		if (pq_side_has(pairs, side))
			return side;
	}
	return NULL;
}

/* Returns true if the current record answers to a span. */
static INLINE bool pq_side_answers(struct pq_pairs *pairs, const struct pq_pair_side *side,
				   uint32_t span)
{
	struct pq_fields *fields = pairs->columns->fields;

	if (side->answers == PQ_NO_PLACE)
		return true;
	for (size_t i = 0; i < pairs->how->n_opened; i++)
		pq_pairs_kept(pairs, span, pairs->opened_from[i], &pairs->opened[i]);
	fields->row = pairs->opened;
	fields->n_row = pairs->how->n_opened;
	return pq_pairs_test(pairs, side->answers);
}

/*
 * Changes the states, or keys, of spans for the current record, for which the conditions of
 * `sides` hold; of those with the same key as the first that applies. `closes` are the sides as
 * which it may close spans instead. Returns false without memory, or if there are too many
 * changes.
 */
bool pq_pairs_meet_change(struct pq_pairs *pairs, uint32_t sides, uint32_t closes,
			  const struct pq_value *time, struct pq_pair_row *row);

/*
 * Returns true if the current record changed the span with the key that was read for a side,
 * which has left that key, or is `span` (PQ_NO_SPAN: there is none).
 */
static INLINE bool pq_pairs_changed(const struct pq_pairs *pairs,
				    const struct pq_pair_side *side, uint32_t span)
{
	if (!pairs->how->n_states)
		return false;
	if (span != PQ_NO_SPAN && pairs->phases[span].changed == pairs->n_met)
		return true;
	return pairs->moved.met == pairs->n_met &&
	       pairs->moved.side == pairs->known[side - pairs->how->sides].key;
}

#endif
