/*
 * Grouped queries: from their description to the groups, as lua/perflua/group/aggregate.lua
 * makes them of records. result.c makes the groups Lua values.
 */
#include "group.h"

#include <string.h>

#include "binding/functions.h"
#include "binding/record.h"
#include "binding/system.h"
#include "pairs.h"
#include "result.h"

/* Reads the options of a query that groups rows of pairs instead of records. */
static void read_pairing(lua_State *L, const struct pl_file *f, struct pl_job *job)
{
	struct pl_calls *calls;

	if (!pl_to_paired(L, PL_KEEP_AT, f, PL_OPTIONS_AT, &job->pairs))
		return;
	/* the Lua functions converted so far are called for records, later ones for rows */
	calls = pl_calls_of(L, PL_KEEP_AT);
	job->scope.calls = calls ? &calls->calls : NULL;
	pl_to_made(L, PL_KEEP_AT, f, PL_OPTIONS_AT, &job->pairs);
	/* rows are made in a thread that only stops when asked to: the caller shows progress */
	job->scope.progress = pb_until_set(job->progress.interrupt);
}

/* Runs such a query as pq_run() does, and sets the counts in `counts` of the options. */
static enum pb_outcome run_pairing(lua_State *L, struct pl_job *job, struct pd_error *err)
{
	struct pq_pair_counts counts = { 0 };
	const struct pb_progress shown = pl_progress_shown(&job->progress);
	enum pb_outcome ran = pq_run_pairs(&job->scope, job->calls ? &job->calls->calls : NULL,
					   &job->pairs, &job->grouping, &job->groups, &counts,
					   &shown, err);

	if (lua_getfield(L, PL_OPTIONS_AT, "counts") == LUA_TTABLE)
		pl_set_pair_counts(L, &counts);
	lua_pop(L, 1);
	return ran;
}

#define MAX_KEYS     4096
#define MAX_MEASURES 4096

static void free_job(struct pl_job *job)
{
	if (job->calls)
		pq_calls_end(&job->calls->calls);
	pl_progress_end(&job->progress);
	pl_report_free(job);
	pl_hits_free(job);
	pa_functions_destroy(job->functions.made);
	pe_profile_destroy(job->profile.made);
	pq_groups_destroy(job->groups);
	pm_system_destroy(job->system);
	if (job->held)
		pl_system_let_go(job->held);
	job->held = NULL;
	job->profile.made = NULL;
	job->functions.made = NULL;
	job->groups = NULL;
	job->system = NULL;
}

static int job_gc(lua_State *L)
{
	free_job(lua_touserdata(L, 1));
	return 0;
}

/*
 * Pushes the array of that name in the table at `options`, and returns its length. Raises if
 * there is none, or if it has more than `max` elements. [-0, +1]
 */
static size_t push_list(lua_State *L, int options, const char *name, size_t max)
{
	size_t n;

	if (lua_getfield(L, options, name) != LUA_TTABLE)
		luaL_error(L, "invalid query: no %s", name);
	n = (size_t)lua_rawlen(L, -1);
	if (n > max)
		luaL_error(L, "more than %d %s", (int)max, name);
	return n;
}

/* Returns the tree of that name in the table on top; NULL if there is none. [-0, +0] */
static const struct pq_node *get_node(lua_State *L, const struct pl_file *f, const char *name)
{
	const struct pq_node *node = NULL;

	if (lua_getfield(L, -1, name) != LUA_TNIL)
		node = pl_to_node(L, PL_KEEP_AT, f, -1);
	lua_pop(L, 1);
	return node;
}

static void read_keys(lua_State *L, const struct pl_file *f, struct pl_job *job)
{
	size_t n = push_list(L, PL_OPTIONS_AT, "keys", MAX_KEYS);
	struct pq_key *keys = pl_keep(L, PL_KEEP_AT, n * sizeof(*keys));

	job->at = pl_keep(L, PL_KEEP_AT, n * sizeof(*job->at));
	for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
		if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TTABLE)
			luaL_error(L, "invalid query: a key is a table");
		keys[i].value = get_node(L, f, "value");
		keys[i].fallback = get_node(L, f, "other");
		if (!keys[i].value)
			luaL_error(L, "invalid query: a key has no value");
		if (lua_getfield(L, -1, "at") != LUA_TNIL) {
			lua_Integer at = luaL_checkinteger(L, -1);

			if (at < 1 || at > MAX_KEYS)
				luaL_error(L, "invalid query: no such position");
			job->at[i] = (int)at;
		}
		lua_pop(L, 1);
	}
	job->grouping.keys = keys;
	job->grouping.n_keys = n;
	lua_pop(L, 1);
}

