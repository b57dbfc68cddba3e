/* Comparisons for Lua: how they are made of results. compare_rows.c shows them. */
#include <math.h>
#include <string.h>

#include "binding/functions.h"
#include "compare/binaries.h"
#include "call_tree.h"
#include "compare.h"

struct pl_comparison *pl_check_comparison(lua_State *L)
{
	struct pl_comparison *c = luaL_checkudata(L, 1, PL_COMPARISON);

	luaL_argcheck(L, c->made, 1, "no comparison");
	return c;
}

static int comparison_gc(lua_State *L)
{
	struct pl_comparison *c = luaL_checkudata(L, 1, PL_COMPARISON);

	pc_destroy(c->made);
	c->made = NULL;
	return 0;
}

/* Returns the number in field `name` of the table at `index`; `none` without one. */
static lua_Integer get_integer(lua_State *L, int index, const char *name, lua_Integer none)
{
	lua_Integer value;

	lua_getfield(L, index, name);
	value = luaL_optinteger(L, -1, none);
	lua_pop(L, 1);
	return value;
}

/* Returns the place in field `name` of the table at `index`, from 0 on; PR_NONE: none. */
size_t pl_get_place(lua_State *L, int index, const char *name)
{
	return (size_t)get_integer(L, index, name, 0) - 1;
}

double pl_get_double(lua_State *L, int index, const char *name, double none)
{
	double value;

	lua_getfield(L, index, name);
	value = luaL_optnumber(L, -1, none);
	lua_pop(L, 1);
	return value;
}

/* Returns the place of field `name` of the table at `index` among names. */
int pl_get_option(lua_State *L, int index, const char *name, const char *const names[])
{
	int option;

	lua_getfield(L, index, name);
	option = luaL_checkoption(L, -1, NULL, names);
	lua_pop(L, 1);
	return option;
}

const char *const pl_side_names[] = { "before", "after", NULL };

/* A call of Lua from the core: its arguments, and its result, which slot `kept` keeps. */
struct call {
	lua_State *L;
	int function, kept;
	bool raised; /* its error is on the stack's top */
	size_t key;
	bool is_stack;
	struct pd_text from;
	const struct pq_value *keys; /* [n_keys] */
	size_t n_keys;
	int stacks;
};

static bool call_function(struct call *call, lua_CFunction push, struct pd_text *to)
{
	lua_State *L = call->L;

	lua_pushcfunction(L, push);
	lua_pushlightuserdata(L, call);
	lua_pushvalue(L, call->function);
	lua_pushvalue(L, call->stacks);
	call->raised = lua_pcall(L, 3, 1, 0) != LUA_OK;
	if (call->raised)
		return false;
	lua_replace(L, call->kept);
	to->p = lua_tolstring(L, call->kept, &to->n);
	return true;
}

/* (call, function, stacks) -> text */
static int call_match(lua_State *L)
{
	const struct call *call = lua_touserdata(L, 1);

	lua_pushvalue(L, 2);
	lua_pushlstring(L, call->from.p, call->from.n);
	lua_pushinteger(L, (lua_Integer)call->key + 1);
	lua_pushboolean(L, call->is_stack);
	lua_call(L, 3, 1);
	luaL_checkstring(L, -1);
	return 1;
}

static bool match_text(void *arg, size_t key, bool is_stack, struct pd_text from,
		       struct pd_text *to)
{
	struct call *call = arg;

	call->key = key;
	call->is_stack = is_stack;
	call->from = from;
	return call_function(call, call_match, to);
}

/* (call, function, stacks) -> text */
static int call_path(lua_State *L)
{
	const struct call *call = lua_touserdata(L, 1);

	lua_pushvalue(L, 2);
	lua_createtable(L, (int)call->n_keys, 0);
	for (size_t k = 0; k < call->n_keys; k++) {
		pl_push_cell(L, 3, &call->keys[k]);
		lua_rawseti(L, -2, (lua_Integer)k + 1);
	}
	lua_pushinteger(L, (lua_Integer)call->n_keys);
	lua_call(L, 2, 1);
	luaL_checkstring(L, -1);
	return 1;
}

