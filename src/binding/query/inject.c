#include "write.h"

#include <stdlib.h>
#include <string.h>

#include "binding/system.h"

static int injecting_gc(lua_State *L)
{
	struct pl_injecting *injecting = lua_touserdata(L, 1);

	pj_destroy(injecting->injector);
	free(injecting->known);
	injecting->injector = NULL;
	injecting->known = NULL;
	return 0;
}

/* Returns the number of the field's value in a list of names, from 1 on; 0: there is none. */
static unsigned read_word(lua_State *L, int options, const char *field,
			  const char *const names[])
{
	unsigned number = 0;

	if (lua_getfield(L, options, field) != LUA_TNIL)
		number = (unsigned)luaL_checkoption(L, -1, NULL, names) + 1;
	lua_pop(L, 1);
	return number;
}

/* Reads the build-ids that the caller knows from the table at `known`. */
static void read_known(lua_State *L, int known, struct pl_injecting *injecting,
		       struct pj_asked *asked)
{
	size_t n = 0, size;

	lua_pushnil(L);
	for (; lua_next(L, known); lua_pop(L, 1))
		n++;
	injecting->known = calloc(n + 1, sizeof(*injecting->known));
	if (!injecting->known)
		luaL_error(L, "no memory to inject");
	lua_pushnil(L);
	for (; lua_next(L, known); lua_pop(L, 1)) {
		struct pj_known *entry = &injecting->known[asked->n_known++];
		const char *bytes = luaL_checklstring(L, -1, &size);

		luaL_argcheck(L, size && size <= PS_MAX_BUILD_ID, known, "not a build-id");
		entry->name = luaL_checkstring(L, -2); /* the table keeps it */
		entry->id.size = (uint8_t)size;
		memcpy(entry->id.bytes, bytes, size);
	}
	asked->known = injecting->known;
}

struct pl_injecting *pl_push_injecting(lua_State *L, struct pl_file *file, int options)
{
	static const char *const which[] = { "hit", "all", NULL };
	static const char *const mappings[] = { "identified", "used", NULL };
	struct pj_asked asked = { .pipe = false };
	struct pl_injecting *injecting;
	int at;

	if (lua_getfield(L, options, "inject") == LUA_TNIL)
		return NULL;
	at = lua_gettop(L);
	asked.ids = (enum pj_which)read_word(L, at, "ids", which);
	asked.mappings = (enum pj_mappings)read_word(L, at, "mappings", mappings);
	asked.pipe = pl_get_flag(L, options, "pipe");
	asked.jit = pl_get_flag(L, at, "jit");
	asked.replaces = pl_get_flag(L, at, "replaces");
	asked.sched_stat = pl_get_flag(L, at, "sched_stat");
	injecting = pl_push_finalized(L, sizeof(*injecting), injecting_gc);
	if (lua_getfield(L, at, "known") == LUA_TTABLE)
		read_known(L, lua_gettop(L), injecting, &asked);
	lua_settop(L, at + 1);
	injecting->injector = pj_create(file->file, pl_system(L, file), &asked);
	if (!injecting->injector)
		luaL_error(L, "no memory to inject");
	lua_replace(L, at);
	return injecting;
}

/* Adds a file and what is wrong with it to the array on top. [-0, +0] */
static void push_problem(lua_State *L, const char *filename, const char *reason, lua_Integer i)
{
	lua_createtable(L, 0, 2);
	pl_set_string(L, "filename", filename);
	pl_set_string(L, "reason", reason);
	lua_rawseti(L, -2, i);
}

void pl_push_injected(lua_State *L, const struct pl_injecting *injecting)
{
	const struct pj_injector *in = injecting->injector;
	lua_Integer n = 0;

	lua_createtable(L, 0, 8);
	pl_set_integer(L, "jitdumps", in->n_dumps);
	pl_set_integer(L, "functions", in->n_functions);
	pl_set_integer(L, "merged", in->n_merged);
	pl_set_integer(L, "build_ids", in->n_added);
	pl_set_integer(L, "mappings", in->n_mapped);
	pl_set_integer(L, "dropped", in->n_dropped);
	lua_newtable(L);
	for (size_t i = 0; i < in->n_binaries; i++)
		if (in->binaries[i].reason)
			push_problem(L, in->binaries[i].dso->name, in->binaries[i].reason, ++n);
	lua_setfield(L, -2, "unidentified");
	lua_newtable(L);
	for (size_t i = 0; i < in->n_failures; i++)
		push_problem(L, in->failures[i].path, in->failures[i].reason,
			     (lua_Integer)i + 1);
	lua_setfield(L, -2, "unread");
}
