/* The set of distinct values in a group. */

#include "measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

#define FEW 8 /* values searched one by one */

struct set {
	struct pq_value *values; /* [capacity] */
	size_t n, capacity;
	struct pb_map map; /* numbers of `values`, once there are more than FEW */
};

struct wanted {
	const struct set *set;
	const struct pq_value *value;
};

/* Compares bits: texts are interned in the table, so equal values have equal bits. */
static bool has_value(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct pq_value *a = &wanted->set->values[item], *b = wanted->value;

	return a->type == b->type && pq_bits(a) == pq_bits(b);
}

static uint32_t hash_value(const struct pb_secret *secret, const struct pq_value *value)
{
	return pb_hash_pair(secret, pq_bits(value), value->type);
}

static bool map_values(const struct pb_secret *secret, struct set *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (!pb_map_add(&set->map, hash_value(secret, &set->values[i]), i))
			return false;
	return true;
}

static bool add_to_set(const struct pb_secret *secret, struct set *set,
		       const struct pq_value *value)
{
	const struct wanted wanted = { set, value };
	uint32_t found = 0;

	if (!pb_reserve(set->values, set->n, set->capacity))
		return false;
	if (set->n < FEW) {
		while (found < set->n && !has_value(&wanted, found))
			found++;
	} else {
		if (!set->map.n && !map_values(secret, set))
			return false;
		found = pb_map_intern(&set->map, hash_value(secret, value), has_value, &wanted,
				      (uint32_t)set->n);
	}
	if (found == set->n)
		set->values[set->n++] = *value;
	return found != UINT32_MAX;
}

static bool distinct_step(const struct pq_measured *m, void *state,
			  const struct pq_value *value, uint64_t weight)
{
	struct pq_value item = *value;

	(void)weight;
	if (item.type == PQ_FLOAT)
		pq_normalise(&item);
	if (item.type == PQ_NIL)
		return true;
	if (item.type == PQ_TEXT) {
		const struct pq_text *text = pq_texts_add(m->texts, item.p, item.size);

		if (!text)
			return false;
		item.p = text->bytes;
	}
	return add_to_set(&m->texts->secret, state, &item);
}

static bool distinct_merge(const struct pq_measured *m, void *state, void *from)
{
	const struct set *added = from;

	for (uint32_t i = 0; i < added->n; i++) {
		struct pq_value item = added->values[i];

		if (item.type == PQ_TEXT) {
			const struct pq_text *text = pq_texts_move(m->texts,
								   pq_text_of(item.p));

			if (!text)
				return false;
			item.p = text->bytes;
		} else if (item.type == PQ_CHAIN) {
			item.u = m->chains[item.u];
		}
		if (!add_to_set(&m->texts->secret, state, &item))
			return false;
	}
	return true;
}

static bool distinct_put(const struct pq_measured *m, void *state, const struct pq_state *from)
{
	for (size_t i = 0; i < from->n_set; i++) {
		struct pq_value item = from->set[i];

		pq_normalise(&item);
		if (item.type == PQ_TEXT) {
			const struct pq_text *text = pq_texts_intern(m->texts, item.p,
								     item.size);

			if (!text)
				return false;
			item.p = text->bytes;
		}
		if (item.type != PQ_NIL && !add_to_set(&m->texts->secret, state, &item))
			return false;
	}
	return true;
}

static void distinct_deinit(void *state)
{
	struct set *set = state;

	free(set->values);
	pb_map_deinit(&set->map);
	*set = (struct set){ 0 };
}

/* Adds the values anew, as several may become equal. */
static bool distinct_own(const struct pq_measured *m, void *state)
{
	struct set *set = state, old = *set;
	bool ok = true;

	*set = (struct set){ 0 };
	for (size_t i = 0; ok && i < old.n; i++) {
		struct pq_value item = old.values[i];

		if (item.type == PQ_EVENT) {
			const char *name = item.event->name;
			const struct pq_text *text = pq_texts_add_fixed(m->texts, name,
									(uint32_t)strlen(name));

			ok = text;
			item = (struct pq_value){ .type = PQ_TEXT,
						  .size = ok ? text->size : 0,
						  .p = ok ? text->bytes : NULL };
		} else if (item.type == PQ_CHAIN) {
			item.u = m->chains[item.u];
		}
		ok = ok && add_to_set(&m->texts->secret, set, &item);
	}
	distinct_deinit(&old);
	pb_map_deinit(&set->map);
	return ok;
}

static void distinct_get(const struct pq_measured *m, const void *state, struct pq_state *out)
{
	const struct set *set = state;

	(void)m;
	out->set = set->values;
	out->n_set = set->n;
}

static const struct pq_measure_ops distinct_ops = {
	.size = sizeof(struct set),
	.step = distinct_step,
	.merge = distinct_merge,
	.get = distinct_get,
	.put = distinct_put,
	.own = distinct_own,
	.deinit = distinct_deinit,
};

static void show_number(const struct pq_shown *how, const struct pq_state *state,
			struct pq_value *out)
{
	(void)how;
	*out = (struct pq_value){ .type = PQ_INT, .u = state->n_set };
}

const struct pq_measure_row pq_distinct_row = {
	.name = "distinct",
	.takes = PQ_TAKES_STACKS,
	.shows = "unsigned",
	.has_set = true,
	.show = show_number,
	.ops = { &distinct_ops, &distinct_ops },
};
