/*
 * Grouped queries as a report has them: rows with the visible parts of the groups' keys
 * (src/query/group/report.h).
 *
 * The option report = {columns = {{from = "key"|"dso"|"symbol"|"cpumode", key = number of a
 * key, signed = …}, …}, event = number of the key that it is, limit = percent, count = of rows,
 * callers = true | nil}: the measures are a count and a sum; with callers the last key is a
 * call chain of functions (PQ_CHAIN_CALLERS), and only columns from a key have one.
 *
 * The result has for each event with samples, in their order, {index, samples, period,
 * unresolved, n, first}: n rows of it are to show, from number `first` on. `unresolved` counts
 * the samples without a function, which are shown as addresses, if functions are asked for. A
 * second result is a function:
 * rows(from, to) returns for each column, then for samples, period and, with callers, children,
 * an array of the values of these rows. Rows stay in the core, as there may be millions of
 * them.
 */
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "group.h"
#include "binding/system.h"
#include "binding/functions.h"
#include "perfdata/format/views.h"

#define MAX_COLUMNS 100

/*
 * Returns the number of a key in the field of that name of the table on top; SIZE_MAX if there
 * is none.
 */
static size_t read_column_name(lua_State *L, const struct pl_job *job, const char *name)
{
	size_t key = SIZE_MAX;

	size_t n = job->grouping.n_keys - job->report.asked.callers;

	if (lua_getfield(L, -1, name) != LUA_TNIL) {
		lua_Integer number = luaL_checkinteger(L, -1);

		if (number < 1 || (uint64_t)number > n)
			luaL_error(L, "invalid query: no such key");
		key = (size_t)number - 1;
	}
	lua_pop(L, 1);
	return key;
}

/* Reads the column that the table on top describes. */
static void read_report_column(lua_State *L, const struct pl_job *job,
			       struct pq_report_column *column)
{
	static const char *const from[] = {
		[PQ_FROM_KEY] = "key",	     [PQ_FROM_DSO] = "dso",
		[PQ_FROM_SYMBOL] = "symbol", [PQ_FROM_MODE] = "cpumode",
		[PQ_FROM_MODE + 1] = NULL,
	};
	bool needs_key;

	luaL_checktype(L, -1, LUA_TTABLE);
	lua_getfield(L, -1, "from");
	column->from = (enum pq_report_from)luaL_checkoption(L, -1, NULL, from);
	lua_getfield(L, -2, "signed");
	column->is_signed = lua_toboolean(L, -1);
	lua_pop(L, 2);
	column->key = read_column_name(L, job, "key");
	needs_key = column->from == PQ_FROM_KEY || !job->report.asked.callers;
	if (needs_key && column->key == SIZE_MAX)
		luaL_error(L, "invalid query: no such key");
}

static void read_columns(lua_State *L, struct pl_job *job)
{
	struct pq_report_column *columns;
	size_t n = 0;

	if (lua_getfield(L, -1, "columns") == LUA_TTABLE)
		n = (size_t)lua_rawlen(L, -1);
	if (!n || n > MAX_COLUMNS)
		luaL_error(L, "invalid query: no columns, or too many");
	columns = pl_keep(L, PL_KEEP_AT, n * sizeof(*columns));
	for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		read_report_column(L, job, &columns[i]);
	}
	job->report.asked.columns = columns;
	job->report.asked.n_columns = n;
	lua_pop(L, 1);
}

void pl_report_read(lua_State *L, struct pl_job *job)
{
	const struct pq_grouping *g = &job->grouping;
	struct pl_report *report = &job->report;

	report->is_asked = lua_getfield(L, PL_OPTIONS_AT, "report") == LUA_TTABLE;
	if (report->is_asked) {
		if (!g->n_keys || g->n_measures != 2 || g->measures[0].kind != PQ_M_COUNT ||
		    g->measures[1].kind != PQ_M_SUM)
			luaL_error(L, "invalid query: a report needs a count and a sum");
		lua_getfield(L, -1, "callers");
		report->asked.callers = lua_toboolean(L, -1);
		lua_pop(L, 1);
		report->asked.n_keys = g->n_keys;
		report->asked.event_key = read_column_name(L, job, "event");
		read_columns(L, job);
		lua_getfield(L, -1, "limit");
		lua_getfield(L, -2, "count");
		report->limit = luaL_optnumber(L, -2, 0);
		report->count = (uint64_t)luaL_optinteger(L, -1, LUA_MAXINTEGER);
		lua_pop(L, 2);
	}
	lua_pop(L, 1);
}

void pl_report_free(struct pl_job *job)
{
	pq_report_destroy(job->report.made);
	job->report.made = NULL;
}

