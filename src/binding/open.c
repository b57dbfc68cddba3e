/* Opens recordings: reads their paths and the options of perflua.open(). */
#include "functions.h"
#include "system.h"
#include "timing.h"
#include "value.h"

/*
 * Reads the paths at index 1. Returns them as *n strings in a userdata that it pushes; the
 * stack keeps the strings alive. [-0, +1]
 */
static const char **check_paths(lua_State *L, size_t *n)
{
	const char **paths;

	*n = lua_istable(L, 1) ? (size_t)lua_rawlen(L, 1) : 1;
	luaL_argcheck(L, *n > 0, 1, "an empty list of paths");
	luaL_argcheck(L, *n <= PD_MAX_FILES, 1, "too many paths");
	paths = lua_newuserdatauv(L, *n * sizeof(*paths), 0);
	if (!lua_istable(L, 1)) {
		paths[0] = luaL_checkstring(L, 1);
		return paths;
	}
	for (size_t i = 0; i < *n; i++, lua_pop(L, 1)) {
		luaL_argcheck(L, lua_rawgeti(L, 1, (lua_Integer)i + 1) == LUA_TSTRING, 1,
			      "paths are strings");
		paths[i] = lua_tostring(L, -1); /* the table keeps it */
	}
	return paths;
}

/*
 * Returns string `name` of the table at 2, which the table on top keeps; NULL if it is not
 * given. [-0, +0]
 */
static const char *keep_string(lua_State *L, const char *name)
{
	const char *text;

	if (lua_getfield(L, 2, name) == LUA_TNIL) {
		lua_pop(L, 1);
		return NULL;
	}
	text = luaL_checkstring(L, -1);
	lua_setfield(L, -2, name);
	return text;
}

static void read_symbol_options(lua_State *L, struct pl_file *f)
{
	int file = lua_gettop(L);

	lua_newtable(L);
	f->symbols = (struct ps_options){
		.symfs = keep_string(L, "symfs"),
		.kallsyms = keep_string(L, "kallsyms"),
		.vmlinux = keep_string(L, "vmlinux"),
		.buildid_dir = keep_string(L, "buildid_dir"),
	};
	lua_getfield(L, 2, "debuginfod");
	f->symbols.debuginfod = lua_toboolean(L, -1);
	lua_getfield(L, 2, "any_binary");
	f->symbols.any_binary = lua_toboolean(L, -1);
	f->symbols.mangled = lua_getfield(L, 2, "demangle") == LUA_TBOOLEAN &&
			     !lua_toboolean(L, -1);
	lua_getfield(L, 2, "full_source_path");
	f->symbols.whole_paths = lua_toboolean(L, -1);
	lua_pop(L, 4);
	lua_setiuservalue(L, file, PL_FILE_SYMBOLS);
}

static void read_options(lua_State *L, struct pl_file *f, uint64_t *window)
{
	if (!lua_istable(L, 2))
		return;
	lua_getfield(L, 2, "strict");
	f->strict = lua_toboolean(L, -1);
	if (lua_getfield(L, 2, "window") != LUA_TNIL)
		*window = (uint64_t)luaL_checkinteger(L, -1);
	lua_pop(L, 2);
	read_symbol_options(L, f);
}

/*
 * Returns the version of perf that the option `as` names, else the newest. Raises if it is not
 * known. [-0, +0]
 */
static unsigned read_perf(lua_State *L)
{
	unsigned perf = PD_PERF_NEWEST;

	if (lua_istable(L, 2) && lua_getfield(L, 2, "as") != LUA_TNIL &&
	    !pl_take_perf(L, luaL_checkstring(L, -1), &perf))
		luaL_argerror(L, 2, lua_tostring(L, -1));
	lua_settop(L, 2);
	return perf;
}

/* Reads the number of workers from the options, else from the interpreter's setting. */
static void read_threads(lua_State *L, struct pl_file *f)
{
	if (lua_istable(L, 2))
		f->threads = pl_threads_option(L, 2, "jobs");
	if (!f->threads)
		f->threads = pl_threads_option(L, LUA_REGISTRYINDEX, PL_THREADS);
}

/*
 * Pushes a value of the record at `record` that is an object, or that the recorded system
 * knows: see pl_push_value(). [-0, +1]
 */
