/*
 * Distinct items of one size, numbered from 0 on in the order in which they came. Items are
 * compared byte by byte, so they must have no padding.
 */
#ifndef PERFLUA_BASE_SET_H
#define PERFLUA_BASE_SET_H

#include "hash.h"
#include "map.h"

struct pb_set {
	char *items; /* [n] */
	size_t size; /* bytes of an item, a multiple of 4 */
	size_t n, room;
	struct pb_map map; /* numbers of items */
	struct pb_secret secret;
};

void pb_set_init(struct pb_set *set, size_t size);
void pb_set_deinit(struct pb_set *set);

/* Returns the number of an item, which is added if it is new; UINT32_MAX: no memory. */
uint32_t pb_set_add(struct pb_set *set, const void *item);

/* Returns item `number`. It is valid until the next one is added. */
static inline const void *pb_set_at(const struct pb_set *set, uint32_t number)
{
	return set->items + number * set->size;
}

#endif
