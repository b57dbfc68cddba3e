/*
 * Reports: results whose keys are the visible parts of a query's keys
 * (src/query/group/report.h).
 *
 * The option `report` describes one:
 *	keys = {{from = "key"|"dso"|"symbol"|"cpumode"|"srcline", key = number of a key of the
 *		query}, …}
 *	event = number of the key that is the event
 *	callers = true: samples count for their callers, too
 *	also = number of a measure that counts for callers beside periods
 *	members = {{leader = number of an event, slot = its place}, …} by number of the event:
 *		events that are shown together, slots from 1 on
 *	max_frames = frames of a call chain that count; from_callee = true: from the callee on
 *	is_own = true: callers have no rows; sums_branches = true: rows have four more sums, see
 *		enum pq_branch_sum
 * The measures of the query are a count, the sum of periods, and other sums. With `callers` its
 * last key is a call chain of functions (PQ_CHAIN_CALLERS), and only report keys from "key"
 * have a `key`. The option `shape` is that of the result.
 *
 * With trees = "caller" or "callee" the last key is such a chain even without `callers`, and
 * `trees` of the description is set to the call trees of the rows, for core.report_lines();
 * least = the smallest share of an event, from 0 to 1, that a row with a tree has; tree_key =
 * "function" (default), "address" or "srcline": what nodes are; shows_branches: see struct
 * pr_report_trees.
 *
 * `sections` of the description is set to an array with an entry for each section of the
 * result, that is, for each event with samples: {index = number of the event | nil, samples,
 * period, also, unresolved, sums}. `unresolved` counts samples without a function, if functions
 * are shown, `also` is the sum of that measure, `sums` are those of the measures after periods.
 * Where events are shown together, `members` of the entry is an array of such tables by slot.
 */
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "binding/functions.h"
#include "binding/system.h"
#include "report.h"
#include "result.h"

#define MAX_REPORT_KEYS 100

/*
 * Returns the number of a key in the field of that name of the table on top; SIZE_MAX if there
 * is none.
 */
static size_t read_key_number(lua_State *L, const struct pl_job *job, const char *name)
{
	const struct pq_report *asked = &job->report.asked;
	size_t n = job->grouping.n_keys - (asked->callers || asked->stacks), key = SIZE_MAX;

	if (lua_getfield(L, -1, name) != LUA_TNIL) {
		lua_Integer number = luaL_checkinteger(L, -1);

		if (number < 1 || (uint64_t)number > n)
			luaL_error(L, "invalid query: no such key");
		key = (size_t)number - 1;
	}
	lua_pop(L, 1);
	return key;
}

/* Reads the key that the table on top describes. */
static void read_report_key(lua_State *L, const struct pl_job *job, struct pq_report_key *key)
{
	static const char *const from[] = {
		[PQ_FROM_KEY] = "key",	       [PQ_FROM_DSO] = "dso",
		[PQ_FROM_SYMBOL] = "symbol",   [PQ_FROM_MODE] = "cpumode",
		[PQ_FROM_SRCLINE] = "srcline", [PQ_FROM_SRCLINE + 1] = NULL,
	};
	bool needs_key;

	luaL_checktype(L, -1, LUA_TTABLE);
	lua_getfield(L, -1, "from");
	key->from = (enum pq_report_from)luaL_checkoption(L, -1, NULL, from);
	lua_pop(L, 1);
	key->key = read_key_number(L, job, "key");
	needs_key = key->from == PQ_FROM_KEY || !job->report.asked.callers;
	if (needs_key && key->key == SIZE_MAX)
		luaL_error(L, "invalid query: no such key");
}

static void read_report_keys(lua_State *L, struct pl_job *job)
{
	struct pq_report_key *keys;
	size_t n = 0;

	if (lua_getfield(L, -1, "keys") == LUA_TTABLE)
		n = (size_t)lua_rawlen(L, -1);
	if (!n || n > MAX_REPORT_KEYS)
		luaL_error(L, "invalid query: no keys, or too many");
	keys = pl_keep(L, PL_KEEP_AT, n * sizeof(*keys));
	for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		read_report_key(L, job, &keys[i]);
	}
	job->report.asked.keys = keys;
	job->report.asked.n_keys = n;
	lua_pop(L, 1);
}