static bool make_path(void *arg, const struct pq_value *keys, struct pd_text *to)
{
	struct call *call = arg;

	call->keys = keys;
	return call_function(call, call_path, to);
}

/* Raises if something failed. */
static void check_problem(lua_State *L, enum pc_problem problem, const struct call *call)
{
	if (call && call->raised)
		lua_error(L);
	if (problem == PC_BAD_SLICE)
		luaL_error(L, "no such slice");
	if (problem == PC_TOO_HEAVY)
		luaL_error(L, "the weights add up to more than 2^63");
	if (problem != PC_FINE)
		luaL_error(L, "no memory for a comparison");
}

#define MOST_RUNS (1 << 20)

static bool is_comparable(enum pq_measure_kind measure)
{
	return measure == PQ_M_COUNT || measure == PQ_M_SUM || measure == PQ_M_SHARE ||
	       measure == PQ_M_AVG || measure == PQ_M_RATIO || measure == PQ_M_QUANTILE;
}

/* Reads the options at index 1, whose arrays are on the stack. [-0, +2] */
static void read_options(lua_State *L, struct pc_options *options)
{
	static const char *const per[] = { "run", "share", "second", "event", NULL };
	struct pr_shape shape;
	bool *is_matched;

	pl_read_shape(L, 1, &shape);
	luaL_argcheck(L, shape.n_measures == 1, 1, "one measure expected");
	*options = (struct pc_options){ .keys = shape.keys, .n_keys = shape.n_keys };
	options->measure = shape.measures[0];
	options->per = (enum pc_per)pl_get_option(L, 1, "per", per);
	options->quantile = pl_get_double(L, 1, "quantile", 0);
	options->n_runs[PC_BEFORE] = (size_t)get_integer(L, 1, "before", 0);
	options->n_runs[PC_AFTER] = (size_t)get_integer(L, 1, "after", 0);
	options->symbol = pl_get_place(L, 1, "symbol");
	options->binary = pl_get_place(L, 1, "binary");
	luaL_argcheck(L,
		      (options->symbol == PR_NONE || options->symbol < shape.n_keys) &&
			      (options->binary == PR_NONE || options->binary < shape.n_keys),
		      1, "no such key");
	luaL_argcheck(L,
		      options->n_runs[PC_BEFORE] <= MOST_RUNS &&
			      options->n_runs[PC_AFTER] <= MOST_RUNS,
		      1, "too many runs");
	luaL_argcheck(L, is_comparable(shape.measures[0].measure), 1,
		      "values of this measure are not compared");
	options->match = match_text;
	options->are_stacks_matched = pl_get_flag(L, 1, "match_stacks");
	is_matched = lua_newuserdatauv(L, shape.n_keys + 1, 0);
	luaL_argcheck(L, lua_getfield(L, 1, "matched") == LUA_TTABLE, 1, "no `matched`");
	for (size_t k = 0; k < shape.n_keys; k++, lua_pop(L, 1)) {
		lua_rawgeti(L, -1, (lua_Integer)k + 1);
		is_matched[k] = lua_toboolean(L, -1);
	}
	lua_pop(L, 1);
	options->is_matched = is_matched;
}

int pl_comparison(lua_State *L)
{
	struct pc_options options;
	struct pl_stacks *stacks;
	struct pl_comparison *c;

	lua_settop(L, 1);
	read_options(L, &options);
	pl_stacks(L);
	stacks = lua_touserdata(L, -1);
	c = lua_newuserdatauv(L, sizeof(*c), PL_MATCH);
	*c = (struct pl_comparison){ .n_keys = options.n_keys };
	luaL_setmetatable(L, PL_COMPARISON);
	lua_pushvalue(L, -2);
	lua_setiuservalue(L, -2, PL_SHOWN_STACKS);
	lua_getfield(L, 1, "match");
	lua_setiuservalue(L, -2, PL_MATCH);
	c->made = pc_create(&options, stacks->stacks);
	if (!c->made)
		return luaL_error(L, "no memory for a comparison");
	return 1;
}

/* Places on the stack of functions that add results. */
enum {
	AT_COMPARISON = 1,
	AT_RESULT,
	AT_RUN,
	AT_FUNCTION,
	AT_STACKS,
	AT_KEPT,
	AT_EVENTS
};

