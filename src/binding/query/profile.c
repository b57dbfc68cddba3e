/*
 * Grouped queries as a profile, which is written in the formats of other programs
 * (src/export/export.h).
 *
 * The option profile = {event, pid, tid, comm, chain, cpu = numbers of keys | nil,
 * lines, stacks, folded = booleans, head = "pid" | "tid" | nil,
 * wall_time, duration, start = ns | nil}
 * needs as measures a count and, or not, a sum and times.
 *
 * The result has for each event with samples, in their order, {index | nil, samples, weight}. A
 * second result is a table of functions, those of call_tree.c, threads() and
 * write(out, format, title, most | nil), which returns the number of bytes, with `most` before
 * they are compressed, the step of times and the number of threads that share a profile (see
 * pe_write()); or nil, a message and an error number. If there are more bytes than `most`,
 * nothing is written, and the bytes are all that is returned.
 */
#include <string.h>

#include "group.h"
#include "binding/system.h"
#include "binding/timing.h"
#include "binding/writer.h"

/* Returns the number of the key in the field of that name of the table on top. */
static size_t read_profile_key(lua_State *L, const struct pl_job *job, const char *name)
{
	lua_Integer key;

	lua_getfield(L, -1, name);
	key = luaL_optinteger(L, -1, 0);
	lua_pop(L, 1);
	if (key < 0 || (size_t)key > job->grouping.n_keys)
		luaL_error(L, "invalid query: no such key");
	return key ? (size_t)key - 1 : SIZE_MAX;
}

static uint64_t read_profile_time(lua_State *L, const char *name)
{
	lua_Integer time;

	lua_getfield(L, -1, name);
	time = luaL_optinteger(L, -1, 0);
	lua_pop(L, 1);
	return (uint64_t)time;
}

static const char *const heads[] = {
	[PE_HEAD_COMM] = "comm",
	[PE_HEAD_PID] = "pid",
	[PE_HEAD_TID] = "tid",
	NULL,
};

static bool read_profile_flag(lua_State *L, const char *name)
{
	bool is_set;

	lua_getfield(L, -1, name);
	is_set = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return is_set;
}

