/* The recorded system as Lua values: its answers for a record, and its threads. */
#include "system.h"
#include "value.h"
#include "functions.h"
#include "pass_progress.h"
#include "perfdata/format/views.h"

static void forget_sideband(struct pl_file *f)
{
	pm_sideband_destroy(f->sideband);
	f->sideband = NULL;
}

bool pl_system_make(struct pl_file *f, bool is_ordered, const struct pb_progress *progress,
		    struct pd_error *err)
{
	struct pm_system *system = f->system;
	struct pm_resolver *resolver;

	if (system)
		return true;
	pl_system_end_watch(f); /* of a pass that failed */
	system = pm_system_create(f->session, &f->symbols);
	resolver = system ? pm_resolver_create(system) : NULL;
	if (!resolver) {
		pm_system_destroy(system);
		return pd_error_set(err, "ENOMEM", f->file->path, PD_NO_OFFSET,
				    "no memory for the recorded system");
	}
	/* a system that is only partly read gives wrong names, so an interrupt is an error */
	if (!pl_file_passes(f) &&
	    !pm_system_read(system, f->sideband, pl_threads(f), is_ordered, progress, err)) {
		pm_resolver_destroy(resolver);
		pm_system_destroy(system);
		return false;
	}
	f->system = system;
	f->resolver = resolver;
	forget_sideband(f);
	return true;
}

void pl_system_watch(struct pl_file *f)
{
	if (f->system || f->sideband || pl_file_passes(f))
		return;
	f->sideband = pm_sideband_create(f->session, pl_threads(f));
	if (f->sideband)
		pm_sideband_watch(f->sideband, f->session);
}

void pl_system_end_watch(struct pl_file *f)
{
	if (f->sideband && !f->sideband->records &&
	    !pm_sideband_gather(f->sideband, f->session))
		forget_sideband(f);
}

bool pl_system_take(struct pl_file *f, struct pm_system *system)
{
	struct pm_resolver *resolver = pm_resolver_create(system);

	if (!resolver)
		return false;
	f->system = system;
	f->resolver = resolver;
	return true;
}

void pl_system_hold(struct pl_file *f)
{
	f->n_users++;
}

void pl_system_let_go(struct pl_file *f)
{
	f->n_users--;
	/* copies of records keep the names of their threads */
	if (!f->n_users && f->closed && !f->copied)
		pl_system_free(f);
}

void pl_system_end_lines(struct pl_file *f)
{
	for (uint32_t i = 0; f->system && i < f->session->n_files; i++) {
		struct ps_store *store = pm_system_store(f->system, i);

		if (store)
			ps_store_end_lines(store);
	}
}

void pl_system_free(struct pl_file *f)
{
	pm_resolver_destroy(f->resolver);
	pm_system_destroy(f->system);
	f->resolver = NULL;
	f->system = NULL;
	forget_sideband(f);
}

/* Makes the recorded system, and shows how far that is. Raises if it cannot. */
static void make_system(lua_State *L, struct pl_file *f, bool is_ordered)
{
	struct pl_progress progress;
	const struct pb_progress shown = pl_progress_shown(&progress);
	struct pd_error err;
	bool made;

	if (f->closed)
		luaL_error(L, "%s: the file is closed", f->file->path);
	if (!pl_goes_on(pl_interrupt(L)))
		luaL_error(L, "%s: " PM_INTERRUPTED, f->file->path);
	pl_progress_init_beside_output(L, &progress);
	made = pl_system_make(f, is_ordered, &shown, &err);
	pl_progress_end(&progress);
	if (!made)
		luaL_error(L, "%s", err.message);
}

struct pm_system *pl_system(lua_State *L, struct pl_file *f)
{
	if (!f->system)
		make_system(L, f, false);
	return f->system;
}

struct pm_system *pl_ordered_system(lua_State *L, struct pl_file *f)
{
	if (!f->system)
		make_system(L, f, true);
	return f->system;
}

const struct pd_frame *pl_frames(lua_State *L, struct pl_file *f, const struct pd_record *rec,
				 size_t *n)
{
	const struct pd_frame *frames;

	pl_system(L, f);
	frames = pm_frames_of(f->resolver, rec, n);
	pl_check_names(L, f);
	return frames;
}

