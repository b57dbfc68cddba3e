#define _GNU_SOURCE /* qsort_r */

#include "saved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/vector.h"
#include "order.h"
#include "perfdata/format/print_scalar.h"

#define FLOAT_TEXT 48 /* bytes of a float as %a prints it, at most */

struct saver {
	struct pd_print *out;
	const struct pq_stacks *stacks;
	struct pb_secret secret;
	struct pq_value *known; /* [n_known]: texts and stacks that have been written */
	size_t n_known, known_room;
	struct pb_map by_value; /* numbers of `known` */
	uint32_t *frames;	/* by number: that in the line, from 1 on; 0: not written */
	uint32_t n_frames;
	/* values of a set, buckets of a sketch: to be sorted */
	struct pq_value *set;
	struct pq_bucket_count *counts;
	size_t set_room, counts_room;
	bool has_part; /* the state that is written has a part already */
};

static bool is_plain_byte(unsigned char c, bool is_in_frame)
{
	if (c < ' ' || c > '~' || c == '\\' || c == '|')
		return false;
	return !is_in_frame || (c != ',' && c != ';');
}

static void save_text(struct pd_print *out, const char *p, size_t n, bool is_in_frame)
{
	const char *end = p + n, *from = p;

	pd_print_char(out, '"');
	for (; p < end; p++) {
		if (is_plain_byte((unsigned char)*p, is_in_frame))
			continue;
		pd_print_bytes(out, from, (size_t)(p - from));
		pd_print_char(out, '\\');
		pd_print_digits(out, p, 1);
		from = p + 1;
	}
	pd_print_bytes(out, from, (size_t)(end - from));
}

static void save_frame_text(struct pd_print *out, const char *p, size_t n)
{
	if (p)
		save_text(out, p, n, true);
	else
		pd_print_char(out, '~');
}

static void save_frame(struct pd_print *out, const struct pq_stack_frame *frame)
{
	char build_id[PS_BUILD_ID_TEXT] = "";
	bool is_mapped = frame->binary.p && strcmp(frame->binary.p, PM_UNKNOWN) != 0;

	if (frame->build_id.size)
		ps_build_id_text(&frame->build_id, build_id);
	pd_print_name(out, pq_frame_kind_name(frame->kind));
	pd_print_char(out, ';');
	save_frame_text(out, is_mapped ? frame->binary.p : NULL, frame->binary.n);
	pd_print_char(out, ';');
	save_frame_text(out, *build_id ? build_id : NULL, strlen(build_id));
	pd_print_char(out, ';');
	pd_print_hex(out, frame->address);
	pd_print_char(out, ';');
	save_frame_text(out, frame->symbol.p, frame->symbol.n);
}

static void save_stack(struct saver *s, uint32_t stack)
{
	size_t n;
	const uint32_t *frames = pq_stacks_frames(s->stacks, stack, &n);

	pd_print_char(s->out, '@');
	for (size_t i = 0; i < n; i++) {
		uint32_t *number = &s->frames[frames[i]];

		if (i)
			pd_print_char(s->out, ',');
		if (*number) {
			pd_print_uint(s->out, *number);
			continue;
		}
		*number = ++s->n_frames;
		save_frame(s->out, pq_stacks_frame(s->stacks, frames[i]));
	}
}

struct wanted_value {
	const struct saver *saver;
	const struct pq_value *value;
};

static bool is_known_value(const void *arg, uint32_t item)
{
	const struct wanted_value *wanted = arg;

	return pq_same(&wanted->saver->known[item], wanted->value);
}

/*
 * Sets *number to the number of a text or stack in the line, and *is_new if it was not there
 * yet. Returns false without memory.
 */
static bool number_value(struct saver *s, const struct pq_value *value, size_t *number,
			 bool *is_new)
{
	const struct wanted_value wanted = { s, value };
	uint32_t hash = pq_hash(&s->secret, value);
	struct pb_slot *slot;

	if (!pb_reserve(s->known, s->n_known, s->known_room) || !pb_map_reserve(&s->by_value))
		return false;
	slot = pb_map_find(&s->by_value, hash, is_known_value, &wanted);
	*is_new = !slot->item;
	if (*is_new) {
		pb_map_fill(&s->by_value, slot, hash, (uint32_t)s->n_known);
		s->known[s->n_known++] = *value;
	}
	*number = *is_new ? s->n_known : slot->item;
	return true;
}

static bool save_named_value(struct saver *s, const struct pq_value *value)
{
	size_t number;
	bool is_new;

	if (!number_value(s, value, &number, &is_new))
		return false;
	if (!is_new) {
		pd_print_char(s->out, '$');
		pd_print_uint(s->out, number);
	} else if (value->type == PQ_TEXT) {
		save_text(s->out, value->p, value->size, false);
	} else {
		save_stack(s, (uint32_t)value->u);
	}
	return true;
}