/* Reads which trees are asked for. */
static void read_trees(lua_State *L, struct pl_report *report)
{
	static const char *const orders[] = { "callee", "caller", NULL };
	static const char *const tree_keys[] = {
		[PR_TREE_FUNCTION] = "function",
		[PR_TREE_ADDRESS] = "address",
		[PR_TREE_SRCLINE] = "srcline",
		[PR_TREE_SRCLINE + 1] = NULL,
	};

	if (lua_getfield(L, -1, "trees") != LUA_TNIL) {
		report->stacks.from_caller = luaL_checkoption(L, -1, NULL, orders);
		report->asked.stacks = &report->stacks;
	}
	lua_getfield(L, -2, "least");
	report->stacks.least = luaL_optnumber(L, -1, 0);
	lua_getfield(L, -3, "tree_key");
	report->tree_key = (enum pr_tree_key)luaL_checkoption(L, -1, "function", tree_keys);
	lua_pop(L, 3);
	report->shows_branches = pl_get_flag(L, -1, "shows_branches");
}

/* Returns the integer in a field of the table on top. */
static lua_Integer get_integer(lua_State *L, const char *name)
{
	lua_Integer number;

	lua_getfield(L, -1, name);
	number = luaL_checkinteger(L, -1);
	lua_pop(L, 1);
	return number;
}

/* Returns the integer in a field of the table on top; 0: there is none. */
static lua_Integer get_optional(lua_State *L, const char *name)
{
	lua_Integer number;

	lua_getfield(L, -1, name);
	number = luaL_optinteger(L, -1, 0);
	lua_pop(L, 1);
	return number;
}

/* Returns which sum has callers beside periods; 0: none. */
static size_t read_also(lua_State *L, const struct pq_grouping *g)
{
	lua_Integer number = get_optional(L, "also");

	if (number && (number < 3 || (size_t)number > g->n_measures))
		luaL_error(L, "invalid query: no such measure");
	return number ? (size_t)number - 1 : 0;
}

/* Reads which events are shown together. */
static void read_members(lua_State *L, struct pq_report *asked)
{
	struct pq_report_member *members;
	size_t n;

	asked->n_slots = 1;
	if (lua_getfield(L, -1, "members") == LUA_TTABLE) {
		n = (size_t)lua_rawlen(L, -1);
		members = pl_keep(L, PL_KEEP_AT, (n + 1) * sizeof(*members));
		members[0] = (struct pq_report_member){ 0 };
		for (size_t i = 1; i <= n; i++, lua_pop(L, 1)) {
			lua_Integer leader, slot;

			lua_rawgeti(L, -1, (lua_Integer)i);
			luaL_checktype(L, -1, LUA_TTABLE);
			leader = get_integer(L, "leader");
			slot = get_integer(L, "slot");
			if (leader < 1 || (size_t)leader > n || slot < 1 || (size_t)slot > n)
				luaL_error(L, "invalid query: no such event");
			members[i] = (struct pq_report_member){ (uint32_t)leader,
								(uint32_t)slot - 1 };
			if (asked->n_slots < (size_t)slot)
				asked->n_slots = (size_t)slot;
		}
		asked->members = members;
		asked->n_members = n + 1;
	}
	lua_pop(L, 1);
}

static bool has_report_measures(const struct pq_grouping *g)
{
	bool has = g->n_measures >= 2 && g->n_measures <= PQ_REPORT_MEASURES;

	for (size_t m = 0; has && m < g->n_measures; m++)
		has = g->measures[m].kind == (m ? PQ_M_SUM : PQ_M_COUNT);
	return has;
}

void pl_report_read(lua_State *L, struct pl_job *job)
{
	const struct pq_grouping *g = &job->grouping;
	struct pl_report *report = &job->report;

	report->is_asked = lua_getfield(L, PL_OPTIONS_AT, "report") == LUA_TTABLE;
	if (report->is_asked) {
		if (!g->n_keys || !has_report_measures(g))
			luaL_error(L, "invalid query: a report needs a count and sums");
		report->asked.n_measures = g->n_measures;
		report->asked.callers = pl_get_flag(L, -1, "callers");
		report->asked.is_own = pl_get_flag(L, -1, "is_own");
		report->asked.sums_branches = pl_get_flag(L, -1, "sums_branches");
		report->asked.from_callee = pl_get_flag(L, -1, "from_callee");
		report->asked.max_frames = (size_t)get_optional(L, "max_frames");
		report->asked.also = read_also(L, g);
		read_trees(L, report);
		read_members(L, &report->asked);
		report->asked.event_key = read_key_number(L, job, "event");
		read_report_keys(L, job);
	}
	lua_pop(L, 1);
}

void pl_report_free(struct pl_job *job)
{
	free(job->report.sections.list);
	job->report.sections.list = NULL;
	free(job->report.stacks.list);
	free(job->report.stacks.of_row);
	job->report.stacks.list = NULL;
	job->report.stacks.of_row = NULL;
}

