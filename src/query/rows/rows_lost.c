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

	pairs->read_key.met = 0;
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
	for (size_t i = 0; i < pairs->how->n_keys; i++) {
		struct pq_value own;

		pq_span_get(&pairs->spans, span, i, &own);
		if (pairs->key[i].type != PQ_NIL && !pq_same(&pairs->key[i], &own))
			return false;
	}
	return true;
}

static void lose_span(struct pq_pairs *pairs, uint32_t span)
{
	uint64_t start = pq_in_window(pairs->how, pq_pairs_start(pairs, span));
	uint64_t previous = pq_in_window(pairs->how, pairs->previous);

	pq_spans_lose(&pairs->spans, span);
	pairs->spans.states[span].at_least = previous > start ? previous - start : 0;
	if (!pairs->how->keeps_lost)
		pq_pairs_drop_span(pairs, span);
}

void pq_pairs_lose(struct pq_pairs *pairs)
{
	const struct pq_spans *spans = &pairs->spans;
	bool all = !read_lost(pairs) || ++pairs->n_lost > MOST_LOST;

	for (uint32_t span = spans->first, after; span != PQ_NO_SPAN; span = after) {
		after = spans->states[span].after;
		if (all || is_meant(pairs, span))
			lose_span(pairs, span);
	}
}

static void count_lost(const struct pq_pairs *pairs, uint32_t span, uint64_t time,
		       struct pq_pair_counts *counts)
{
	uint64_t at_least = pairs->spans.states[span].at_least;
	uint64_t at_most = pq_in_window(pairs->how, time) -
			   pq_in_window(pairs->how, pq_pairs_start(pairs, span));

	if (time < pairs->how->from)
		return;
	/* a record that comes too late for its place may be earlier than others */
	if ((int64_t)at_most < 0 || at_most < at_least)
		at_most = at_least;
	counts->lost++;
	counts->lost_at_least += at_least;
	counts->lost_at_most += at_most;
}

void pq_pairs_drop_lost(struct pq_pairs *pairs, uint32_t span, uint64_t time)
{
	count_lost(pairs, span, time, &pairs->counts);
	if (pairs->how->keeps_lost)
		pq_pairs_drop_span(pairs, span);
}

void pq_pairs_count_lost(const struct pq_pairs *pairs, struct pq_pair_counts *counts)
{
	const struct pb_map *map = &pairs->spans.map;

	for (size_t i = 0; pairs->spans.n_lost && i < map->n_slots; i++) {
		uint32_t span = map->slots[i].item - 1;

		if (map->slots[i].item && pq_span_is_lost(&pairs->spans, span))
			count_lost(pairs, span, pq_pairs_last_time(pairs, span), counts);
	}
}
