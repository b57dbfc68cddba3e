/*
 * Watched passes: a function of Lua is called now and then while a grouped query reads, between
 * records and while a stream is waited for, and sees the report of the groups so far.
 *
 * The description of core.group() then has
 *	watch = function(state, now) -> true to end the pass; state: "reading" between two
 *	records; "waiting" for a stream; "busy" with symbols or a snapshot, when none can be
 *	taken; now: ns of a steady clock
 *	watch_ns = ns between two calls
 *	walk = what core.walk() returned: the pass goes on with its next record
 *	limit = groups at most: see struct pq_grouping
 * and gets the function `snapshot`: snapshot(has_trees, decays) -> result, with `sections` and,
 * if has_trees is true, `trees` of the description set, or nil while there is none. The trees
 * are valid until the next snapshot, or the end of the pass. If `decays` is true sums decay
 * after it: see pq_groups_decay().
 *
 * A pass that was ended while a stream was waited for cannot be gone on with.
 */
#include <time.h>

#include "group.h"
#include "result.h"
#include "binding/functions.h"
#include "binding/system.h"

#define WALK   "perflua.walk"
#define SECOND 1000000000u

/* The walk that passes one after another go on with. User value 1 is the File. */
struct open_walk {
	struct pd_walk walk;
	bool is_open;
};

enum state {
	READING = 1,
	WAITING,
	BUSY
};

struct pl_watch {
	lua_State *L;
	struct pl_job *job;
	struct pl_file *file;
	struct pq_groups *growing; /* NULL: the pass has not begun, or has ended */
	/*
	 * The registry has the function, or its error, by the address of this struct, and the
	 * list of names of states by that of `states`: a snapshot has a stack of its own.
	 */
	char states;
	pthread_t thread;
	uint64_t every, next; /* ns */
	bool has_stopped, has_failed;
};

static int walk_gc(lua_State *L)
{
	struct open_walk *open = luaL_checkudata(L, 1, WALK);

	if (open->is_open)
		pd_walk_deinit(&open->walk);
	open->is_open = false;
	return 0;
}

/* core.walk(file) -> walk, to be closed before the file */
int pl_open_walk(lua_State *L)
{
	struct open_walk *open;

	pl_check_open_file(L, 1);
	open = lua_newuserdatauv(L, sizeof(*open), 1);
	open->is_open = false;
	lua_pushvalue(L, 1);
	lua_setiuservalue(L, -2, 1);
	if (luaL_newmetatable(L, WALK)) {
		lua_pushcfunction(L, walk_gc);
		lua_setfield(L, -2, "__gc");
		lua_pushcfunction(L, walk_gc);
		lua_setfield(L, -2, "__close");
	}
	lua_setmetatable(L, -2);
	return 1;
}

static uint64_t read_monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/*
 * Calls the function if it is due. An error takes its place on the stack, as none may pass
 * through the pass. Returns false if the pass is to end.
 */
static bool call_watcher(struct pl_watch *w, enum state state)
{
	uint64_t now = read_monotonic();
	lua_State *L = w->L;

	if (w->has_stopped)
		return false;
	if (now < w->next || !w->growing || !lua_checkstack(L, 8))
		return true;
	w->next = now + w->every;
	lua_rawgetp(L, LUA_REGISTRYINDEX, w);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &w->states);
	lua_rawgeti(L, -1, state);
	lua_remove(L, -2);
	lua_pushinteger(L, (lua_Integer)now);
	if (lua_pcall(L, 2, 1, 0) != LUA_OK) {
		w->has_failed = w->has_stopped = true;
		lua_rawsetp(L, LUA_REGISTRYINDEX, w);
		return false;
	}
	w->has_stopped = w->has_stopped || lua_toboolean(L, -1) || w->file->closed;
	lua_pop(L, 1);
	w->next = read_monotonic() + w->every;
	return !w->has_stopped;
}

static bool continue_watched(void *arg, uint64_t done, uint64_t size)
{
	struct pl_watch *w = arg;

	(void)done;
	(void)size;
	if (!pl_goes_on(w->job->progress.interrupt)) {
		w->job->progress.ended = true;
		w->job->progress.part = -1;
		return false;
	}
	return call_watcher(w, READING);
}

static int64_t watch_waiting(void *arg)
{
	struct pl_watch *w = arg;

	return call_watcher(w, WAITING) ? (int64_t)w->every : -1;
}

/* Lets keys be taken while symbols are loaded, or a snapshot is made. */
static void watch_busy(void *arg)
{
	struct pl_watch *w = arg;

	if (pthread_equal(w->thread, pthread_self()))
		call_watcher(w, BUSY);
}

