/*
 * Grouped queries over call chains, as a report with callers has them.
 *
 * The option callers = {columns = {{from = "key", key = its number, signed = …} | {from = "dso"|"symbol"|"cpumode"}, …},
 * event = number of the key that it is, limit = percent, count = of rows}: the last key is the field frames, the measures
 * are a count and a sum. The result has for each event with samples, in their order
 * {index, samples, period, unresolved, n, all, values}: n rows of it are to show (after an interrupt
 * the first, of `all`), of which values has for each column, then of
 * samples, period and children, an array. Unresolved are the samples without a function, if functions are asked for,
 * which are shown as addresses.
 */
#include <limits.h>

#include "query_group.h"

#define MAX_COLUMNS 100
#define MEASURES    3
#define MOST_ROWS   10000 /* of an event, after an interrupt */

/* A number of a key in the field of that name of the table on top; SIZE_MAX: there is none. */
static size_t read_key(lua_State *L, const struct pl_job *job, const char *name)
{
	size_t key = SIZE_MAX;

	if (lua_getfield(L, -1, name) != LUA_TNIL) {
		lua_Integer number = luaL_checkinteger(L, -1);

		if (number < 1 || (uint64_t)number >= job->grouping.n_keys)
			luaL_error(L, "no description of a query: no such key");
		key = (size_t)number - 1;
	}
	lua_pop(L, 1);
	return key;
}

/* The column that is described on top. */
static void read_column(lua_State *L, const struct pl_job *job, struct pq_caller_column *column)
{
	static const char *const from[] = {
		[PQ_FROM_KEY] = "key",	     [PQ_FROM_DSO] = "dso",
		[PQ_FROM_SYMBOL] = "symbol", [PQ_FROM_MODE] = "cpumode",
		[PQ_FROM_MODE + 1] = NULL,
	};

	luaL_checktype(L, -1, LUA_TTABLE);
	lua_getfield(L, -1, "from");
	column->from = (enum pq_caller_from)luaL_checkoption(L, -1, NULL, from);
	lua_getfield(L, -2, "signed");
	column->is_signed = lua_toboolean(L, -1);
	lua_pop(L, 2);
	column->key = read_key(L, job, "key");
	if (column->from == PQ_FROM_KEY && column->key == SIZE_MAX)
		luaL_error(L, "no description of a query: no such key");
}

static void read_columns(lua_State *L, struct pl_job *job)
{
	struct pl_callers *callers = &job->callers;
	size_t n = 0;

	if (lua_getfield(L, -1, "columns") == LUA_TTABLE)
		n = (size_t)lua_rawlen(L, -1);
	if (!n || n > MAX_COLUMNS)
		luaL_error(L, "no description of a query: no columns, or too many");
	callers->columns = pl_keep(L, PL_KEEP_AT, n * sizeof(*callers->columns));
	callers->n_columns = n;
	for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		read_column(L, job, &callers->columns[i]);
	}
	lua_pop(L, 1);
}

void pl_callers_read(lua_State *L, struct pl_job *job)
{
	const struct pq_grouping *g = &job->grouping;
	struct pl_callers *callers = &job->callers;

	callers->asked = lua_getfield(L, PL_OPTIONS_AT, "callers") == LUA_TTABLE;
	if (callers->asked) {
		if (!g->n_keys || g->n_measures != 2 || g->measures[0].kind != PQ_M_COUNT ||
		    g->measures[1].kind != PQ_M_SUM)
			luaL_error(L, "no description of a query: callers are of frames, a "
				      "count and a sum");
		read_columns(L, job);
		callers->event_key = read_key(L, job, "event");
		lua_getfield(L, -1, "limit");
		lua_getfield(L, -2, "count");
		callers->limit = luaL_optnumber(L, -2, 0);
		callers->count = (uint64_t)luaL_optinteger(L, -1, LUA_MAXINTEGER);
		lua_pop(L, 2);
	}
	lua_pop(L, 1);
}

