/* The leaves of trees, which are constants and fields, from Lua values. */
#include "trees.h"

#include <string.h>

#include "calls.h"
#include "scope.h"

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

int pl_refuse_tree(lua_State *L, const char *what)
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
		pl_refuse_tree(L, "too large");
	return pl_keep(L, keep, n * size);
}

struct pq_value pl_to_constant(lua_State *L, int keep)
{
	struct pq_value v = { .type = PQ_NIL };
	size_t n;

	if (pl_to_scalar(L, -1, &v)) {
		lua_pop(L, 1);
		return v;
	}
	if (lua_type(L, -1) != LUA_TSTRING)
		pl_refuse_tree(L, "a value is not a number, string or boolean");
	v.type = PQ_TEXT;
	v.p = lua_tolstring(L, -1, &n);
	if (n > UINT32_MAX)
		pl_refuse_tree(L, "a text is too long");
	v.size = (uint32_t)n;
	keep_top(L, keep);
	return v;
}

enum pq_kind pl_to_kind(lua_State *L, int index, const char *field)
{
	const char *name = lua_getfield(L, index, field) == LUA_TSTRING ? lua_tostring(L, -1) :
									  "";

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0) {
			lua_pop(L, 1);
			return kinds[i].kind;
		}
	}
	pl_refuse_tree(L, "no such kind");
	return PQ_K_ANY;
}

/* Reads the name of a step, which `keep` keeps, and which has no NUL. */
static const char *to_name(lua_State *L, int keep)
{
	size_t n;
	const char *name = lua_tolstring(L, -1, &n);

	if (strlen(name) != n)
		pl_refuse_tree(L, "a name has a NUL");
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
		pl_refuse_tree(L, "a step is a name or a position");
	}
}

static unsigned to_field_name(struct pl_tree_reader *r, int path)
{
	unsigned id;

	lua_rawgeti(r->L, path, 1);
	id = pl_names_find(r->L, r->file->names, -1);
	if (!id || id >= PL_METHODS)
		pl_refuse_tree(r->L, "no such field");
	lua_pop(r->L, 1);
	return id;
}

/* Reads {[index] = value} on top. */
static void to_by_event(struct pl_tree_reader *r, struct pq_field *field)
{
	lua_State *L = r->L;
	size_t n = r->file->session->n_events;
	struct pq_value *values = pl_keep_array(L, r->keep, n, sizeof(*values));

	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		values[i] = pl_to_constant(L, r->keep);
	}
	field->by_event = values;
	field->n_by_event = n;
}

/*
 * Reads the place on top of a field in a row of values, and pops it. Its upper limit is left to
 * the caller that runs the query, which knows the length of rows.
 */
static struct pq_field *row_field(lua_State *L, struct pq_field *field)
{
	lua_Integer row = lua_tointeger(L, -1);

	if (row < 1 || row > PQ_MAX_ROW)
		pl_refuse_tree(L, "a field is not in the row");
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
		pl_refuse_tree(L, "no view whose items can be rows");
	lua_pop(L, 1);
	return view;
}

/* Reads the field of an item, by its name on top, and pops it. */
static struct pq_field *item_field(lua_State *L, int index, struct pq_field *field)
{
	const char *name = luaL_checkstring(L, -1);

	field->item = pq_item_member(pl_to_view(L, index), name);
	if (!field->item)
		pl_refuse_tree(L, "items have no such member");
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
		[PQ_CHAIN_CALLERS] = "callers", [PQ_CHAIN_INLINED] = "inlined",
		[PQ_CHAIN_UNWOUND] = "unwound", [PQ_CHAIN_FUNCTIONS] = "functions",
		[PQ_CHAIN_BINARY] = "binary",	[PQ_CHAIN_BINARIES] = "binaries",
		[PQ_CHAIN_ADDRESS] = "address", [PQ_CHAIN_EXACT] = "exact",
	};
	const uint8_t n = sizeof(names) / sizeof(*names);
	const char *name = lua_getfield(L, index, "chain") ? luaL_checkstring(L, -1) : *names;
	uint8_t kind = 0;

	while (kind < n && strcmp(names[kind], name) != 0)
		kind++;
	if (kind == n)
		pl_refuse_tree(L, "no such chain");
	lua_pop(L, 1);
	return kind;
}

/* Reads the name and the steps of the path on top. */
static void to_path(struct pl_tree_reader *r, struct pq_field *field)
{
	lua_State *L = r->L;
	int path = lua_gettop(L);
	size_t n = lua_istable(L, path) ? (size_t)lua_rawlen(L, path) : 0;

	if (n < 1 || n > PQ_MAX_STEPS + 1)
		pl_refuse_tree(L, "a field has too many parts, or none");
	field->name = to_field_name(r, path);
	field->n_steps = (unsigned)n - 1;
	for (unsigned i = 0; i < field->n_steps; i++) {
		lua_rawgeti(L, path, i + 2);
		to_step(L, r->keep, &field->steps[i]);
	}
}

/* Makes the field that the Ref at `index` stands for. */
static struct pq_field *make_field(struct pl_tree_reader *r, int index)
{
	lua_State *L = r->L;
	struct pq_field *field = pl_keep(L, r->keep, sizeof(*field));

	if (lua_getfield(L, index, "row") != LUA_TNIL)
		return row_field(L, field);
	lua_pop(L, 1);
	if (!r->file)
		pl_refuse_tree(L, "a column is a place in a row");
	if (lua_getfield(L, index, "item") != LUA_TNIL)
		return item_field(L, index, field);
	if (lua_getfield(L, index, "by_event") == LUA_TTABLE)
		to_by_event(r, field);
	lua_getfield(L, index, "path");
	to_path(r, field);
	field->chain_kind = to_chain_kind(L, index);
	if (lua_getfield(L, index, "types") == LUA_TTABLE) {
		struct pd_types *types = pl_keep(L, r->keep, sizeof(*types));

		*types = pl_to_types(L, -1);
		field->types = types;
	}
	if (lua_getfield(L, index, "checks") != LUA_TNIL)
		field->kind = pl_to_kind(L, index, "checks");
	lua_pop(L, 4);
	return field;
}

const struct pq_field *pl_to_field(struct pl_tree_reader *r)
{
	lua_State *L = r->L;
	int index = lua_gettop(L);
	struct pq_field *field;

	if (!lua_istable(L, index))
		pl_refuse_tree(L, "a field has no Ref");
	lua_pushvalue(L, index);
	if (lua_rawget(L, r->keep) == LUA_TLIGHTUSERDATA) {
		field = lua_touserdata(L, -1);
	} else {
		field = make_field(r, index);
		lua_pushvalue(L, index);
		lua_pushlightuserdata(L, field);
		lua_rawset(L, r->keep);
	}
	lua_settop(L, index - 1);
	return field;
}