static void set_idle(const struct pl_file *f, struct pd_idle idle)
{
	for (size_t i = 0; f->session && i < f->session->n_files; i++)
		f->session->files[i]->input.idle = idle;
}

/*
 * (has_trees, decays) -> result | nil: `snapshot` of the description, with the first places of
 * core.group()'s stack as its upvalues
 */
static int take_snapshot(lua_State *L)
{
	bool has_trees = lua_toboolean(L, 1), decays = lua_toboolean(L, 2);
	struct pq_report_stacks *stacks;
	struct pl_job *job;
	enum pq_wrong wrong;

	lua_settop(L, 0);
	for (int at = PL_FILE_AT; at <= PL_JOB_AT; at++)
		lua_pushvalue(L, lua_upvalueindex(at));
	job = lua_touserdata(L, PL_JOB_AT);
	if (!job->watch || !job->watch->growing)
		return 0;
	pl_report_forget_growing(job);
	stacks = job->report.asked.stacks;
	if (!has_trees)
		job->report.asked.stacks = NULL;
	wrong = pl_push_report(L, job->watch->file, job, job->watch->growing);
	job->report.asked.stacks = stacks;
	if (wrong != PQ_RIGHT)
		return luaL_error(L, "the sum of periods is too large");
	if (decays)
		pq_groups_decay(job->watch->growing);
	return 1;
}

/* Opens the walk of the description, unless it was opened by an earlier pass. */
static struct pd_walk *open_walk_of(lua_State *L, const struct pl_job *job)
{
	struct open_walk *open;
	struct pd_error err;

	lua_getfield(L, PL_OPTIONS_AT, "walk");
	open = luaL_checkudata(L, -1, WALK);
	if (!open->is_open && !pq_scope_open_walk(&job->scope, false, &open->walk, &err))
		luaL_error(L, "%s", err.message);
	open->walk.options.choice.events = NULL; /* the list is that of a pass */
	open->is_open = true;
	open->walk.options.progress = (struct pb_progress){ 0 }; /* that of this pass */
	lua_pop(L, 1);
	return &open->walk;
}

/* Pushes the names of states, by their numbers: no text is made while a pass runs. [-0, +1] */
static void push_states(lua_State *L)
{
	static const char *const names[] = { "reading", "waiting", "busy" };

	lua_createtable(L, 3, 0);
	for (int i = 0; i < 3; i++) {
		lua_pushstring(L, names[i]);
		lua_rawseti(L, -2, i + 1);
	}
}

void pl_watch_begin(lua_State *L, struct pl_job *job)
{
	struct pl_watch *w;

	if (lua_getfield(L, PL_OPTIONS_AT, "watch") == LUA_TNIL) {
		lua_pop(L, 1);
		return;
	}
	w = pl_keep(L, PL_KEEP_AT, sizeof(*w));
	*w = (struct pl_watch){ .L = L,
				.job = job,
				.file = lua_touserdata(L, PL_FILE_AT),
				.thread = pthread_self() };
	push_states(L);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &w->states);
	lua_rawsetp(L, LUA_REGISTRYINDEX, w);
	lua_getfield(L, PL_OPTIONS_AT, "watch_ns");
	w->every = (uint64_t)luaL_checkinteger(L, -1);
	lua_getfield(L, PL_OPTIONS_AT, "limit");
	job->grouping.limit = (size_t)luaL_optinteger(L, -1, 0);
	lua_pop(L, 2);
	for (int at = PL_FILE_AT; at <= PL_JOB_AT; at++)
		lua_pushvalue(L, at);
	lua_pushcclosure(L, take_snapshot, PL_JOB_AT);
	lua_setfield(L, PL_OPTIONS_AT, "snapshot");
	job->scope.walk = open_walk_of(L, job);
	job->scope.growing = &w->growing;
	job->scope.progress = (struct pb_progress){ .goes_on = continue_watched, .arg = w };
	job->progress.shows = false;
	job->watch = w;
	set_idle(w->file, (struct pd_idle){ watch_waiting, w });
	w->file->interrupt->tick = watch_busy;
	w->file->interrupt->arg = w;
}

bool pl_watch_end(lua_State *L, struct pl_job *job)
{
	const struct pl_watch *w = job->watch;

	if (!w)
		return false;
	set_idle(w->file, (struct pd_idle){ 0 });
	w->file->interrupt->tick = NULL;
	pl_report_forget_growing(job);
	job->watch = NULL;
	lua_rawgetp(L, LUA_REGISTRYINDEX, w);
	lua_pushnil(L);
	lua_rawsetp(L, LUA_REGISTRYINDEX, w);
	lua_pushnil(L);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &w->states);
	if (w->has_failed)
		lua_error(L);
	lua_pop(L, 1);
	return w->has_stopped;
}
