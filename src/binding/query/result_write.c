/* Rows as text, CSV and JSON, and those of views. */
#include "result.h"

#include <errno.h>
#include <string.h>

#include "base/string_builder.h"
#include "binding/functions.h"
#include "binding/writer.h"
#include "perfdata/format/print_scalar.h"
#include "result/writer.h"

/* The places of pl_view_write(), beside those of all writing. */
enum {
	VIEW_AT = PL_WRITE_SOURCE,
	FROM_AT,
	TO_AT,
};

struct pr_csv_form pl_get_csv_form(lua_State *L, int idx)
{
	return (struct pr_csv_form){ .is_safe = pl_get_flag(L, idx, "safe"),
				     .has_crlf = pl_get_flag(L, idx, "crlf") };
}

void pl_read_write_options(lua_State *L, struct pl_write_options *options)
{
	static const char *const formats[] = { "text", "csv", "json", NULL };

	luaL_checktype(L, PL_WRITE_OPTIONS, LUA_TTABLE);
	*options = (struct pl_write_options){
		.format = (enum pl_write_format)luaL_checkoption(L, PL_WRITE_FORMAT, NULL,
								 formats),
		.csv = pl_get_csv_form(L, PL_WRITE_OPTIONS),
		.text = { .is_colored = pl_get_flag(L, PL_WRITE_OPTIONS, "color") },
		.stops = pl_get_flag(L, PL_WRITE_OPTIONS, "stops"),
		.has_heads = !pl_get_flag(L, PL_WRITE_OPTIONS, "no_heads"),
		.is_one_line = pl_get_flag(L, PL_WRITE_OPTIONS, "one_line"),
	};
	lua_getfield(L, PL_WRITE_OPTIONS, "columns");
	options->text.columns = (size_t)luaL_optinteger(L, -1, 0);
	lua_pop(L, 1);
}

/* The destination of text: a file, or a function, whose error is kept until all is done. */
struct sink {
	struct pd_print print;
	lua_State *L;
	luaL_Stream *file;     /* NULL: a function */
	struct pb_string text; /* for the function, which is called between rows only */
	int error;	       /* errno */
	bool raised;	       /* an error of Lua's is on the stack's top */
	bool failed;	       /* no memory for a part of it */
	void *interrupt;       /* NULL: nothing ends it */
	const bool *is_wrong;  /* as in struct pl_write_options */
};

static void write_to_sink(void *arg, const char *p, size_t n)
{
	struct sink *sink = arg;

	if (sink->error || sink->raised || !n)
		return;
	if (sink->file) {
		if (!sink->file->closef) /* what made a cell closed it */
			sink->error = EBADF;
		else if (fwrite(p, 1, n, sink->file->f) < n)
			sink->error = errno ? errno : EIO;
		return;
	}
	pb_string_add(&sink->text, p, n);
}

/* (sink, function): calls the function with the text. */
static int deliver_text(lua_State *L)
{
	const struct sink *sink = lua_touserdata(L, 1);

	lua_pushlstring(L, sink->text.p, sink->text.n);
	lua_call(L, 1, 0);
	return 0;
}

/* Hands text on that waits for the function, which may use the table that is written. */
static void empty_sink(struct sink *sink)
{
	lua_State *L = sink->L;

	sink->failed = sink->failed || sink->text.failed;
	if (!sink->text.n || sink->raised || sink->failed)
		return;
	lua_pushcfunction(L, deliver_text);
	lua_pushlightuserdata(L, sink);
	lua_pushvalue(L, PL_WRITE_OUT);
	sink->raised = lua_pcall(L, 2, 0, 0) != LUA_OK;
	sink->text.n = 0;
}

static bool sink_goes_on(void *arg)
{
	struct sink *sink = arg;

	empty_sink(sink);
	return !sink->error && !sink->failed && !sink->raised &&
	       !(sink->is_wrong && *sink->is_wrong) && pl_goes_on(sink->interrupt);
}

