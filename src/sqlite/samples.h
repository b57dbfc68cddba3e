/* The table `samples`, and the sums of its rows. A failure is that of `sql`. */
#ifndef PERFLUA_SQLITE_SAMPLES_H
#define PERFLUA_SQLITE_SAMPLES_H

#include "base/map.h"
#include "query/query.h"
#include "database.h"
#include "sql.h"

/* Samples added up, for the tables `profile` and `totals`. */
struct pt_sums {
	struct pb_set keys;  /* in the order in which they were met */
	struct pt_sum *list; /* [keys.n] */
	size_t room;
};

/* Writes the table `profile`. */
void pt_sums_write(const struct pt_sums *sums, struct pt_sql *sql);

/*
 * Writes the table `totals`: the sums of each function, by event, without its callees and with
 * them. SQLite would need a recursive query for it, which takes longer than all other queries
 * over a database. `calls` has the nodes of all chains, which have n_frames frames.
 */
void pt_totals_write(const struct pt_sums *sums, const struct pq_call_nodes *calls,
		     uint32_t n_frames, struct pt_sql *sql);

#define PT_AT_ONCE 64 /* samples that a statement adds: each statement begins with a search */

struct pt_thread {
	int32_t pid, tid; /* -1: it has none */
	uint32_t comm;	  /* number of its name; PM_NO_STRING */
};

struct pt_samples {
	struct pt_sql *sql;
	const struct pt_columns *columns;
	struct pb_set threads;	     /* of pt_thread */
	struct pm_string_pool comms; /* their names */
	pt_statement *insert_one;
	pt_statement *insert_many; /* adds PT_AT_ONCE samples; NULL: too wide */
	const struct pq_value *waiting[PT_AT_ONCE];
	size_t n_waiting;
	const struct pd_event **events; /* [n_events]: those that were met */
	size_t n_events, events_room;
	struct pt_sums sums;
	uint64_t n_rows, n_aside;
};

/* Creates the table. All that is passed must outlive it. */
void pt_samples_init(struct pt_samples *samples, struct pt_sql *sql,
		     const struct pt_columns *columns);
void pt_samples_deinit(struct pt_samples *samples);

/* Adds rows of values. */
void pt_samples_add(struct pt_samples *samples, const struct pq_value *values, size_t n_rows);

#endif
