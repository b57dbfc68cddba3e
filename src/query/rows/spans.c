#define _GNU_SOURCE /* reallocarray */
#include "spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

bool pq_spans_init(struct pq_spans *spans, size_t n_keys, size_t n_kept, struct pq_calls *calls)
{
	*spans = (struct pq_spans){
		.calls = calls,
		.n_keys = n_keys,
		.n_values = n_keys + n_kept,
		.stride = (n_keys + n_kept) * sizeof(uint32_t),
		.first = PQ_NO_SPAN,
		.last = PQ_NO_SPAN,
		.closed = PQ_NO_SPAN,
	};
	pb_secret_make(&spans->secret);
	spans->places = calloc(spans->n_values, sizeof(*spans->places));
	for (size_t i = 0; spans->places && i < spans->n_values; i++)
		spans->places[i].at = (uint32_t)(i * sizeof(uint32_t));
	return spans->places && pb_map_reserve(&spans->map);
}

void pq_spans_deinit(struct pq_spans *spans)
{
	spans->calls = NULL; /* objects end with the calls that know them */
	for (size_t span = 0; spans->kinds && span < spans->n; span++)
		pq_span_clear(spans, (uint32_t)span, 0, spans->n_values);
	pb_map_deinit(&spans->map);
	free(spans->words);
	free(spans->places);
	free(spans->kinds);
	free(spans->states);
	free(spans->lost);
	free(spans->sources);
	*spans = (struct pq_spans){ 0 };
}

void pq_span_release(const struct pq_spans *spans, const struct pq_value *value)
{
	if (value->type == PQ_TEXT && !value->id)
		free((char *)(uintptr_t)value->p);
	else if (value->type == PQ_OBJECT && spans->calls)
		spans->calls->release(spans->calls, value);
}

void pq_span_clear(const struct pq_spans *spans, uint32_t span, size_t i, size_t n)
{
	for (size_t end = i + n; spans->kinds && i < end; i++) {
		struct pq_value value;

		pq_span_get(spans, span, i, &value);
		if (value.type >= PQ_TEXT)
			pq_span_release(spans, &value);
		spans->kinds[span * spans->n_values + i].type = PQ_NIL;
	}
}

/* Makes room for the kinds of all values. Returns false without memory. */
static bool reserve_kinds(struct pq_spans *spans)
{
	struct pq_word_kind *kinds;

	if (spans->kinds_room >= spans->capacity)
		return true;
	kinds = reallocarray(spans->kinds, spans->capacity * spans->n_values, sizeof(*kinds));
	if (!kinds)
		return false;
	spans->kinds = kinds;
	spans->kinds_room = spans->capacity;
	return true;
}

bool pq_spans_make_kinds(struct pq_spans *spans)
{
	if (!reserve_kinds(spans))
		return false;
	for (size_t i = 0; i < spans->n * spans->n_values; i++)
		spans->kinds[i] = (struct pq_word_kind){ .type = PQ_INT };
	return true;
}

bool pq_spans_widen(struct pq_spans *spans, size_t i)
{
	size_t stride = spans->stride, more = sizeof(uint64_t) - sizeof(uint32_t);
	size_t end = spans->places[i].at + sizeof(uint32_t);
	char *words = reallocarray(spans->words, spans->capacity, stride + more);

	if (!words)
		return false;
	spans->words = words;
	spans->stride = stride + more;
	spans->places[i].is_wide = true;
	for (size_t later = i + 1; later < spans->n_values; later++)
		spans->places[later].at += (uint32_t)more;
	/* each span moves to a later place, which the spans before it do not reach */
	for (size_t span = spans->n; span-- > 0;) {
		const char *from = words + span * stride;
		char *to = words + span * spans->stride;
		uint64_t wide;
		uint32_t narrow;

		memmove(to + end + more, from + end, stride - end);
		memcpy(&narrow, from + end - sizeof(narrow), sizeof(narrow));
		memmove(to, from, end - sizeof(narrow));
		wide = narrow;
		memcpy(to + end - sizeof(narrow), &wide, sizeof(wide));
	}
	return true;
}

