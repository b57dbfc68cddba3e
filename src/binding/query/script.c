/* core.script(), which writes samples as the lines of perf script, from C. */
#include <string.h>

#include "script/script.h"
#include "printing.h"
#include "binding/system.h"
#include "binding/functions.h"

/* A script for each worker. The resolver of the first is the File's. */
struct scripts {
	struct px_script *scripts[PQ_PRINTERS_MAX]; /* NULL: not made */
	struct pm_resolver *resolvers[PQ_PRINTERS_MAX];
};

/* Stack of the loop. */
enum {
	AT_FILE = 1,
	AT_OUT,
	AT_OPTIONS,
	AT_SCRIPTS,
	AT_SAMPLED,
	AT_CURSOR,
};

static int scripts_gc(lua_State *L)
{
	struct scripts *scripts = lua_touserdata(L, 1);

	for (unsigned i = 0; i < PQ_PRINTERS_MAX; i++) {
		px_script_destroy(scripts->scripts[i]);
		pm_resolver_destroy(i ? scripts->resolvers[i] : NULL);
		scripts->scripts[i] = NULL;
		scripts->resolvers[i] = NULL;
	}
	return 0;
}

/* Returns the fields that the array on top of the stack names, as bits. [-1, +0] */
static uint64_t take_fields(lua_State *L)
{
	uint64_t bits = 0;

	if (lua_istable(L, -1)) {
		lua_Integer n = (lua_Integer)lua_rawlen(L, -1);

		for (lua_Integer i = 1; i <= n; i++, lua_pop(L, 1)) {
			int field = (lua_rawgeti(L, -1, i), -1);

			if (lua_type(L, -1) == LUA_TSTRING)
				field = px_field_find(lua_tostring(L, -1));
			luaL_argcheck(L, field >= 0, AT_OPTIONS, "no such field");
			bits |= UINT64_C(1) << field;
		}
	}
	lua_pop(L, 1);
	return bits;
}

/*
 * Pushes the option `sampled` = {[index] = true} as an array for n events. Returns NULL if it
 * is not given. [-0, +1]
 */
static const uint8_t *push_sampled(lua_State *L, size_t n)
{
	uint8_t *events = lua_newuserdatauv(L, n + 1, 0);
	bool given = lua_getfield(L, AT_OPTIONS, "sampled") == LUA_TTABLE;

	memset(events, 0, n + 1);
	if (given) {
		for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
			lua_Integer i = luaL_checkinteger(L, -2);

			luaL_argcheck(L, i >= 1 && (lua_Unsigned)i <= n, AT_OPTIONS,
				      "no event");
			events[i - 1] = 1;
		}
	}
	lua_pop(L, 1);
	return given ? events : NULL;
}

/*
 * Reads the options, among them classes = {hw = {fields = {…}, asked = {…}, chosen = bool}, …}.
 */
