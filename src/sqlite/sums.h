/* The table `profile`: samples added up by what they have in common. */
#ifndef PERFLUA_SQLITE_SUMS_H
#define PERFLUA_SQLITE_SUMS_H

#include "base/hash.h"
#include "base/map.h"
#include "sql.h"

/* Samples of one event, thread, function and call chain: numbers of these, 0: none. */
struct pt_sum {
	uint32_t event, thread, symbol, stack;
	uint64_t samples, period;
};

/* Zero-initialised but for its secret: empty. */
struct pt_sums {
	struct pb_secret secret;
	struct pt_sum *list; /* [n], in the order in which they were met */
	size_t n, capacity;
	struct pb_map by_key;
};

void pt_sums_deinit(struct pt_sums *sums);

/*
 * Adds to the sum with the same numbers. Returns false, with the failure noted, without memory
 * or if the period is too large for SQLite.
 */
bool pt_sums_add(struct pt_sums *sums, const struct pt_sum *more, struct pt_sql *sql);

/* Writes the table. A failure is that of `sql`. */
void pt_sums_write(const struct pt_sums *sums, struct pt_sql *sql);

#endif
