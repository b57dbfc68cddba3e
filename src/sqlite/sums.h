/* The tables `profile` and `totals`: samples added up. A failure is that of `sql`. */
#ifndef PERFLUA_SQLITE_SUMS_H
#define PERFLUA_SQLITE_SUMS_H

#include "base/set.h"
#include "query/query.h"
#include "sql.h"

/* The key of a sum: numbers from 1 on; 0 stands for none. */
struct pt_sum_key {
	uint32_t event, thread, symbol;
	uint32_t stack; /* number of the call chain */
};

struct pt_sum {
	uint64_t samples, period;
};

struct pt_sums {
	struct pb_set keys;  /* of pt_sum_key, in the order in which they were met */
	struct pt_sum *list; /* [keys.n] */
	size_t room;
};

void pt_sums_init(struct pt_sums *sums);
void pt_sums_deinit(struct pt_sums *sums);

/*
 * Adds a sample. Returns false, with the failure noted, without memory or if the sum of its
 * periods is too large for SQLite.
 */
bool pt_sums_add(struct pt_sums *sums, const struct pt_sum_key *key, uint64_t period,
		 struct pt_sql *sql);

/* Writes the table `profile`. */
void pt_sums_write(const struct pt_sums *sums, struct pt_sql *sql);

/*
 * Writes the table `totals`: the sums of each function, by event, without its callees and with
 * them. SQLite would need a recursive query for it, which takes longer than all other queries
 * over a database. `calls` has the nodes of all chains, which have n_frames frames.
 */
void pt_totals_write(const struct pt_sums *sums, const struct pq_call_nodes *calls,
		     uint32_t n_frames, struct pt_sql *sql);

#endif