/* Reads the two sets of events of the ratio on top. */
static void read_ratio(lua_State *L, struct pl_job *job, struct pq_measure *m)
{
	m->n_events = job->scope.n_events;
	if (lua_getfield(L, -1, "events") != LUA_TTABLE)
		luaL_error(L, "invalid query: a ratio needs two events");
	for (int i = 0; i < 2; i++, lua_pop(L, 1)) {
		uint8_t *events = pl_keep(L, PL_KEEP_AT, m->n_events);

		if (lua_rawgeti(L, -1, i + 1) != LUA_TTABLE)
			luaL_error(L, "invalid query: a ratio needs two events");
		pl_to_events(L, -1, events, m->n_events);
		m->events[i] = events;
	}
	lua_pop(L, 1);
}

static void read_measures(lua_State *L, const struct pl_file *f, struct pl_job *job)
{
	size_t n = push_list(L, PL_OPTIONS_AT, "measures", MAX_MEASURES);
	struct pq_measure *measures = pl_keep(L, PL_KEEP_AT, n * sizeof(*measures));

	for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
		if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TTABLE)
			luaL_error(L, "invalid query: a measure is a table");
		lua_getfield(L, -1, "measure");
		measures[i].kind = pl_to_measure(L);
		measures[i].value = get_node(L, f, "value");
		measures[i].weight = get_node(L, f, "weight");
		if (measures[i].kind == PQ_M_RATIO)
			read_ratio(L, job, &measures[i]);
		if (measures[i].kind > PQ_M_TIMES)
			luaL_error(L, "invalid query: no measure of records");
		if (!measures[i].value && measures[i].kind != PQ_M_COUNT)
			luaL_error(L, "invalid query: a measure needs a field");
		if (measures[i].value && measures[i].value->kind == PQ_K_STACK &&
		    (measures[i].kind != PQ_M_DISTINCT || measures[i].value->op != PQ_FIELD))
			luaL_error(L, "invalid query: stacks are only counted");
	}
	job->grouping.measures = measures;
	job->grouping.n_measures = n;
	lua_pop(L, 1);
}

/*
 * Describes the groups of the records whose items are rows: the key is `whole` (a tree of their
 * event, or false if all are one group), and the measures are the sums that shares refer to.
 */
static void read_whole_groups(lua_State *L, const struct pl_file *f, struct pl_job *job)
{
	const struct pq_grouping *g = &job->grouping;
	struct pq_measure *shares;
	struct pq_key *key;
	size_t n = 0;

	if (!job->scope.unnest || lua_getfield(L, PL_OPTIONS_AT, "whole") == LUA_TNIL)
		return;
	if (lua_istable(L, -1)) {
		key = pl_keep(L, PL_KEEP_AT, sizeof(*key));
		key->value = pl_to_node(L, PL_KEEP_AT, f, -1);
		job->whole.keys = key;
		job->whole.n_keys = 1;
	}
	lua_pop(L, 1);
	shares = pl_keep(L, PL_KEEP_AT, g->n_measures * sizeof(*shares));
	for (size_t i = 0; i < g->n_measures; i++)
		if (g->measures[i].kind == PQ_M_SHARE)
			shares[n++] = g->measures[i];
	job->whole.measures = shares;
	job->whole.n_measures = n;
	job->grouping.whole = &job->whole;
}

void pl_push_result(lua_State *L)
{
	luaL_checkstack(L, 20, "groups");
	lua_settop(L, PL_RESULT_AT - 1);
	lua_newtable(L);
}

static bool job_asks_system(const struct pl_job *job)
{
	const struct pq_grouping *g = &job->grouping;
	const struct pq_scope *scope = &job->scope;
	const struct pd_session *session = scope->session;
	bool asks = (scope->filter && pq_asks_system(scope->filter, session)) ||
		    pq_items_ask(scope->unnest, session);

	if (job->pairs.how) {
		for (size_t i = 0; i < job->pairs.n; i++)
			asks = asks || pq_asks_system(job->pairs.nodes[i], session);
		return asks;
	}
	for (size_t i = 0; i < g->n_keys; i++)
		asks = asks || pq_asks_system(g->keys[i].value, session) ||
		       pq_asks_system(g->keys[i].fallback, session);
	for (size_t i = 0; i < g->n_measures; i++)
		asks = asks || pq_asks_system(g->measures[i].value, session) ||
		       pq_asks_system(g->measures[i].weight, session);
	return asks;
}

