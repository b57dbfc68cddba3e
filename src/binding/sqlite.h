/* Samples as a database, see sqlite/database.h. */
#ifndef PERFLUA_BINDING_SQLITE_H
#define PERFLUA_BINDING_SQLITE_H

#include <lua.h>

/*
 * core.sqlite(cursor, path, options) -> rows, rows set aside | nil, message
 *
 * Writes the rows of a cursor over values to the empty file at `path`. The options: at, the
 * places of the columns of database.h in a row, from 1 on; more, names of further columns;
 * most, the largest period; notes, an array of { name, value }.
 */
int pl_sqlite(lua_State *L);

#endif
