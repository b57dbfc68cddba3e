#include "binding/functions.h"
#include "cursor.h"
#include "sqlite/database.h"

/* Places on the stack of pl_sqlite(). */
enum {
	CURSOR_AT = 1,
	PATH_AT,
	OPTIONS_AT,
	MORE_AT,   /* keeps the names of further columns */
	EXPORT_AT, /* a struct export */
};

struct export
{
	struct pl_cursor *cursor; /* whose rows number `chains` */
	struct pt_library library;
	struct pt_columns columns;
	struct pt_database *db;
	struct pq_chains *chains;
};

static void end_export(struct export *export)
{
	/* first: another thread may make rows */
	if (export->cursor)
		pl_cursor_close(export->cursor);
	pt_database_close(export->db);
	pq_chains_destroy(export->chains);
	*export = (struct export){ 0 };
}

static int export_gc(lua_State *L)
{
	end_export(lua_touserdata(L, 1));
	return 0;
}

/* Reads the options that say what is in a row. [-0, +0] */
static void read_database_columns(lua_State *L, const struct pl_cursor *c,
				  struct pt_columns *columns)
{
	static const char *const names[] = {
		[PT_EVENT] = "event",	[PT_TIME] = "time", [PT_CPU] = "cpu",
		[PT_PID] = "pid",	[PT_TID] = "tid",   [PT_COMM] = "comm",
		[PT_PERIOD] = "period", [PT_IP] = "ip",	    [PT_CHAIN] = "chain",
	};
	const char **more;

	columns->n_row = c->n_values;
	columns->n_more = (size_t)luaL_len(L, MORE_AT);
	luaL_argcheck(L, columns->n_more <= c->n_values, OPTIONS_AT,
		      "more columns than values");
	more = lua_newuserdatauv(L, (columns->n_more + 1) * sizeof(*more), 1);
	/* the finalizer needs both */
	lua_pushvalue(L, CURSOR_AT);
	lua_setiuservalue(L, -2, 1);
	lua_setiuservalue(L, EXPORT_AT, 1);
	columns->more = more;
	for (size_t i = 0; i < columns->n_more; i++) {
		lua_rawgeti(L, MORE_AT, (lua_Integer)i + 1);
		more[i] = luaL_checkstring(L, -1);
		lua_pop(L, 1);
	}
	lua_getfield(L, OPTIONS_AT, "at");
	for (size_t i = 0; i < PT_COLUMNS; i++) {
		lua_Integer at = lua_getfield(L, -1, names[i]) ? lua_tointeger(L, -1) : 0;

		columns->at[i] = at > 0 && (size_t)at <= c->n_values ? (size_t)at - 1 :
								       PT_ABSENT;
		lua_pop(L, 1);
	}
	lua_getfield(L, OPTIONS_AT, "most");
	columns->most = (uint64_t)luaL_checkinteger(L, -1);
	lua_pop(L, 2);
}

static void write_notes(lua_State *L, struct pt_database *db)
{
	lua_getfield(L, OPTIONS_AT, "notes");
	for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TTABLE; i++) {
		lua_rawgeti(L, -1, 1);
		lua_rawgeti(L, -2, 2);
		pt_database_note(db, luaL_checkstring(L, -2), luaL_checkstring(L, -1));
		lua_pop(L, 3);
	}
	lua_pop(L, 2);
}

/*
 * Writes all rows. Returns false if the database failed. Raises if the recording cannot be
 * read.
 */
static bool write_rows(lua_State *L, struct export *export)
{
	struct pl_cursor *c = export->cursor;

	pq_rows_number_chains(c->rows, export->columns.at[PT_CHAIN], export->chains);
	while (pl_cursor_rows(L, c, CURSOR_AT)) {
		size_t n = c->left;

		c->left = 0;
		if (!pt_database_add(export->db, c->next, n))
			return false;
	}
	if (pq_chains_size(export->chains) &&
	    pq_chains_kind(export->chains, 0) != PQ_CHAIN_FUNCTIONS)
		luaL_error(L, "invalid query: the call chains are not those of functions");
	return pt_database_finish(export->db, export->chains);
}

int pl_sqlite(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, CURSOR_AT, PL_CURSOR);
	const char *path = luaL_checkstring(L, PATH_AT);
	struct export *export;
	uint64_t aside;
	int n_results;

	luaL_checktype(L, OPTIONS_AT, LUA_TTABLE);
	luaL_argcheck(L, c->rows && !c->has_pairs, CURSOR_AT, "rows expected");
	lua_settop(L, OPTIONS_AT);
	lua_getfield(L, OPTIONS_AT, "more");
	export = pl_push_finalized(L, sizeof(*export), export_gc);
	lua_toclose(L, EXPORT_AT); /* else the file stays locked after an error */
	if (!pt_library_open(&export->library)) {
		lua_pushnil(L);
		lua_pushliteral(L, "libsqlite3 is not installed (Debian: libsqlite3-0)");
		return 2;
	}
	read_database_columns(L, c, &export->columns);
	export->chains = pq_chains_create();
	export->db = export->chains ?
			     pt_database_open(&export->library, path, &export->columns) :
			     NULL;
	if (!export->db)
		return luaL_error(L, "no memory for a database");
	export->cursor = c;
	write_notes(L, export->db);
	if (write_rows(L, export)) {
		lua_pushinteger(L, (lua_Integer)pt_database_rows(export->db, &aside));
		lua_pushinteger(L, (lua_Integer)aside);
	} else {
		lua_pushnil(L);
		lua_pushstring(L, pt_database_error(export->db));
		lua_pushstring(L, pt_database_is_full(export->db) ? "ENOSPC" : "EIO");
	}
	n_results = lua_gettop(L) - EXPORT_AT;
	end_export(export);
	return n_results;
}