static bool has_symbols(const struct pl_job *job)
{
	for (size_t i = 0; i < job->report.asked.n_keys; i++)
		if (job->report.asked.keys[i].from == PQ_FROM_SYMBOL)
			return true;
	return false;
}

/*
 * Pushes the entry of an event; `number` is that of the sections. Returns false if a sum of it
 * has no answer. [-0, +1]
 */
static bool push_section(lua_State *L, const struct pl_job *job, size_t number)
{
	const struct pq_report_sections *sections = &job->report.sections;
	const struct pq_report *asked = &job->report.asked;
	struct pq_report_section none = { 0 };
	const struct pq_report_section *s = number < sections->n ? &sections->list[number] :
								   &none;

	lua_createtable(L, 0, 7);
	if (number)
		pl_set_integer(L, "index", number);
	pl_set_integer(L, "samples", s->samples);
	pl_set_integer(L, "period", s->sums[1]);
	if (has_symbols(job))
		pl_set_integer(L, "unresolved", s->unresolved);
	if (asked->also)
		pl_set_integer(L, "also", s->sums[asked->also]);
	lua_newtable(L);
	for (size_t m = 2; m < asked->n_measures; m++) {
		lua_pushinteger(L, (lua_Integer)s->sums[m]);
		lua_rawseti(L, -2, (lua_Integer)m - 1);
	}
	lua_setfield(L, -2, "sums");
	return s->sums[1] <= INT64_MAX && s->sums[asked->also] <= INT64_MAX;
}

/*
 * Pushes the entry of a section, whose first event has that number. Returns false if a period
 * has no answer. [-0, +1]
 */
static bool push_members(lua_State *L, const struct pl_job *job, size_t first)
{
	const struct pq_report *asked = &job->report.asked;
	bool ok = push_section(L, job, first);
	size_t n = 0;

	lua_newtable(L);
	for (size_t i = 1; first && i < asked->n_members; i++) {
		if (asked->members[i].section != first)
			continue;
		ok &= push_section(L, job, i);
		lua_rawseti(L, -2, (lua_Integer)asked->members[i].slot + 1);
		n++;
	}
	if (n > 1)
		lua_setfield(L, -2, "members");
	else
		lua_pop(L, 1);
	return ok;
}

/*
 * Sets `sections` of the description, and numbers those of the result so. Returns false if the
 * period of an event has no answer.
 */
static bool set_sections(lua_State *L, const struct pl_job *job, struct pq_groups *groups)
{
	const struct pq_report *asked = &job->report.asked;
	const struct pq_report_sections *sections = &job->report.sections;
	size_t n = sections->n > asked->n_members ? sections->n : asked->n_members;
	uint32_t *places = lua_newuserdatauv(L, (n + 1) * sizeof(*places), 0);
	lua_Integer place = 0;
	bool ok = true;

	memset(places, 0, (n + 1) * sizeof(*places));
	for (size_t i = 0; i < sections->n; i++)
		if (sections->list[i].samples)
			places[i < asked->n_members ? asked->members[i].section : i] = 1;
	lua_newtable(L);
	for (size_t i = 1; i <= n; i++) {
		size_t number = i < n ? i : 0; /* without an event: the last */

		if (!places[number])
			continue;
		ok &= push_members(L, job, number);
		lua_rawseti(L, -2, ++place);
		places[number] = (uint32_t)place;
	}
	lua_setfield(L, PL_OPTIONS_AT, "sections");
	if (ok && n)
		pq_groups_set_sections(groups, places + 1, n - 1, places[0]);
	return ok;
}

/*
 * Returns the part of the recording that the groups are of, if an interrupt ended the adding
 * up.
 */
static double part_taken(const struct pl_job *job, const struct pq_groups *groups)
{
	double part = job->progress.ended ? job->progress.part : 1;

	return part * (double)job->report.sections.taken / (double)pq_groups_size(groups);
}

static bool is_report_shape(const struct pr_shape *shape, const struct pq_report *asked)
{
	size_t n_own = asked->n_slots * asked->n_measures;
	size_t n_totals = asked->callers ? 1 + (asked->also > 0) : 0;
	size_t n_sums = asked->sums_branches ? PQ_BRANCH_SUMS : 0;
	bool fits = shape->n_keys == asked->n_keys &&
		    shape->n_measures == n_own + n_totals * asked->n_slots + n_sums;

	for (size_t m = 0; fits && m < shape->n_measures; m++) {
		bool is_count = m < n_own && m % asked->n_measures == 0;

		fits = shape->measures[m].measure == (is_count ? PQ_M_COUNT : PQ_M_SUM) &&
		       (is_count || shape->measures[m].kind == PR_UNSIGNED);
	}
	return fits;
}

