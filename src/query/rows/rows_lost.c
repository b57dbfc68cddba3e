#include "rows_pairs_internal.h"

/* Records of losses; those that follow drop all spans, which takes less time. */
#define MOST_LOST 1024

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
		if (how->keys[i].lost != PQ_NO_PLACE)
			pq_pairs_read(pairs, how->keys[i].lost, &pairs->key[i]);
		says = says || pairs->key[i].type != PQ_NIL;
	}
	return says;
}

/* Returns true if a span has the parts of the key that were read. */
static bool is_meant(const struct pq_pairs *pairs, uint32_t span)
{
	const struct pq_value *key = pq_spans_at(&pairs->spans, span);

	for (size_t i = 0; i < pairs->how->n_keys; i++)
		if (pairs->key[i].type != PQ_NIL && !pq_same(&pairs->key[i], &key[i]))
			return false;
	return true;
}

void pq_pairs_drop_lost(struct pq_pairs *pairs)
{
	struct pq_spans *spans = &pairs->spans;

	if (!read_lost(pairs) || ++pairs->n_lost > MOST_LOST) {
		pairs->counts.lost += pq_spans_n_open(spans);
		for (size_t i = 0; i < spans->map.n_slots; i++)
			if (spans->map.slots[i].item)
				pq_pairs_drop_span(pairs, spans->map.slots[i].item - 1);
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
			pq_pairs_drop_span(pairs, slot->item - 1);
			pq_spans_close(spans, slot);
			pairs->counts.lost++;
		} else {
			at++;
		}
	}
}
