/* Reads saved results: states of measures, and groups. Nothing in them is believed. */

#include "saved_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

static bool refuse_group(struct loader *l)
{
	return pr_refuse(l, l->group_at, "a group");
}

/* Returns true if a value, which is not absent, can be one of a field of that kind. */
static bool is_of_kind(const struct pq_value *value, enum pr_kind kind)
{
	switch (kind) {
	case PR_ANY:
		return value->type != PQ_CHAIN;
	case PR_SIGNED:
	case PR_UNSIGNED:
	case PR_ADDRESS:
		return value->type == PQ_INT;
	case PR_FLOAT:
	case PR_PERCENT:
		return value->type == PQ_INT || value->type == PQ_FLOAT;
	case PR_STRING:
		return value->type == PQ_TEXT;
	case PR_BOOLEAN:
		return value->type == PQ_BOOL;
	case PR_STACK:
		return value->type == PQ_CHAIN;
	default:
		return false;
	}
}

static bool is_nan(const struct pq_value *value)
{
	return value->type == PQ_FLOAT && isnan(value->f);
}

/* Returns true if what was read can be such a part of a state of values of that kind. */
static bool is_part(const struct pq_value *value, enum pq_part part, enum pr_kind kind)
{
	bool has_floats = !pr_is_unsigned(kind) && kind != PR_SIGNED;

	switch (part) {
	case PQ_PART_NATURAL:
		return value->type == PQ_INT && value->i >= 0;
	case PQ_PART_INTEGER:
		return value->type == PQ_INT;
	case PQ_PART_LOW:
		return value->type == PQ_FLOAT ? has_floats : value->u <= UINT32_MAX;
	case PQ_PART_SUM:
		return value->type == PQ_FLOAT ? has_floats :
						 value->i >= 0 || !pr_is_unsigned(kind);
	case PQ_PART_NUMBER:
		return is_of_kind(value, kind) && !is_nan(value);
	case PQ_PART_ORDERED:
		return value->type == PQ_NIL ||
		       (value->type != PQ_BOOL && !is_nan(value) && is_of_kind(value, kind));
	default:
		return value->type == PQ_NIL || is_of_kind(value, kind);
	}
}

static bool load_part(struct loader *l, struct pd_text text, enum pq_part part,
		      enum pr_kind kind, struct pq_value *out)
{
	if (part >= PQ_PART_ORDERED && !pr_load_token(l, text, out))
		return false;
	return ((part >= PQ_PART_ORDERED || pr_parse_number(text, out)) &&
		is_part(out, part, kind)) ||
	       refuse_group(l);
}

/* Reads BUCKET:COUNT, of which there is no bucket of that number yet. */
static bool load_bucket(struct loader *l, struct pd_text part, int64_t last,
			struct pq_sketch *sketch)
{
	struct pd_text parts[2];
	struct pq_value bucket;
	const struct pq_bucket_count *counts;
	uint64_t count;
	size_t n = pq_sketch_counts(sketch, &counts);

	if (!pr_split_exactly(part, ':', parts, 2) || !pr_is_decimal(parts[0]) ||
	    !pr_parse_number(parts[0], &bucket) || bucket.type != PQ_INT || bucket.i < -last ||
	    bucket.i > last || !pr_parse_natural(parts[1], &count) || !count)
		return refuse_group(l);
	if (!pq_sketch_add(sketch, (int32_t)bucket.i, count))
		return false;
	return pq_sketch_counts(sketch, &counts) > n || refuse_group(l);
}

/* Adds a value to the set of a state. */
static bool load_member(struct loader *l, struct pd_text text, enum pr_kind kind,
			struct loaded *loaded, struct pq_state *state)
{
	struct pq_value value;

	if (!pr_load_token(l, text, &value))
		return false;
	if (value.type == PQ_NIL || is_nan(&value) || !is_of_kind(&value, kind))
		return refuse_group(l);
	if (!pb_reserve(loaded->set, state->n_set, loaded->set_room))
		return false;
	loaded->set[state->n_set++] = value;
	state->set = loaded->set;
	return true;
}

static bool load_state(struct loader *l, struct pd_text rest, const struct pr_measure *measure,
		       struct loaded *loaded, struct pq_state *state)
{
	const struct pq_measure_row *row = pq_measure_row(measure->measure);
	bool is_list = row->last_bucket || row->has_set, ok = true;
	size_t n = pq_count_parts(row), i = 0;
	struct pd_text part;