/* (options, stacks, number) -> the JSON of a Stack, which a function of Lua's makes */
static int make_stack_json(lua_State *L)
{
	lua_getfield(L, 1, "stack");
	pl_push_stack(L, 2, (uint32_t)lua_tointeger(L, 3));
	lua_call(L, 1, 1);
	return 1;
}

static void write_stack_json(void *arg, struct pd_print *out, uint32_t number)
{
	struct sink *sink = arg;
	lua_State *L = sink->L;
	const char *p;
	size_t n;

	if (sink->raised)
		return;
	lua_pushcfunction(L, make_stack_json);
	lua_pushvalue(L, PL_WRITE_OPTIONS);
	lua_pushvalue(L, PL_WRITE_STACKS);
	lua_pushinteger(L, number);
	sink->raised = lua_pcall(L, 3, 1, 0) != LUA_OK;
	if (sink->raised)
		return;
	p = lua_type(L, -1) != LUA_TSTRING ? NULL : lua_tolstring(L, -1, &n);
	if (p)
		pd_print_long(out, p, n);
	lua_pop(L, 1);
}

static void add_to_buffer(void *arg, const char *p, size_t n)
{
	luaL_addlstring(arg, p, n);
}

const struct pd_text *pl_push_json_names(lua_State *L, const struct pr_column *columns,
					 size_t n)
{
	struct pd_text *names = lua_newuserdatauv(L, n * sizeof(*names) + 1, 1);
	struct pd_print out;
	const char *p;
	luaL_Buffer text;

	luaL_buffinit(L, &text);
	pd_print_init(&out, add_to_buffer, &text);
	pr_print_json_names(&out, columns, n);
	pd_print_flush(&out);
	luaL_pushresult(&text);
	p = lua_tostring(L, -1);
	lua_setiuservalue(L, -2, 1);
	for (size_t i = 0; i < n; i++, p += strlen(p) + 1)
		names[i] = (struct pd_text){ .p = p, .n = strlen(p) };
	return names;
}

/*
 * Writes rows of CSV, or of JSON as what stands in an array. Returns how many. `names` are
 * what pr_print_json_names() printed.
 */
static size_t write_rows(struct sink *sink, const struct pr_source *source,
			 const struct pl_write_options *options, const struct pd_text *names,
			 struct pq_value *cells)
{
	size_t i = 0;

	for (; i < source->n_rows && (i % PR_ROWS_BETWEEN_CALLS || sink_goes_on(sink)); i++) {
		source->row(source->arg, i, cells);
		if (sink->is_wrong && *sink->is_wrong)
			break;
		if (options->format == PL_FORMAT_CSV) {
			sink->failed = !pr_write_csv_row(&sink->print, source->columns,
							 source->n_columns, cells,
							 source->stacks, options->csv) ||
				       sink->failed;
			continue;
		}
		if (i)
			pd_print_char(&sink->print, ',');
		if (!options->is_one_line)
			pd_print_char(&sink->print, '\n');
		pr_write_json_row(&sink->print, source->columns, names, source->n_columns,
				  cells, write_stack_json, sink);
	}
	return i;
}

int pl_write_source(lua_State *L, const struct pr_source *source,
		    const struct pl_write_options *options)
{
	struct sink sink = { .L = L, .is_wrong = options->is_wrong };
	const struct pd_text *names = NULL;
	size_t n;

	luaL_checkstack(L, 20, "rows");
	if (options->format == PL_FORMAT_JSON)
		names = pl_push_json_names(L, source->columns, source->n_columns);
	if (lua_type(L, PL_WRITE_OUT) != LUA_TFUNCTION)
		sink.file = pl_check_stream(L, PL_WRITE_OUT);
	if (options->stops)
		sink.interrupt = pl_interrupt(L);
	if (options->is_busy)
		*options->is_busy = true;
	pd_print_init(&sink.print, write_to_sink, &sink);
	if (options->format == PL_FORMAT_TEXT) {
		n = pr_write_text(&sink.print, source, options->text, sink_goes_on, &sink);
	} else {
		if (options->format == PL_FORMAT_CSV && options->has_heads)
			pr_write_csv_heads(&sink.print, source->columns, source->n_columns,
					   options->csv);
		n = write_rows(&sink, source, options, names,
			       lua_touserdata(L, PL_WRITE_CELLS));
	}
	pd_print_flush(&sink.print);
	empty_sink(&sink);
	pb_string_deinit(&sink.text);
	if (options->is_busy)
		*options->is_busy = false;
	if (sink.raised)
		return lua_error(L);
	if (n == SIZE_MAX || sink.failed)
		return luaL_error(L, "no memory for text");
	if (sink.error) {
		lua_pushnil(L);
		lua_pushstring(L, strerror(sink.error));
		lua_pushinteger(L, sink.error);
		return 3;
	}
	lua_pushinteger(L, (lua_Integer)n);
	return 1;
}

