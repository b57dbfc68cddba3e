#include "spans.h"

#include <stdlib.h>

#define FIRST_SLOTS 64

bool pq_spans_init(struct pq_spans *spans, size_t n_keys, size_t n_kept)
{
	*spans = (struct pq_spans){
		.slots = calloc(FIRST_SLOTS, sizeof(*spans->slots)),
		.n_slots = FIRST_SLOTS,
		.n_keys = n_keys,
		.stride = n_keys + n_kept,
	};
	pq_secret_make(&spans->secret);
	return spans->slots != NULL;
}

void pq_spans_deinit(struct pq_spans *spans)
{
	pq_span_forget(spans->values, spans->n * spans->stride);
	free(spans->slots);
	free(spans->values);
	free(spans->free);
	*spans = (struct pq_spans){ 0 };
}

void pq_span_forget(struct pq_value *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (values[i].type == PQ_TEXT && !values[i].id)
			free((char *)(uintptr_t)values[i].p);
		values[i].type = PQ_NIL;
	}
}

static uint64_t word_of(const struct pq_spans *spans, const struct pq_value *value)
{
	uint64_t hash = value->size;

	if (value->type != PQ_TEXT)
		return value->u;
	for (size_t at = 0; at < value->size; at += 8) {
		uint64_t word = 0;

		memcpy(&word, value->p + at, value->size - at < 8 ? value->size - at : 8);
		hash = pq_mix(word ^ spans->secret.a, hash ^ spans->secret.b);
	}
	return hash;
}

uint32_t pq_spans_hash(const struct pq_spans *spans, const struct pq_value *key)
{
	uint64_t hash = spans->secret.b;

	for (size_t i = 0; i < spans->n_keys; i++)
		hash = pq_mix(word_of(spans, &key[i]) ^ spans->secret.a, hash ^ key[i].type);
	return (uint32_t)hash;
}

static bool has_key(const struct pq_spans *spans, uint32_t span, const struct pq_value *key)
{
	const struct pq_value *own = pq_spans_at(spans, span);

	for (size_t i = 0; i < spans->n_keys; i++)
		if (!pq_same(&own[i], &key[i]))
			return false;
	return true;
}

struct pq_span_slot *pq_spans_find(const struct pq_spans *spans, const struct pq_value *key,
				   uint32_t hash)
{
	for (size_t i = hash;; i++) {
		struct pq_span_slot *slot = &spans->slots[i & (spans->n_slots - 1)];

		if (!slot->span || (slot->hash == hash && has_key(spans, slot->span - 1, key)))
			return slot;
	}
}

/* Those behind it that would not be found any more move up. */
static void free_slot(struct pq_spans *spans, struct pq_span_slot *slot)
{
	size_t mask = spans->n_slots - 1, hole = (size_t)(slot - spans->slots);

	for (size_t i = (hole + 1) & mask; spans->slots[i].span; i = (i + 1) & mask) {
		size_t home = spans->slots[i].hash & mask;

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		spans->slots[hole] = spans->slots[i];
		hole = i;
	}
	spans->slots[hole].span = 0;
}

void pq_spans_close(struct pq_spans *spans, struct pq_span_slot *slot)
{
	uint32_t span = slot->span - 1;

	free_slot(spans, slot);
	pq_span_forget(pq_spans_at(spans, span), spans->stride);
	spans->free[spans->n_free++] = span;
	spans->n_open--;
}

static bool grow_slots(struct pq_spans *spans)
{
	size_t n = spans->n_slots * 2;
	struct pq_span_slot *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < spans->n_slots; i++) {
		size_t at = spans->slots[i].hash;

		if (!spans->slots[i].span)
			continue;
		while (slots[at & (n - 1)].span)
			at++;
		slots[at & (n - 1)] = spans->slots[i];
	}
	free(spans->slots);
	spans->slots = slots;
	spans->n_slots = n;
	return true;
}

static bool grow_values(struct pq_spans *spans)
{
	size_t capacity = spans->capacity ? spans->capacity * 2 : FIRST_SLOTS;
	struct pq_value *values;
	uint32_t *numbers;

	if (capacity >= UINT32_MAX || capacity > SIZE_MAX / sizeof(*values) / spans->stride)
		return false;
	values = realloc(spans->values, capacity * spans->stride * sizeof(*values));
	if (values)
		spans->values = values;
	numbers = realloc(spans->free, capacity * sizeof(*numbers));
	if (numbers)
		spans->free = numbers;
	if (!values || !numbers)
		return false;
	spans->capacity = capacity;
	return true;
}

uint32_t pq_spans_open(struct pq_spans *spans, const struct pq_value *key, uint32_t hash)
{
	struct pq_value *values;
	uint32_t span;

	if (!spans->n_free && spans->n == spans->capacity && !grow_values(spans))
		return UINT32_MAX;
	if (spans->n_open >= spans->n_slots / 2 && !grow_slots(spans))
		return UINT32_MAX;
	span = spans->n_free ? spans->free[--spans->n_free] : (uint32_t)spans->n++;
	values = pq_spans_at(spans, span);
	for (size_t i = 0; i < spans->stride; i++)
		values[i].type = PQ_NIL;
	*pq_spans_find(spans, key, hash) = (struct pq_span_slot){ hash, span + 1 };
	spans->n_open++;
	return span;
}

void pq_spans_clear(struct pq_spans *spans)
{
	pq_span_forget(spans->values, spans->n * spans->stride);
	spans->n = spans->n_free = spans->n_open = 0;
	/* many slots are not to be gone through again for few spans */
	if (spans->n_slots > FIRST_SLOTS) {
		struct pq_span_slot *slots = realloc(spans->slots,
						     FIRST_SLOTS * sizeof(*slots));

		spans->slots = slots ? slots : spans->slots;
		spans->n_slots = FIRST_SLOTS;
	}
	memset(spans->slots, 0, FIRST_SLOTS * sizeof(*spans->slots));
}
