/* Comparisons for Lua: their rows, judged and shown. */
#include <math.h>
#include <string.h>

#include "binding/functions.h"
#include "binding/handle.h"
#include "compare.h"

int pl_comparison_events(lua_State *L)
{
	const struct pl_comparison *c = pl_check_comparison(L);
	size_t n = pc_n_events(c->made);

	lua_createtable(L, (int)n, 0);
	for (uint32_t e = 0; e < n; e++) {
		struct pc_event_facts facts[PC_SIDES];

		pc_event_facts(c->made, e, facts);
		lua_createtable(L, 0, PC_SIDES);
		for (size_t side = 0; side < PC_SIDES; side++) {
			if (!facts[side].has)
				continue;
			lua_createtable(L, 0, 2);
			if (facts[side].has_samples) {
				pl_set_integer(L, "samples", facts[side].samples);
				pl_set_integer(L, "unnamed", facts[side].unnamed);
			}
			lua_setfield(L, -2, pl_side_names[side]);
		}
		lua_rawseti(L, -2, (lua_Integer)e + 1);
	}
	return 1;
}

static const char *const load_names[] = { [PC_IDLE] = "idle", [PC_LOADED] = "loaded" };

/* Reads how kinds of rows vary from the table in field `priors` of that at index 2. */
static void read_priors(lua_State *L, struct pc_judging *judging)
{
	static const char *const kinds[] = { [PC_PROGRAM] = "program", [PC_KERNEL] = "kernel" };

	luaL_argcheck(L, lua_getfield(L, 2, "priors") == LUA_TTABLE, 2, "no `priors`");
	for (size_t i = 0; i < PC_LOADS * PC_KINDS; i++, lua_pop(L, 2)) {
		struct pc_prior *prior = &judging->priors[i / PC_KINDS][i % PC_KINDS];

		luaL_argcheck(L,
			      lua_getfield(L, -1, load_names[i / PC_KINDS]) == LUA_TTABLE &&
				      lua_getfield(L, -1, kinds[i % PC_KINDS]) == LUA_TTABLE,
			      2, "priors lack a kind");
		prior->dispersion = pl_get_double(L, -1, "dispersion", NAN);
		prior->drift = pl_get_double(L, -1, "drift", NAN);
		prior->freedom = pl_get_double(L, -1, "freedom", NAN);
		luaL_argcheck(L,
			      prior->dispersion >= 1 && prior->drift >= 0 && prior->freedom > 0,
			      2, "no prior");
	}
	lua_pop(L, 1);
}

/* Reads the events that priors hold for, an array at field `sampled`. [-0, +1] */
static void read_sampled(lua_State *L, struct pc_judging *judging)
{
	bool *is_sampled;

	luaL_argcheck(L, lua_getfield(L, 2, "sampled") == LUA_TTABLE, 2, "no `sampled`");
	judging->n_events = (size_t)lua_rawlen(L, -1);
	is_sampled = lua_newuserdatauv(L, judging->n_events + 1, 0);
	for (size_t i = 0; i < judging->n_events; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, -2, (lua_Integer)i + 1);
		is_sampled[i] = lua_toboolean(L, -1);
	}
	lua_remove(L, -2);
	judging->is_sampled = is_sampled;
}

int pl_comparison_judge(lua_State *L)
{
	static const char *const methods[] = { "none", "runs", "slices", "order", NULL };
	struct pl_comparison *c = pl_check_comparison(L);
	struct pq_value only = { .type = PQ_BOOL };
	struct pc_judging judging;
	size_t tested, before = pc_memory(c->made);

	luaL_checktype(L, 2, LUA_TTABLE);
	judging = (struct pc_judging){
		.method = (enum pc_method)pl_get_option(L, 2, "method", methods),
		.confidence = pl_get_double(L, 2, "confidence", 0.95),
		.family = pl_get_place(L, 2, "family"),
		.workers = 1,
	};
	if (lua_getfield(L, 2, "file") != LUA_TNIL)
		judging.workers = pl_threads(pl_check_file(L, -1));
	lua_pop(L, 1);
	luaL_argcheck(L, judging.family == PR_NONE || judging.family < c->n_keys, 2,
		      "no such key");
	if (judging.method != PC_BY_NOTHING) {
		read_priors(L, &judging);
		read_sampled(L, &judging);
	}
	if (lua_getfield(L, 2, "only") == LUA_TBOOLEAN) {
		only.u = (uint64_t)lua_toboolean(L, -1);
		judging.only = &only;
	}
	if (!pc_judge(c->made, &judging, &tested))
		return luaL_error(L, "no memory for a comparison");
	pl_account_memory(L, pc_memory(c->made), before);
	lua_pushinteger(L, (lua_Integer)tested);
	lua_pushstring(L, load_names[pc_load_of(c->made)]);
	return 2;
}