struct pd_text pl_report_symbol(const struct pq_report_row *row, char text[PL_ADDRESS_TEXT])
{
	if (row->symbol.p)
		return row->symbol;
	if (!row->placed)
		return (struct pd_text){ PM_UNKNOWN, strlen(PM_UNKNOWN) };
	text[0] = '0';
	text[1] = 'x';
	for (unsigned i = 0; i < 16; i++)
		text[2 + i] = "0123456789abcdef"[row->address >> (60 - 4 * i) & 15];
	return (struct pd_text){ text, PL_ADDRESS_TEXT };
}

#define LONG_TEXT 40 /* Lua keeps longer ones as often as they are pushed */

/*
 * Pushes a text at an address that stays, as one string for all groups that have it. [-0, +1]
 */
static void push_key_text(lua_State *L, const char *p, size_t n)
{
	if (n <= LONG_TEXT) {
		lua_pushlstring(L, p, n);
	} else if (lua_rawgetp(L, PL_TEXTS_AT, p) != LUA_TSTRING) {
		lua_pop(L, 1);
		lua_pushlstring(L, p, n);
		lua_pushvalue(L, -1);
		lua_rawsetp(L, PL_TEXTS_AT, p);
	}
}

static void push_chain(lua_State *L, const struct pl_job *job, uint32_t chain)
{
	const char *text;
	size_t n;

	if (lua_rawgeti(L, PL_CHAINS_AT, (lua_Integer)chain + 1) != LUA_TNIL)
		return;
	lua_pop(L, 1);
	text = pq_chains_text(pq_groups_chains(job->groups), chain, &n);
	if (!text)
		luaL_error(L, "no memory for a call chain");
	lua_pushlstring(L, text, n);
	lua_pushvalue(L, -1);
	lua_rawseti(L, PL_CHAINS_AT, (lua_Integer)chain + 1);
}

/* Pushes a key: an event by its name. [-0, +1] */
static void push_key(lua_State *L, const struct pl_job *job, const struct pq_value *key)
{
	switch (key->type) {
	case PQ_EVENT:
		push_key_text(L, key->event->name, strlen(key->event->name));
		break;
	case PQ_TEXT:
		push_key_text(L, key->p, key->size);
		break;
	case PQ_CHAIN:
		push_chain(L, job, (uint32_t)key->u);
		break;
	default:
		pl_push_answer(L, PL_FILE_AT, key);
	}
}

void pl_report_push(lua_State *L, const struct pl_job *job,
		    const struct pq_report_column *column, const struct pq_report_row *row)
{
	char text[PL_ADDRESS_TEXT];
	struct pd_text symbol;
	struct pq_value value;

	switch (column->from) {
	case PQ_FROM_DSO:
		lua_pushstring(L, row->dso);
		break;
	case PQ_FROM_SYMBOL:
		symbol = pl_report_symbol(row, text);
		lua_pushlstring(L, symbol.p, symbol.n);
		break;
	case PQ_FROM_MODE:
		lua_pushstring(L, pd_cpumode_name(row->mode));
		break;
	default:
		pq_groups_key(job->groups, row->group, column->key, &value);
		push_key(L, job, &value);
	}
}

/* Returns how many rows of a section are to show, with the shares of tools/report.lua. */
static size_t count_shown(const struct pl_job *job, const struct pq_report_section *s)
{
	const struct pl_report *report = &job->report;
	double whole = (double)s->period, share;
	struct pq_report_row row;
	size_t n;

	/* no share is below 0: millions of rows lie all over the memory */
	if (report->limit <= 0)
		return s->n < report->count ? s->n : (size_t)report->count;
	for (n = 0; n < s->n && n < report->count; n++) {
		pq_report_row(report->made, s->from + n, &row);
		share = (double)row.children / whole;
		if ((s->period ? 100 * share : 0) < report->limit)
			break;
	}
	return n;
}

static bool has_symbols(const struct pl_job *job)
{
	for (size_t i = 0; i < job->report.asked.n_columns; i++)
		if (job->report.asked.columns[i].from == PQ_FROM_SYMBOL)
			return true;
	return false;
}

static void push_section(lua_State *L, const struct pl_job *job,
			 const struct pq_report_section *s)
{
	lua_createtable(L, 0, 8);
	if (s->event)
		pl_set_integer(L, "index", (uint64_t)s->event->number + 1);
	pl_set_integer(L, "samples", s->samples);
	pl_set_integer(L, "period", s->period);
	if (has_symbols(job))
		pl_set_integer(L, "unresolved", s->unresolved);
	pl_set_integer(L, "n", count_shown(job, s));
	pl_set_integer(L, "first", s->from + 1);
}

