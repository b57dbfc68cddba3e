/*
 * Views of parts of a record (call chain, registers …) and their items. A view keeps its record
 * and decodes an item when it is asked for.
 */
#include <string.h>

#include "system.h"
#include "value.h"
#include "functions.h"
#include "perfdata/format/views.h"

/* A view. Its user value 1 is the Record. */
struct pl_view {
	struct pd_view view;
	struct pl_record *record;
	uint32_t generation; /* generation of the record when this was made */
	struct pd_frame
		frames[]; /* view.frames, of call chains that are not as they were recorded */
};

/* An item. Its user value 1 is the view. */
struct pl_item {
	struct pl_view *of;
	uint32_t index;
};

/*
 * Raises if the view's record was closed, or has been reused for another one. Returns the view.
 */
static struct pl_view *check_live(lua_State *L, struct pl_view *v)
{
	if (!pl_readable(v->record))
		luaL_error(L, "part of a record of a closed file");
	if (v->generation != v->record->generation)
		luaL_error(L, "part of a record that was reused: copy() the record to "
			      "keep it");
	return v;
}

static struct pl_view *check_view(lua_State *L, int index)
{
	return check_live(L, luaL_checkudata(L, index, PL_VIEW));
}

void pl_push_list(lua_State *L, int record, const struct pd_view *view)
{
	const struct pl_record *r = lua_touserdata(L, record);
	uint32_t generation = r->generation;
	struct pd_value value;

	/*
	 * items that are not part of a record need no memory, and the table has room for all:
	 * nothing is allocated from here on
	 */
	lua_createtable(L, (int)view->count, 0);
	if (r->generation != generation)
		luaL_error(L, "a finalizer reused a record while it was read");
	for (uint32_t i = 0; i < view->count; i++) {
		view->desc->item(view, i, 0, &value);
		lua_pushinteger(L, value.i);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

void pl_push_view(lua_State *L, int record, const struct pd_view *view)
{
	struct pl_record *r = lua_touserdata(L, record);
	uint32_t generation =
		r->generation; /* as decoded: a step of the collector may reuse it */
	const struct pd_frame *frames = NULL;
	size_t n = 0;
	struct pl_view *v;

	record = lua_absindex(L, record);
	if (view->desc == &pd_view_args) {
		luaL_getmetatable(L, PL_ARGS);
		pl_push_args(L, r, record, lua_gettop(L));
		lua_remove(L, -2);
		return;
	}
	if (view->desc == &pd_view_callchain && pm_frames_may_differ(&r->rec))
		frames = pl_frames(L, r->file, &r->rec, &n);
	pl_system_hold(r->file); /* has the frames */
	v = lua_newuserdatauv(L, sizeof(*v) + n * sizeof(*frames), 1);
	v->view = *view;
	v->view.rec = &r->rec;
	if (frames) {
		v->view.frames = memcpy(v->frames, frames, n * sizeof(*frames));
		v->view.count = (uint32_t)n;
	}
	pl_system_let_go(r->file);
	v->record = r;
	v->generation = generation;
	luaL_setmetatable(L, PL_VIEW);
	lua_pushvalue(L, record);
	lua_setiuservalue(L, -2, 1);
}

/*
 * Pushes a value of the view at `index` of the stack, whose record owns nested views. [-0, +1]
 */
static void push_of(lua_State *L, int index, const struct pd_value *value)
{
	index = lua_absindex(L, index);
	lua_getiuservalue(L, index, 1);
	pl_push_value(L, lua_gettop(L), value);
	lua_remove(L, -2);
}

static int find_view_member(const struct pd_member *members, const char *name)
{
	for (int m = 0; members && members[m].name; m++)
		if (strcmp(members[m].name, name) == 0)
			return m;
	return -1;
}

static void push_item(lua_State *L, int index, struct pl_view *v, uint32_t i)
{
	struct pl_item *item;
	struct pd_value value = { .type = PD_NIL };

	if (!v->view.desc->items) {
		v->view.desc->item(&v->view, i, 0, &value);
		push_of(L, index, &value);
		return;
	}
	index = lua_absindex(L, index);
	item = lua_newuserdatauv(L, sizeof(*item), 1);
	item->of = v;
	item->index = i;
	luaL_setmetatable(L, PL_ITEM);
	lua_pushvalue(L, index);
	lua_setiuservalue(L, -2, 1);
}

static int unknown_member(lua_State *L, const char *what, const struct pd_member *members,
			  const char *name)
{
	struct pl_closest closest;

	pl_closest_init(&closest, name);
	for (; members && members->name; members++)
		pl_closest_try(&closest, members->name);
	return pl_closest_raise(L, &closest, lua_pushfstring(L, "%s has no field", what));
}

/* view[i] | view.name -> value, item | nil */
static int view_index(lua_State *L)
{
	struct pl_view *v = check_view(L, 1);
	const struct pd_view_desc *desc = v->view.desc;
	struct pd_value value = { .type = PD_NIL };
	const char *name;
	int m;

	if (lua_type(L, 2) == LUA_TNUMBER) {
		lua_Integer i = lua_tointeger(L, 2); /* 0 for no integer */

		if (desc->key || i < 1 || (lua_Unsigned)i > v->view.count)
			lua_pushnil(L);
		else
			push_item(L, 1, v, (uint32_t)i - 1);
		return 1;
	}
	name = luaL_checkstring(L, 2);
	m = find_view_member(desc->members, name);
	if (m >= 0) {
		desc->member(&v->view, (unsigned)m, &value);
		push_of(L, 1, &value);
		return 1;
	}
	for (uint32_t i = 0; desc->key && i < v->view.count; i++) {
		if (strcmp(desc->key(&v->view, i), name) == 0) {
			push_item(L, 1, v, i);
			return 1;
		}
	}
	if (!desc->key)
		return unknown_member(L, desc->name, desc->members, name);
	lua_pushnil(L); /* a register that was not recorded */
	return 1;
}

static int view_len(lua_State *L)
{
	struct pl_view *v = check_view(L, 1);

	lua_pushinteger(L, v->view.count);
	return 1;
}

static unsigned member_count(const struct pd_member *members)
{
	unsigned n = 0;

	while (members && members[n].name)
		n++;
	return n;
}

/* Steps through the members, then the items. Upvalues: view, position. -> key, value */
static int view_next(lua_State *L)
{
	struct pl_view *v;
	const struct pd_view_desc *desc;
	lua_Unsigned at = (lua_Unsigned)lua_tointeger(L, lua_upvalueindex(2));
	const char *name;
	unsigned n;

	lua_settop(L, 0);
	lua_pushvalue(L, lua_upvalueindex(1));
	v = check_view(L, 1);
	desc = v->view.desc;
	n = member_count(desc->members);
	for (; at < n; at++) {
		struct pd_value value = { .type = PD_NIL };

		desc->member(&v->view, (unsigned)at, &value);
		if (value.type == PD_NIL)
			continue;
		push_of(L, 1, &value);
		if (lua_isnil(L, -1)) {
			lua_pop(L, 1); /* the recorded system does not know it */
			continue;
		}
		lua_pushstring(L, desc->members[at].name);
		break;
	}
	if (at >= n) {
		if (at - n >= v->view.count)
			return 0;
		name = desc->key ? desc->key(&v->view, (uint32_t)(at - n)) : NULL;
		push_item(L, 1, v, (uint32_t)(at - n));
		if (name)
			lua_pushstring(L, name);
		else
			lua_pushinteger(L, (lua_Integer)(at - n) + 1);
	}
	lua_insert(L, -2);
	lua_pushinteger(L, (lua_Integer)at + 1);
	lua_replace(L, lua_upvalueindex(2));
	return 2;
}

static int view_pairs(lua_State *L)
{
	check_view(L, 1);
	lua_pushvalue(L, 1);
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, view_next, 2);
	return 1;
}

static int view_tostring(lua_State *L)
{
	struct pl_view *v = check_view(L, 1);
	char text[512];

	if (v->view.desc->print) {
		v->view.desc->print(&v->view, text, sizeof(text));
		lua_pushstring(L, text);
	} else {
		lua_pushfstring(L, "%s (%d)", v->view.desc->name, (int)v->view.count);
	}
	return 1;
}

static struct pl_item *check_item(lua_State *L, int index)
{
	struct pl_item *item = luaL_checkudata(L, index, PL_ITEM);

	check_live(L, item->of);
	return item;
}

/* Pushes member m of the item at `index` of the stack. [-0, +1] */
static void push_item_member(lua_State *L, int index, const struct pd_value *value)
{
	lua_getiuservalue(L, index, 1);
	push_of(L, -1, value);
	lua_remove(L, -2);
}

/* item.name -> value | nil */
static int item_index(lua_State *L)
{
	struct pl_item *item = check_item(L, 1);
	const struct pd_view_desc *desc = item->of->view.desc;
	struct pd_value value = { .type = PD_NIL };
	const char *name = luaL_checkstring(L, 2);
	int m = find_view_member(desc->items, name);

	if (m < 0)
		return unknown_member(L, lua_pushfstring(L, "an item of %s", desc->name),
				      desc->items, name);
	desc->item(&item->of->view, item->index, (unsigned)m, &value);
	push_item_member(L, 1, &value);
	return 1;
}

/* next(item, name | nil) -> name, value */
static int item_next(lua_State *L)
{
	struct pl_item *item = check_item(L, 1);
	const struct pd_view_desc *desc = item->of->view.desc;
	int m = -1;

	if (!lua_isnoneornil(L, 2)) {
		m = find_view_member(desc->items, luaL_checkstring(L, 2));
		if (m < 0)
			return 0;
	}
	for (m++; desc->items[m].name; m++) {
		struct pd_value value = { .type = PD_NIL };

		desc->item(&item->of->view, item->index, (unsigned)m, &value);
		if (value.type == PD_NIL)
			continue;
		push_item_member(L, 1, &value);
		if (lua_isnil(L, -1)) {
			lua_pop(L, 1);
			continue;
		}
		lua_pushstring(L, desc->items[m].name);
		lua_insert(L, -2);
		return 2;
	}
	lua_pushnil(L);
	return 1;
}

static int item_pairs(lua_State *L)
{
	check_item(L, 1);
	lua_pushcfunction(L, item_next);
	lua_pushvalue(L, 1);
	lua_pushnil(L);
	return 3;
}

void pl_view_register(lua_State *L)
{
	static const luaL_Reg view[] = {
		{ "__index", view_index },
		{ "__len", view_len },
		{ "__pairs", view_pairs },
		{ "__tostring", view_tostring },
		{ NULL, NULL },
	};
	static const luaL_Reg item[] = {
		{ "__index", item_index },
		{ "__pairs", item_pairs },
		{ NULL, NULL },
	};

	luaL_newmetatable(L, PL_VIEW);
	luaL_setfuncs(L, view, 0);
	luaL_newmetatable(L, PL_ITEM);
	luaL_setfuncs(L, item, 0);
	lua_pop(L, 2);
}
