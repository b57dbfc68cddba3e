/* The names of a recording, for perflua pack. */
#include "functions.h"
#include "pack/pack.h"
#include "system.h"
#include "value.h"

/*
 * core.collect(file): has the file note what its binaries are asked, for core.pack(); nothing
 * was asked before.
 */
int pl_file_collect(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);

	if (f->system)
		luaL_error(L, "%s: names were looked up already", f->file->path);
	f->symbols.collects = f->symbols.whole_paths = true;
	return 0;
}

static int free_bundle(lua_State *L)
{
	pb_string_deinit(lua_touserdata(L, 1));
	return 0;
}

/* core.has_source(file) -> whether its bundle has code or source text */
int pl_file_has_source(lua_State *L)
{
	const struct pm_system *system = pl_system(L, pl_check_open_file(L, 1));
	const struct ps_store *store = pm_system_store(system, 0);

	lua_pushboolean(L, store && ps_store_has_source(store));
	return 1;
}

/*
 * core.pack(file) -> bundle, { binaries, symbols, lines, functions, texts } | nil, message,
 * code
 */
int pl_file_pack(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	struct pb_string *bundle = pl_push_finalized(L, sizeof(*bundle), free_bundle);
	const struct pm_system *system = pl_system(L, f);
	struct ps_store *store = pm_system_store(system, 0);
	struct pk_summary summary = { 0 };
	const char *reason = "nothing was mapped";

	*bundle = (struct pb_string){ 0 };
	if (!store || !pk_pack(store, bundle, &summary, &reason)) {
		lua_pushnil(L);
		lua_pushstring(L, reason);
		lua_pushstring(L, store ? "ENOMEM" : "ENODATA");
		return 3;
	}
	lua_pushlstring(L, bundle->p, bundle->n);
	pb_string_deinit(bundle);
	lua_newtable(L);
	pl_set_integer(L, "binaries", summary.binaries);
	pl_set_integer(L, "symbols", summary.symbols);
	pl_set_integer(L, "lines", summary.lines);
	pl_set_integer(L, "functions", summary.functions);
	pl_set_integer(L, "texts", summary.texts);
	return 2;
}