/* Returns true if what the query returns keeps the job. */
static bool stays_job(const struct pl_job *job)
{
	return job->profile.is_asked || job->hits.is_asked || job->functions.is_asked;
}

/* Makes the functions callable. */
static void enter_job_calls(lua_State *L, struct pl_job *job)
{
	pl_calls_enter(L, job->calls, PL_FILE_AT, PL_KEEP_AT);
	lua_getfield(L, PL_OPTIONS_AT, "reuse");
	if (lua_toboolean(L, -1)) {
		pl_push_reusable(L, PL_FILE_AT);
		pl_calls_reuse(L, job->calls);
	}
	lua_pop(L, 1);
	if (!stays_job(job))
		lua_toclose(L, PL_JOB_AT);
}

/*
 * Makes a job at PL_JOB_AT that is ready to run, from (file, description). Allocations may
 * close the file, so it is checked at the end.
 */
static struct pl_job *prepare_job(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, PL_FILE_AT);
	struct pl_job *job;

	luaL_checktype(L, PL_OPTIONS_AT, LUA_TTABLE);
	lua_settop(L, PL_OPTIONS_AT);
	lua_newtable(L);
	job = pl_push_finalized(L, sizeof(*job), job_gc);
	lua_pushvalue(L, PL_KEEP_AT); /* on an error, the job releases the trees' memory */
	lua_setiuservalue(L, PL_JOB_AT, 1);
	pl_progress_init(L, &job->progress);
	pl_progress_watch(&job->progress, f->interrupt);
	pl_to_scope(L, PL_KEEP_AT, f, PL_OPTIONS_AT, &job->progress, &job->scope);
	read_pairing(L, f, job);
	read_keys(L, f, job);
	read_measures(L, f, job);
	lua_getfield(L, PL_OPTIONS_AT, "most");
	job->grouping.most = (uint64_t)luaL_optinteger(L, -1, 0);
	lua_pop(L, 1);
	job->grouping.repeats = pl_get_flag(L, PL_OPTIONS_AT, "repeats");
	read_whole_groups(L, f, job);
	pl_report_read(L, job);
	pl_profile_read(L, job);
	pl_hits_read(L, job);
	pl_functions_read(L, job);
	job->calls = pl_calls_of(L, PL_KEEP_AT);
	if (job->calls && !job->pairs.how)
		job->scope.calls = &job->calls->calls;
	pl_check_open_file(L, PL_FILE_AT);
	return job;
}

/*
 * Sets the recorded system in the job's scope, if the query needs it: the file's, or one that
 * the query itself reads.
 */
static void set_machine(lua_State *L, struct pl_file *f, struct pl_job *job)
{
	/* passes that go on with one walk may ask later */
	bool is_watched = lua_getfield(L, PL_OPTIONS_AT, "watch") != LUA_TNIL;
	bool asks = job_asks_system(job) || is_watched;

	lua_pop(L, 1);
	if (is_watched || !asks || f->system || f->sideband || job->pairs.how || job->calls ||
	    !pq_run_reads(&job->scope)) {
		/* a function may ask about a stream, whose system is read with its records */
		asks = asks || (job->calls && pl_file_passes(f));
		pl_scope_machine(L, f, PL_OPTIONS_AT, asks, &job->scope);
		return;
	}
	job->system = pm_system_create(f->session, &f->symbols);
	if (!job->system)
		luaL_error(L, "%s: no memory for the recorded system", f->file->path);
	job->unread = true;
	job->scope.system = job->system;
	job->scope.unread = &job->unread;
}

const char *pl_wrong_name(enum pq_wrong wrong)
{
	static const char *const names[] = {
		[PQ_WRONG_SUM] = "sum",
		[PQ_WRONG_WEIGHT] = "weight",
		[PQ_WRONG_WEIGHTS] = "weights",
		[PQ_WRONG_AVERAGE] = "average",
	};

	return names[wrong];
}