void pl_report_enter(lua_State *L)
{
	lua_settop(L, 0);
	for (int i = 1; i <= 3; i++) {
		lua_pushvalue(L, lua_upvalueindex(i));
		if (i == PL_FILE_AT)
			lua_pushnil(L);
	}
	pl_check_open_file(L, PL_FILE_AT);
	pl_push_result(L);
}

/*
 * Upvalues: the file, what the job needs, the job. rows(from, to) -> by column, then by
 * measure, an array of values
 */
static int push_rows(lua_State *L)
{
	lua_Integer from = luaL_checkinteger(L, 1), to = luaL_checkinteger(L, 2), n;
	const struct pl_job *job = lua_touserdata(L, lua_upvalueindex(3));
	size_t n_columns = job->report.asked.n_columns;
	const struct {
		bool used;
		size_t at;
	} measures[] = {
		{ true, offsetof(struct pq_report_row, samples) },
		{ true, offsetof(struct pq_report_row, period) },
		{ job->report.asked.callers, offsetof(struct pq_report_row, children) },
	};
	int columns;

	luaL_argcheck(L, from >= 1, 1, "no row");
	luaL_argcheck(L, to < from || (lua_Unsigned)to <= pq_report_size(job->report.made), 2,
		      "no row");
	n = to < from ? 0 : to - from + 1;
	luaL_argcheck(L, n < INT_MAX, 2, "too many rows");
	pl_report_enter(L);
	columns = (int)n_columns + 2 + job->report.asked.callers;
	luaL_checkstack(L, columns + 10, "columns");
	for (int c = 0; c < columns; c++)
		lua_createtable(L, (int)n, 0);
	for (lua_Integer i = 0; i < n; i++) {
		struct pq_report_row row;
		int at = PL_TEXTS_AT + 1;

		pq_report_row(job->report.made, (size_t)(from - 1 + i), &row);
		for (size_t c = 0; c < n_columns; c++) {
			pl_report_push(L, job, &job->report.asked.columns[c], &row);
			lua_rawseti(L, at++, i + 1);
		}
		for (size_t m = 0; m < 3 && measures[m].used; m++) {
			uint64_t value;

			memcpy(&value, (const char *)&row + measures[m].at, sizeof(value));
			lua_pushinteger(L, (lua_Integer)value);
			lua_rawseti(L, at++, i + 1);
		}
	}
	for (int c = columns; c > 0; c--)
		lua_rawseti(L, PL_RESULT_AT, c);
	lua_settop(L, PL_RESULT_AT);
	return 1;
}

/*
 * Returns the part of the recording that the rows are of, if an interrupt ended the adding up
 * of the groups.
 */
static double part_taken(const struct pl_job *job)
{
	double part = job->progress.ended ? job->progress.part : 1;

	return part * (double)pq_report_taken(job->report.made) /
	       (double)pq_groups_size(job->groups);
}

/* Sets a field of the table on top to a function whose upvalues are those of push_rows(). */
static void set_function(lua_State *L, const char *name, lua_CFunction fn)
{
	lua_pushvalue(L, PL_FILE_AT);
	lua_pushvalue(L, PL_KEEP_AT);
	lua_pushvalue(L, PL_JOB_AT);
	lua_pushcclosure(L, fn, 3);
	lua_setfield(L, -2, name);
}

bool pl_push_report(lua_State *L, struct pl_file *f, struct pl_job *job)
{
	struct pl_report *report = &job->report;
	struct ps_interrupt interrupt = { .flag = job->progress.interrupt,
					  .tick = f->interrupt.tick,
					  .arg = f->interrupt.arg };
	const struct pq_report_section *sections;
	size_t n_sections;

	report->asked.system = f->system;
	report->asked.n_machines = (uint32_t)f->session->n_files;
	report->made = pq_report_create(job->groups, &report->asked, &interrupt);
	if (!report->made)
		luaL_error(L, "no memory for the rows of a report");
	if (atomic_load(&interrupt.cut))
		pl_cut_pass(L, part_taken(job));
	pl_push_result(L);
	sections = pq_report_sections(report->made, &n_sections);
	for (size_t i = 0; i < n_sections; i++) {
		if (sections[i].period >= PQ_TOO_LARGE)
			return false;
		push_section(L, job, &sections[i]);
		lua_rawseti(L, PL_RESULT_AT, (lua_Integer)i + 1);
	}
	lua_settop(L, PL_RESULT_AT);
	lua_createtable(L, 0, 2);
	set_function(L, "rows", push_rows);
	set_function(L, "lines", pl_report_lines);
	return true;
}

/*
 * core.short_names(file) -> {[name] = short name} of the binaries that were met whose short
 * name is not the end of their path
 */
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