	if (is_list && !rest.n)
		return true;
	if (!is_list && n == 1) /* most states: they need no search for separators */
		return load_part(l, rest, row->parts[0], measure->kind, &state->value);
	for (; ok && pr_split_part(&rest, '|', &part); i++) {
		if (i < n)
			ok = load_part(l, part, row->parts[i], measure->kind, &state->parts[i]);
		else if (row->last_bucket)
			ok = load_bucket(l, part, row->last_bucket, &loaded->sketch);
		else if (row->has_set)
			ok = load_member(l, part, measure->kind, loaded, state);
	}
	return ok && ((is_list ? i > n : i == n) || refuse_group(l));
}

static bool load_keys(struct loader *l, const struct pr_shape *shape)
{
	struct pd_text token;
	struct pq_value *section = &l->keys[0];

	section->type = PQ_INT;
	if (!pr_read_token(l, "a group", &token))
		return false;
	if (!pr_parse_natural(token, &section->u) || section->u > l->n_sections)
		return refuse_group(l);
	for (size_t k = 0; k < shape->n_keys; k++) {
		struct pq_value *key = &l->keys[k + 1];

		if (!pr_read_token(l, "a key", &token) || !pr_load_token(l, token, key))
			return false;
		if (key->type != PQ_NIL && !is_of_kind(key, shape->keys[k].kind))
			return refuse_group(l);
	}
	return true;
}

static bool load_group(struct loader *l, struct pr_result *result)
{
	const struct pr_shape *shape = &result->shape;
	struct pd_text token;
	bool ok;

	l->group_at = l->at;
	if (!load_keys(l, shape))
		return false;
	for (size_t m = 0; m < shape->n_measures; m++) {
		const struct pr_measure *measure = &shape->measures[m];
		struct pq_state *state = &l->states[m];

		*state = (struct pq_state){ .sketch = &l->loaded[m].sketch };
		if (!pr_read_token(l, "a measure", &token) ||
		    !load_state(l, token, measure, &l->loaded[m], state))
			return false;
	}
	ok = pr_put(result, l->keys, l->states, NULL);
	for (size_t m = 0; m < shape->n_measures; m++)
		pq_sketch_deinit(&l->loaded[m].sketch);
	return ok;
}

static bool load_groups(struct loader *l, struct pr_result *result)
{
	struct pd_text token;
	uint64_t n;

	if (!pr_read_token(l, "a number of groups", &token))
		return false;
	if (!pr_parse_natural(token, &n))
		return pr_refuse(l, 0, "a number of groups");
	for (; n; n--)
		if (!load_group(l, result))
			return false;
	if (l->at != l->n)
		return pr_refuse(l, l->at, "the end");
	/* groups with equal keys were added up */
	return pq_groups_wrong(result->groups) == PQ_RIGHT ||
	       pr_refuse(l, 0, "groups with smaller sums");
}

static bool prepare_loader(struct loader *l, const struct pr_shape *shape, const char *head,
			   size_t n_head)
{
	const struct pq_value text = { .type = PQ_TEXT, .size = (uint32_t)n_head, .p = head };

	l->keys = calloc(shape->n_keys + 1, sizeof(*l->keys));
	l->states = calloc(shape->n_measures + 1, sizeof(*l->states));
	l->loaded = calloc(shape->n_measures + 1, sizeof(*l->loaded));
	return l->keys && l->states && l->loaded && n_head <= UINT32_MAX &&
	       pr_add_known(l, &text);
}

static void deinit_loader(struct loader *l, const struct pr_shape *shape)
{
	for (size_t m = 0; l->loaded && m < shape->n_measures; m++) {
		pq_sketch_deinit(&l->loaded[m].sketch);
		free(l->loaded[m].set);
	}
	pb_arena_deinit(&l->texts);
	free(l->known);
	free(l->frames);
	free(l->loaded);
	free(l->keys);
	free(l->states);
}

struct pr_result *pr_load(const char *head, size_t n_head, const char *body, size_t n,
			  const struct pr_shape *shape, struct pq_stacks *stacks,
			  unsigned n_sections, struct pr_load_error *err)
{
	struct pr_result *result = pr_create(shape, stacks);
	struct loader l = {
		.body = body,
		.n = n < strlen("end") ? 0 : n - strlen("end"),
		.err = err,
		.stacks = stacks,
		.n_sections = n_sections,
	};

	*err = (struct pr_load_error){ 0 };
	if (result && (!prepare_loader(&l, shape, head, n_head) || !load_groups(&l, result))) {
		pr_destroy(result);
		result = NULL;
	}
	deinit_loader(&l, shape);
	return result;
}