static void set_cell(lua_State *L, const char *name, const struct pq_value *value)
{
	pl_push_cell(L, 0, value);
	lua_setfield(L, -2, name);
}

static void set_double(lua_State *L, const char *name, double value)
{
	if (isnan(value))
		return;
	lua_pushnumber(L, value);
	lua_setfield(L, -2, name);
}

/* Sets field `name` of the table on top to one side of a row. */
static void set_part(lua_State *L, const char *name, const struct pc_part *part)
{
	lua_createtable(L, 0, 4);
	set_cell(L, "value", &part->value);
	set_double(L, "error", part->error);
	pl_set_integer(L, "n", part->n);
	if (part->has_samples)
		pl_set_integer(L, "samples", part->samples);
	lua_setfield(L, -2, name);
}

/* Pushes a row as a table; the stacks are at index 3. [-0, +1] */
static void push_row(lua_State *L, const struct pl_comparison *c, size_t i,
		     const struct pc_row *row)
{
	char words[PC_VERDICT_SIZE];
	struct pq_value key;

	lua_createtable(L, 0, 12);
	pl_set_integer(L, "event", row->event);
	lua_createtable(L, (int)c->n_keys, 0);
	for (size_t k = 0; k < c->n_keys; k++) {
		pc_row_key(c->made, i, k, &key);
		pl_push_cell(L, 3, &key);
		lua_rawseti(L, -2, (lua_Integer)k + 1);
	}
	lua_setfield(L, -2, "keys");
	set_part(L, "before", &row->parts[PC_BEFORE]);
	set_part(L, "after", &row->parts[PC_AFTER]);
	if (row->has_samples)
		pl_set_integer(L, "samples", row->samples);
	set_cell(L, "delta", &row->delta);
	set_double(L, "low", row->low);
	set_double(L, "high", row->high);
	if (row->freedom > 0)
		set_double(L, "freedom", row->freedom);
	set_double(L, "counting", row->counting);
	if (pc_verdict_text(c->made, row, words)) {
		pl_set_string(L, "verdict", pc_verdict_word(c->made, row));
		pl_set_string(L, "words", words);
	}
}

/* Returns the comparison at index 1. Raises if it is none, or is not judged. */
static struct pl_comparison *check_judged(lua_State *L)
{
	struct pl_comparison *c = pl_check_comparison(L);

	luaL_argcheck(L, pc_is_judged(c->made), 1, "rows are not judged");
	return c;
}

int pl_comparison_rows(lua_State *L)
{
	struct pl_comparison *c = check_judged(L);
	const char *wanted = luaL_optstring(L, 2, NULL);
	lua_Integer most = luaL_optinteger(L, 3, LUA_MAXINTEGER), n = 0;
	double least = luaL_optnumber(L, 4, 0);

	lua_settop(L, 2);
	lua_getiuservalue(L, 1, PL_SHOWN_STACKS);
	lua_newtable(L);
	for (size_t i = 0; n < most && i < pc_size(c->made); i++) {
		const struct pc_row *row = pc_row(c->made, i);

		if (!row || (least > 0 && pc_row_weight(row) < least))
			continue;
		if (wanted && strcmp(wanted, pc_verdict_word(c->made, row)) != 0)
			continue;
		push_row(L, c, i, row);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}

int pl_comparison_kinds(lua_State *L)
{
	static const char *const names[] = { [PR_SIGNED] = "signed",
					     [PR_UNSIGNED] = "unsigned",
					     [PR_FLOAT] = "float",
					     [PR_PERCENT] = "percent" };
	const struct pl_comparison *c = check_judged(L);
	struct pc_kinds kinds;

	pc_kinds(c->made, &kinds);
	lua_pushstring(L, names[kinds.value]);
	lua_pushstring(L, names[kinds.delta]);
	lua_pushstring(L, names[kinds.bound]);
	return 3;
}

int pl_comparison_result(lua_State *L)
{
	const struct pl_comparison *c = check_judged(L);
	size_t n = pc_n_events(c->made);
	struct pl_result *r;
	uint32_t *sections;

	luaL_checktype(L, 2, LUA_TTABLE);
	sections = lua_newuserdatauv(L, (n + 1) * sizeof(*sections), 0);
	for (size_t e = 0; e < n; e++, lua_pop(L, 1)) {
		lua_rawgeti(L, 2, (lua_Integer)e + 1);
		sections[e] = (uint32_t)lua_tointeger(L, -1);
	}
	lua_getiuservalue(L, 1, PL_SHOWN_STACKS);
	luaL_checkstack(L, 10, "a result");
	r = pl_push_unmade_result(L);
	r->result = pc_make_result(c->made, sections);
	pl_check_made(L, r);
	return 1;
}
