/*
 * Groups by address as functions, whose code is shown beside their samples.
 *
 * The option is functions = true: the keys are the event and a call chain of PQ_CHAIN_ADDRESS,
 * and the measures a count and, or not, a sum. The result is empty. A second result is a table
 * of functions, in which `i` is the number of a function:
 *
 * - list() -> { { symbol, dso, machine, start, address, size, hits } … }, { [event] =
 *   { samples, period } }: all functions, and the totals of events. hits is { { address,
 *   event, samples, period } … }. `start` and the addresses of hits are of the binary,
 *   `address` is where the function was. `machine` is the number of the first recording of
 *   the machine that has the binary. Events are indexes.
 * - binary(i) -> its row of file:binaries()
 * - code(i [, { bytes, machine, is_64, is_big }, { offset, bytes … }]) -> Code | nil, reason,
 *   path | nil: of these bytes, or of those of its file, with changes: see code.c
 * - lines(i, address) -> { { symbol, file, line, srcline } … }: innermost first
 * - name(i, address) -> symbol, offset in it | nil
 * - elf_address(i, address) -> as the file with the symbols has it | nil
 */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "group.h"
#include "binding/system.h"
#include "symbols/code.h"
#include "symbols/dso.h"

void pl_functions_read(lua_State *L, struct pl_job *job)
{
	const struct pq_grouping *g = &job->grouping;

	lua_getfield(L, PL_OPTIONS_AT, "functions");
	job->functions.is_asked = lua_toboolean(L, -1);
	lua_pop(L, 1);
	if (job->functions.is_asked && (g->n_keys != 2 || !g->n_measures || g->n_measures > 2 ||
					g->measures[0].kind != PQ_M_COUNT ||
					(g->n_measures > 1 && g->measures[1].kind != PQ_M_SUM)))
		luaL_error(L, "invalid query: functions need two keys, a count and a sum");
}

/* Upvalues as of all these functions: the file, what the job needs, the job. */
static const struct pa_functions *get_functions(lua_State *L)
{
	const struct pl_job *job = lua_touserdata(L, lua_upvalueindex(3));

	pl_check_open_file(L, lua_upvalueindex(1));
	return job->functions.made;
}

static const struct pa_hits *check_function(lua_State *L, int index)
{
	const struct pa_functions *functions = get_functions(L);
	lua_Integer i = luaL_checkinteger(L, index);

	luaL_argcheck(L, i >= 1 && (size_t)i <= pa_functions_size(functions), index,
		      "no such function");
	return pa_functions_at(functions, (size_t)i - 1)->hits;
}

