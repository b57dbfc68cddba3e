/* Results as Lua values: what they consist of. result_view.c and result_groups.c show them. */
#include "result.h"

#include <string.h>

#include "binding/functions.h"
#include "group.h"
#include "result/saved.h"

enum pr_kind pl_to_shown_kind(const char *name)
{
	static const struct {
		const char *name;
		enum pr_kind kind;
	} kinds[] = {
		{ "signed", PR_SIGNED },   { "unsigned", PR_UNSIGNED },
		{ "address", PR_ADDRESS }, { "natural", PR_UNSIGNED },
		{ "bits", PR_UNSIGNED },   { "float", PR_FLOAT },
		{ "percent", PR_PERCENT }, { "string", PR_STRING },
		{ "bytes", PR_STRING },	   { "event", PR_STRING },
		{ "symbol", PR_SYMBOL },   { "boolean", PR_BOOLEAN },
		{ "stack", PR_STACK },	   { "histogram", PR_HISTOGRAM },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].kind;
	return PR_ANY;
}

/* Returns the kind of the table on top. */
static enum pr_kind get_kind(lua_State *L)
{
	enum pr_kind kind;

	lua_getfield(L, -1, "kind");
	kind = pl_to_shown_kind(luaL_optstring(L, -1, ""));
	lua_pop(L, 1);
	return kind;
}

