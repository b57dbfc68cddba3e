/* Tokens of saved results: what saved_values.c reads for saved_read.c. */
#ifndef PERFLUA_RESULT_SAVED_INTERNAL_H
#define PERFLUA_RESULT_SAVED_INTERNAL_H

#include "base/arena.h"
#include "saved.h"

/* Data that a state points to until it is added to its group. */
struct loaded {
	struct pq_sketch sketch;
	struct pq_value *set;
	size_t set_room;
};

/* The state of reading a line. */
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

/* Notes what was expected at an offset. Returns false. */
bool pr_refuse(struct loader *l, size_t at, const char *expected);

/* Sets *token to the next token of the line. */
bool pr_read_token(struct loader *l, const char *expected, struct pd_text *token);

/*
 * Sets *part to the next part of *rest up to a separator, which is skipped; parts without bytes
 * are left out. Returns false if there is none.
 */
bool pr_split_part(struct pd_text *rest, char separator, struct pd_text *part);

/* Sets parts[n] to the parts between separators. Returns false if there are not n. */
bool pr_split_exactly(struct pd_text rest, char separator, struct pd_text *parts, size_t n);

/* Returns true if a text is the digits of an integer, with a - or not. */
bool pr_is_decimal(struct pd_text text);

/* Read a number, and an integer from 0 to 2^63 - 1. Return false if it is none. */
bool pr_parse_number(struct pd_text text, struct pq_value *out);
bool pr_parse_natural(struct pd_text text, uint64_t *out);

/* Adds a text or stack to those that are known by number. Returns false without memory. */
bool pr_add_known(struct loader *l, const struct pq_value *value);

/* Reads the value of a token; refuses what is none. */
bool pr_load_token(struct loader *l, struct pd_text token, struct pq_value *out);

#endif
