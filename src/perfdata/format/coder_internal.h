/* Shared by the files that code values. */
#ifndef PERFLUA_PERFDATA_CODER_INTERNAL_H
#define PERFLUA_PERFDATA_CODER_INTERNAL_H

#include "coder.h"

/* Adds a node to the table that is being described. Returns NULL if the coder has failed. */
struct pd_node *pd_code_add(struct pd_coder *c, const char *key, enum pd_node_kind kind);

/* Takes the member of a tree, or with a key of NULL the next item; NULL: there is none. */
struct pd_node *pd_code_take(struct pd_coder *c, const char *key);

/* Returns how many bytes are left to describe. */
static inline uint32_t pd_code_left(const struct pd_coder *c)
{
	return c->at < c->end ? c->end - c->at : 0;
}

/* Moves over `n` bytes that were described or encoded. */
static inline void pd_code_move(struct pd_coder *c, uint32_t n)
{
	c->at += n;
	if (c->at > c->most)
		c->most = c->at;
}

/*
 * Makes room for `n` bytes at c->at, where gaps are 0, and returns it. NULL: it failed, or
 * there are no bytes.
 */
uint8_t *pd_code_room(struct pd_coder *c, uint32_t n);

#endif
