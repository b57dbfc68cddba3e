/*
 * The functions of libsqlite3, which is opened at run time where it is installed.
 *
 * Declared as in sqlite3.h, which need not exist at build time: the interface is stable, see
 * https://www.sqlite.org/c3ref/funclist.html.
 */
#ifndef PERFLUA_SQLITE_LIBRARY_H
#define PERFLUA_SQLITE_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#define PT_OK	       0      /* SQLITE_OK */
#define PT_FULL	       13     /* SQLITE_FULL, of any call */
#define PT_DONE	       101    /* SQLITE_DONE, of a step */
#define PT_OPEN_WRITE  0x02   /* SQLITE_OPEN_READWRITE */
#define PT_OPEN_CREATE 0x04   /* SQLITE_OPEN_CREATE */
#define PT_OPEN_ALONE  0x8000 /* SQLITE_OPEN_NOMUTEX: one thread uses the database */

#define PT_COPIED ((void (*)(void *)) - 1) /* SQLITE_TRANSIENT: the library copies the text */

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

#endif