void pl_push_inlined(lua_State *L, const struct ps_line *lines, size_t n)
{
	if (!n) {
		lua_pushnil(L);
		return;
	}
	lua_createtable(L, (int)n, 0);
	for (size_t i = 0; i < n; i++) {
		lua_createtable(L, 0, 2);
		pl_set_string(L, "symbol", lines[i].function);
		pl_set_string(L, "srcline", lines[i].srcline);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

static void push_inlined(lua_State *L, struct pl_file *f, const struct pd_record *rec,
			 const struct pd_asked *asked)
{
	const struct ps_line *lines;
	size_t n = pm_inlined(f->resolver, rec, asked, &lines);

	pl_check_names(L, f);
	pl_system_hold(f);
	pl_push_inlined(L, lines, n);
	pl_system_let_go(f);
}

void pl_push_system_field(lua_State *L, struct pl_file *f, int record,
			  const struct pd_record *rec, const struct pd_value *v)
{
	struct pd_value value;

	pl_system(L, f);
	if (v->asked.field == PD_SYS_INLINED) {
		push_inlined(L, f, rec, &v->asked);
		return;
	}
	pm_field(f->resolver, rec, &v->asked, &value);
	pl_check_names(L, f);
	pl_system_hold(f);
	/*
	 * Lua caches strings by their addresses, so a frequent one need not be hashed each time
	 */
	if (value.type == PD_STR && value.s.p != value.text)
		lua_pushstring(L, value.s.p);
	else
		pl_push_value(L, record, &value);
	pl_system_let_go(f);
}

void pl_push_map(lua_State *L, const struct pm_map *map)
{
	lua_createtable(L, 0, 6);
	for (uint32_t m = 0; pd_view_map.members[m].name; m++) {
		struct pd_value value = { .type = PD_NIL };

		pm_map_member(map, PD_SYS_MAP_START + m, &value);
		pl_push_value(L, 0, &value);
		lua_setfield(L, -2, pd_view_map.members[m].name);
	}
}

static void set_time(lua_State *L, const char *name, uint64_t time)
{
	if (time == PM_NO_TIME)
		return;
	lua_pushinteger(L, (lua_Integer)time);
	lua_setfield(L, -2, name);
}

struct map_list {
	lua_State *L;
	lua_Integer n;
};

static void add_map(void *arg, const struct pm_map *map)
{
	struct map_list *list = arg;

	luaL_checkstack(list->L, 4, "maps");
	pl_push_map(list->L, map);
	lua_rawseti(list->L, -2, ++list->n);
}

/*
 * maps() -> array of {start, len, pgoff, filename, build_id, prot}; upvalues: File, system,
 * pid, time
 */
static int incarnation_maps(lua_State *L)
{
	struct pl_file *f = pl_check_file(L, lua_upvalueindex(1));
	struct map_list list = { .L = L };

	lua_settop(L, 0);
	pl_system(L, f);
	pl_system_hold(f);
	lua_newtable(L);
	pm_spaces_each(pm_system_spaces(f->system),
		       (uint32_t)lua_tointeger(L, lua_upvalueindex(2)),
		       (int32_t)lua_tointeger(L, lua_upvalueindex(3)),
		       (uint64_t)lua_tointeger(L, lua_upvalueindex(4)), add_map, &list);
	pl_system_let_go(f);
	return 1;
}

/*
 * Pushes {pid, tid, comm, start, exit, maps} of a thread of the File at 1; its maps are those
 * at `time`. [-0, +1]
 */
static void push_incarnation(lua_State *L, const struct pm_incarnation *incarnation,
			     uint32_t machine, uint64_t time)
{
	lua_createtable(L, 0, 7);
	lua_pushvalue(L, 1);
	lua_pushinteger(L, (lua_Integer)machine);
	lua_pushinteger(L, incarnation->pid);
	lua_pushinteger(L, (lua_Integer)time);
	lua_pushcclosure(L, incarnation_maps, 4);
	lua_setfield(L, -2, "maps");
	lua_pushinteger(L, incarnation->pid);
	lua_setfield(L, -2, "pid");
	lua_pushinteger(L, incarnation->tid);
	lua_setfield(L, -2, "tid");
	pl_push_value(L, 0, &incarnation->comm);
	lua_setfield(L, -2, "comm");
	set_time(L, "start", incarnation->start);
	set_time(L, "exit", incarnation->exit);
	if (incarnation->source) {
		lua_pushinteger(L, (lua_Integer)incarnation->source);
		lua_setfield(L, -2, "source");
	}
}

static lua_Integer check_tid(lua_State *L, int index)
{
	lua_Integer tid;

	if (lua_type(L, index) == LUA_TSTRING && !lua_isnumber(L, index))
		luaL_error(L,
			   "thread: the id of a thread expected, got the string '%s'; "
			   "file:threads() lists threads with their names",
			   lua_tostring(L, index));
	tid = luaL_checkinteger(L, index);
	luaL_argcheck(L, tid >= INT32_MIN && tid <= INT32_MAX, index, "not a thread id");
	return tid;
}

/* core.read_names(file): makes the recorded system, before records in the order of time */
int pl_file_read_names(lua_State *L)
{
	pl_ordered_system(L, pl_check_open_file(L, 1));
	return 0;
}

/*
 * file:thread(tid [, time]) -> {pid, tid, comm, start, exit, maps} | nil: its state at that
 * time, or the last one
 */
int pl_file_thread(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	lua_Integer tid = check_tid(L, 2);
	uint64_t time = lua_isnoneornil(L, 3) ? PM_NO_TIME : (uint64_t)luaL_checkinteger(L, 3);
	const struct pm_system *system = pl_system(L, f);
	struct pm_incarnation incarnation;

	/* if the clocks of the recordings differ, the first one that knows the thread counts */
	for (uint32_t i = 0; i < f->session->n_files; i++) {
		if (!pm_system_incarnation(system, i, (int32_t)tid, time, &incarnation))
			continue;
		pl_system_hold(f);
		push_incarnation(L, &incarnation, i, time);
		pl_system_let_go(f);
		return 1;
	}
	lua_pushnil(L);
	return 1;
}

/*
 * file:threads() -> array of {pid, tid, comm, start, exit, maps}: one for each incarnation of
 * each tid
 */
int pl_file_threads(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	const struct pm_system *system = pl_system(L, f);
	const struct pm_threads *threads = pm_system_threads(system);
	lua_Integer n = 0;

	pl_system_hold(f);
	lua_createtable(L, threads->n < 1u << 20 ? (int)threads->n : 0, 0);
	for (size_t i = 0; i < threads->n; i++) {
		const struct pm_thread *thread = &threads->threads[i];

		for (size_t k = 0; k < thread->n; k++) {
			struct pm_incarnation incarnation;

			/* an incarnation ends where the next one begins */
			if (k + 1 < thread->n &&
			    !pm_incarnation_begins(thread, &thread->events[k + 1]))
				continue;
			pm_system_incarnation_of(system, thread, (ptrdiff_t)k, &incarnation);
			push_incarnation(L, &incarnation, thread->machine, incarnation.exit);
			lua_rawseti(L, -2, ++n);
		}
	}
	pl_system_let_go(f);
	return 1;
}

/*
 * file:resolve(pid, addr [, time]) -> {symbol, symoff, dso, map, srcline} | nil: the location
 * at that time, or the last one
 */
int pl_file_resolve(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	lua_Integer pid = luaL_checkinteger(L, 2);
	uint64_t address = (uint64_t)luaL_checkinteger(L, 3);
	struct pm_addr_context context = {
		.pid = (int32_t)pid,
		.time = lua_isnoneornil(L, 4) ? PM_NO_TIME : (uint64_t)luaL_checkinteger(L, 4),
		.mode = PD_CPUMODE_USER,
		.any_mode = true,
	};
	const struct ps_line *lines;
	struct pm_location location = { .map = NULL };

	luaL_argcheck(L, pid >= INT32_MIN && pid <= INT32_MAX, 2, "not a process id");
	pl_system(L, f);
	/* if the clocks of the recordings differ, the first one that has a map there counts */
	for (; context.machine < f->session->n_files && !location.map; context.machine++)
		pm_location_at(f->resolver, &context, address, &location);
	if (!location.map) {
		lua_pushnil(L);
		return 1;
	}
	pl_system_hold(f);
	lua_createtable(L, 0, 5);
	pl_set_string(L, "dso", location.map->dso->name);
	pl_push_map(L, location.map);
	lua_setfield(L, -2, "map");
	if (location.symbol) {
		pl_set_string(L, "symbol", location.symbol->name);
		pl_set_integer(L, "symoff", pm_location_offset(&location));
	}
	if (ps_dso_lines(location.map->dso, location.address, &lines))
		pl_set_string(L, "srcline", lines[0].srcline);
	pl_system_let_go(f);
	pl_check_names(L, f);
	return 1;
}

/*
 * core.watch_names(file): lets the grouped query that follows find the recorded system, and
 * what core.forks() returns, if possible.
 */
int pl_watch_names(lua_State *L)
{
	pl_system_watch(pl_check_open_file(L, 1));
	return 0;
}

/*
 * core.forks(file) -> { tid, ptid, ppid, tid, … } of the records of forks that a pass found;
 * nil: none did
 */
int pl_push_forks(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	bool swap = f->file->swap;
	lua_Integer n = 0;

	pl_system_end_watch(f);
	if (!f->sideband)
		return 0;
	lua_newtable(L);
	for (size_t i = 0; f->sideband && i < f->sideband->n; i++) {
		const struct pd_record *rec = &f->sideband->records[i].rec;

		if (rec->type != PD_RECORD_FORK || rec->size < 24)
			continue;
		lua_pushinteger(L, pb_load32(rec->bytes + 16, swap));
		lua_rawseti(L, -2, ++n);
		lua_pushinteger(L, pb_load32(rec->bytes + 20, swap));
		lua_rawseti(L, -2, ++n);
		lua_pushinteger(L, pb_load32(rec->bytes + 12, swap));
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}