void pl_callers_free(struct pl_job *job)
{
	pq_callers_destroy(job->callers.made);
	job->callers.made = NULL;
}

static void push_symbol(lua_State *L, const struct pq_caller_row *row)
{
	char text[] = "0x0000000000000000";

	if (row->symbol) {
		lua_pushstring(L, row->symbol);
	} else if (row->placed) {
		for (unsigned i = 0; i < 16; i++)
			text[2 + i] = "0123456789abcdef"[row->address >> (60 - 4 * i) & 15];
		lua_pushlstring(L, text, sizeof(text) - 1);
	} else {
		lua_pushliteral(L, PM_UNKNOWN);
	}
}

static void push_value(lua_State *L, const struct pl_job *job,
		       const struct pq_caller_column *column, const struct pq_caller_row *row)
{
	static const char *const modes[] = {
		[PD_CPUMODE_KERNEL] = "kernel",
		[PD_CPUMODE_USER] = "user",
		[PD_CPUMODE_HYPERVISOR] = "hypervisor",
		[PD_CPUMODE_GUEST_KERNEL] = "guest_kernel",
		[PD_CPUMODE_GUEST_USER] = "guest_user",
	};
	struct pq_value value;

	switch (column->from) {
	case PQ_FROM_DSO:
		lua_pushstring(L, row->dso);
		break;
	case PQ_FROM_SYMBOL:
		push_symbol(L, row);
		break;
	case PQ_FROM_MODE:
		lua_pushstring(L, modes[row->mode]);
		break;
	default:
		pq_groups_key(job->groups, row->group, column->key, &value);
		pl_push_shown(L, job, &value);
	}
}

/* The rows of an event: those from..to. */
struct section {
	size_t from, to;
	size_t n;   /* that are to show */
	bool ended; /* more are, but an interrupt leaves no time for them */
	uint64_t samples, period, unresolved;
	const struct pd_event *event; /* NULL: unknown */
};

static const struct pd_event *event_of(const struct pl_job *job, size_t row)
{
	struct pq_value value = { .type = PQ_NIL };

	if (job->callers.event_key != SIZE_MAX)
		pq_groups_key(job->groups, pq_callers_row(job->callers.made, row)->group,
			      job->callers.event_key, &value);
	return value.type == PQ_EVENT ? value.event : NULL;
}

/* The section that begins at s->from. False: its sum is too large. */
static bool find_section(const struct pl_job *job, struct section *s)
{
	size_t n = pq_callers_size(job->callers.made);

	s->event = event_of(job, s->from);
	for (s->to = s->from; s->to < n && event_of(job, s->to) == s->event; s->to++) {
		const struct pq_caller_row *row = pq_callers_row(job->callers.made, s->to);

		s->samples += row->samples;
		s->period += row->period;
		if (s->period >= PQ_TOO_LARGE)
			return false;
		if (!row->symbol)
			s->unresolved += row->samples;
	}
	return true;
}

/* How many of its rows are to show: as tools/report.lua has shares. */
static void count_shown(const struct pl_job *job, struct section *s)
{
	const struct pl_callers *callers = &job->callers;
	double whole = (double)s->period, share;
	bool hurry = !pl_goes_on(job->progress.interrupt);

	for (s->n = 0; s->from + s->n < s->to && s->n < callers->count; s->n++) {
		s->ended = hurry && s->n == MOST_ROWS;
		if (s->ended)
			break;
		share = (double)pq_callers_row(callers->made, s->from + s->n)->children / whole;
		if ((s->period ? 100 * share : 0) < callers->limit)
			break;
	}
}

static void set_integer(lua_State *L, const char *name, uint64_t v)
{
	lua_pushinteger(L, (lua_Integer)v);
	lua_setfield(L, -2, name);
}

