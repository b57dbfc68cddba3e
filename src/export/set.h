/*
 * Distinct items of one size, numbered from 0 on in the order in which they came. Items are
 * compared byte by byte, so they must have no padding.
 */
#ifndef PERFLUA_EXPORT_SET_H
#define PERFLUA_EXPORT_SET_H

#include "base/hash.h"
#include "base/map.h"

struct pe_set {
	char *items; /* [n] */
	size_t size; /* bytes of an item, a multiple of 4 */
	size_t n, room;
	struct pb_map map; /* numbers of items */
	struct pb_secret secret;
};

#define PE_NONE UINT32_MAX /* number of no item */

void pe_set_init(struct pe_set *set, size_t size);
void pe_set_deinit(struct pe_set *set);

/* Returns the number of an item, which is added if it is new; PE_NONE: no memory. */
uint32_t pe_set_add(struct pe_set *set, const void *item);

/* Returns item `number`. It is valid until the next one is added. */
static inline const void *pe_set_at(const struct pe_set *set, uint32_t number)
{
	return set->items + number * set->size;
}

#endif
