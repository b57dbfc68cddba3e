/* Reads saved results: states of measures, and groups. Nothing in them is believed. */

#include "saved_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

#define MAX_BUCKET (1 << 17) /* of floats: their 11 bits of exponent and 6 of fraction */
#define MAX_POWER  64 /* of histograms: all between the least and the greatest are shown */

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

/* Reads a number of that kind that has an order. */
static bool parse_limit(struct pd_text text, enum pr_kind kind, struct pq_value *out)
{
	return pr_parse_number(text, out) && is_of_kind(out, kind) && !is_nan(out);
}

/* Reads what may be the sum of values of that kind. */
static bool parse_sum(struct pd_text text, enum pr_kind kind, struct pq_value *out)
{
	if (!pr_parse_number(text, out))
		return false;
	if (pr_is_unsigned(kind))
		return out->type == PQ_INT && out->i >= 0;
	return out->type == PQ_INT || kind != PR_SIGNED;
}

typedef bool load_state(struct loader *l, struct pd_text token, enum pr_kind kind,
			struct loaded *loaded, struct pq_state *state);

static bool load_count(struct loader *l, struct pd_text token, enum pr_kind kind,
		       struct loaded *loaded, struct pq_state *state)
{
	(void)kind;
	(void)loaded;
	state->value.type = PQ_INT;
	return pr_parse_natural(token, &state->value.u) || refuse_group(l);
}

static bool load_sum(struct loader *l, struct pd_text token, enum pr_kind kind,
		     struct loaded *loaded, struct pq_state *state)
{
	(void)loaded;
	return parse_sum(token, kind, &state->value) || refuse_group(l);
}

static bool load_ratio(struct loader *l, struct pd_text token, enum pr_kind kind,
		       struct loaded *loaded, struct pq_state *state)
{
	struct pd_text parts[2];

	(void)loaded;
	return (pr_split_exactly(token, '|', parts, 2) &&
		parse_sum(parts[0], kind, &state->value) &&
		parse_sum(parts[1], kind, &state->other)) ||
	       refuse_group(l);
}

static bool load_average(struct loader *l, struct pd_text token, enum pr_kind kind,
			 struct loaded *loaded, struct pq_state *state)
{
	struct pd_text parts[3];
	struct pq_value high, *low = &state->value;
	bool has_floats = !pr_is_unsigned(kind) && kind != PR_SIGNED;

	(void)loaded;
	if (!pr_split_exactly(token, '|', parts, 3) || !pr_parse_natural(parts[0], &state->n) ||
	    !pr_parse_number(parts[1], &high) || high.type != PQ_INT ||
	    !pr_parse_number(parts[2], low))
		return refuse_group(l);
	state->high = high.i;
	return (low->type == PQ_FLOAT ? has_floats : low->u <= UINT32_MAX) || refuse_group(l);
}

static bool load_extreme(struct loader *l, struct pd_text token, enum pr_kind kind,
			 struct loaded *loaded, struct pq_state *state)
{
	struct pq_value *value = &state->value;

	(void)loaded;
	if (!pr_load_token(l, token, value))
		return false;
	return value->type == PQ_NIL ||
	       (value->type != PQ_BOOL && !is_nan(value) && is_of_kind(value, kind)) ||
	       refuse_group(l);
}

static bool load_kept(struct loader *l, struct pd_text token, enum pr_kind kind,
		      struct loaded *loaded, struct pq_state *state)
{
	(void)loaded;
	if (!pr_load_token(l, token, &state->value))
		return false;
	return state->value.type == PQ_NIL || is_of_kind(&state->value, kind) ||
	       refuse_group(l);
}

/* Reads BUCKET:COUNT, of which there is no bucket of that number yet. */
static bool load_bucket(struct loader *l, struct pd_text part, int64_t most,
			struct pq_sketch *sketch)
{
	struct pd_text parts[2];
	struct pq_value bucket;
	const struct pq_bucket_count *counts;
	uint64_t count;
	size_t n = pq_sketch_counts(sketch, &counts);

	if (!pr_split_exactly(part, ':', parts, 2) || !pr_is_decimal(parts[0]) ||
	    !pr_parse_number(parts[0], &bucket) || bucket.type != PQ_INT || bucket.i < -most ||
	    bucket.i > most || !pr_parse_natural(parts[1], &count) || !count)
		return refuse_group(l);
	if (!pq_sketch_add(sketch, (int32_t)bucket.i, count))
		return false;
	return pq_sketch_counts(sketch, &counts) > n || refuse_group(l);
}

static bool load_counts(struct loader *l, struct pd_text rest, int64_t most,
			struct loaded *loaded)
{
	struct pd_text part;

	while (pr_split_part(&rest, '|', &part))
		if (!load_bucket(l, part, most, &loaded->sketch))
			return false;
	return true;
}

static bool load_hist(struct loader *l, struct pd_text token, enum pr_kind kind,
		      struct loaded *loaded, struct pq_state *state)
{
	(void)kind;
	(void)state;
	return load_counts(l, token, MAX_POWER, loaded);
}

static bool load_quantile(struct loader *l, struct pd_text token, enum pr_kind kind,
			  struct loaded *loaded, struct pq_state *state)
{
	struct pd_text rest = token, least, greatest;
	const struct pq_bucket_count *counts;

	if (!token.n)
		return true;
	if (!pr_split_part(&rest, '|', &least) || !pr_split_part(&rest, '|', &greatest) ||
	    !parse_limit(least, kind, &state->least) ||
	    !parse_limit(greatest, kind, &state->greatest))
		return refuse_group(l);
	return load_counts(l, rest, MAX_BUCKET, loaded) &&
	       (pq_sketch_counts(&loaded->sketch, &counts) || refuse_group(l));
}

static bool load_set(struct loader *l, struct pd_text rest, enum pr_kind kind,
		     struct loaded *loaded, struct pq_state *state)
{
	struct pd_text part;
	struct pq_value value;

	for (; pr_split_part(&rest, '|', &part); state->n_set++) {
		if (!pr_load_token(l, part, &value))
			return false;
		if (value.type == PQ_NIL || is_nan(&value) || !is_of_kind(&value, kind))
			return refuse_group(l);
		if (!pb_reserve(loaded->set, state->n_set, loaded->set_room))
			return false;
		loaded->set[state->n_set] = value;
	}
	state->set = loaded->set;
	return true;
}

static load_state *const loaders[] = {
	[PQ_M_COUNT] = load_count,   [PQ_M_SUM] = load_sum,
	[PQ_M_AVG] = load_average,   [PQ_M_MIN] = load_extreme,
	[PQ_M_MAX] = load_extreme,   [PQ_M_QUANTILE] = load_quantile,
	[PQ_M_HIST] = load_hist,     [PQ_M_DISTINCT] = load_set,
	[PQ_M_FIRST] = load_kept,    [PQ_M_LAST] = load_kept,
	[PQ_M_SHARE] = load_sum,     [PQ_M_RATIO] = load_ratio,
	[PQ_M_COMPARED] = load_kept, [PQ_M_DELTA] = load_kept,
};

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
		    !loaders[measure->measure](l, token, measure->kind, &l->loaded[m], state))
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
