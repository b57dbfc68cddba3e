/* Reads saved results. Nothing in them is believed. */

#include "saved.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vector.h"

#define MAX_BUCKET (1 << 17) /* of floats: their 11 bits of exponent and 6 of fraction */
#define MAX_POWER  64 /* of histograms: all between the least and the greatest are shown */
#define MAX_NUMBER 63 /* bytes of a number */

/* Data that a state points to until it is added to its group. */
struct loaded {
	struct pq_sketch sketch;
	struct pq_value *set;
	size_t set_room;
};

struct loader {
	const char *body;
	size_t n, at;	 /* `at` is the offset of the next token */
	size_t group_at; /* that of the group that is read */
	struct pr_load_error *err;
	struct pq_stacks *stacks;
	unsigned n_sections;
	struct pb_arena texts;
	struct pq_value *known; /* [n_known]: texts and stacks that have been read */
	size_t n_known, known_room;
	uint32_t *frames; /* [n_frames]: numbers among `stacks` of frames that have been read */
	size_t n_frames, frames_room;
	struct loaded *loaded;	 /* [n_measures] */
	struct pq_value *keys;	 /* [n_keys + 1] of the group that is read */
	struct pq_state *states; /* [n_measures] */
};

static bool refuse(struct loader *l, size_t at, const char *expected)
{
	*l->err = (struct pr_load_error){ at, expected };
	return false;
}

static bool refuse_group(struct loader *l)
{
	return refuse(l, l->group_at, "a group");
}

static bool refuse_value(struct loader *l)
{
	return refuse(l, l->at, "a value before here");
}

static bool refuse_stack(struct loader *l)
{
	return refuse(l, l->at, "a call stack before here");
}

static bool read_token(struct loader *l, const char *expected, struct pd_text *token)
{
	const char *p = l->body + l->at, *tab = memchr(p, '\t', l->n - l->at);

	if (!tab)
		return refuse(l, l->at, expected);
	*token = (struct pd_text){ p, (size_t)(tab - p) };
	l->at += token->n + 1;
	return true;
}

/*
 * Sets *part to the next part of *rest up to a separator, which is skipped; parts without bytes
 * are left out. Returns false if there is none.
 */
static bool split_part(struct pd_text *rest, char separator, struct pd_text *part)
{
	const char *end;

	while (rest->n && *rest->p == separator)
		*rest = (struct pd_text){ rest->p + 1, rest->n - 1 };
	if (!rest->n)
		return false;
	end = memchr(rest->p, separator, rest->n);
	*part = (struct pd_text){ rest->p, end ? (size_t)(end - rest->p) : rest->n };
	*rest = (struct pd_text){ rest->p + part->n, rest->n - part->n };
	return true;
}

/* Sets parts[n] to the parts between separators. Returns false if there are not n. */
static bool split_exactly(struct pd_text rest, char separator, struct pd_text *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *end = memchr(rest.p, separator, rest.n);

		if (!end != (i + 1 == n))
			return false;
		parts[i] = (struct pd_text){ rest.p, end ? (size_t)(end - rest.p) : rest.n };
		if (end)
			rest = (struct pd_text){ end + 1, rest.n - parts[i].n - 1 };
	}
	return true;
}

static bool is_decimal(struct pd_text text)
{
	if (text.n && *text.p == '-')
		text = (struct pd_text){ text.p + 1, text.n - 1 };
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
	return text.n;
}

static bool parse_number(struct pd_text text, struct pq_value *out)
{
	char copy[MAX_NUMBER + 1], *end;

	if (!text.n || text.n > MAX_NUMBER || *text.p == ' ' ||
	    (*text.p >= '\t' && *text.p <= '\r'))
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	errno = 0;
	if (is_decimal(text)) {
		*out = (struct pq_value){ .type = PQ_INT, .i = strtoll(copy, NULL, 10) };
		if (!errno)
			return true;
	}
	*out = (struct pq_value){ .type = PQ_FLOAT, .f = strtod(copy, &end) };
	return end == copy + text.n;
}