static int report_trees_gc(lua_State *L)
{
	pr_report_trees_deinit(lua_touserdata(L, 1));
	return 0;
}

struct pr_report_trees *pl_check_report_trees(lua_State *L, int index)
{
	struct pr_report_trees *trees = luaL_checkudata(L, index, PL_REPORT_TREES);

	if (!trees->known)
		luaL_argerror(L, index, "trees that were not made");
	lua_getiuservalue(L, index, 2);
	pl_check_open_file(L, -1);
	lua_pop(L, 1);
	return trees;
}

/*
 * Sets `trees` of the description, which take the groups, unless these grow; their grouping is
 * the job's.
 */
static void set_trees(lua_State *L, struct pl_job *job, struct pq_groups *groups)
{
	struct pr_report_trees *made = lua_newuserdatauv(L, sizeof(*made), 2);

	*made = (struct pr_report_trees){ 0 };
	if (luaL_newmetatable(L, PL_REPORT_TREES)) {
		lua_pushcfunction(L, report_trees_gc);
		lua_setfield(L, -2, "__gc");
	}
	lua_setmetatable(L, -2);
	lua_pushvalue(L, PL_JOB_AT);
	lua_setiuservalue(L, -2, 1);
	lua_pushvalue(L, PL_FILE_AT);
	lua_setiuservalue(L, -2, 2);
	made->groups = groups;
	made->is_borrowed = job->report.asked.grows;
	made->stacks = job->report.stacks;
	made->max_frames = job->report.asked.max_frames;
	made->key = job->report.tree_key;
	made->shows_branches = job->report.shows_branches;
	if (made->is_borrowed) {
		job->report.growing_trees = made;
		lua_pushvalue(L, -1); /* it stays while the job may forget its groups */
		lua_rawsetp(L, PL_KEEP_AT, &job->report);
	} else {
		job->groups = NULL;
	}
	job->report.stacks = (struct pq_report_stacks){ .from_caller = made->stacks.from_caller,
							.least = made->stacks.least };
	if (!pr_report_trees_begin(made))
		luaL_error(L, "no memory for a report");
	lua_setfield(L, PL_OPTIONS_AT, "trees");
}

void pl_report_forget_growing(struct pl_job *job)
{
	if (job->report.growing_trees)
		pr_report_trees_deinit(job->report.growing_trees);
	job->report.growing_trees = NULL;
	free(job->report.sections.list);
	job->report.sections.list = NULL;
}

enum pq_wrong pl_push_report(lua_State *L, struct pl_file *f, struct pl_job *job,
			     struct pq_groups *groups)
{
	struct pq_report *asked = &job->report.asked;
	struct ps_interrupt interrupt = { .flag = job->progress.interrupt,
					  .tick = f->interrupt->tick,
					  .arg = f->interrupt->arg };
	struct pr_result *result;

	luaL_checkstack(L, 20, "report");
	lua_getfield(L, PL_OPTIONS_AT, "shape");
	result = pl_push_empty_result(L, -1);
	luaL_argcheck(L, is_report_shape(&result->shape, asked), PL_OPTIONS_AT,
		      "not the shape of a report");
	asked->system = f->system;
	asked->n_machines = (uint32_t)f->session->n_files;
	asked->grows = groups != job->groups;
	if (!pq_report_make(asked, groups, result->groups, &job->report.sections, &interrupt))
		luaL_error(L, "no memory for a report");
	result->is_open = false;
	if (atomic_load(&interrupt.cut))
		pl_cut_pass(L, part_taken(job, groups));
	if (asked->stacks)
		set_trees(L, job, groups);
	pq_groups_destroy(job->groups);
	job->groups = NULL;
	if (!set_sections(L, job, result->groups))
		return PQ_WRONG_SUM;
	lua_pop(L, 1); /* the places */
	return pq_groups_wrong(result->groups);
}

int pl_file_short_names(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	const struct pm_system *system = pl_system(L, f);

	lua_newtable(L);
	for (uint32_t machine = 0; machine < f->session->n_files; machine++) {
		const struct ps_store *store = pm_system_store(system, machine);

		for (size_t i = 0; store && i < ps_store_count(store); i++) {
			const struct ps_dso *dso = ps_store_at(store, i);

			if (dso->id.kind == PS_USER || dso->id.kind == PS_DATA)
				continue;
			lua_pushstring(L, dso->short_name);
			lua_setfield(L, -2, dso->name);
		}
	}
	return 1;
}
