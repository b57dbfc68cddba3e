/* Rows that are worked on in parts, by several threads. */
#ifndef PERFLUA_COMPARE_SHARED_H
#define PERFLUA_COMPARE_SHARED_H

#include "base/helpers.h"

/* Some of the rows: those from number `first` on. */
struct pc_share {
	void *arg;
	size_t number; /* of the part, below PB_ITEMS_MAX; parts depend on the rows alone */
	size_t first, n;
};

/*
 * Calls work() for parts of `n` rows. `worker` tells the threads that call it at the same time
 * apart: 0 to PB_HELPERS_MAX. Returns false without memory, or if work() did.
 */
bool pc_share_rows(size_t n, unsigned workers,
		   bool (*work)(const struct pc_share *share, unsigned worker), void *arg);

#endif
