/* Rows that are worked on in parts, by several threads. */
#ifndef PERFLUA_COMPARE_SHARED_H
#define PERFLUA_COMPARE_SHARED_H

#include "base/helpers.h"

/* A part of the rows: `n` of them, from number `first` on. */
struct pc_share {
	void *arg;
	size_t number; /* of the part, below PB_ITEMS_MAX */
	size_t first, n;
};

/*
 * Calls work() for each part of `n` rows; how they are divided depends on `n` alone. `worker`,
 * from 0 to PB_HELPERS_MAX, is another one in each thread that calls it. Returns false without
 * memory, or if work() did.
 */
bool pc_share_rows(size_t n, unsigned workers,
		   bool (*work)(const struct pc_share *share, unsigned worker), void *arg);

#endif
