/* The set of a group's values. */

#include "measure.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_VALUES 4
#define FEW	     8 /* which are searched one by one */

struct set {
	/* [capacity], and behind them places [2 * capacity], where a value's number + 1 is found by its hash */
	struct pq_value *values;
	uint32_t n, capacity;
};

static uint32_t *places_of(const struct set *set)
{
	return (uint32_t *)(set->values + set->capacity);
}

/* Texts are the table's, so that equal values have equal bits. */
static bool equal(const struct pq_value *a, const struct pq_value *b)
{
	return a->type == b->type && pq_bits(a) == pq_bits(b);
}

static size_t first_place(const struct pq_secret *secret, const struct pq_value *value)
{
	return (size_t)pq_mix(pq_bits(value) ^ secret->a, value->type ^ secret->b);
}

static uint32_t *place_of(const struct pq_secret *secret, const struct set *set,
			  const struct pq_value *value)
{
	uint32_t *places = places_of(set);
	size_t mask = 2 * (size_t)set->capacity - 1, at = first_place(secret, value) & mask;

	while (places[at] && !equal(&set->values[places[at] - 1], value))
		at = (at + 1) & mask;
	return &places[at];
}

static bool grow(const struct pq_secret *secret, struct set *set)
{
	uint32_t capacity = set->capacity ? 2 * set->capacity : FIRST_VALUES;
	size_t each = sizeof(struct pq_value) + 2 * sizeof(uint32_t);
	struct pq_value *values;

	if (capacity > UINT32_MAX / 2)
		return false;
	values = realloc(set->values, capacity * each);
	if (!values)
		return false;
	set->values = values;
	set->capacity = capacity;
	memset(places_of(set), 0, 2 * sizeof(uint32_t) * capacity);
	if (capacity > FEW) {
		for (uint32_t i = 0; i < set->n; i++)
			*place_of(secret, set, &values[i]) = i + 1;
	}
	return true;
}

static bool has(const struct pq_secret *secret, const struct set *set,
		const struct pq_value *value)
{
	if (set->capacity > FEW)
		return *place_of(secret, set, value) != 0;
	for (uint32_t i = 0; i < set->n; i++) {
		if (equal(&set->values[i], value))
			return true;
	}
	return false;
}

static bool add(const struct pq_secret *secret, struct set *set, const struct pq_value *value)
{
	if (has(secret, set, value))
		return true;
	if (set->n == set->capacity && !grow(secret, set))
		return false;
	if (set->capacity > FEW)
		*place_of(secret, set, value) = set->n + 1;
	set->values[set->n++] = *value;
	return true;
}

static bool distinct_step(const struct pq_measured *m, void *state,
			  const struct pq_value *value, uint64_t weight)
{
	struct pq_value one = *value;

	(void)weight;
	if (one.type == PQ_FLOAT)
		pq_normalise(&one);
	if (one.type == PQ_NIL)
		return true;
	if (one.type == PQ_TEXT) {
		const struct pq_text *text = pq_texts_add(m->texts, one.p, one.size);

		if (!text)
			return false;
		one.p = text->bytes;
	}
	return add(&m->texts->secret, state, &one);
}

static bool distinct_merge(const struct pq_measured *m, void *state, void *from)
{
	const struct set *other = from;

	for (uint32_t i = 0; i < other->n; i++) {
		struct pq_value one = other->values[i];

		if (one.type == PQ_TEXT) {
			const struct pq_text *text = pq_texts_move(m->texts, pq_text_of(one.p));

			if (!text)
				return false;
			one.p = text->bytes;
		}
		if (!add(&m->texts->secret, state, &one))
			return false;
	}
	return true;
}

static void distinct_get(const struct pq_measured *m, const void *state, struct pq_state *out)
{
	const struct set *set = state;

	(void)m;
	out->set = set->values;
	out->n_set = set->n;
}

static void distinct_deinit(void *state)
{
	struct set *set = state;

	free(set->values);
	*set = (struct set){ 0 };
}

const struct pq_measure_ops pq_distinct_ops = {
	.size = sizeof(struct set),
	.step = distinct_step,
	.merge = distinct_merge,
	.get = distinct_get,
	.deinit = distinct_deinit,
};