/*
 * Returns the names of *n events by section, from `events` of the options; NULL: none. They
 * stay on the stack. [-0, +1]
 */
static const struct pd_text *push_events(lua_State *L, size_t *n)
{
	struct pd_text *events;

	*n = 0;
	if (lua_getfield(L, PL_WRITE_OPTIONS, "events") != LUA_TTABLE)
		return NULL;
	*n = (size_t)lua_rawlen(L, -1) + 1;
	events = lua_newuserdatauv(L, *n * sizeof(*events), 0);
	events[0] = (struct pd_text){ 0 };
	for (size_t i = 1; i < *n; i++) {
		lua_rawgeti(L, -2, (lua_Integer)i);
		events[i].p = luaL_checklstring(L, -1, &events[i].n);
		lua_pop(L, 1);
	}
	lua_remove(L, -2);
	return events;
}

int pl_share_color(lua_State *L)
{
	lua_pushstring(L, pr_share_color(luaL_checknumber(L, 1)));
	return 1;
}

int pl_fit_columns(lua_State *L)
{
	lua_Integer n = luaL_len(L, 1), room = luaL_checkinteger(L, 3);
	size_t *widths = lua_newuserdatauv(L, 2 * (size_t)n * sizeof(*widths) + 1, 0);
	size_t *least = widths + n;

	for (lua_Integer i = 0; i < n; i++, lua_pop(L, 2)) {
		lua_rawgeti(L, 1, i + 1);
		lua_rawgeti(L, 2, i + 1);
		widths[i] = (size_t)luaL_checkinteger(L, -2);
		least[i] = (size_t)luaL_checkinteger(L, -1);
	}
	pr_fit_columns(widths, least, (size_t)n, room > 0 ? (size_t)room : 0);
	for (lua_Integer i = 0; i < n; i++) {
		lua_pushinteger(L, (lua_Integer)widths[i]);
		lua_rawseti(L, 1, i + 1);
	}
	return 0;
}

int pl_view_write(lua_State *L)
{
	struct pl_view_of *v = pl_check_view(L, VIEW_AT);
	lua_Integer from = luaL_checkinteger(L, FROM_AT), to = luaL_checkinteger(L, TO_AT);
	const struct pd_text *events;
	struct pl_write_options options;
	struct pr_source source;
	size_t n_events;
	int n;

	pl_read_write_options(L, &options);
	if (v->is_written)
		return luaL_error(L, "the rows of this table are being written");
	luaL_argcheck(L, from >= 1 && to >= from - 1 && (size_t)to <= pr_view_size(v->view),
		      FROM_AT, "no such rows");
	lua_settop(L, TO_AT);
	pl_push_view_stacks(L, VIEW_AT);
	lua_pushnil(L);
	events = push_events(L, &n_events);
	if (!pr_view_source(v->view, (size_t)from - 1, (size_t)to, events, n_events,
			    options.format == PL_FORMAT_TEXT, &source))
		luaL_error(L, "no memory for columns");
	lua_newuserdatauv(L, (source.n_columns + 1) * sizeof(struct pq_value), 0);
	lua_replace(L, PL_WRITE_CELLS);
	options.is_busy = &v->is_written;
	n = pl_write_source(L, &source, &options);
	if (pr_view_failed(v->view))
		return luaL_error(L, "no memory for a row of a result");
	return n;
}