static void push_measure(lua_State *L, const struct pq_caller_row *row, size_t m)
{
	const uint64_t measured[MEASURES] = { row->samples, row->period, row->children };

	lua_pushinteger(L, (lua_Integer)measured[m]);
}

/* The values of all columns. */
static void push_values(lua_State *L, const struct pl_job *job, const struct section *s)
{
	const struct pl_callers *callers = &job->callers;
	size_t n = callers->n_columns;

	lua_createtable(L, (int)(n + MEASURES), 0);
	for (size_t c = 0; c < n + MEASURES; c++) {
		lua_createtable(L, s->n < INT_MAX ? (int)s->n : INT_MAX, 0);
		for (size_t i = 0; i < s->n; i++) {
			const struct pq_caller_row *row = pq_callers_row(callers->made,
									 s->from + i);

			if (c < n)
				push_value(L, job, &callers->columns[c], row);
			else
				push_measure(L, row, c - n);
			lua_rawseti(L, -2, (lua_Integer)i + 1);
		}
		lua_rawseti(L, -2, (lua_Integer)c + 1);
	}
}

static void push_section(lua_State *L, const struct pl_job *job, const struct section *s,
			 bool symbols)
{
	lua_createtable(L, 0, 6);
	if (s->event)
		set_integer(L, "index", (uint64_t)s->event->number + 1);
	set_integer(L, "samples", s->samples);
	set_integer(L, "period", s->period);
	if (symbols)
		set_integer(L, "unresolved", s->unresolved);
	set_integer(L, "n", s->n);
	if (s->ended)
		set_integer(L, "all", s->to - s->from);
	push_values(L, job, s);
	lua_setfield(L, -2, "values");
}

/* The names of a frame that rows are told apart by. */
static unsigned names_of(const struct pl_callers *callers)
{
	unsigned by = 0;

	for (size_t i = 0; i < callers->n_columns; i++) {
		if (callers->columns[i].from == PQ_FROM_DSO)
			by |= PQ_BY_DSO;
		else if (callers->columns[i].from != PQ_FROM_KEY)
			by |= PQ_BY_SYMBOL;
	}
	return by;
}

/* Which part of the recording the callers are of, when an interrupt ended the adding up of the groups. */
static double part_taken(const struct pl_job *job)
{
	double part = job->progress.ended ? job->progress.part : 1;

	return part * (double)pq_callers_taken(job->callers.made) /
	       (double)pq_groups_size(job->groups);
}

bool pl_push_callers(lua_State *L, struct pl_job *job)
{
	struct pl_callers *callers = &job->callers;
	unsigned by = names_of(callers);
	struct ps_interrupt interrupt = { .flag = job->progress.interrupt };
	struct section s = { 0 };

	callers->made = pq_callers_create(job->groups, job->grouping.n_keys, by, &interrupt);
	if (!callers->made ||
	    !pq_callers_sort(callers->made, callers->event_key, callers->columns,
			     callers->n_columns, &interrupt))
		luaL_error(L, "no memory for the callers");
	if (atomic_load(&interrupt.cut))
		pl_cut_pass(L, part_taken(job));
	pl_push_result(L, 0);
	for (int i = 1; s.to < pq_callers_size(callers->made); i++) {
		s = (struct section){ .from = s.to };
		if (!find_section(job, &s))
			return false;
		count_shown(job, &s);
		push_section(L, job, &s, by & PQ_BY_SYMBOL);
		lua_rawseti(L, PL_RESULT_AT, i);
	}
	lua_settop(L, PL_RESULT_AT);
	return true;
}

/* file:short_names() -> {[name] = short name} of the binaries that were met, of which it is not the end of their path */
int pl_file_short_names(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	const struct pm_machine *machine = pl_machine(L, f);

	lua_newtable(L);
	for (uint32_t system = 0; system < f->session->n_files; system++) {
		const struct ps_store *store = pm_machine_store(machine, system);

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