bool pq_span_set_source(struct pq_spans *spans, uint32_t span, uint16_t source)
{
	bool is_first = !spans->sources;

	if (is_first && (source == spans->source || spans->map.n <= 1)) {
		spans->source = source;
		return true;
	}
	if (spans->n_sources < spans->states_room &&
	    !pb_extend(spans->sources, spans->n_sources, spans->states_room))
		return false;
	for (size_t i = 0; is_first && i < spans->n; i++)
		spans->sources[i] = spans->source;
	spans->sources[span] = source;
	return true;
}

static uint64_t word_of(const struct pq_spans *spans, const struct pq_value *value)
{
	return value->type == PQ_TEXT ? pb_hash_bytes(&spans->secret, value->p, value->size) :
					value->u;
}

/* Returns `hash` with a value of a key mixed in. */
static inline uint64_t hash_value(const struct pq_spans *spans, uint64_t hash,
				  const struct pq_value *value)
{
	return pb_mix(word_of(spans, value) ^ spans->secret.a, hash ^ value->type);
}

uint32_t pq_spans_hash_values(const struct pq_spans *spans, const struct pq_value *key)
{
	uint64_t hash = spans->secret.b;

	for (size_t i = 0; i < spans->n_keys; i++)
		hash = hash_value(spans, hash, &key[i]);
	return (uint32_t)hash;
}

struct wanted {
	const struct pq_spans *spans;
	const struct pq_value *key;
};

static bool has_key(const void *arg, uint32_t span)
{
	const struct wanted *wanted = arg;

	for (size_t i = 0; i < wanted->spans->n_keys; i++) {
		struct pq_value own;

		pq_span_get(wanted->spans, span, i, &own);
		if (own.type == PQ_INT && wanted->key[i].type == PQ_INT ?
			    own.u != wanted->key[i].u :
			    !pq_same(&own, &wanted->key[i]))
			return false;
	}
	return true;
}

struct pb_slot *pq_spans_find(const struct pq_spans *spans, const struct pq_value *key,
			      uint32_t hash)
{
	const struct wanted wanted = { spans, key };

	return pb_map_find(&spans->map, hash, has_key, &wanted);
}

static bool is_span(const void *arg, uint32_t span)
{
	return *(const uint32_t *)arg == span;
}

struct pb_slot *pq_spans_slot(const struct pq_spans *spans, uint32_t span)
{
	uint64_t hash = spans->secret.b;

	for (size_t i = 0; i < spans->n_keys; i++) {
		struct pq_value value;

		pq_span_get(spans, span, i, &value);
		hash = hash_value(spans, hash, &value);
	}
	return pb_map_find(&spans->map, (uint32_t)hash, is_span, &span);
}

/* Lists a span as the one that was opened last. */
static void append_span(struct pq_spans *spans, uint32_t span)
{
	spans->states[span] = (union pq_span_state){ .before = spans->last,
						     .after = PQ_NO_SPAN };
	if (spans->last == PQ_NO_SPAN)
		spans->first = span;
	else
		spans->states[spans->last].after = span;
	spans->last = span;
}

static void unlist_span(struct pq_spans *spans, uint32_t span)
{
	union pq_span_state links = spans->states[span];

	if (pq_span_is_lost(spans, span)) {
		spans->lost[span / 8] &= (uint8_t) ~(1 << span % 8);
		spans->n_lost--;
		return;
	}
	if (links.before == PQ_NO_SPAN)
		spans->first = links.after;
	else
		spans->states[links.before].after = links.after;
	if (links.after == PQ_NO_SPAN)
		spans->last = links.before;
	else
		spans->states[links.after].before = links.before;
}