/* Reads an integer from 0 to 2^63 - 1. */
static bool parse_natural(struct pd_text text, uint64_t *out)
{
	struct pq_value value;

	if (!parse_number(text, &value) || value.type != PQ_INT || value.i < 0)
		return false;
	*out = value.u;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the bytes that an escaped text stands for and a NUL; NULL without memory. */
static const char *unescape(struct loader *l, struct pd_text text, size_t *n)
{
	char *to = pb_arena_text(&l->texts, text.p, text.n);

	if (!to)
		return NULL;
	*n = 0;
	for (size_t i = 0; i < text.n; i++) {
		const char *p = text.p + i;

		to[*n] = *p;
		if (*p == '\\' && text.n - i > 2 && hex_digit(p[1]) >= 0 &&
		    hex_digit(p[2]) >= 0) {
			to[*n] = (char)(hex_digit(p[1]) << 4 | hex_digit(p[2]));
			i += 2;
		}
		++*n;
	}
	to[*n] = '\0';
	return to;
}

/* Adds a text or stack to those that are known by their numbers. */
static bool add_known(struct loader *l, const struct pq_value *value)
{
	if (!pb_reserve(l->known, l->n_known, l->known_room))
		return false;
	l->known[l->n_known++] = *value;
	return true;
}

static bool load_text(struct loader *l, struct pd_text text, struct pq_value *out)
{
	size_t n = text.n;
	const char *p = text.p;

	if (memchr(p, '\\', n))
		p = unescape(l, text, &n);
	if (!p || n > UINT32_MAX)
		return false;
	*out = (struct pq_value){ .type = PQ_TEXT, .size = (uint32_t)n, .p = p };
	return add_known(l, out);
}

/* Reads "TEXT, or ~ for none, of a frame. */
static bool load_frame_text(struct loader *l, struct pd_text token, struct pd_text *out)
{
	*out = (struct pd_text){ 0 };
	if (token.n == 1 && *token.p == '~')
		return true;
	if (!token.n || *token.p != '"')
		return refuse_stack(l);
	out->p = unescape(l, (struct pd_text){ token.p + 1, token.n - 1 }, &out->n);
	if (!out->p)
		return false;
	return strlen(out->p) == out->n || refuse_stack(l);
}

static bool load_build_id(struct loader *l, struct pd_text token, struct ps_build_id *id)
{
	struct pd_text text;

	if (!load_frame_text(l, token, &text))
		return false;
	if (text.n % 2 || text.n > 2 * PS_MAX_BUILD_ID)
		return refuse_stack(l);
	for (size_t i = 0; i < text.n; i++) {
		int digit = hex_digit(text.p[i]);

		if (digit < 0 || (text.p[i] >= 'A' && text.p[i] <= 'F'))
			return refuse_stack(l);
		id->bytes[i / 2] = (uint8_t)(id->bytes[i / 2] << 4 | digit);
	}
	id->size = (uint8_t)(text.n / 2);
	return true;
}

static bool parse_frame_kind(struct pd_text text, uint8_t *kind)
{
	for (*kind = 0; *kind < PQ_FRAME_KINDS; ++*kind) {
		const char *name = pq_frame_kind_name(*kind);

		if (strlen(name) == text.n && memcmp(name, text.p, text.n) == 0)
			return true;
	}
	return false;
}

static bool parse_address(struct pd_text text, uint64_t *address)
{
	if (text.n < 3 || text.n > 2 + 16 || text.p[0] != '0' || text.p[1] != 'x')
		return false;
	*address = 0;
	for (size_t i = 2; i < text.n; i++) {
		int digit = hex_digit(text.p[i]);

		if (digit < 0)
			return false;
		*address = *address << 4 | (uint64_t)digit;
	}
	return true;
}

/* Reads a frame that is no number, and sets *number to its number among the stacks. */
static bool load_frame(struct loader *l, struct pd_text token, uint32_t *number)
{
	struct pd_text parts[5];
	struct pq_stack_frame frame = { 0 };

	if (!split_exactly(token, ';', parts, 5) || !parse_frame_kind(parts[0], &frame.kind) ||
	    !parse_address(parts[3], &frame.address))
		return refuse_stack(l);
	if (!load_frame_text(l, parts[1], &frame.binary) ||
	    !load_build_id(l, parts[2], &frame.build_id) ||
	    !load_frame_text(l, parts[4], &frame.symbol) ||
	    !pb_reserve(l->frames, l->n_frames, l->frames_room))
		return false;
	if (frame.binary.p && strcmp(frame.binary.p, PM_UNKNOWN) == 0)
		frame.binary = (struct pd_text){ 0 };
	*number = pq_stacks_add_frame(l->stacks, &frame);
	if (*number == UINT32_MAX)
		return false;
	l->frames[l->n_frames++] = *number;
	return true;
}

static bool load_stack(struct loader *l, struct pd_text rest, struct pq_value *out)
{
	uint32_t frames[PM_MAX_FRAMES];
	size_t n = 0;
	struct pd_text token;

	if (!l->stacks)
		return refuse_stack(l);
	for (; split_part(&rest, ',', &token); n++) {
		uint64_t i;

		if (n == PM_MAX_FRAMES)
			return refuse_stack(l);
		if (parse_natural(token, &i) && i && i <= l->n_frames)
			frames[n] = l->frames[i - 1];
		else if (!load_frame(l, token, &frames[n]))
			return false;
	}
	*out = (struct pq_value){ .type = PQ_CHAIN, .u = pq_stacks_add(l->stacks, frames, n) };
	return out->u != UINT32_MAX && add_known(l, out);
}

/* Reads a value; refuses what is none. */
static bool load_token(struct loader *l, struct pd_text token, struct pq_value *out)
{
	const struct pd_text rest = { token.p + 1, token.n - 1 };
	uint64_t i;

	*out = (struct pq_value){ 0 };
	if (!token.n)
		return refuse_value(l);
	if (*token.p == '"')
		return load_text(l, rest, out);
	if (*token.p == '@')
		return load_stack(l, rest, out);
	if (*token.p == '$') {
		if (!is_decimal(rest) || !parse_natural(rest, &i) || !i || i > l->n_known)
			return refuse_value(l);
		*out = l->known[i - 1];
		return true;
	}
	if (token.n == 1 && (*token.p == 't' || *token.p == 'f'))
		*out = (struct pq_value){ .type = PQ_BOOL, .u = *token.p == 't' };
	else if ((token.n > 1 || *token.p != '~') && !parse_number(token, out))
		return refuse_value(l);
	return true;
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
	return parse_number(text, out) && is_of_kind(out, kind) && !is_nan(out);
}

/* Reads what may be the sum of values of that kind. */
static bool parse_sum(struct pd_text text, enum pr_kind kind, struct pq_value *out)
{
	if (!parse_number(text, out))
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
	return parse_natural(token, &state->value.u) || refuse_group(l);
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
	return (split_exactly(token, '|', parts, 2) &&
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
	if (!split_exactly(token, '|', parts, 3) || !parse_natural(parts[0], &state->n) ||
	    !parse_number(parts[1], &high) || high.type != PQ_INT ||
	    !parse_number(parts[2], low))
		return refuse_group(l);
	state->high = high.i;
	return (low->type == PQ_FLOAT ? has_floats : low->u <= UINT32_MAX) || refuse_group(l);
}

static bool load_extreme(struct loader *l, struct pd_text token, enum pr_kind kind,
			 struct loaded *loaded, struct pq_state *state)
{
	struct pq_value *value = &state->value;

	(void)loaded;
	if (!load_token(l, token, value))
		return false;
	return value->type == PQ_NIL ||
	       (value->type != PQ_BOOL && !is_nan(value) && is_of_kind(value, kind)) ||
	       refuse_group(l);
}

static bool load_kept(struct loader *l, struct pd_text token, enum pr_kind kind,
		      struct loaded *loaded, struct pq_state *state)
{
	(void)loaded;
	if (!load_token(l, token, &state->value))
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

	if (!split_exactly(part, ':', parts, 2) || !is_decimal(parts[0]) ||
	    !parse_number(parts[0], &bucket) || bucket.type != PQ_INT || bucket.i < -most ||
	    bucket.i > most || !parse_natural(parts[1], &count) || !count)
		return refuse_group(l);
	if (!pq_sketch_add(sketch, (int32_t)bucket.i, count))
		return false;
	return pq_sketch_counts(sketch, &counts) > n || refuse_group(l);
}

static bool load_counts(struct loader *l, struct pd_text rest, int64_t most,
			struct loaded *loaded)
{
	struct pd_text part;

	while (split_part(&rest, '|', &part))
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
	if (!split_part(&rest, '|', &least) || !split_part(&rest, '|', &greatest) ||
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

	for (; split_part(&rest, '|', &part); state->n_set++) {
		if (!load_token(l, part, &value))
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
	if (!read_token(l, "a group", &token))
		return false;
	if (!parse_natural(token, &section->u) || section->u > l->n_sections)
		return refuse_group(l);
	for (size_t k = 0; k < shape->n_keys; k++) {
		struct pq_value *key = &l->keys[k + 1];

		if (!read_token(l, "a key", &token) || !load_token(l, token, key))
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
		if (!read_token(l, "a measure", &token) ||
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

	if (!read_token(l, "a number of groups", &token))
		return false;
	if (!parse_natural(token, &n))
		return refuse(l, 0, "a number of groups");
	for (; n; n--)
		if (!load_group(l, result))
			return false;
	if (l->at != l->n)
		return refuse(l, l->at, "the end");
	/* groups with equal keys were added up */
	return pq_groups_wrong(result->groups) == PQ_RIGHT ||
	       refuse(l, 0, "groups with smaller sums");
}

static bool prepare_loader(struct loader *l, const struct pr_shape *shape, const char *head,
			   size_t n_head)
{
	const struct pq_value text = { .type = PQ_TEXT, .size = (uint32_t)n_head, .p = head };

	l->keys = calloc(shape->n_keys + 1, sizeof(*l->keys));
	l->states = calloc(shape->n_measures + 1, sizeof(*l->states));
	l->loaded = calloc(shape->n_measures + 1, sizeof(*l->loaded));
	return l->keys && l->states && l->loaded && n_head <= UINT32_MAX && add_known(l, &text);
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
