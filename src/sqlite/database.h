/*
 * A database of samples, a file of SQLite: a row for each sample, and tables of what samples
 * have in common, see database.c.
 *
 *	struct pt_database *db = pt_database_open(&library, path, &columns);
 *
 *	while (…)
 *		pt_database_add(db, values, n_rows);
 *	pt_database_finish(db, chains);
 *
 * Failure stays: what follows it does nothing, and pt_database_error() says what was wrong.
 */
#ifndef PERFLUA_SQLITE_DATABASE_H
#define PERFLUA_SQLITE_DATABASE_H

#include "sql.h"
#include "query/query.h"

/* The values of a row that the tables are made of. */
enum pt_column {
	PT_EVENT,
	PT_TIME,
	PT_CPU,
	PT_PID,
	PT_TID,
	PT_COMM,
	PT_PERIOD,
	PT_IP,
	PT_CHAIN, /* its number among chains of PQ_CHAIN_FUNCTIONS */
	PT_COLUMNS,
};

#define PT_ABSENT SIZE_MAX

struct pt_columns {
	size_t n_row;		 /* values of a row */
	size_t at[PT_COLUMNS];	 /* their places in a row; PT_ABSENT: it has none */
	const char *const *more; /* [n_more]: names of further columns, the last of a row */
	size_t n_more;
	uint64_t most; /* rows with a larger period are set aside */
};

struct pt_database;

/*
 * Creates the tables in an empty file. *library and *columns must outlive the database. Returns
 * NULL without memory.
 */
struct pt_database *pt_database_open(const struct pt_library *library, const char *path,
				     const struct pt_columns *columns);

/* Closes the file. What was not finished is lost. */
void pt_database_close(struct pt_database *db);

/* Adds a fact about the recording to the table `recording`. */
void pt_database_note(struct pt_database *db, const char *name, const char *value);

/* Adds rows. Returns false if that failed. */
bool pt_database_add(struct pt_database *db, const struct pq_value *values, size_t n_rows);

/*
 * Adds what the rows have in common, of which chains that they have as numbers, then indexes
 * and views. Returns false if that, or anything before, failed.
 */
bool pt_database_finish(struct pt_database *db, const struct pq_chains *chains);

/* Returns how many rows were added, and how many were set aside. */
uint64_t pt_database_rows(const struct pt_database *db, uint64_t *set_aside);

/* Returns what failed; valid until the database is closed. */
const char *pt_database_error(const struct pt_database *db);

/* Returns true if the error is that the device is full. */
bool pt_database_is_full(const struct pt_database *db);

#endif
