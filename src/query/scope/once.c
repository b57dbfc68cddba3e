#include "once.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/vector.h"

/* A value that rows had. */
struct pq_had {
	uint64_t bits, round; /* the last round with such a row */
	uint8_t type;
};

bool pq_once_init(struct pq_once *once, const struct pq_node *node, struct pq_fields *fields)
{
	*once = (struct pq_once){ .expr = NULL };
	if (!node)
		return true;
	pq_texts_init(&once->texts);
	once->expr = pq_expr_create(node, fields);
	return once->expr;
}

void pq_once_deinit(struct pq_once *once)
{
	pq_expr_destroy(once->expr);
	pq_texts_deinit(&once->texts);
	free(once->had);
	pb_map_deinit(&once->by_value);
	*once = (struct pq_once){ .expr = NULL };
}

struct wanted {
	const struct pq_once *once;
	uint64_t bits;
	uint8_t type;
};

static bool has_bits(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct pq_had *had = &wanted->once->had[item];

	return had->bits == wanted->bits && had->type == wanted->type;
}

static bool add_had(struct pq_once *once, struct pb_slot *slot, uint32_t hash,
		    const struct wanted *wanted)
{
	if (!pb_reserve(once->had, once->n_had, once->capacity))
		return false;
	pb_map_fill(&once->by_value, slot, hash, (uint32_t)once->n_had);
	once->had[once->n_had++] = (struct pq_had){ wanted->bits, 0, wanted->type };
	return true;
}

/* Finds a value, which it adds if it is new. Returns NULL without memory. */
static struct pq_had *find_had(struct pq_once *once, uint64_t bits, uint8_t type)
{
	const struct wanted wanted = { once, bits, type };
	uint32_t hash = pb_hash_pair(&once->texts.secret, bits, type);
	struct pb_slot *slot = NULL;

	if (pb_map_reserve(&once->by_value))
		slot = pb_map_find(&once->by_value, hash, has_bits, &wanted);
	if (!slot || (!slot->item && !add_had(once, slot, hash, &wanted)))
		return NULL;
	return &once->had[slot->item - 1];
}

bool pq_once_is_first(struct pq_once *once, struct pq_fields *fields)
{
	const struct pq_text *text;
	struct pq_value value;
	struct pq_had *had;
	bool is_first;

	pq_expr_value(once->expr, fields, &value);
	pq_normalise(&value);
	if (value.type == PQ_TEXT) {
		text = pq_texts_add(&once->texts, value.p, value.size);
		if (!text) {
			fields->failed = true;
			return false;
		}
		value.p = text->bytes;
	}
	had = find_had(once, value.type == PQ_NIL ? 0 : pq_bits(&value), value.type);
	if (!had) {
		fields->failed = true;
		return false;
	}
	is_first = had->round != once->round;
	had->round = once->round;
	return is_first;
}