static void push_object(lua_State *L, int record, const struct pd_value *v)
{
	const struct pl_record *r = lua_touserdata(L, record);

	if (v->type == PD_VIEW) {
		pl_push_view(L, record, &v->view);
	} else if (v->type == PD_EVENT) {
		pl_push_owner(L, record);
		pl_push_event(L, lua_gettop(L), v->event);
		lua_remove(L, -2);
	} else {
		pl_push_system_field(L, r->file, record, &r->rec, v);
	}
}

/* core.open(path | paths [, options]) -> File | nil, message, code */
/* Returns the first file of a recording that belongs to another user; NULL: there is none. */
static const struct pd_input *find_foreign_input(const struct pd_file *file)
{
	if (pd_input_is_foreign(&file->input))
		return &file->input;
	for (size_t i = 0; i < file->n_streams; i++)
		if (pd_input_is_foreign(file->streams[i].input))
			return file->streams[i].input;
	return NULL;
}

/* Warns of recordings of other users, who may want to mislead: perf reads them with -f only. */
static void warn_of_foreign_files(lua_State *L, const struct pl_file *f)
{
	struct pd_error error;

	/* a warn function of Lua may close or collect the file */
	for (size_t i = 0; f->session && i < f->session->n_files; i++) {
		const struct pd_input *input = find_foreign_input(f->session->files[i]);

		if (!input)
			continue;
		pd_error_set(&error, "EPERM", input->path, PD_NO_OFFSET,
			     "belongs to user %lld, neither to you nor to root; perf would "
			     "read it only with -f",
			     (long long)input->owner);
		pl_warn(L, &error);
	}
}

/* core.foreign_owner(file) -> the other user whom a file of it belongs to | nil */
int pl_file_foreign_owner(lua_State *L)
{
	const struct pl_file *f = pl_check_open_file(L, 1);

	for (size_t i = 0; i < f->session->n_files; i++) {
		const struct pd_input *input = find_foreign_input(f->session->files[i]);

		if (!input)
			continue;
		lua_pushinteger(L, (lua_Integer)input->owner);
		return 1;
	}
	return 0;
}

int pl_open(lua_State *L)
{
	struct pl_file *f;
	struct pd_error err;
	const char **paths;
	uint64_t window = PD_WINDOW;
	struct pb_timing *timing;
	struct pb_lap lap;
	unsigned perf;
	bool opened;
	size_t n;

	lua_settop(L, 2);
	perf = read_perf(L);
	timing = pl_timing_of_open(L, lua_istable(L, 2) && pl_get_flag(L, 2, "timing"));
	paths = check_paths(L, &n);
	f = lua_newuserdatauv(L, sizeof(*f), PL_FILE_VALUES);
	*f = (struct pl_file){ .array = lua_istable(L, 1), .push_object = push_object };
	luaL_setmetatable(L, PL_FILE);
	read_options(L, f, &window);
	read_threads(L, f);
	f->interrupt = ps_interrupt_create(pl_interrupt(L));
	if (!f->interrupt)
		return luaL_error(L, "no memory for a file");
	f->symbols.interrupt = f->interrupt;
	f->symbols.timing = timing;
	pl_push_record_metatable(L);
	lua_setiuservalue(L, -2, PL_FILE_RECORD);
	f->names = pl_names_get(L);
	lap = pb_stage_enter(timing, pb_pass_none(timing), PB_STAGE_OPEN);
	opened = pd_session_open(&f->session, paths, n, f->array, perf, pl_interrupt(L), &err);
	pb_stage_leave(&lap);
	if (!opened) {
		lua_pushnil(L);
		lua_pushstring(L, err.message);
		lua_pushstring(L, err.code);
		return 3;
	}
	f->file = f->session->files[0];
	pd_session_find_starts(f->session);
	f->session->window = window < SIZE_MAX ? (size_t)window : SIZE_MAX;
	pl_timing_add_session(L, lua_gettop(L), timing);
	pl_file_report(L, f);
	warn_of_foreign_files(L, f);
	if (f->session && !f->session->merged) {
		pd_error_set(&err, "CLOCK", "the recordings follow one another", PD_NO_OFFSET,
			     "%s", f->session->clocks);
		pl_warn(L, &err);
	}
	return 1;
}