void pq_spans_reopen(struct pq_spans *spans, uint32_t span)
{
	unlist_span(spans, span);
	append_span(spans, span);
}

void pq_spans_lose(struct pq_spans *spans, uint32_t span)
{
	unlist_span(spans, span);
	spans->lost[span / 8] |= (uint8_t)(1 << span % 8);
	spans->n_lost++;
}

/* An open span. */
struct opened {
	uint64_t serial; /* of its opening */
	uint32_t span;
};

static int compare_openings(const void *a, const void *b)
{
	const struct opened *x = a, *y = b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

bool pq_spans_find_lost(struct pq_spans *spans)
{
	struct opened *all;
	size_t n = 0;

	if (!spans->n_lost)
		return true;
	all = calloc(spans->map.n, sizeof(*all));
	if (!all)
		return false;
	for (size_t i = 0; i < spans->map.n_slots; i++)
		if (spans->map.slots[i].item) {
			uint32_t span = spans->map.slots[i].item - 1;

			all[n++] = (struct opened){
				pq_span_word(spans, span, spans->n_keys + 1), span
			};
		}
	qsort(all, n, sizeof(*all), compare_openings);
	spans->first = spans->last = PQ_NO_SPAN;
	spans->n_lost = 0;
	memset(spans->lost, 0, spans->n_lost_bytes);
	for (size_t i = 0; i < n; i++)
		append_span(spans, all[i].span);
	free(all);
	return true;
}

void pq_spans_close(struct pq_spans *spans, struct pb_slot *slot)
{
	uint32_t span = slot->item - 1;

	unlist_span(spans, span);
	pb_map_remove(&spans->map, slot);
	pq_span_clear(spans, span, 0, spans->n_values);
	spans->states[span].after = spans->closed;
	spans->closed = span;
}

bool pq_spans_move(struct pq_spans *spans, uint32_t span, const struct pq_value *key,
		   uint32_t hash)
{
	bool ok = true;

	pb_map_remove(&spans->map, pq_spans_slot(spans, span));
	pq_span_clear(spans, span, 0, spans->n_keys);
	for (size_t i = 0; i < spans->n_keys; i++)
		ok = pq_span_set(spans, span, i, &key[i]) && ok;
	/* there is room: one was removed */
	pb_map_fill(&spans->map, pq_spans_find(spans, key, hash), hash, span);
	return ok;
}

/*
 * Makes room for one more span, unless a closed one leaves its place. Returns false without
 * memory.
 */
static bool reserve_span(struct pq_spans *spans)
{
	if (spans->closed != PQ_NO_SPAN)
		return true;
	if (!pb_reserve_bytes(&spans->words, spans->n, 1, &spans->capacity, spans->stride) ||
	    !pb_reserve(spans->states, spans->n, spans->states_room))
		return false;
	if (spans->n_lost_bytes * 8 < spans->states_room &&
	    !pb_extend(spans->lost, spans->n_lost_bytes, spans->states_room / 8 + 1))
		return false;
	return !spans->kinds || reserve_kinds(spans);
}

uint32_t pq_spans_open(struct pq_spans *spans, const struct pq_value *key, uint32_t hash,
		       struct pb_slot *slot)
{
	const struct pb_slot *slots = spans->map.slots;
	uint32_t span;

	if (!reserve_span(spans) || !pb_map_reserve(&spans->map))
		return PQ_NO_SPAN;
	if (spans->map.slots != slots)
		slot = pq_spans_find(spans, key, hash);
	span = spans->closed;
	if (span == PQ_NO_SPAN)
		span = (uint32_t)spans->n++;
	else
		spans->closed = spans->states[span].after;
	for (size_t i = 0; spans->kinds && i < spans->n_values; i++)
		spans->kinds[span * spans->n_values + i].type = PQ_NIL;
	pb_map_fill(&spans->map, slot, hash, span);
	append_span(spans, span);
	return span;
}
