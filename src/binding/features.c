/*
 * file.features: a table that decodes a feature when it is first read.
 */
#include <string.h>

#include "value.h"

struct decode {
	struct pl_file *f;
	struct pd_feature_section section; /* a copy: more may come */
	const struct pd_feature *feature;  /* NULL: unknown, its bytes as they are */
};

/*
 * Pushes the decoded content of a section; nil, and notes damage, if it cannot be decoded.
 * [-0, +1]
 */
static void push_decoded(lua_State *L, const struct decode *d)
{
	struct pd_file *file = d->f->file;
	struct pd_section at = d->section.at;
	struct pd_error err;
	struct pb_cursor c;
	struct pl_sink sink;
	int top = lua_gettop(L);
	uint8_t *bytes;

	if (!d->section.bytes &&
	    (at.offset > file->input.size || at.size > file->input.size - at.offset)) {
		file->complete = false;
		pd_file_damaged(file, at.offset, at.size,
				"feature %s (bit %u): found a section past the end of the file",
				d->feature ? d->feature->name : "unknown", d->section.bit);
		lua_pushnil(L);
		return;
	}
	if (!pd_file_feature_fits(file, &d->section)) {
		lua_pushnil(L);
		return;
	}
	bytes = lua_newuserdatauv(L, (size_t)at.size + 1, 0);
	if (!pd_file_read_feature(file, &d->section, bytes, &err)) {
		pd_file_damaged(file, at.offset, at.size, "%s", err.message);
		lua_pushnil(L);
	} else if (!d->feature) {
		lua_pushlstring(L, (const char *)bytes, (size_t)at.size);
	} else {
		pb_cursor_init(&c, bytes, (size_t)at.size, file->swap);
		pl_sink_init(&sink, L);
		if (!d->feature->decode(&c, &file->context, &sink.sink)) {
			lua_settop(L, top + 1);
			pd_file_damaged(file, at.offset, at.size,
					"feature %s: malformed bytes: %s after %zu of %zu",
					d->feature->name, c.reason ? c.reason : "another value",
					pb_cursor_offset(&c), (size_t)at.size);
			lua_pushnil(L);
		}
	}
	lua_remove(L, top + 1); /* the bytes */
}

/* Pushes the feature of a section, which the table at `features` keeps. [-0, +1] */
static void push_feature(lua_State *L, struct pl_file *f, int features,
			 const struct pd_feature_section *section)
{
	struct decode d = { f, *section, pd_feature_by_bit(section->bit) };

	if (d.feature)
		lua_pushstring(L, d.feature->name);
	else
		lua_pushinteger(L, d.section.bit);
	lua_pushvalue(L, -1);
	if (lua_rawget(L, features) != LUA_TNIL) {
		lua_remove(L, -2);
		return;
	}
	lua_pop(L, 1);
	luaL_checkstack(L, 8, "feature");
	push_decoded(L, &d);
	lua_pushvalue(L, -1);
	lua_insert(L, -3);
	if (d.section.grown) /* more may come */
		lua_pop(L, 2);
	else
		lua_rawset(L, features); /* key, value; the copy below them stays */
	pl_file_report(L, f);
}

static struct pl_file *features_file(lua_State *L)
{
	struct pl_file *f = lua_touserdata(L, lua_upvalueindex(1));

	if (f->closed)
		luaL_error(L, "features of a closed file");
	return f;
}

static int unknown_feature(lua_State *L, const char *name)
{
	struct pl_closest closest;
	size_t n;
	const struct pd_feature *table = pd_feature_table(&n);

	pl_closest_init(&closest, name);
	for (size_t i = 0; i < n; i++)
		pl_closest_try(&closest, table[i].name);
	return pl_closest_raise(L, &closest, "there is no header feature");
}

/* features[name | bit] -> value | nil; upvalue: the File */
static int features_index(lua_State *L)
{
	struct pl_file *f = features_file(L);
	const struct pd_feature_section *section = NULL;

	if (lua_type(L, 2) == LUA_TNUMBER) {
		lua_Integer bit = luaL_checkinteger(L, 2);

		if (bit >= 0 && bit < PD_FEATURES && !pd_feature_by_bit((unsigned)bit))
			section = pd_file_feature(f->file, (unsigned)bit);
	} else {
		const char *name = luaL_checkstring(L, 2);
		const struct pd_feature *feature = pd_feature_by_name(name);

		if (!feature)
			return unknown_feature(L, name);
		section = pd_file_feature(f->file, feature->bit);
	}
	if (section)
		push_feature(L, f, 1, section);
	else
		lua_pushnil(L);
	return 1;
}

/* Upvalues: the File, the features table, position. -> key, value */
static int features_next(lua_State *L)
{
	struct pl_file *f = features_file(L);
	size_t i = (size_t)lua_tointeger(L, lua_upvalueindex(3));

	lua_settop(L, 0);
	lua_pushvalue(L, lua_upvalueindex(2));
	for (; i < f->file->n_features; i++) {
		unsigned bit = f->file->features[i].bit;
		const struct pd_feature *feature = pd_feature_by_bit(bit);

		lua_settop(L, 1);
		push_feature(L, f, 1, &f->file->features[i]);
		if (lua_isnil(L, -1))
			continue;
		lua_pushinteger(L, (lua_Integer)i + 1);
		lua_replace(L, lua_upvalueindex(3));
		if (feature)
			lua_pushstring(L, feature->name);
		else
			lua_pushinteger(L, bit);
		lua_insert(L, -2);
		return 2;
	}
	return 0;
}

/* pairs(features): iterates over those that the file has, by bit */
static int features_pairs(lua_State *L)
{
	features_file(L);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_pushvalue(L, 1);
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, features_next, 3);
	return 1;
}

void pl_push_features(lua_State *L, int file)
{
	file = lua_absindex(L, file);
	if (lua_getiuservalue(L, file, PL_FILE_FEATURES) == LUA_TTABLE)
		return;
	lua_pop(L, 1);
	lua_newtable(L);
	lua_createtable(L, 0, 2);
	lua_pushvalue(L, file);
	lua_pushcclosure(L, features_index, 1);
	lua_setfield(L, -2, "__index");
	lua_pushvalue(L, file);
	lua_pushcclosure(L, features_pairs, 1);
	lua_setfield(L, -2, "__pairs");
	lua_setmetatable(L, -2);
	lua_pushvalue(L, -1);
	lua_setiuservalue(L, file, PL_FILE_FEATURES);
}
