/* The leaves of trees, which are constants and fields, from Lua values. */
#include "trees_internal.h"

#include <string.h>

static const struct kind {
	const char *name;
	enum pq_kind kind;
} kinds[] = {
	{ "any", PQ_K_ANY },	     { "signed", PQ_K_SIGNED },	  { "unsigned", PQ_K_UNSIGNED },
	{ "address", PQ_K_ADDRESS }, { "natural", PQ_K_NATURAL }, { "bits", PQ_K_BITS },
	{ "float", PQ_K_FLOAT },     { "string", PQ_K_STRING },	  { "bytes", PQ_K_STRING },
	{ "boolean", PQ_K_BOOLEAN }, { "event", PQ_K_EVENT },	  { "view", PQ_K_VIEW },
	{ "nil", PQ_K_NIL },	     { "stack", PQ_K_STACK },
};

int pl_no_tree(lua_State *L, const char *what)
{
	return luaL_error(L, "invalid query: %s", what);
}

/* Stores the value on top in `keep`, and pops it. */
static void keep_top(lua_State *L, int keep)
{
	lua_rawseti(L, keep, (lua_Integer)lua_rawlen(L, keep) + 1);
}

void *pl_keep(lua_State *L, int keep, size_t size)
{
	void *p;

	luaL_checkstack(L, 2, "query");
	p = lua_newuserdatauv(L, size ? size : 1, 0);
	keep_top(L, keep);
	return memset(p, 0, size ? size : 1);
}

void *pl_keep_array(lua_State *L, int keep, size_t n, size_t size)
{
	if (n > (size_t)PTRDIFF_MAX / size)
		pl_no_tree(L, "too large");
	return pl_keep(L, keep, n * size);
}

struct pq_value pl_to_constant(lua_State *L, int keep)
{
	struct pq_value v = { .type = PQ_NIL };
	size_t n;

	switch (lua_type(L, -1)) {
	case LUA_TNIL:
		break;
	case LUA_TBOOLEAN:
		v.type = PQ_BOOL;
		v.u = (uint64_t)lua_toboolean(L, -1);
		break;
	case LUA_TNUMBER:
		v.type = lua_isinteger(L, -1) ? PQ_INT : PQ_FLOAT;
		if (v.type == PQ_INT)
			v.i = lua_tointeger(L, -1);
		else
			v.f = lua_tonumber(L, -1);
		break;
	case LUA_TSTRING:
		v.type = PQ_TEXT;
		v.p = lua_tolstring(L, -1, &n);
		if (n > UINT32_MAX)
			pl_no_tree(L, "a text is too long");
		v.size = (uint32_t)n;
		keep_top(L, keep);
		return v;
	default:
		pl_no_tree(L, "a value is not a number, string or boolean");
	}
	lua_pop(L, 1);
	return v;
}

/* Reads the name of a step, which `keep` keeps, and which has no NUL. */
static const char *to_name(lua_State *L, int keep)
{
	size_t n;
	const char *name = lua_tolstring(L, -1, &n);

	if (strlen(name) != n)
		pl_no_tree(L, "a name has a NUL");
	keep_top(L, keep);
	return name;
}

/* Reads the step on top, and pops it. */
static void to_step(lua_State *L, int keep, struct pq_step *step)
{
	if (lua_type(L, -1) == LUA_TSTRING) {
		step->name = to_name(L, keep);
	} else if (lua_isinteger(L, -1)) {
		lua_Integer i = lua_tointeger(L, -1);

		/* no array has an item with such a number */
		step->index = i < 1 || i > UINT32_MAX ? UINT32_MAX : (uint32_t)i;
		lua_pop(L, 1);
	} else {
		pl_no_tree(L, "a step is a name or a position");
	}
}

static unsigned to_field_name(struct pl_tree_maker *m, int index)
{
	unsigned id = 0;

	if (lua_rawgeti(m->L, index, 1) == LUA_TSTRING)
		id = pl_names_find(m->file->names, lua_tostring(m->L, -1));
	if (!id || id >= PL_METHODS)
		pl_no_tree(m->L, "no such field");
	lua_pop(m->L, 1);
	return id;
}

void pl_to_events(lua_State *L, int index, uint8_t *events, size_t n)
{
	index = lua_absindex(L, index);
	for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
		int is_integer;
		lua_Integer i = lua_tointegerx(L, -2, &is_integer);

		if (!is_integer || i < 1 || (lua_Unsigned)i > n)
			luaL_error(L, "no event of that number");
		events[i - 1] = (uint8_t)lua_toboolean(L, -1);
	}
}

struct pd_types pl_to_types(lua_State *L, int index)
{
	struct pd_types types = { 0 };

	index = lua_absindex(L, index);
	for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
		int is_integer;
		lua_Integer type = lua_tointegerx(L, -2, &is_integer);

		if (!is_integer || type < 0 || type > UINT32_MAX)
			luaL_error(L, "no record type of that number");
		pd_types_add(&types, (uint32_t)type);
	}
	return types;
}

/* Reads {[index] = value} on top, and pops it. */
static void to_by_event(struct pl_tree_maker *m, struct pq_field *field)
{
	lua_State *L = m->L;
	size_t n = m->file->session->n_events;
	struct pq_value *values = pl_keep_array(L, m->keep, n, sizeof(*values));

	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		values[i] = pl_to_constant(L, m->keep);
	}
	field->by_event = values;
	field->n_by_event = n;
	lua_pop(L, 1);
}

