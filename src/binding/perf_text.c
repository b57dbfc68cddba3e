/* The versions of perf whose text can be printed, and how they differ. */
#include <string.h>

#include "functions.h"
#include "perfdata/format/perf_text.h"

#define RECORDED "recorded" /* PD_PERF_RECORDED */

void pl_push_perf(lua_State *L, unsigned perf)
{
	if (perf == PD_PERF_RECORDED)
		lua_pushstring(L, RECORDED);
	else
		lua_pushfstring(L, "%d.%d", (int)(perf >> 16), (int)(perf & 0xffff));
}

bool pl_take_perf(lua_State *L, const char *text, unsigned *perf)
{
	unsigned version = pd_perf_version(text);

	if (strcmp(text, RECORDED) == 0 ||
	    (version >= PD_PERF_OLDEST && version <= PD_PERF_NEWEST)) {
		*perf = version;
		return true;
	}
	pl_push_perf(L, PD_PERF_OLDEST);
	pl_push_perf(L, PD_PERF_NEWEST);
	lua_pushfstring(L,
			version ? "perf %s is not supported: known versions are %s to %s" :
				  "'%s' is not a version of perf: known versions are %s to %s",
			text, lua_tostring(L, -2), lua_tostring(L, -1));
	lua_replace(L, -3);
	lua_pop(L, 1);
	return false;
}

/*
 * core.perf_version(text) -> "6.12" | nil, message; core.perf_version() -> the newest and the
 * oldest known version
 */
int pl_perf_version(lua_State *L)
{
	const char *text = luaL_optstring(L, 1, NULL);
	unsigned perf;

	if (!text) {
		pl_push_perf(L, PD_PERF_NEWEST);
		pl_push_perf(L, PD_PERF_OLDEST);
		return 2;
	}
	if (!pl_take_perf(L, text, &perf)) {
		lua_pushnil(L);
		lua_insert(L, -2);
		return 2;
	}
	pl_push_perf(L, perf);
	return 1;
}

static void push_difference(lua_State *L, const struct pd_perf_difference *d)
{
	lua_createtable(L, 0, 5);
	lua_pushstring(L, d->name);
	lua_setfield(L, -2, "name");
	lua_pushstring(L, d->doc);
	lua_setfield(L, -2, "doc");
	lua_pushboolean(L, d->bit != 0);
	lua_setfield(L, -2, "followed");
	pl_push_perf(L, d->since);
	lua_setfield(L, -2, "since");
	if (d->before <= PD_PERF_NEWEST) {
		pl_push_perf(L, d->before);
		lua_setfield(L, -2, "before");
	}
}

/*
 * core.perf_differences([version]) -> array of {name, doc, since, before, followed}: all
 * differences, or those that hold for a version. `before` is nil if a difference holds for the
 * newest version; `followed` is false if perflua prints another text there.
 */
int pl_perf_differences(lua_State *L)
{
	const char *text = luaL_optstring(L, 1, NULL);
	unsigned perf = 0;
	lua_Integer n = 0;

	if (text && !pl_take_perf(L, text, &perf))
		return luaL_argerror(L, 1, lua_tostring(L, -1));
	lua_newtable(L);
	for (const struct pd_perf_difference *d = pd_perf_differences; d->name; d++) {
		if (perf && (perf < d->since || perf >= d->before))
			continue;
		push_difference(L, d);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}
