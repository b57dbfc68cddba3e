#include "sql.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "perfdata/format/print_scalar.h"

#define SQL_OK		0      /* SQLITE_OK */
#define SQL_FULL	13     /* SQLITE_FULL, of any call */
#define SQL_DONE	101    /* SQLITE_DONE, of a step */
#define SQL_OPEN_WRITE	0x02   /* SQLITE_OPEN_READWRITE */
#define SQL_OPEN_CREATE 0x04   /* SQLITE_OPEN_CREATE */
#define SQL_OPEN_ALONE	0x8000 /* SQLITE_OPEN_NOMUTEX: one thread uses the database */

#define SQL_COPIED ((void (*)(void *)) - 1) /* SQLITE_TRANSIENT: the library copies the text */

/* A row of the functions: the place in struct pt_library that keeps it, and its name. */
#define FUNCTION(name)                                              \
	{                                                           \
		offsetof(struct pt_library, name), "sqlite3_" #name \
	}

static const struct {
	size_t at;
	const char *name;
} functions[] = {
	FUNCTION(open_v2),    FUNCTION(close),	    FUNCTION(errmsg),	   FUNCTION(exec),
	FUNCTION(prepare_v2), FUNCTION(finalize),   FUNCTION(step),	   FUNCTION(reset),
	FUNCTION(bind_null),  FUNCTION(bind_int64), FUNCTION(bind_double), FUNCTION(bind_text),
	FUNCTION(errcode),
};

bool pt_library_open(struct pt_library *library)
{
	/* never unloaded: it keeps state of its own for the process */
	void *handle = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	struct pt_library found;

	for (size_t i = 0; handle && i < sizeof(functions) / sizeof(*functions); i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function)
			return false;
		memcpy((char *)&found + functions[i].at, &function, sizeof(function));
	}
	if (handle)
		*library = found;
	return handle;
}

void pt_sql_open(struct pt_sql *sql, const struct pt_library *library, const char *path)
{
	*sql = (struct pt_sql){ .library = library };
	if (library->open_v2(path, &sql->handle,
			     SQL_OPEN_WRITE | SQL_OPEN_CREATE | SQL_OPEN_ALONE, NULL) != SQL_OK)
		pt_sql_fail(sql, NULL);
}

void pt_sql_close(struct pt_sql *sql)
{
	sql->library->close(sql->handle);
	pb_string_deinit(&sql->text);
}

bool pt_sql_fail(struct pt_sql *sql, const char *text)
{
	if (!text && !sql->failed)
		sql->is_full = sql->handle && sql->library->errcode(sql->handle) == SQL_FULL;
	if (!text)
		text = sql->handle ? sql->library->errmsg(sql->handle) : "no memory";
	if (!sql->failed)
		snprintf(sql->error, sizeof(sql->error), "%s", text);
	sql->failed = true;
	return false;
}

bool pt_sql_run(struct pt_sql *sql, const char *text)
{
	return !sql->failed &&
	       (sql->library->exec(sql->handle, text, NULL, NULL, NULL) == SQL_OK ||
		pt_sql_fail(sql, NULL));
}

pt_statement *pt_sql_prepare(struct pt_sql *sql, const char *text)
{
	pt_statement *statement = NULL;

	if (!sql->failed && sql->library->prepare_v2(sql->handle, text, -1, &statement, NULL))
		pt_sql_fail(sql, NULL);
	return statement;
}

bool pt_sql_step(struct pt_sql *sql, pt_statement *statement)
{
	bool ok = sql->library->step(statement) == SQL_DONE;

	if (!ok)
		pt_sql_fail(sql, NULL);
	sql->library->reset(statement);
	return ok;
}

void pt_sql_text(struct pt_sql *sql, pt_statement *statement, int i, struct pd_text text)
{
	struct pd_text valid = text.p ? pd_valid_text(&sql->text, text) : text;

	if (text.p && (!valid.p || valid.n > INT_MAX))
		pt_sql_fail(sql, "no memory");
	else if (valid.p)
		sql->library->bind_text(statement, i, valid.p, (int)valid.n,
					valid.p == text.p ? NULL : SQL_COPIED);
	else
		sql->library->bind_null(statement, i);
}

void pt_sql_number(struct pt_sql *sql, pt_statement *statement, int i, uint32_t number)
{
	if (number)
		sql->library->bind_int64(statement, i, number);
	else
		sql->library->bind_null(statement, i);
}