void pl_profile_read(lua_State *L, struct pl_job *job)
{
	const struct pq_grouping *g = &job->grouping;
	struct pe_asked *asked = &job->profile.asked;
	size_t n = g->n_measures;

	job->profile.is_asked = lua_getfield(L, PL_OPTIONS_AT, "profile") == LUA_TTABLE;
	for (size_t i = 0; i < n && !job->profile.is_asked; i++)
		if (g->measures[i].kind == PQ_M_TIMES)
			luaL_error(L, "invalid query: only a profile keeps times");
	if (job->profile.is_asked) {
		asked->timed = n && g->measures[n - 1].kind == PQ_M_TIMES;
		n -= asked->timed;
		if (!n || n > 2 || g->measures[0].kind != PQ_M_COUNT ||
		    (n > 1 && g->measures[1].kind != PQ_M_SUM))
			luaL_error(L, "invalid query: a profile needs a count and a sum");
		asked->keys = (struct pe_keys){
			.event = read_profile_key(L, job, "event"),
			.pid = read_profile_key(L, job, "pid"),
			.tid = read_profile_key(L, job, "tid"),
			.comm = read_profile_key(L, job, "comm"),
			.chain = read_profile_key(L, job, "chain"),
			.cpu = read_profile_key(L, job, "cpu"),
		};
		asked->sums = n > 1;
		asked->lines = read_profile_flag(L, "lines");
		asked->stacks = read_profile_flag(L, "stacks");
		asked->folded = read_profile_flag(L, "folded");
		asked->wall_time = read_profile_time(L, "wall_time");
		asked->duration = read_profile_time(L, "duration");
		asked->start = read_profile_time(L, "start");
		lua_getfield(L, -1, "head");
		asked->head = (enum pe_head)luaL_checkoption(L, -1, heads[0], heads);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
}

static enum pe_format check_format(lua_State *L, int index)
{
	const char *name = luaL_checkstring(L, index);
	enum pe_format format = 0;

	while (format < PE_FORMATS && strcmp(pe_format_name(format), name) != 0)
		format++;
	luaL_argcheck(L, format < PE_FORMATS, index, "no such format");
	return format;
}

/*
 * Upvalues as of all these functions: the file, what the job needs, the job.
 *
 * write(out, format, title, most | nil) -> bytes, step, joined | nil, message, error number
 */
static int write_profile(lua_State *L)
{
	luaL_Stream *out = pl_check_stream(L, 1);
	enum pe_format format = check_format(L, 2);
	const char *title = luaL_checkstring(L, 3);
	const struct pl_job *job = lua_touserdata(L, PL_PROFILE_JOB);
	uint64_t most = (uint64_t)luaL_optinteger(L, 4, 0);
	struct pe_written written;
	struct pl_writer *w = lua_newuserdatauv(L, sizeof(*w), 0);

	luaL_argcheck(L, format != PE_FIREFOX || job->profile.asked.stacks, 2, "no stacks");
	pl_writer_init(w, out);
	if (!pe_write(job->profile.made, format, title, most, &w->print, &written))
		return luaL_error(L, "no memory for a profile");
	if (w->error)
		return pl_writer_failed(L, w);
	if (most && written.size > most) {
		lua_pushinteger(L, (lua_Integer)written.size);
		return 1;
	}
	lua_pushinteger(L, (lua_Integer)(most ? written.size : w->written));
	lua_pushinteger(L, (lua_Integer)written.step);
	lua_pushinteger(L, (lua_Integer)written.n_joined);
	return 3;
}

/* threads() -> { { tid, time of the last sample } … }: those whose ids were recorded */
static int list_threads(lua_State *L)
{
	const struct pl_job *job = lua_touserdata(L, PL_PROFILE_JOB);
	size_t n = pe_profile_threads(job->profile.made, NULL);
	uint64_t *last = lua_newuserdatauv(L, (n + 1) * sizeof(*last), 0);
	lua_Integer listed = 0;

	pe_profile_threads(job->profile.made, last);
	lua_newtable(L);
	for (size_t i = 0; i < n; i++) {
		int32_t tid = pe_profile_tid(job->profile.made, i);

		if (tid == INT32_MIN)
			continue;
		lua_createtable(L, 2, 0);
		lua_pushinteger(L, tid);
		lua_rawseti(L, -2, 1);
		lua_pushinteger(L, (lua_Integer)last[i]);
		lua_rawseti(L, -2, 2);
		lua_rawseti(L, -2, ++listed);
	}
	return 1;
}

bool pl_push_profile(lua_State *L, struct pl_job *job)
{
	static const luaL_Reg functions[] = {
		{ "write", write_profile },
		{ "threads", list_threads },
		{ "fold", pl_profile_fold },
		{ "tree", pl_profile_tree },
		{ NULL, NULL },
	};
	struct pl_profile *profile = &job->profile;
	const struct pe_event *events;
	size_t n;

	profile->asked.system = job->scope.system;
	profile->asked.threads = job->scope.threads;
	profile->made = pe_profile_create(job->groups, &profile->asked);
	if (!profile->made)
		luaL_error(L, "no memory for a profile");
	if (pe_profile_is_too_heavy(profile->made))
		return false;
	pl_push_result(L);
	events = pe_profile_events(profile->made, &n);
	for (size_t i = 0; i < n; i++) {
		lua_createtable(L, 0, 3);
		if (events[i].number != UINT32_MAX)
			pl_set_integer(L, "index", events[i].number + UINT64_C(1));
		pl_set_integer(L, "samples", events[i].samples);
		pl_set_integer(L, "weight", events[i].weight);
		lua_rawseti(L, PL_RESULT_AT, (lua_Integer)i + 1);
	}
	lua_settop(L, PL_RESULT_AT);
	luaL_newlibtable(L, functions);
	lua_pushvalue(L, PL_FILE_AT);
	lua_pushvalue(L, PL_KEEP_AT);
	lua_pushvalue(L, PL_JOB_AT);
	luaL_setfuncs(L, functions, 3);
	pl_timing_wrap(L);
	return true;
}
