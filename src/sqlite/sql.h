/*
 * An open database, and statements of SQL.
 *
 * Failure stays: `failed` is set, `error` says what was wrong first, and statements that are
 * prepared or run afterwards do nothing.
 */
#ifndef PERFLUA_SQLITE_SQL_H
#define PERFLUA_SQLITE_SQL_H

#include "base/string_builder.h"
#include "library.h"
#include "perfdata/format/text.h"

struct pt_sql {
	const struct pt_library *library;
	pt_handle *handle;
	struct pb_string text; /* for copies of texts that are not UTF-8 */
	bool failed, is_full;  /* because the device is full */
	char error[256];
};

/* Opens the database at `path`; pt_sql_close() is needed also if that fails. */
void pt_sql_open(struct pt_sql *sql, const struct pt_library *library, const char *path);
void pt_sql_close(struct pt_sql *sql);

/* Notes what is wrong: `text`, or if that is NULL what the library says. Returns false. */
bool pt_sql_fail(struct pt_sql *sql, const char *text);

/* Runs statements without values. Returns false if one fails. */
bool pt_sql_run(struct pt_sql *sql, const char *text);

/* Returns a statement, to be finalized; NULL: it cannot be prepared. */
pt_statement *pt_sql_prepare(struct pt_sql *sql, const char *text);

/*
 * Bind value i of a statement, from 1 on: a text, NULL if its p is, which must stay until the
 * next step and whose bytes that are not UTF-8 become U+FFFD; a number, NULL if it is 0.
 */
void pt_sql_text(struct pt_sql *sql, pt_statement *statement, int i, struct pd_text text);
void pt_sql_number(struct pt_sql *sql, pt_statement *statement, int i, uint32_t number);

/* Runs a statement with the values that are bound. Returns false if that fails. */
bool pt_sql_step(struct pt_sql *sql, pt_statement *statement);

#endif