void pl_read_shape(lua_State *L, int index, struct pr_shape *shape)
{
	struct pr_measure *measures;
	struct pr_key *keys;

	luaL_checktype(L, index, LUA_TTABLE);
	luaL_argcheck(L, lua_getfield(L, index, "keys") == LUA_TTABLE, index, "no keys");
	luaL_argcheck(L, lua_getfield(L, index, "measures") == LUA_TTABLE, index,
		      "no measures");
	shape->n_keys = (size_t)lua_rawlen(L, -2);
	shape->n_measures = (size_t)lua_rawlen(L, -1);
	keys = lua_newuserdatauv(L,
				 shape->n_keys * sizeof(*keys) +
					 shape->n_measures * sizeof(*measures) + 1,
				 0);
	measures = (struct pr_measure *)(keys + shape->n_keys);
	for (size_t i = 0; i < shape->n_keys; i++) {
		lua_rawgeti(L, -3, (lua_Integer)i + 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		keys[i] = (struct pr_key){ get_kind(L), pl_get_flag(L, -1, "is_event") };
		lua_pop(L, 1);
	}
	for (size_t i = 0; i < shape->n_measures; i++) {
		lua_rawgeti(L, -2, (lua_Integer)i + 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		measures[i].kind = get_kind(L);
		lua_getfield(L, -1, "measure");
		measures[i].measure = pl_to_measure(L);
		if (measures[i].measure == PQ_M_TIMES)
			luaL_error(L, "no result has times");
		lua_pop(L, 1);
	}
	shape->keys = keys;
	shape->measures = measures;
	lua_replace(L, -3);
	lua_pop(L, 1);
}

const struct pl_result *pl_check_result(lua_State *L, int index)
{
	const struct pl_result *r = luaL_checkudata(L, index, PL_RESULT);

	luaL_argcheck(L, r->result, index, "no result");
	return r;
}

static int result_gc(lua_State *L)
{
	pl_free_result(L, 1);
	return 0;
}

void pl_account_memory(lua_State *L, size_t memory, size_t before)
{
	size_t kilobytes = memory > before ? (memory - before) / 1024 : 0;

	if (kilobytes > 16)
		lua_gc(L, LUA_GCSTEP, kilobytes < 1 << 20 ? (int)kilobytes : 1 << 20);
}

void pl_account_result(lua_State *L, const struct pr_result *result, size_t before)
{
	pl_account_memory(L, pq_groups_memory(result->groups), before);
}

struct pl_result *pl_push_unmade_result(lua_State *L)
{
	struct pl_result *r = lua_newuserdatauv(L, sizeof(*r), 1);

	*r = (struct pl_result){ .stacks = lua_touserdata(L, -2) };
	luaL_setmetatable(L, PL_RESULT);
	lua_insert(L, -2);
	lua_setiuservalue(L, -2, 1);
	return r;
}

void pl_check_made(lua_State *L, const struct pl_result *r)
{
	if (!r->result)
		luaL_error(L, "no memory for a result");
	pl_account_result(L, r->result, 0);
}

void pl_push_result_of(lua_State *L, int shape_at, struct pq_groups **groups, bool has_events,
		       const uint32_t *stack_of)
{
	struct pq_groups *taken = *groups;
	struct pr_shape shape;
	struct pl_result *r;

	shape_at = lua_absindex(L, shape_at);
	luaL_checkstack(L, 10, "result");
	r = pl_push_unmade_result(L);
	pl_read_shape(L, shape_at, &shape);
	luaL_argcheck(L,
		      shape.n_keys == pq_groups_n_keys(taken) - has_events &&
			      shape.n_measures == pq_groups_n_measures(taken),
		      shape_at, "not the shape of the groups");
	*groups = NULL;
	r->result = pr_take(&shape, taken, has_events, stack_of, r->stacks->stacks);
	lua_pop(L, 1);
	pl_check_made(L, r);
}

int pl_result_range(lua_State *L)
{
	const struct pr_result *result = pl_check_result(L, 1)->result;
	lua_Integer k = luaL_checkinteger(L, 2), least = LUA_MAXINTEGER,
		    greatest = LUA_MININTEGER;
	struct pq_value key;

	luaL_argcheck(L, k >= 1 && (size_t)k <= result->shape.n_keys, 2, "no such key");
	for (size_t g = 0; g < pr_size(result); g++) {
		pr_key_value(result, g, (size_t)k - 1, &key);
		if (key.type != PQ_INT)
			return 0;
		least = key.i < least ? key.i : least;
		greatest = key.i > greatest ? key.i : greatest;
	}
	lua_pushinteger(L, least);
	lua_pushinteger(L, greatest);
	return 2;
}

void pl_free_result(lua_State *L, int index)
{
	struct pl_result *r = luaL_checkudata(L, index, PL_RESULT);

	pr_destroy(r->result);
	r->result = NULL;
}

struct pr_result *pl_push_empty_result(lua_State *L, int shape_at)
{
	struct pr_shape shape;
	struct pl_result *r;

	shape_at = lua_absindex(L, shape_at);
	luaL_checkstack(L, 10, "result");
	pl_stacks(L);
	r = pl_push_unmade_result(L);
	pl_read_shape(L, shape_at, &shape);
	r->result = pr_create(&shape, r->stacks->stacks);
	lua_pop(L, 1);
	pl_check_made(L, r);
	return r->result;
}

int pl_result_create(lua_State *L)
{
	lua_settop(L, 1);
	pl_push_empty_result(L, 1);
	return 1;
}

bool pl_push_wrong(lua_State *L, const struct pr_result *result)
{
	enum pq_wrong wrong = pq_groups_wrong(result->groups);

	if (wrong == PQ_RIGHT)
		return false;
	lua_pushnil(L);
	lua_pushstring(L, pl_wrong_name(wrong));
	return true;
}

/* Reads an array of sections at `index`, which may be nil, to a userdata on top. [-0, +1] */
static uint32_t *read_sections(lua_State *L, int index, size_t *n)
{
	uint32_t *sections;

	*n = lua_isnoneornil(L, index) ? 0 : (size_t)lua_rawlen(L, index) + 1;
	sections = lua_newuserdatauv(L, (*n + 1) * sizeof(*sections), 0);
	sections[0] = 0;
	for (size_t i = 1; i < *n; i++) {
		lua_rawgeti(L, index, (lua_Integer)i);
		sections[i] = (uint32_t)lua_tointeger(L, -1);
		lua_pop(L, 1);
	}
	return sections;
}

int pl_result_add(lua_State *L)
{
	const struct pl_result *to = pl_check_result(L, 1), *from = pl_check_result(L, 2);
	size_t n, before = pq_groups_memory(to->result->groups);
	const uint32_t *sections;

	luaL_argcheck(L, to->result->is_open, 1, "a result of a query is constant");
	luaL_argcheck(L,
		      to != from && to->result->shape.n_keys == from->result->shape.n_keys &&
			      to->result->shape.n_measures == from->result->shape.n_measures,
		      2, "another shape");
	lua_settop(L, 3);
	sections = read_sections(L, 3, &n);
	if (!pr_add(to->result, from->result, sections, n, to->stacks->stacks))
		return luaL_error(L, "no memory for a result");
	lua_settop(L, 1);
	pl_account_result(L, to->result, before);
	return pl_push_wrong(L, to->result) ? 2 : 1;
}

int pl_result_places(lua_State *L)
{
	const struct pl_result *r = pl_check_result(L, 1);
	lua_Integer rest = luaL_checkinteger(L, 3);
	uint32_t *places;
	size_t n;

	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 3);
	places = read_sections(L, 2, &n);
	pq_groups_set_sections(r->result->groups, places + 1, n ? n - 1 : 0, (uint32_t)rest);
	return 0;
}

/* A line on its way to the function at index 2. */
struct line {
	lua_State *L;
	const char *p; /* [n]: the text that it is called with */
	size_t n;
	bool raised; /* its error is on the stack's top */
};

static int call_with_text(lua_State *L)
{
	const struct line *line = lua_touserdata(L, 1);

	lua_pushlstring(L, line->p, line->n);
	lua_call(L, 1, 0);
	return 0;
}

static void pass_text(void *arg, const char *p, size_t n)
{
	struct line *line = arg;

	if (!n || line->raised)
		return;
	line->p = p;
	line->n = n;
	lua_pushcfunction(line->L, call_with_text);
	lua_pushlightuserdata(line->L, line);
	lua_pushvalue(line->L, 2);
	line->raised = lua_pcall(line->L, 2, 0, 0) != LUA_OK;
}

int pl_result_save(lua_State *L)
{
	const struct pl_result *r = pl_check_result(L, 1);
	struct line line = { .L = L };
	struct pd_print print;
	const char *head;
	size_t n;
	bool ok;

	luaL_checktype(L, 2, LUA_TFUNCTION);
	head = luaL_checklstring(L, 3, &n);
	luaL_checkstack(L, 10, "a line");
	pd_print_init(&print, pass_text, &line);
	ok = pr_save(&print, r->result, head, n);
	pd_print_flush(&print);
	if (line.raised)
		return lua_error(L);
	return ok ? 0 : luaL_error(L, "no memory to save a result");
}

int pl_result_load(lua_State *L)
{
	enum {
		HEAD = 1,
		BODY,
		AT,
		SHAPE,
		SECTIONS
	};
	struct pr_load_error err = { 0 };
	struct pr_shape shape;
	struct pl_result *r;
	const char *head, *body;
	size_t n_head, n;
	lua_Integer at = luaL_checkinteger(L, AT), n_sections = luaL_checkinteger(L, SECTIONS);

	head = luaL_checklstring(L, HEAD, &n_head);
	body = luaL_checklstring(L, BODY, &n);
	luaL_argcheck(L, at >= 1 && (size_t)at <= n + 1, AT, "no such byte");
	luaL_argcheck(L, n_sections >= 0 && n_sections < INT32_MAX, SECTIONS, "no number");
	lua_settop(L, SECTIONS);
	pl_stacks(L);
	r = pl_push_unmade_result(L);
	pl_read_shape(L, SHAPE, &shape);
	r->result = pr_load(head, n_head, body + at - 1, n - (size_t)at + 1, &shape,
			    r->stacks->stacks, (unsigned)n_sections, &err);
	lua_pop(L, 1);
	if (r->result || !err.expected) {
		pl_check_made(L, r);
		return 1;
	}
	lua_pushnil(L);
	lua_pushinteger(L, at + (lua_Integer)err.at);
	lua_pushstring(L, err.expected);
	return 3;
}

static int result_len(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)pr_size(pl_check_result(L, 1)->result));
	return 1;
}

void pl_result_register(lua_State *L)
{
	static const luaL_Reg result[] = {
		{ "__len", result_len },
		{ "__gc", result_gc },
		{ NULL, NULL },
	};

	luaL_newmetatable(L, PL_RESULT);
	luaL_setfuncs(L, result, 0);
	lua_pop(L, 1);
	pl_result_view_register(L);
	pl_comparison_register(L);
}