static void read_slices(lua_State *L, struct pc_run *run)
{
	struct pc_slices *slices = &run->slices;
	int at;

	slices->key = PR_NONE;
	lua_getfield(L, AT_RUN, "slices");
	at = lua_gettop(L);
	if (lua_istable(L, at)) {
		slices->key = pl_get_place(L, at, "key");
		slices->least = get_integer(L, at, "least", 0);
		slices->joined = (uint64_t)get_integer(L, at, "joined", 1);
		slices->n = (size_t)get_integer(L, at, "n", 1);
		slices->offset = (size_t)get_integer(L, at, "offset", 0);
		luaL_argcheck(L,
			      slices->key < run->result->shape.n_keys && slices->joined &&
				      slices->n,
			      AT_RUN, "no slices");
	}
	lua_pop(L, 1);
}

static const struct pc_binaries *get_binaries(lua_State *L, const char *name)
{
	const struct pc_binaries *binaries;

	lua_getfield(L, -1, name);
	binaries = pl_test_binaries(L, -1);
	lua_pop(L, 1);
	return binaries;
}

static void read_naming(lua_State *L, struct pc_run *run)
{
	run->naming.build_id = PR_NONE;
	if (lua_getfield(L, AT_RUN, "naming") == LUA_TTABLE) {
		run->naming.build_id = pl_get_place(L, -1, "build_id");
		run->naming.own = get_binaries(L, "own");
		run->naming.theirs = get_binaries(L, "other");
		luaL_argcheck(L, run->naming.build_id < run->result->shape.n_keys, AT_RUN,
			      "no key of build-ids");
		if (!run->naming.own || !run->naming.theirs)
			run->naming.own = run->naming.theirs = NULL;
	}
	lua_pop(L, 1);
}

/* Reads the sections' events to a userdata at AT_EVENTS. [-0, +1] */
static void read_events(lua_State *L, struct pc_run *run)
{
	uint32_t *events;
	lua_Integer event;

	luaL_argcheck(L, lua_getfield(L, AT_RUN, "events") == LUA_TTABLE, AT_RUN, "no events");
	run->n_events = (size_t)lua_rawlen(L, -1) + 1;
	events = lua_newuserdatauv(L, run->n_events * sizeof(*events), 0);
	for (size_t i = 0; i < run->n_events; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, -2, (lua_Integer)i);
		event = luaL_checkinteger(L, -1);
		luaL_argcheck(L, event >= 0 && event < UINT16_MAX, AT_RUN, "no event");
		events[i] = (uint32_t)event;
	}
	run->events = events;
	lua_remove(L, -2);
}

/* Reads the run at AT_RUN of the result at AT_RESULT. */
static struct pl_comparison *read_run(lua_State *L, struct pc_run *run)
{
	struct pl_comparison *c = pl_check_comparison(L);

	*run = (struct pc_run){ .result = pl_check_result(L, AT_RESULT)->result };
	luaL_checktype(L, AT_RUN, LUA_TTABLE);
	lua_settop(L, AT_RUN);
	lua_getiuservalue(L, AT_COMPARISON, PL_MATCH);
	lua_getiuservalue(L, AT_COMPARISON, PL_SHOWN_STACKS);
	lua_pushnil(L);
	run->side = (enum pc_which)pl_get_option(L, AT_RUN, "side", pl_side_names);
	run->number = pl_get_place(L, AT_RUN, "number");
	run->count = pl_get_place(L, AT_RUN, "count");
	run->seconds = pl_get_double(L, AT_RUN, "seconds", NAN);
	luaL_argcheck(L, pc_has_run(c->made, run->side, run->number), AT_RUN, "no such run");
	run->kernel = pl_get_place(L, AT_RUN, "kernel");
	luaL_argcheck(L,
		      (run->count == PR_NONE || run->count < run->result->shape.n_measures) &&
			      (run->kernel == PR_NONE ||
			       run->kernel < run->result->shape.n_measures),
		      AT_RUN, "no such measure");
	read_slices(L, run);
	return c;
}