/*
 * core.group(file, description) -> result | nil, message: what is wrong: its name
 * (pl_wrong_name), that a key is none, or why the recording cannot be read
 *
 * The description is that of a scope (scope.h) with keys {{value = tree, other = tree |
 * nil, at = position among a group's keys | nil: its event}, …} and measures {{measure = name,
 * value = tree, weight = tree | nil, events = {set, set} of ratio}, …}. It may have report,
 * profile, binaries or functions, see report.c, profile.c, hits.c and functions.c, a report
 * also watch, see watch.c, or pairs and values, see pairs.c: then the trees of keys and
 * measures, and `kept`, have fields {row = place} of the rows, and `counts` of the description
 * is set. With `most`, records that measure more are set aside (group.h), and `aside` of the
 * description is set to their number. With `repeats`, several groups may have the same keys.
 *
 * The result has the shape in field `shape` (result.h); sections are the indexes of events of
 * the key without a position, which comes first. Where rows are items of records, field `whole`
 * of the description is set to a list, for each event, of {event = its name | nil, index = its
 * index | nil, sums of the records, of each share}. Of a stream that was waited for in vain
 * there is no result: false.
 */
int pl_file_group(lua_State *L)
{
	struct pl_job *job = prepare_job(L);
	struct pl_file *f = lua_touserdata(L, PL_FILE_AT);
	struct pd_error err;
	enum pb_outcome ran;
	enum pq_wrong wrong;
	struct pb_lap lap;
	bool has_stopped;
	int n_results = 1;

	pl_system_hold(f);
	job->held = f;
	lua_pushvalue(L, PL_FILE_AT); /* the job keeps it */
	lua_rawsetp(L, PL_KEEP_AT, job);
	set_machine(L, f, job);
	if (job->calls)
		enter_job_calls(L, job);
	f->late = 0;
	job->scope.late = &f->late;
	pl_watch_begin(L, job);
	ran = job->pairs.how ? run_pairing(L, job, &err) :
			       pq_run(&job->scope, &job->grouping, &job->groups, &err);
	pl_system_end_watch(f);
	if (job->system && !job->unread && pl_system_take(f, job->system))
		job->system = NULL;
	pl_progress_end(&job->progress);
	has_stopped = pl_watch_end(L, job);
	/* a stream that a reader waited for ends as if the recording had ended */
	if (ran == PB_FAILED && pl_tells(job->progress.interrupt, &err)) {
		lua_pushnil(L);
		lua_pushstring(L, err.message);
		return 2;
	}
	if (ran != PB_OK && !has_stopped)
		pl_cut_pass(L, job->progress.part);
	pl_file_report(L, f);
	if (!job->groups) {
		pl_cut_names(L, f);
		lua_pushboolean(L, 0);
		return 1;
	}
	lua_pushinteger(L, (lua_Integer)pq_groups_set_aside(job->groups));
	lua_setfield(L, PL_OPTIONS_AT, "aside");
	wrong = pq_groups_wrong(job->groups);
	pl_progress_begin_stage(&job->progress, "making the result");
	pl_progress_watch(&job->progress, f->interrupt);
	lap = pb_stage_enter(f->session->timing, NULL, PB_STAGE_ROWS);
	if (wrong == PQ_RIGHT && job->report.is_asked)
		wrong = pl_push_report(L, f, job, job->groups);
	if (wrong == PQ_RIGHT && job->profile.is_asked && !pl_push_profile(L, job))
		wrong = PQ_WRONG_SUM;
	if (wrong == PQ_RIGHT && job->hits.is_asked)
		pl_push_hits(L, job);
	if (wrong == PQ_RIGHT && job->functions.is_asked)
		pl_push_functions(L, job);
	if (wrong == PQ_RIGHT && !job->report.is_asked && !stays_job(job))
		n_results = pl_push_groups(L, job);
	pb_stage_leave(&lap);
	pl_progress_end(&job->progress);
	pl_cut_names(L, f); /* those of call chains were looked up last */
	if (wrong != PQ_RIGHT) {
		lua_pushnil(L);
		lua_pushstring(L, job->profile.is_asked ? "periods" : pl_wrong_name(wrong));
		return 2;
	}
	if (stays_job(job))
		return 2;
	free_job(job);
	return n_results;
}

/*
 * core.group_workers(file, description) -> the number of threads that would work, the reason
 * for not using more or nil, and the passes before (scope.h)
 */
int pl_file_group_threads(lua_State *L)
{
	const struct pl_job *job = prepare_job(L);
	const char *why = NULL;
	unsigned n = job->pairs.how ? pq_rows_threads(&job->scope, &why) :
				      pq_run_threads(&job->scope, &job->grouping, &why);
	bool reads = !job->pairs.how && !job->calls && pq_run_reads(&job->scope);

	lua_pushinteger(L, n);
	lua_pushstring(L, why);
	pl_push_passes(L, lua_touserdata(L, PL_FILE_AT), &job->scope, job_asks_system(job),
		       reads);
	return 3;
}
