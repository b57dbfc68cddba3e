/*
 * A string pool keeps each distinct string once, at an address that does not change: names of
 * threads, paths. The strings end with a NUL.
 */
#ifndef PERFLUA_MACHINE_STRING_POOL_H
#define PERFLUA_MACHINE_STRING_POOL_H

#include "base/hash.h"
#include "base/map.h"
#include "perfdata/format/text.h"

struct pm_string_pool {
	struct pb_map by_text;	 /* numbers of `texts` */
	struct pb_secret secret; /* secret of the hashes */
	struct pd_text *texts;	 /* [n], by number */
	size_t n, capacity;
};

#define PM_NO_STRING UINT32_MAX

/* Returns the number of a string, which is copied if it is new. PM_NO_STRING: no memory. */
uint32_t pm_string_pool_add(struct pm_string_pool *pool, struct pd_text text);
void pm_string_pool_deinit(struct pm_string_pool *pool);

#endif
