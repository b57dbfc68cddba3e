/*
 * The binaries of a recording, and what was at an address: where names and lines come from.
 */
#include <limits.h>

#include "symbols/bundle.h"
#include "system.h"
#include "value.h"
#include "functions.h"

static const char *const kinds[] = {
	[PS_USER] = "file", [PS_KERNEL] = "kernel", [PS_MODULE] = "module", [PS_VDSO] = "vdso",
	[PS_JIT] = "jit",   [PS_BPF] = "bpf",	    [PS_DATA] = "memory",
};

/* Sets the field `build_id` of the table on top, if there is one. [-0, +0] */
static void set_build_id(lua_State *L, const struct ps_dso *dso)
{
	struct pd_value id = { .type = PD_HEX };

	if (!dso->id.build_id.size)
		return;
	id.s.p = (const char *)dso->id.build_id.bytes;
	id.s.n = dso->id.build_id.size;
	pl_push_value(L, 0, &id);
	lua_setfield(L, -2, "build_id");
}

/* Pushes {path, where, verdict} of each file that was tried. [-0, +1] */
static void push_verdicts(lua_State *L, const struct ps_dso *dso)
{
	lua_createtable(L, (int)dso->n_tried, 0);
	for (size_t i = 0; i < dso->n_tried; i++) {
		lua_createtable(L, 0, 3);
		pl_set_string(L, "path", dso->tried[i].path);
		pl_set_string(L, "where", dso->tried[i].where);
		pl_set_string(L, "verdict", dso->tried[i].verdict);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

/*
 * Returns the source of the path that the symbols of `dso` were read from; NULL if it is
 * unknown.
 */
static const char *origin_of(const struct ps_dso *dso, const char *path)
{
	const char *where = NULL;

	if (dso->id.kind == PS_BPF)
		return "the KSYMBOL record";
	for (size_t i = 0; path && i < dso->n_tried; i++)
		if (strcmp(dso->tried[i].path, path) == 0)
			where = dso->tried[i].where;
	return where;
}

/* Sets the fields about the symbols of `dso`, which must have been looked for. [-0, +0] */
static void set_symbols(lua_State *L, struct ps_dso *dso)
{
	const char *path = dso->list ? dso->list : dso->path;
	char debug[PATH_MAX];

	pl_set_integer(L, "symbols", ps_dso_symbols(dso));
	if (dso->state == PS_LOADED) {
		pl_set_string(L, "symbol_file", path);
		pl_set_string(L, "found", origin_of(dso, path));
		if (dso->packed)
			pl_set_string(L, "proof", dso->packed->proof);
		if (ps_dso_is_unproven(dso)) {
			lua_pushboolean(L, true);
			lua_setfield(L, -2, "unproven");
		}
		if (ps_dso_debug_file(dso, debug, sizeof(debug)))
			pl_set_string(L, "debug_file", debug);
		else if (dso->packed)
			pl_set_string(L, "debug_file", dso->packed->debug);
	}
	pl_set_string(L, "mapped_file", dso->runtime);
	pl_set_string(L, "reason", dso->reason);
	push_verdicts(L, dso);
	lua_setfield(L, -2, "tried");
}

void pl_push_binary(lua_State *L, struct pl_file *f, struct ps_dso *dso, bool load)
{
	if (load)
		ps_dso_load(dso);
	pl_check_names(L, f);
	lua_createtable(L, 0, 12);
	pl_set_string(L, "name", dso->name);
	pl_set_string(L, "kind", kinds[dso->id.kind]);
	set_build_id(L, dso);
	if (dso->id.guest) {
		lua_pushboolean(L, true);
		lua_setfield(L, -2, "guest");
	}
	lua_pushboolean(L, dso->state != PS_UNTRIED);
	lua_setfield(L, -2, "loaded");
	if (dso->state != PS_UNTRIED)
		set_symbols(L, dso);
	pl_check_names(L, f);
}

void pl_list_binaries(lua_State *L, const struct pl_listing *listing)
{
	struct pl_file *f = pl_check_open_file(L, listing->file);
	const struct pm_system *system = pl_system(L, f);

	pl_system_hold(f);
	for (uint32_t machine = 0; machine < f->session->n_files; machine++) {
		struct ps_store *store = pm_system_store(system, machine);

		for (size_t i = 0; store && i < ps_store_count(store); i++) {
			struct ps_dso *dso = ps_store_at(store, i);
			uint64_t samples = 0;
			bool first = !listing->count ||
				     listing->count(listing->arg, dso, &samples);

			lua_pushvalue(L, listing->fn);
			pl_push_binary(L, f, dso, listing->load || samples);
			if (listing->count)
				pl_set_integer(L, "samples", samples);
			if (f->session->n_files > 1)
				pl_set_integer(L, "source", machine + 1);
			lua_pushboolean(L, first);
			lua_call(L, 2, 0);
			pl_check_open_file(L, listing->file);
		}
	}
	pl_system_let_go(f);
}

/*
 * core.each_binary(file, load, fn): calls fn(row) for each binary; looks for the symbols of all
 * if `load` is true.
 */
int pl_each_binary(lua_State *L)
{
	struct pl_listing listing = { .file = 1, .load = lua_toboolean(L, 2), .fn = 3 };

	lua_settop(L, 3);
	pl_list_binaries(L, &listing);
	return 0;
}

/* Pushes {filename, build_id, reason, tried}. [-0, +1] */
static void push_missing(lua_State *L, const struct ps_dso *dso)
{
	lua_createtable(L, 0, 4);
	pl_set_string(L, "filename", dso->name);
	pl_set_string(L, "reason", dso->reason);
	set_build_id(L, dso);
	lua_createtable(L, (int)dso->n_tried, 0);
	for (size_t i = 0; i < dso->n_tried; i++) {
		lua_pushfstring(L, "%s: %s", dso->tried[i].path, dso->tried[i].verdict);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_setfield(L, -2, "tried");
}

/*
 * Adds {filename, path} to the array at -2 if files here have named addresses of `dso`, but no
 * build-id proves that they match. [-0, +0]
 */
static void add_unproven(lua_State *L, const struct ps_dso *dso)
{
	if (!ps_dso_is_unproven(dso))
		return;
	lua_createtable(L, 0, 2);
	pl_set_string(L, "filename", dso->name);
	pl_set_string(L, "path", dso->path);
	lua_rawseti(L, -3, luaL_len(L, -3) + 1);
}

/*
 * file:missing() -> array of {filename, build_id, reason, tried}, array of {filename, path}
 *
 * The first are the binaries without symbols; the second are those that were used so far though
 * no build-id proves them. Looks for the symbols of all binaries with code that were mapped.
 */
int pl_file_missing(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	const struct pm_system *system = pl_system(L, f);
	lua_Integer n = 0;

	pl_system_hold(f);
	lua_settop(L, 1);
	lua_newtable(L); /* unproven */
	lua_newtable(L);
	for (uint32_t machine = 0; machine < f->session->n_files; machine++) {
		struct ps_store *store = pm_system_store(system, machine);

		for (size_t i = 0; store && i < ps_store_count(store); i++) {
			struct ps_dso *dso = ps_store_at(store, i);

			add_unproven(L, dso);
			if (dso->id.kind == PS_DATA || ps_dso_load(dso))
				continue;
			pl_check_names(L, f);
			push_missing(L, dso);
			lua_rawseti(L, -2, ++n);
		}
	}
	pl_system_let_go(f);
	lua_insert(L, 2);
	return 2;
}

/* Sets a symbol's name and addresses under `name`, if there is one. [-0, +0] */
static void set_symbol(lua_State *L, const char *name, const struct ps_symbol *symbol)
{
	if (!symbol)
		return;
	lua_createtable(L, 0, 3);
	pl_set_string(L, "symbol", symbol->name);
	pl_set_integer(L, "start", symbol->start);
	pl_set_integer(L, "stop", symbol->end);
	lua_setfield(L, -2, name);
}

/* Sets the functions and lines at an address, innermost first, if they are known. [-0, +0] */
static void set_lines(lua_State *L, struct ps_dso *dso, uint64_t address)
{
	const struct ps_line *lines;
	size_t n = ps_dso_lines(dso, address, &lines);

	if (!n)
		return;
	lua_createtable(L, (int)n, 0);
	for (size_t i = 0; i < n; i++) {
		lua_createtable(L, 0, 3);
		pl_set_string(L, "symbol", lines[i].function);
		pl_set_string(L, "srcline", lines[i].srcline);
		pl_set_string(L, "file", lines[i].file);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_setfield(L, -2, "lines");
}

/* Sets the fields about a resolved address, which has a map. [-0, +0] */
static void set_place(lua_State *L, struct pl_file *f, const struct pm_location *location)
{
	const struct ps_symbol *before, *after;
	struct ps_dso *dso = location->map->dso;
	uint64_t address;

	pl_push_map(L, location->map);
	lua_setfield(L, -2, "map");
	pl_set_integer(L, "made", location->map->time);
	pl_push_binary(L, f, dso, true);
	lua_setfield(L, -2, "binary");
	pl_set_integer(L, "address", location->address);
	if (ps_dso_elf_address(dso, location->address, &address))
		pl_set_integer(L, "elf_address", address);
	set_symbol(L, "covered", location->symbol);
	ps_table_around(&dso->table, location->address, &before, &after);
	set_symbol(L, "before", before);
	set_symbol(L, "after", after);
	set_lines(L, dso, location->address);
	pl_check_names(L, f);
}

/* Pushes {from, to, map, binary, …}. [-0, +1] */
static void push_history_range(lua_State *L, struct pl_file *f,
			       const struct pm_history_range *range)
{
	lua_createtable(L, 0, 12);
	if (range->from)
		pl_set_integer(L, "from", range->from);
	if (range->last != UINT64_MAX)
		pl_set_integer(L, "to", range->last + 1);
	if (range->location.map)
		set_place(L, f, &range->location);
}

/*
 * Adds the history of an address in one system to the array on top; only the range that has
 * `time` if `has_time` is true. [-0, +0]
 */
static void add_history(lua_State *L, struct pl_file *f, struct pm_addr_context *context,
			uint64_t address, bool has_time, uint64_t time)
{
	lua_Integer n = luaL_len(L, -1);
	struct pm_history_range range = { .last = UINT64_MAX };

	for (context->time = 0;; context->time = range.last + 1) {
		if (!pm_history_at(f->resolver, context, address, &range))
			luaL_error(L, "no memory for the recorded system");
		if (!has_time || (range.from <= time && time <= range.last)) {
			push_history_range(L, f, &range);
			if (f->session->n_files > 1)
				pl_set_integer(L, "source", context->machine + 1);
			lua_rawseti(L, -2, ++n);
		}
		if (range.last == UINT64_MAX)
			return;
	}
}

/* file:history(pid | nil, address [, time [, guest]]) -> array, "kernel" | "user" | "either" */
int pl_file_history(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	lua_Integer pid = luaL_optinteger(L, 2, -1), guest = luaL_optinteger(L, 5, 0);
	uint64_t address = (uint64_t)luaL_checkinteger(L, 3);
	bool has_time = !lua_isnoneornil(L, 4);
	uint64_t time = has_time ? (uint64_t)luaL_checkinteger(L, 4) : 0;
	struct pm_addr_context context = {
		.pid = (int32_t)pid,
		.machine_pid = (int32_t)guest,
		.any_mode = pid >= 0,
	};

	luaL_argcheck(L, pid >= -1 && pid <= INT32_MAX, 2, "not a process id");
	luaL_argcheck(L, guest >= 0 && guest <= INT32_MAX, 5, "not a process id of a guest");
	if (lua_isnoneornil(L, 5))
		context.mode = pid < 0 ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
	else
		context.mode = pid < 0 ? PD_CPUMODE_GUEST_KERNEL : PD_CPUMODE_GUEST_USER;
	pl_system(L, f);
	pl_system_hold(f);
	lua_newtable(L);
	for (; context.machine < f->session->n_files; context.machine++) {
		add_history(L, f, &context, address, has_time, time);
	}
	switch (pm_address_mode(f->system, 0, address)) {
	case PD_CPUMODE_KERNEL:
		lua_pushliteral(L, "kernel");
		break;
	case PD_CPUMODE_USER:
		lua_pushliteral(L, "user");
		break;
	default:
		lua_pushliteral(L, "either");
	}
	pl_system_let_go(f);
	return 2;
}
