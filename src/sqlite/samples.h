/*
 * The table `samples`, and the sums of its rows. A failure is that of `sql`.
 */
#ifndef PERFLUA_SQLITE_SAMPLES_H
#define PERFLUA_SQLITE_SAMPLES_H

#include "database.h"
#include "names.h"
#include "sums.h"

#define PT_AT_ONCE 64 /* samples that a statement adds: each statement begins with a search */

struct pt_samples {
	struct pt_sql *sql;
	const struct pt_columns *columns;
	struct pt_names *names;
	pt_statement *one, *many; /* adds a sample; adds PT_AT_ONCE of them, NULL: too wide */
	const struct pq_value *waiting[PT_AT_ONCE];
	size_t n_waiting;
	const struct pd_event **events; /* [n_events]: those that were met */
	size_t n_events, events_room;
	struct pt_sums sums;
	uint64_t n_rows, n_aside;
};

/* Creates the table. All that is passed must outlive it. */
void pt_samples_init(struct pt_samples *samples, struct pt_sql *sql,
		     const struct pt_columns *columns, struct pt_names *names);
void pt_samples_deinit(struct pt_samples *samples);

/* Adds rows of values. */
void pt_samples_add(struct pt_samples *samples, const struct pq_value *values, size_t n_rows);

#endif
