#include <string.h>

#include "names.h"
#include "functions.h"

static const char names_key;

static void add_name(lua_State *L, struct pl_names *names, const char *name, unsigned id)
{
	unsigned h;

	lua_pushstring(L, name);
	h = pl_names_hash(lua_topointer(L, -1));
	while (names->slots[h].key)
		h = (h + 1) % PL_NAME_SLOTS;
	names->slots[h] = (struct pl_name){ lua_topointer(L, -1), id };
	/* the table of strings, made below, keeps the string whose address is taken */
	lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* Methods of records, by their ids. */
static const char *const methods[] = { "bytes", "copy", NULL };

int pl_record_methods(lua_State *L)
{
	lua_newtable(L);
	for (unsigned i = 0; methods[i]; i++) {
		lua_pushstring(L, methods[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

const struct pl_names *pl_names_get(lua_State *L)
{
	struct pl_names *names;

	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &names_key) == LUA_TUSERDATA) {
		names = lua_touserdata(L, -1);
		lua_pop(L, 1);
		return names;
	}
	lua_pop(L, 1);
	names = lua_newuserdatauv(L, sizeof(*names), 1);
	memset(names, 0, sizeof(*names));
	pd_field_names_init(&names->names);
	lua_createtable(L, (int)names->names.n, 0);
	for (unsigned id = 1; id <= names->names.n; id++)
		add_name(L, names, names->names.name[id], id);
	for (unsigned i = 0; methods[i]; i++)
		add_name(L, names, methods[i], PL_METHODS + i);
	lua_setiuservalue(L, -2, 1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &names_key);
	return names;
}

/* Returns how many edits turn one name into the other, for short names only. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t n = strlen(b);

	if (n >= 63 || strlen(a) >= 63)
		return 99;
	for (unsigned k = 0; k <= n; k++)
		row[k] = k;
	for (unsigned i = 0; a[i]; i++) {
		unsigned diagonal = row[0];

		row[0] = i + 1;
		for (unsigned k = 0; k < n; k++) {
			unsigned best = diagonal + (a[i] != b[k]);

			diagonal = row[k + 1];
			if (row[k] + 1 < best)
				best = row[k] + 1;
			if (diagonal + 1 < best)
				best = diagonal + 1;
			row[k + 1] = best;
		}
	}
	return row[n];
}

#define SHORT 3 /* letters from which on a name may stand for a longer one */

void pl_closest_init(struct pl_closest *c, const char *name)
{
	c->name = name;
	c->best = c->longer = NULL;
	/*
	 * at most a third of the name, or one edit of a short one: anything further is another
	 * word
	 */
	c->distance = strlen(name) < 3 ? 2 : (unsigned)strlen(name) / 3 + 1;
}

void pl_closest_try(struct pl_closest *c, const char *candidate)
{
	unsigned d = edit_distance(c->name, candidate);
	size_t n = strlen(c->name);

	if (d < c->distance) {
		c->distance = d;
		c->best = candidate;
	} else if (n >= SHORT && strncmp(candidate, c->name, n) == 0 &&
		   (!c->longer || strcmp(candidate, c->longer) < 0)) {
		c->longer = candidate;
	}
}

int pl_closest_raise(lua_State *L, const struct pl_closest *c, const char *message)
{
	const char *best = c->best ? c->best : c->longer;

	if (best)
		return luaL_error(L, "%s '%s'; did you mean '%s'?", message, c->name, best);
	return luaL_error(L, "%s '%s'", message, c->name);
}

int pl_unknown_name(lua_State *L, const struct pl_names *names, const char *name)
{
	struct pl_closest closest;

	pl_closest_init(&closest, name);
	for (unsigned id = 1; id <= names->names.n; id++)
		pl_closest_try(&closest, names->names.name[id]);
	return pl_closest_raise(L, &closest, "no record type has a field");
}