int pl_comparison_add(lua_State *L)
{
	struct call call = {
		.L = L, .function = AT_FUNCTION, .kept = AT_KEPT, .stacks = AT_STACKS
	};
	struct pc_run run;
	struct pl_comparison *c = read_run(L, &run);
	size_t before = pc_memory(c->made);
	enum pc_problem problem;

	luaL_argcheck(L, pc_fits(c->made, &run), AT_RESULT, "another shape");
	read_naming(L, &run);
	read_events(L, &run);
	luaL_checkstack(L, 20, "a comparison");
	problem = pc_add(c->made, &run, &call);
	check_problem(L, problem, &call);
	if (pl_get_flag(L, AT_RUN, "is_taken"))
		pl_free_result(L, AT_RESULT);
	pl_account_memory(L, pc_memory(c->made), before);
	if (pl_push_wrong(L, pc_rows(c->made)))
		return 2;
	lua_pushboolean(L, 1);
	return 1;
}

int pl_comparison_divide(lua_State *L)
{
	struct pc_run run;
	struct pl_comparison *c = read_run(L, &run);
	double sum = 0;

	luaL_argcheck(L, run.result->shape.n_measures, AT_RESULT, "no measure");
	luaL_argcheck(L, !pq_measure_row(run.result->shape.measures[0].measure)->last_bucket,
		      AT_RESULT, "no amounts");
	check_problem(L, pc_divide_by(c->made, &run), NULL);
	for (size_t g = 0; g < pr_size(run.result); g++) {
		struct pq_state state;

		pq_groups_state(run.result->groups, g, 0, &state);
		sum += state.value.type == PQ_FLOAT ? state.value.f : (double)state.value.i;
	}
	lua_pushnumber(L, sum);
	return 1;
}

int pl_comparison_divide_by(lua_State *L)
{
	struct pl_comparison *c = pl_check_comparison(L);
	enum pc_which side = (enum pc_which)luaL_checkoption(L, 2, NULL, pl_side_names);
	size_t run = (size_t)luaL_checkinteger(L, 3) - 1;
	lua_Integer event = luaL_checkinteger(L, 4);

	luaL_argcheck(L, pc_has_run(c->made, side, run), 3, "no such run");
	luaL_argcheck(L, event >= 0 && event < UINT16_MAX, 4, "no event");
	check_problem(L,
		      pc_divide_by_sum(c->made, side, run, (uint32_t)event,
				       luaL_checknumber(L, 5), lua_toboolean(L, 6)),
		      NULL);
	return 0;
}

int pl_comparison_stacks(lua_State *L)
{
	enum {
		PATH = 2,
		EVENT,
		OPTIONS,
		SHOWN,
		KEPT
	};
	struct pl_comparison *c = pl_check_comparison(L);
	struct call call = { .L = L, .function = PATH, .stacks = SHOWN, .kept = KEPT };
	lua_Integer event = luaL_checkinteger(L, EVENT);

	luaL_argcheck(L, !pc_tree(c->made), 1, "rows are beginnings of stacks already");
	luaL_argcheck(L, pc_is_judged(c->made), 1, "rows are not judged");
	luaL_checktype(L, PATH, LUA_TFUNCTION);
	luaL_argcheck(L, event >= 0 && event < UINT16_MAX, EVENT, "no event");
	luaL_checktype(L, OPTIONS, LUA_TTABLE);
	lua_settop(L, OPTIONS);
	lua_getiuservalue(L, 1, PL_SHOWN_STACKS);
	lua_pushnil(L);
	luaL_checkstack(L, 20, "a comparison");
	call.n_keys = c->n_keys;
	check_problem(L, pc_add_up_stacks(c->made, make_path, &call), &call);
	c->n_keys = 1;
	pl_draw_below(L, OPTIONS, pc_tree(c->made), pc_event_node(c->made, (uint32_t)event));
	return 1;
}

/* Makes a metatable with a finalizer. */
static void make_metatable(lua_State *L, const char *name, lua_CFunction gc)
{
	luaL_newmetatable(L, name);
	lua_pushcfunction(L, gc);
	lua_setfield(L, -2, "__gc");
	lua_pop(L, 1);
}

void pl_comparison_register(lua_State *L)
{
	make_metatable(L, PL_COMPARISON, comparison_gc);
	make_metatable(L, PL_BINARIES, pl_binaries_gc);
}