static void take_options(lua_State *L, struct px_options *options)
{
	int classes;

	lua_getfield(L, AT_OPTIONS, "classes");
	classes = lua_gettop(L);
	luaL_argcheck(L, lua_istable(L, classes), AT_OPTIONS, "no classes");
	for (size_t i = 0; i < PX_CLASSES; i++) {
		if (lua_getfield(L, classes, px_class_names[i]) == LUA_TTABLE) {
			lua_getfield(L, -1, "fields");
			options->fields[i] = take_fields(L);
			lua_getfield(L, -1, "asked");
			options->asked[i] = take_fields(L);
			lua_getfield(L, -1, "chosen");
			options->chosen[i] = lua_toboolean(L, -1);
			lua_pop(L, 1);
		}
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	options->ns = pl_get_flag(L, AT_OPTIONS, "ns");
	options->times = pl_get_flag(L, AT_OPTIONS, "reltime")	 ? PX_TIMES_SINCE_FIRST :
			 pl_get_flag(L, AT_OPTIONS, "deltatime") ? PX_TIMES_SINCE_LAST :
								   PX_TIMES_RECORDED;
	options->callchains = pl_get_flag(L, AT_OPTIONS, "callchains");
	options->inlined = pl_get_flag(L, AT_OPTIONS, "inlined")	 ? PX_INLINED_ALL :
			   pl_get_flag(L, AT_OPTIONS, "inlined_unwound") ? PX_INLINED_UNWOUND :
									   PX_INLINED_NONE;
	lua_getfield(L, AT_OPTIONS, "max_stack");
	options->max_stack = (unsigned)luaL_optinteger(L, -1, 0);
	lua_pop(L, 1);
}

/*
 * Returns true if all fields that were asked for were recorded. Else pushes nil and a message.
 * [-0, +0 or +2]
 */
static bool check_fields(lua_State *L, const struct scripts *scripts)
{
	const struct pd_event *event;
	const char *field;

	if (px_script_check(scripts->scripts[0], &field, &event))
		return true;
	lua_pushnil(L);
	lua_pushfstring(L, "samples of '%s' do not have the data that field '%s' shows%s",
			event->name, field,
			strcmp(field, "tod") == 0 ?
				"; perf record -k CLOCK_MONOTONIC records it" :
				"");
	return false;
}

/* Makes the first script. Returns false if check_fields() refuses it. */
static bool make_script(lua_State *L, struct pl_file *f, struct scripts *scripts,
			struct px_options *options)
{
	options->session = f->session;
	take_options(L, options);
	options->n_sampled = f->session->n_events;
	options->sampled = push_sampled(L, options->n_sampled);
	options->system = pl_ordered_system(L, f);
	options->resolver = f->resolver;
	scripts->scripts[0] = px_script_create(options);
	if (!scripts->scripts[0])
		luaL_error(L, "no memory for the lines");
	return check_fields(L, scripts);
}

/* Makes the scripts of the other workers. Returns how many workers there are. */
static unsigned share_script(lua_State *L, const struct pq_scope *scope,
			     struct scripts *scripts, struct px_options *options)
{
	unsigned workers = pq_printer_workers(scope);

	if (workers > 1 && !px_script_share(scripts->scripts[0]))
		return 1;
	for (unsigned i = 1; i < workers; i++) {
		options->resolver = pm_resolver_create(options->system);
		scripts->resolvers[i] = options->resolver;
		scripts->scripts[i] = options->resolver ? px_script_create(options) : NULL;
		if (!scripts->scripts[i])
			luaL_error(L, "no memory for the lines");
	}
	return workers;
}

static bool print_sample(void *arg, unsigned worker, const struct pd_record *rec,
			 struct pd_print *out)
{
	struct scripts *scripts = arg;

	return px_script_sample(scripts->scripts[worker], rec, out);
}

/*
 * core.script(file, out, options) -> number of samples | nil, message
 *
 * The options are those of a cursor (cursor.h), of samples that are split and in the order of
 * time, with sampled ({[index] = true}: the events that have samples), classes, ns, callchains,
 * inlined, inlined_unwound and max_stack (script.h).
 */
int pl_file_script(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, AT_FILE);
	luaL_Stream *stream = pl_check_stream(L, AT_OUT);
	struct px_options options = { 0 };
	struct pl_printing *printing;
	struct scripts *scripts;
	unsigned workers;
	lua_Integer n;

	luaL_checktype(L, AT_OPTIONS, LUA_TTABLE);
	lua_settop(L, AT_OPTIONS);
	scripts = pl_push_finalized(L, sizeof(*scripts), scripts_gc);
	pl_system_hold(f);
	if (!make_script(L, f, scripts, &options)) {
		pl_system_let_go(f);
		return 2;
	}
	workers = share_script(L, &pl_push_cursor(L, AT_FILE, AT_OPTIONS, NULL)->scope, scripts,
			       &options);
	printing = pl_push_printing(L, stream);
	n = pl_print_records(L, printing, AT_CURSOR, workers, print_sample, scripts);
	pl_system_let_go(f);
	pl_writer_finish(L, &printing->writer);
	if (printing->enough && !check_fields(L, scripts))
		return 2;
	if (printing->enough)
		return luaL_error(L, "no memory for the lines");
	lua_pushinteger(L, n);
	return 1;
}

static void push_classes(lua_State *L, unsigned classes)
{
	lua_newtable(L);
	for (size_t i = 0; i < PX_CLASSES; i++) {
		if (!(classes >> i & 1))
			continue;
		lua_pushboolean(L, 1);
		lua_setfield(L, -2, px_class_names[i]);
	}
}

/*
 * core.script_fields() -> array of {name, doc, by_default = {hw = true …}, invalid = {…}}, and
 * of classes
 */
int pl_script_fields(lua_State *L)
{
	lua_newtable(L);
	for (int i = 0; px_fields[i].name; i++) {
		lua_createtable(L, 0, 4);
		lua_pushstring(L, px_fields[i].name);
		lua_setfield(L, -2, "name");
		lua_pushstring(L, px_fields[i].doc);
		lua_setfield(L, -2, "doc");
		push_classes(L, px_fields[i].by_default);
		lua_setfield(L, -2, "by_default");
		push_classes(L, px_fields[i].invalid);
		lua_setfield(L, -2, "invalid");
		lua_rawseti(L, -2, i + 1);
	}
	lua_newtable(L);
	for (size_t i = 0; i < PX_CLASSES; i++) {
		lua_pushstring(L, px_class_names[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 2;
}