static void push_hits(lua_State *L, const struct pa_function *function)
{
	lua_createtable(L, (int)function->n, 0);
	for (size_t i = 0; i < function->n; i++) {
		const struct pa_hits *hits = &function->hits[i];

		lua_createtable(L, 0, 4);
		pl_set_integer(L, "address", hits->address);
		pl_set_integer(L, "event", hits->event + UINT64_C(1));
		pl_set_integer(L, "samples", hits->samples);
		pl_set_integer(L, "period", hits->period);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

/* Returns the number of the machine that has a binary, from 1 on. */
static lua_Integer number_machine(lua_State *L, struct pl_file *f, const struct ps_dso *dso)
{
	for (uint32_t i = 0; i < f->session->n_files; i++)
		if (pm_system_store(pl_system(L, f), i) == dso->store)
			return i + INT64_C(1);
	return luaL_error(L, "a binary of no machine");
}

static void push_function(lua_State *L, const struct pa_function *function)
{
	struct pl_file *f = lua_touserdata(L, lua_upvalueindex(1));
	const struct pa_hits *hits = function->hits;
	const struct ps_dso_id *id = &hits->dso->id;

	lua_createtable(L, 0, 7);
	lua_pushinteger(L, number_machine(L, f, hits->dso));
	lua_setfield(L, -2, "machine");
	lua_pushlstring(L, hits->symbol->name, hits->symbol->length);
	lua_setfield(L, -2, "symbol");
	pl_set_string(L, "dso", hits->dso->name);
	pl_set_integer(L, "start", hits->symbol->start);
	pl_set_integer(L, "address",
		       hits->symbol->start + (id->kind == PS_MODULE ? id->start : 0));
	pl_set_integer(L, "size", hits->symbol->end - hits->symbol->start);
	push_hits(L, function);
	lua_setfield(L, -2, "hits");
}

static int list_functions(lua_State *L)
{
	const struct pa_functions *functions = get_functions(L);
	size_t n = pa_functions_size(functions), n_events;
	const struct pa_total *totals = pa_functions_totals(functions, &n_events);

	lua_createtable(L, n < 1u << 20 ? (int)n : 0, 0);
	for (size_t i = 0; i < n; i++) {
		push_function(L, pa_functions_at(functions, i));
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_newtable(L);
	for (size_t i = 0; i < n_events; i++) {
		lua_createtable(L, 0, 2);
		pl_set_integer(L, "samples", totals[i].samples);
		pl_set_integer(L, "period", totals[i].period);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 2;
}

static int push_function_binary(lua_State *L)
{
	struct ps_dso *dso = check_function(L, 1)->dso;

	pl_push_binary(L, lua_touserdata(L, lua_upvalueindex(1)), dso, false);
	return 1;
}

static int push_function_code(lua_State *L)
{
	const struct pa_hits *hits = check_function(L, 1);
	const struct pa_functions *functions = get_functions(L);

	return pl_push_code(L, pa_functions_at(functions, (size_t)lua_tointeger(L, 1) - 1),
			    hits->dso);
}

static int list_function_lines(lua_State *L)
{
	struct ps_dso *dso = check_function(L, 1)->dso;
	const struct ps_line *lines;
	size_t n = ps_dso_lines(dso, (uint64_t)luaL_checkinteger(L, 2), &lines);

	lua_createtable(L, (int)n, 0);
	for (size_t i = 0; i < n; i++) {
		lua_createtable(L, 0, 4);
		pl_set_string(L, "symbol", lines[i].function);
		pl_set_string(L, "file", lines[i].file);
		pl_set_string(L, "srcline", lines[i].srcline);
		if (lines[i].line)
			pl_set_integer(L, "line", lines[i].line);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

static int name_address(lua_State *L)
{
	struct ps_dso *dso = check_function(L, 1)->dso;
	uint64_t address = (uint64_t)luaL_checkinteger(L, 2);
	const struct ps_symbol *symbol = ps_dso_symbol(dso, address);

	if (!symbol)
		return 0;
	lua_pushlstring(L, symbol->name, symbol->length);
	lua_pushinteger(L, (lua_Integer)(address - symbol->start));
	return 2;
}

static int push_elf_address(lua_State *L)
{
	struct ps_dso *dso = check_function(L, 1)->dso;
	uint64_t address;

	if (!ps_dso_elf_address(dso, (uint64_t)luaL_checkinteger(L, 2), &address))
		return 0;
	lua_pushinteger(L, (lua_Integer)address);
	return 1;
}

/* Returns the function at an address of a binary, which is in *dso; NULL: none. */
static const struct ps_symbol *find_function(lua_State *L, struct pl_file *f, const char *name,
					     uint64_t address, struct ps_dso **dso)
{
	const struct pm_system *system = pl_system(L, f);

	for (uint32_t machine = 0; machine < f->session->n_files; machine++) {
		struct ps_store *store = pm_system_store(system, machine);

		for (size_t i = 0; store && i < ps_store_count(store); i++) {
			const struct ps_symbol *symbol;

			*dso = ps_store_at(store, i);
			symbol = strcmp((*dso)->name, name) == 0 ?
					 ps_dso_symbol(*dso, address) :
					 NULL;
			if (symbol)
				return symbol;
		}
	}
	return NULL;
}

int pl_function_code(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	const char *name = luaL_checkstring(L, 2);
	struct pa_hits hits = { .address = (uint64_t)luaL_checkinteger(L, 3) };

	hits.symbol = find_function(L, f, name, hits.address, &hits.dso);
	if (!hits.symbol)
		return 0;
	lua_settop(L, 1);
	lua_settop(L, 3); /* neither other bytes nor changes of them */
	return pl_push_code(L, &(struct pa_function){ &hits, 1 }, hits.dso);
}

void pl_push_functions(lua_State *L, struct pl_job *job)
{
	static const luaL_Reg functions[] = {
		{ "list", list_functions },
		{ "binary", push_function_binary },
		{ "code", push_function_code },
		{ "lines", list_function_lines },
		{ "name", name_address },
		{ "elf_address", push_elf_address },
		{ NULL, NULL },
	};

	job->functions.made = pa_functions_create(job->groups, job->grouping.n_measures > 1,
						  job->scope.n_events);
	if (!job->functions.made)
		luaL_error(L, "no memory for the functions of samples");
	pl_push_result(L);
	lua_settop(L, PL_RESULT_AT);
	luaL_newlibtable(L, functions);
	lua_pushvalue(L, PL_FILE_AT);
	lua_pushvalue(L, PL_KEEP_AT);
	lua_pushvalue(L, PL_JOB_AT);
	luaL_setfuncs(L, functions, 3);
}
