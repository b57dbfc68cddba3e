/* Texts of functions, for a column of core.report_lines(): see script/report.h. */
#include "binding/functions.h"
#include "report.h"

#define PL_LABELS "perflua.labels"

/* Places on the stack of pl_labels(), and how many strings a label has. */
enum {
	LIST_AT = 1,
	NONE_AT,
	LABELS_AT,
	PARTS = 3
};

/* Returns string `i` of the list, which keeps it. */
static struct pd_text get_text(lua_State *L, lua_Integer i)
{
	struct pd_text text;

	lua_rawgeti(L, LIST_AT, i);
	text.p = luaL_checklstring(L, -1, &text.n);
	lua_pop(L, 1);
	return text;
}

int pl_labels(lua_State *L)
{
	struct px_labels *labels;
	size_t n;

	luaL_checktype(L, LIST_AT, LUA_TTABLE);
	n = (size_t)lua_rawlen(L, LIST_AT) / PARTS;
	luaL_checkstring(L, NONE_AT);
	lua_settop(L, NONE_AT);
	labels = lua_newuserdatauv(L, sizeof(*labels) + n * sizeof(labels->list[0]), 2);
	labels->none.p = lua_tolstring(L, NONE_AT, &labels->none.n);
	labels->n = n;
	for (size_t i = 0; i < n; i++) {
		lua_Integer at = (lua_Integer)(PARTS * i) + 1;

		labels->list[i] = (struct px_label){ get_text(L, at), get_text(L, at + 1),
						     get_text(L, at + 2) };
	}
	px_labels_sort(labels);
	for (int i = LIST_AT; i <= NONE_AT; i++) {
		lua_pushvalue(L, i);
		lua_setiuservalue(L, LABELS_AT, i);
	}
	luaL_newmetatable(L, PL_LABELS);
	lua_setmetatable(L, LABELS_AT);
	return 1;
}

const struct px_labels *pl_check_labels(lua_State *L, int index)
{
	return luaL_checkudata(L, index, PL_LABELS);
}
