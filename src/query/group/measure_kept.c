/*
 * Measures that keep one value: the least, the greatest, the first, the last, that of the
 * record in which another is greatest.
 */

#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_STEP 16u

struct kept {
	struct pq_value value; /* its text is owned */
	uint32_t room;	       /* bytes of the text's buffer */
};

static bool is_absent(const struct pq_value *value)
{
	return value->type == PQ_NIL || (value->type == PQ_FLOAT && isnan(value->f));
}

/* Returns true for numbers and texts; no other values have an order. */
static bool is_ordered(const struct pq_value *value)
{
	return value->type == PQ_INT || value->type == PQ_TEXT ||
	       (value->type == PQ_FLOAT && !isnan(value->f));
}

static void kept_deinit(void *state)
{
	struct kept *kept = state;

	if (kept->value.type == PQ_TEXT)
		free((char *)kept->value.p);
	*kept = (struct kept){ 0 };
}

static bool keep_value_text(struct kept *kept, const struct pq_value *value)
{
	char *text = kept->value.type == PQ_TEXT ? (char *)kept->value.p : NULL;

	if (!text || kept->room < value->size) {
		uint32_t room = value->size <= UINT32_MAX - ROOM_STEP ?
					(value->size / ROOM_STEP + 1) * ROOM_STEP :
					value->size;
		char *grown = malloc(room);

		if (!grown)
			return false;
		free(text);
		text = grown;
		kept->room = room;
	}
	if (value->size)
		memcpy(text, value->p, value->size);
	kept->value = (struct pq_value){ .type = PQ_TEXT, .size = value->size, .p = text };
	return true;
}

static bool keep_value(struct kept *kept, const struct pq_value *value)
{
	if (value->type == PQ_TEXT)
		return keep_value_text(kept, value);
	kept_deinit(kept);
	kept->value = *value;
	return true;
}

/* Moves the value to another state. */
static void move_kept(struct kept *kept, struct kept *from)
{
	kept_deinit(kept);
	*kept = *from;
	*from = (struct kept){ 0 };
}

static void kept_get(const struct pq_measured *m, const void *state, struct pq_state *out)
{
	(void)m;
	out->value = ((const struct kept *)state)->value;
}

static bool kept_own(const struct pq_measured *m, void *state)
{
	struct kept *kept = state;
	const char *name;
	struct pq_value text;

	(void)m;
	if (kept->value.type != PQ_EVENT)
		return true;
	name = kept->value.event->name;
	text = (struct pq_value){ .type = PQ_TEXT, .size = (uint32_t)strlen(name), .p = name };
	return keep_value(kept, &text);
}

static bool min_step(const struct pq_measured *m, void *state, const struct pq_value *value,
		     uint64_t weight)
{
	struct kept *kept = state;

	(void)weight;
	if (!is_ordered(value))
		return true;
	if (kept->value.type != PQ_NIL && pq_compare(value, &kept->value, m->is_unsigned) >= 0)
		return true;
	return keep_value(kept, value);
}

static bool max_step(const struct pq_measured *m, void *state, const struct pq_value *value,
		     uint64_t weight)
{
	struct kept *kept = state;

	(void)weight;
	if (!is_ordered(value))
		return true;
	if (kept->value.type != PQ_NIL && pq_compare(value, &kept->value, m->is_unsigned) <= 0)
		return true;
	return keep_value(kept, value);
}

static bool min_merge(const struct pq_measured *m, void *state, void *from)
{
	struct kept *kept = state, *added = from;

	if (added->value.type != PQ_NIL &&
	    (kept->value.type == PQ_NIL ||
	     pq_compare(&added->value, &kept->value, m->is_unsigned) < 0))
		move_kept(kept, added);
	return true;
}

static bool max_merge(const struct pq_measured *m, void *state, void *from)
{
	struct kept *kept = state, *added = from;

	if (added->value.type != PQ_NIL &&
	    (kept->value.type == PQ_NIL ||
	     pq_compare(&added->value, &kept->value, m->is_unsigned) > 0))
		move_kept(kept, added);
	return true;
}

static bool first_step(const struct pq_measured *m, void *state, const struct pq_value *value,
		       uint64_t weight)
{
	struct kept *kept = state;

	(void)m;
	(void)weight;
	return kept->value.type != PQ_NIL || is_absent(value) || keep_value(kept, value);
}

static bool last_step(const struct pq_measured *m, void *state, const struct pq_value *value,
		      uint64_t weight)
{
	(void)m;
	(void)weight;
	return is_absent(value) || keep_value(state, value);
}

static bool first_merge(const struct pq_measured *m, void *state, void *from)
{
	(void)m;
	if (((struct kept *)state)->value.type == PQ_NIL)
		move_kept(state, from);
	return true;
}

static bool last_merge(const struct pq_measured *m, void *state, void *from)
{
	(void)m;
	if (((struct kept *)from)->value.type != PQ_NIL)
		move_kept(state, from);
	return true;
}

