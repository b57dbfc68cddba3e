#include "spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

bool pq_spans_init(struct pq_spans *spans, size_t n_keys, size_t n_kept, struct pq_calls *calls)
{
	*spans = (struct pq_spans){
		.calls = calls,
		.n_keys = n_keys,
		.stride = n_keys + n_kept,
		.first = PQ_NO_SPAN,
		.last = PQ_NO_SPAN,
		.closed = PQ_NO_SPAN,
	};
	pb_secret_make(&spans->secret);
	return pb_map_reserve(&spans->map);
}

void pq_spans_deinit(struct pq_spans *spans)
{
	spans->calls = NULL; /* objects end with the calls that know them */
	pq_span_forget(spans, spans->values, spans->n * spans->stride);
	pb_map_deinit(&spans->map);
	free(spans->values);
	free(spans->states);
	*spans = (struct pq_spans){ 0 };
}

void pq_span_release(const struct pq_spans *spans, const struct pq_value *value)
{
	if (value->type == PQ_TEXT && !value->id)
		free((char *)(uintptr_t)value->p);
	else if (value->type == PQ_OBJECT && spans->calls)
		spans->calls->release(spans->calls, value);
}

static uint64_t word_of(const struct pq_spans *spans, const struct pq_value *value)
{
	return value->type == PQ_TEXT ? pb_hash_bytes(&spans->secret, value->p, value->size) :
					value->u;
}

uint32_t pq_spans_hash(const struct pq_spans *spans, const struct pq_value *key)
{
	uint64_t hash = spans->secret.b;

	for (size_t i = 0; i < spans->n_keys; i++)
		hash = pb_mix(word_of(spans, &key[i]) ^ spans->secret.a, hash ^ key[i].type);
	return (uint32_t)hash;
}

struct wanted {
	const struct pq_spans *spans;
	const struct pq_value *key;
};

static bool has_key(const void *arg, uint32_t span)
{
	const struct wanted *wanted = arg;
	const struct pq_value *own = pq_spans_at(wanted->spans, span);

	for (size_t i = 0; i < wanted->spans->n_keys; i++)
		if (own[i].type == PQ_INT && wanted->key[i].type == PQ_INT ?
			    own[i].u != wanted->key[i].u :
			    !pq_same(&own[i], &wanted->key[i]))
			return false;
	return true;
}

struct pb_slot *pq_spans_find(const struct pq_spans *spans, const struct pq_value *key,
			      uint32_t hash)
{
	const struct wanted wanted = { spans, key };

	return pb_map_find(&spans->map, hash, has_key, &wanted);
}

/* Lists a span as the one that was opened last. */
static void append_span(struct pq_spans *spans, uint32_t span)
{
	spans->states[span] = (struct pq_span_state){ .before = spans->last,
						      .after = PQ_NO_SPAN };
	if (spans->last == PQ_NO_SPAN)
		spans->first = span;
	else
		spans->states[spans->last].after = span;
	spans->last = span;
}

static void unlist_span(struct pq_spans *spans, uint32_t span)
{
	struct pq_span_state links = spans->states[span];

	if (links.is_lost) {
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
	spans->states[span].is_lost = true;
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
				pq_spans_at(spans, span)[spans->n_keys + 1].u, span
			};
		}
	qsort(all, n, sizeof(*all), compare_openings);
	spans->first = spans->last = PQ_NO_SPAN;
	spans->n_lost = 0;
	for (size_t i = 0; i < n; i++) {
		struct pq_span_state *state = &spans->states[all[i].span];
		uint16_t source = state->source;

		append_span(spans, all[i].span);
		state->source = source;
	}
	free(all);
	return true;
}

void pq_spans_close(struct pq_spans *spans, struct pb_slot *slot)
{
	uint32_t span = slot->item - 1;

	unlist_span(spans, span);
	pb_map_remove(&spans->map, slot);
	pq_span_forget(spans, pq_spans_at(spans, span), spans->stride);
	spans->states[span].after = spans->closed;
	spans->closed = span;
}

void pq_spans_move(struct pq_spans *spans, uint32_t span, const struct pq_value *key,
		   uint32_t hash)
{
	struct pq_value *own = pq_spans_at(spans, span);

	pb_map_remove(&spans->map, pq_spans_find(spans, own, pq_spans_hash(spans, own)));
	pq_span_forget(spans, own, spans->n_keys);
	memcpy(own, key, spans->n_keys * sizeof(*own));
	/* there is room: one was removed */
	pb_map_fill(&spans->map, pq_spans_find(spans, key, hash), hash, span);
}

uint32_t pq_spans_open(struct pq_spans *spans, const struct pq_value *key, uint32_t hash,
		       struct pb_slot *slot)
{
	const struct pb_slot *slots = spans->map.slots;
	struct pq_value *values;
	uint32_t span;

	if (spans->closed == PQ_NO_SPAN &&
	    (!pb_reserve_bytes(&spans->values, spans->n, 1, &spans->capacity,
			       spans->stride * sizeof(*values)) ||
	     !pb_reserve(spans->states, spans->n, spans->states_room)))
		return PQ_NO_SPAN;
	if (!pb_map_reserve(&spans->map))
		return PQ_NO_SPAN;
	if (spans->map.slots != slots)
		slot = pq_spans_find(spans, key, hash);
	span = spans->closed;
	if (span == PQ_NO_SPAN)
		span = (uint32_t)spans->n++;
	else
		spans->closed = spans->states[span].after;
	values = pq_spans_at(spans, span);
	for (size_t i = 0; i < spans->stride; i++)
		values[i].type = PQ_NIL;
	pb_map_fill(&spans->map, slot, hash, span);
	append_span(spans, span);
	return span;
}