/* Writes a value as a token. Returns false without memory. */
static bool save_value(struct saver *s, const struct pq_value *value)
{
	switch (value->type) {
	case PQ_BOOL:
		pd_print_char(s->out, value->u ? 't' : 'f');
		return true;
	case PQ_INT:
		pd_print_int(s->out, value->i);
		return true;
	case PQ_FLOAT:
		s->out->n += (size_t)snprintf(pd_print_room(s->out, FLOAT_TEXT), FLOAT_TEXT,
					      "%a", value->f);
		return true;
	case PQ_TEXT:
	case PQ_CHAIN:
		return save_named_value(s, value);
	default:
		pd_print_char(s->out, '~');
		return true;
	}
}

/* Separates a part of a state from the one before it. */
static void separate_parts(struct saver *s)
{
	if (s->has_part)
		pd_print_char(s->out, '|');
	s->has_part = true;
}

static int compare_buckets(const void *a, const void *b)
{
	int32_t x = ((const struct pq_bucket_count *)a)->bucket;
	int32_t y = ((const struct pq_bucket_count *)b)->bucket;

	return (x > y) - (x < y);
}

static bool save_counts(struct saver *s, const struct pq_sketch *sketch)
{
	const struct pq_bucket_count *counts;
	size_t n = pq_sketch_counts(sketch, &counts);

	if (!pb_reserve_more(s->counts, 0, n, s->counts_room))
		return false;
	memcpy(s->counts, counts, n * sizeof(*counts));
	qsort(s->counts, n, sizeof(*counts), compare_buckets);
	for (size_t i = 0; i < n; i++) {
		separate_parts(s);
		pd_print_int(s->out, s->counts[i].bucket);
		pd_print_char(s->out, ':');
		pd_print_uint(s->out, s->counts[i].count);
	}
	return true;
}

static int compare_set_values(const void *a, const void *b, void *arg)
{
	return pr_compare(a, b, false, arg);
}

static bool save_set(struct saver *s, const struct pq_state *state)
{
	if (!pb_reserve_more(s->set, 0, state->n_set, s->set_room))
		return false;
	memcpy(s->set, state->set, state->n_set * sizeof(*s->set));
	qsort_r(s->set, state->n_set, sizeof(*s->set), compare_set_values, (void *)s->stacks);
	for (size_t i = 0; i < state->n_set; i++) {
		separate_parts(s);
		if (!save_value(s, &s->set[i]))
			return false;
	}
	return true;
}

static bool save_state(struct saver *s, const struct pq_measure_row *row,
		       const struct pq_state *state)
{
	const struct pq_bucket_count *counts;

	s->has_part = false;
	if (row->last_bucket && !pq_sketch_counts(state->sketch, &counts))
		return true;
	for (size_t i = 0, n = pq_count_parts(row); i < n; i++) {
		separate_parts(s);
		if (!save_value(s, &state->parts[i]))
			return false;
	}
	if (row->last_bucket)
		return save_counts(s, state->sketch);
	return !state->n_set || save_set(s, state);
}

static bool save_group(struct saver *s, const struct pr_result *result, size_t g)
{
	struct pq_value key;
	struct pq_state state;

	for (size_t k = 0; k < result->grouping.n_keys; k++) {
		pq_groups_key(result->groups, g, k, &key);
		pd_print_char(s->out, '\t');
		if (!save_value(s, &key))
			return false;
	}
	for (size_t m = 0; m < result->shape.n_measures; m++) {
		pq_groups_state(result->groups, g, m, &state);
		pd_print_char(s->out, '\t');
		if (!save_state(s, pq_measure_row(result->shape.measures[m].measure), &state))
			return false;
	}
	return true;
}

bool pr_save(struct pd_print *out, const struct pr_result *result, const char *head,
	     size_t n_head)
{
	const struct pq_value text = { .type = PQ_TEXT, .size = (uint32_t)n_head, .p = head };
	size_t n = pr_size(result), n_frames = 0;
	struct saver s = { .out = out, .stacks = result->stacks };
	bool ok;

	pb_secret_make(&s.secret);
	if (s.stacks)
		n_frames = pq_stacks_n_frames(s.stacks);
	s.frames = calloc(n_frames + 1, sizeof(*s.frames));
	ok = s.frames && n_head <= UINT32_MAX && save_value(&s, &text);
	pd_print_char(out, '\t');
	pd_print_uint(out, n);
	for (size_t g = 0; ok && g < n; g++)
		ok = save_group(&s, result, g);
	pd_print_const(out, "\tend\n");
	free(s.known);
	pb_map_deinit(&s.by_value);
	free(s.frames);
	free(s.set);
	free(s.counts);
	return ok;
}