static bool min_put(const struct pq_measured *m, void *state, const struct pq_state *from)
{
	return min_step(m, state, &from->value, 1);
}

static bool max_put(const struct pq_measured *m, void *state, const struct pq_state *from)
{
	return max_step(m, state, &from->value, 1);
}

/* Values that were computed may be NaN, which is kept, too. */
static bool first_put(const struct pq_measured *m, void *state, const struct pq_state *from)
{
	struct kept *kept = state;

	(void)m;
	return kept->value.type != PQ_NIL || keep_value(kept, &from->value);
}

static bool last_put(const struct pq_measured *m, void *state, const struct pq_state *from)
{
	(void)m;
	return from->value.type == PQ_NIL || keep_value(state, &from->value);
}

static void show_unified(const struct pq_shown *how, const struct pq_state *state,
			 struct pq_value *out)
{
	*out = state->value;
	pq_unify(out, how->kind);
}

#define KEPT_OPS(measure, why)                               \
	static const struct pq_measure_ops measure##_ops = { \
		.size = sizeof(struct kept),                 \
		.step = measure##_step,                      \
		.merge = measure##_merge,                    \
		.get = kept_get,                             \
		.put = measure##_put,                        \
		.own = kept_own,                             \
		.deinit = kept_deinit,                       \
		.serial = (why),                             \
	}

#define ORDER "first and last depend on the order of records"

KEPT_OPS(min, NULL);
KEPT_OPS(max, NULL);
KEPT_OPS(first, ORDER);
KEPT_OPS(last, ORDER);

#define EXTREME_ROW(measure)                               \
	const struct pq_measure_row pq_##measure##_row = { \
		.name = #measure,                          \
		.takes = PQ_TAKES_ORDERED,                 \
		.shows = "same",                           \
		.parts = { PQ_PART_ORDERED },              \
		.show = show_unified,                      \
		.ops = { &measure##_ops, &measure##_ops }, \
	}

EXTREME_ROW(min);
EXTREME_ROW(max);

#define ORDERED_ROW(measure)                               \
	const struct pq_measure_row pq_##measure##_row = { \
		.name = #measure,                          \
		.takes = PQ_TAKES_VALUES,                  \
		.shows = "same",                           \
		.is_ordered = true,                        \
		.is_single = true,                         \
		.parts = { PQ_PART_VALUE },                \
		.ops = { &measure##_ops, &measure##_ops }, \
	}

ORDERED_ROW(first);
ORDERED_ROW(last);

struct kept_by {
	struct kept kept;
	uint64_t most; /* 0: nothing is kept */
};

static bool max_by_step(const struct pq_measured *m, void *state, const struct pq_value *value,
			uint64_t weight)
{
	struct kept_by *by = state;

	(void)m;
	if (is_absent(value) || weight <= by->most)
		return true;
	by->most = weight;
	return keep_value(&by->kept, value);
}

static bool max_by_merge(const struct pq_measured *m, void *state, void *from)
{
	struct kept_by *by = state, *added = from;

	(void)m;
	if (added->most > by->most) {
		by->most = added->most;
		move_kept(&by->kept, &added->kept);
	}
	return true;
}

static void max_by_get(const struct pq_measured *m, const void *state, struct pq_state *out)
{
	const struct kept_by *by = state;

	(void)m;
	out->parts[0] = by->kept.value;
	out->parts[1] = (struct pq_value){ .type = PQ_INT, .u = by->most };
}

static bool max_by_put(const struct pq_measured *m, void *state, const struct pq_state *from)
{
	return max_by_step(m, state, &from->parts[0], from->parts[1].u);
}

static const struct pq_measure_ops max_by_ops = {
	.size = sizeof(struct kept_by),
	.step = max_by_step,
	.merge = max_by_merge,
	.get = max_by_get,
	.put = max_by_put,
	.deinit = kept_deinit,
};

const struct pq_measure_row pq_max_by_row = {
	.name = "max_by",
	.takes = PQ_TAKES_NUMBERS,
	.shows = "same",
	.parts = { PQ_PART_ORDERED, PQ_PART_NATURAL },
	.ops = { &max_by_ops, &max_by_ops },
};

static const struct pq_measure_ops computed_ops = {
	.size = sizeof(struct kept),
	.get = kept_get,
	.put = first_put,
	.deinit = kept_deinit,
};

const struct pq_measure_row pq_compared_row = {
	.name = "compared",
	.shows = "same",
	.is_single = true,
	.parts = { PQ_PART_VALUE },
	.ops = { &computed_ops, &computed_ops },
};

const struct pq_measure_row pq_delta_row = {
	.name = "delta",
	.shows = "same",
	.is_magnitude = true,
	.is_single = true,
	.parts = { PQ_PART_VALUE },
	.ops = { &computed_ops, &computed_ops },
};