enum pq_kind pl_to_kind(lua_State *L, int index)
{
	const char *name = lua_getfield(L, index, "kind") == LUA_TSTRING ? lua_tostring(L, -1) :
									   "";

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0) {
			lua_pop(L, 1);
			return kinds[i].kind;
		}
	}
	pl_no_tree(L, "no such kind");
	return PQ_K_ANY;
}

/*
 * Reads the place on top of a field in a row of values, and pops it. Its upper limit is left to
 * the caller that runs the query, which knows the length of rows.
 */
static struct pq_field *row_field(lua_State *L, struct pq_field *field)
{
	lua_Integer row = lua_tointeger(L, -1);

	if (row < 1 || row > PQ_MAX_ROW)
		pl_no_tree(L, "a field is not in the row");
	lua_pop(L, 1);
	field->row = (uint32_t)row;
	return field;
}

const struct pd_view_desc *pl_to_view(lua_State *L, int index)
{
	const struct pd_view_desc *view = NULL;

	if (lua_getfield(L, index, "view") == LUA_TSTRING)
		view = pq_unnest_view(lua_tostring(L, -1));
	if (!view)
		pl_no_tree(L, "no view whose items can be rows");
	lua_pop(L, 1);
	return view;
}

/* Reads the field of an item, by its name on top, and pops it. */
static struct pq_field *item_field(lua_State *L, int index, struct pq_field *field)
{
	const char *name = luaL_checkstring(L, -1);

	field->item = pq_item_member(pl_to_view(L, index), name);
	if (!field->item)
		pl_no_tree(L, "items have no such member");
	lua_pop(L, 1);
	return field;
}

/* Returns the pq_chain_kind that a field's description names; PQ_CHAIN_STACK: it names none. */
static uint8_t to_chain_kind(lua_State *L, int index)
{
	static const char *const names[] = {
		[PQ_CHAIN_STACK] = "names",	[PQ_CHAIN_ANNOTATED] = "annotated",
		[PQ_CHAIN_FRAMES] = "frames",	[PQ_CHAIN_VALUES] = "values",
		[PQ_CHAIN_MAPPED] = "mapped",	[PQ_CHAIN_STARTS] = "starts",
		[PQ_CHAIN_CALLERS] = "callers", [PQ_CHAIN_FUNCTIONS] = "functions",
		[PQ_CHAIN_BINARY] = "binary",	[PQ_CHAIN_BINARIES] = "binaries",
		[PQ_CHAIN_ADDRESS] = "address",
	};
	const uint8_t n = sizeof(names) / sizeof(*names);
	const char *name = lua_getfield(L, index, "chain") ? luaL_checkstring(L, -1) : *names;
	uint8_t kind = 0;

	while (kind < n && strcmp(names[kind], name) != 0)
		kind++;
	if (kind == n)
		pl_no_tree(L, "no such chain");
	lua_pop(L, 1);
	return kind;
}

/* Makes the field that the table at `index` describes. */
static struct pq_field *make_field(struct pl_tree_maker *m, int index)
{
	lua_State *L = m->L;
	size_t n = (size_t)lua_rawlen(L, index);
	struct pq_field *field;

	field = pl_keep(L, m->keep, sizeof(*field));
	if (lua_getfield(L, index, "row") != LUA_TNIL)
		return row_field(L, field);
	lua_pop(L, 1);
	if (!m->file)
		pl_no_tree(L, "a column is a place in a row");
	if (lua_getfield(L, index, "item") != LUA_TNIL)
		return item_field(L, index, field);
	lua_pop(L, 1);
	if (n < 1 || n > PQ_MAX_STEPS + 1)
		pl_no_tree(L, "a field has too many parts, or none");
	field->name = to_field_name(m, index);
	field->n_steps = (unsigned)n - 1;
	for (unsigned i = 0; i < field->n_steps; i++) {
		lua_rawgeti(L, index, i + 2);
		to_step(L, m->keep, &field->steps[i]);
	}
	field->chain_kind = to_chain_kind(L, index);
	if (lua_getfield(L, index, "types") == LUA_TTABLE) {
		struct pd_types *types = pl_keep(L, m->keep, sizeof(*types));

		*types = pl_to_types(L, -1);
		field->types = types;
	}
	lua_pop(L, 1);
	if (lua_getfield(L, index, "kind") != LUA_TNIL)
		field->kind = pl_to_kind(L, index);
	lua_pop(L, 1);
	if (lua_getfield(L, index, "by_event") == LUA_TTABLE)
		to_by_event(m, field);
	else
		lua_pop(L, 1);
	return field;
}

const struct pq_field *pl_to_field(struct pl_tree_maker *m)
{
	lua_State *L = m->L;
	int index = lua_gettop(L);
	struct pq_field *field;

	if (!lua_istable(L, index))
		pl_no_tree(L, "a field is a table");
	lua_pushvalue(L, index);
	if (lua_rawget(L, m->keep) == LUA_TLIGHTUSERDATA) {
		field = lua_touserdata(L, -1);
	} else {
		field = make_field(m, index);
		lua_pushvalue(L, index);
		lua_pushlightuserdata(L, field);
		lua_rawset(L, m->keep);
	}
	lua_settop(L, index - 1);
	return field;
}
