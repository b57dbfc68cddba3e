/*
 * The functions of libsqlite3, and an open database with its statements of SQL.
 *
 * The library is opened at run time where it is installed. Its functions are declared as in
 * sqlite3.h, which need not exist at build time: the interface is stable, see
 * https://www.sqlite.org/c3ref/funclist.html.
 */
#ifndef PERFLUA_SQLITE_SQL_H
#define PERFLUA_SQLITE_SQL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_builder.h"
#include "perfdata/format/text.h"

typedef struct sqlite3 pt_handle;
typedef struct sqlite3_stmt pt_statement;

struct pt_library {
	int (*open_v2)(const char *path, pt_handle **handle, int flags, const char *vfs);
	int (*close)(pt_handle *handle);
	const char *(*errmsg)(pt_handle *handle);
	int (*errcode)(pt_handle *handle);
	int (*exec)(pt_handle *handle, const char *sql, void *callback, void *arg,
		    char **message);
	int (*prepare_v2)(pt_handle *handle, const char *sql, int size,
			  pt_statement **statement, const char **tail);
	int (*finalize)(pt_statement *statement);
	int (*step)(pt_statement *statement);
	int (*reset)(pt_statement *statement);
	int (*bind_null)(pt_statement *statement, int i);
	int (*bind_int64)(pt_statement *statement, int i, int64_t value);
	int (*bind_double)(pt_statement *statement, int i, double value);
	/* `destroy` is NULL: the text stays as it is until the next step; or PT_COPIED */
	int (*bind_text)(pt_statement *statement, int i, const char *text, int size,
			 void (*destroy)(void *));
};

/* Sets *library. Returns false, with *library unchanged, if libsqlite3 is not installed. */
bool pt_library_open(struct pt_library *library);

/*
 * An open database. Failure stays: `failed` is set, `error` says what was wrong first, and
 * statements that are prepared or run afterwards do nothing.
 */
struct pt_sql {
	const struct pt_library *library;
	pt_handle *handle;
	struct pb_string text; /* room for copies of texts that are not UTF-8 */
	bool failed;
	bool is_full; /* it failed because the device is full */
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
