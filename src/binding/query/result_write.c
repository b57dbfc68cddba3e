/*
 * Rows as text, CSV and JSON: those of views, and of Lua values that a tool has.
 */
#include <errno.h>
#include <string.h>

#include "base/string_builder.h"
#include "binding/functions.h"
#include "binding/writer.h"
#include "perfdata/format/print_scalar.h"
#include "result.h"
#include "result/writer.h"
#include "calls.h"
#include "trees.h"

/*
 * Places on the stack of both functions: a view, or columns and rows; the format; the file or
 * function that text goes to; options; what the source needs.
 */
enum {
	FORMAT_AT = 1,
	OUT_AT,
	OPTIONS_AT,
	VIEW_AT,
	COLUMNS_AT = VIEW_AT,
	FROM_AT,
	ROWS_AT = FROM_AT,
	TO_AT,
	STACKS_AT,
	CELLS_AT,
	EVENTS_AT,
	TEXTS_AT = EVENTS_AT, /* of cells that are not scalars, by the number of their column */
	KEEP_AT,
};

struct options {
	enum format {
		FORMAT_TEXT,
		FORMAT_CSV,
		FORMAT_JSON
	} format;
	struct pr_csv_form csv;
	struct pr_display text;
	bool stops, has_heads, is_one_line;
	bool *is_busy;	      /* true while the rows are written; NULL: nobody asks */
	const bool *is_wrong; /* true once a cell could not be made: rows end; NULL: never */
};

struct pr_csv_form pl_get_csv_form(lua_State *L, int idx)
{
	return (struct pr_csv_form){ .is_safe = pl_get_flag(L, idx, "safe"),
				     .has_crlf = pl_get_flag(L, idx, "crlf") };
}

static void read_options(lua_State *L, struct options *options)
{
	static const char *const formats[] = { "text", "csv", "json", NULL };

	luaL_checktype(L, OPTIONS_AT, LUA_TTABLE);
	*options = (struct options){
		.format = (enum format)luaL_checkoption(L, FORMAT_AT, NULL, formats),
		.csv = pl_get_csv_form(L, OPTIONS_AT),
		.text = { .is_colored = pl_get_flag(L, OPTIONS_AT, "color") },
		.stops = pl_get_flag(L, OPTIONS_AT, "stops"),
		.has_heads = !pl_get_flag(L, OPTIONS_AT, "no_heads"),
		.is_one_line = pl_get_flag(L, OPTIONS_AT, "one_line"),
	};
	lua_getfield(L, OPTIONS_AT, "columns");
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
	const bool *is_wrong;  /* as in struct options */
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
	lua_pushvalue(L, OUT_AT);
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
	lua_pushvalue(L, OPTIONS_AT);
	lua_pushvalue(L, STACKS_AT);
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
			 const struct options *options, const struct pd_text *names,
			 struct pq_value *cells)
{
	size_t i = 0;

	for (; i < source->n_rows && (i % PR_ROWS_BETWEEN_CALLS || sink_goes_on(sink)); i++) {
		source->row(source->arg, i, cells);
		if (sink->is_wrong && *sink->is_wrong)
			break;
		if (options->format == FORMAT_CSV) {
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

/*
 * Writes the rows of a source to the file or function at OUT_AT, and pushes what the function
 * of Lua returns. The cells lie at CELLS_AT.
 */
static int write_source(lua_State *L, const struct pr_source *source,
			const struct options *options)
{
	struct sink sink = { .L = L, .is_wrong = options->is_wrong };
	const struct pd_text *names = NULL;
	size_t n;

	luaL_checkstack(L, 20, "rows");
	if (options->format == FORMAT_JSON)
		names = pl_push_json_names(L, source->columns, source->n_columns);
	if (lua_type(L, OUT_AT) != LUA_TFUNCTION)
		sink.file = pl_check_stream(L, OUT_AT);
	if (options->stops)
		sink.interrupt = pl_interrupt(L);
	if (options->is_busy)
		*options->is_busy = true;
	pd_print_init(&sink.print, write_to_sink, &sink);
	if (options->format == FORMAT_TEXT) {
		n = pr_write_text(&sink.print, source, options->text, sink_goes_on, &sink);
	} else {
		if (options->format == FORMAT_CSV && options->has_heads)
			pr_write_csv_heads(&sink.print, source->columns, source->n_columns,
					   options->csv);
		n = write_rows(&sink, source, options, names, lua_touserdata(L, CELLS_AT));
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
	if (lua_getfield(L, OPTIONS_AT, "events") != LUA_TTABLE)
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
	struct options options;
	struct pr_source source;
	size_t n_events;
	int n;

	read_options(L, &options);
	if (v->is_written)
		return luaL_error(L, "the rows of this table are being written");
	luaL_argcheck(L, from >= 1 && to >= from - 1 && (size_t)to <= pr_view_size(v->view),
		      FROM_AT, "no such rows");
	lua_settop(L, TO_AT);
	pl_push_view_stacks(L, VIEW_AT);
	lua_pushnil(L);
	events = push_events(L, &n_events);
	if (!pr_view_source(v->view, (size_t)from - 1, (size_t)to, events, n_events,
			    options.format == FORMAT_TEXT, &source))
		luaL_error(L, "no memory for columns");
	lua_newuserdatauv(L, (source.n_columns + 1) * sizeof(struct pq_value), 0);
	lua_replace(L, CELLS_AT);
	options.is_busy = &v->is_written;
	n = write_source(L, &source, &options);
	if (pr_view_failed(v->view))
		return luaL_error(L, "no memory for a row of a result");
	return n;
}

/* Rows of Lua values: an array for each. */
struct lua_rows {
	lua_State *L;
	const struct pr_column *columns;
	size_t n_columns;
	struct pq_sketch *sketches; /* [n_columns]: of histograms */
	bool raised;		    /* a value has no text, or is not a histogram */
};

/*
 * Takes the error from the top, if there is one, and keeps the first at 0 of TEXTS_AT, to be
 * raised at the end.
 */
static bool keep_error(struct lua_rows *rows, int status)
{
	if (status == LUA_OK)
		return false;
	if (rows->raised)
		lua_pop(rows->L, 1);
	else
		lua_rawseti(rows->L, TEXTS_AT, 0);
	rows->raised = true;
	return true;
}

static int push_text(lua_State *L)
{
	luaL_tolstring(L, 1, NULL);
	return 1;
}

/* Sets the cell to the text of the value on top, which TEXTS_AT keeps. [-1, +0] */
static void set_text_cell(struct lua_rows *rows, size_t column, struct pq_value *cell)
{
	lua_State *L = rows->L;
	size_t n;

	cell->type = PQ_NIL;
	if (lua_type(L, -1) != LUA_TSTRING) {
		lua_pushcfunction(L, push_text);
		lua_insert(L, -2);
		if (keep_error(rows, lua_pcall(L, 1, 1, 0)))
			return;
		lua_pushvalue(L, -1);
		lua_rawseti(L, TEXTS_AT, (lua_Integer)column + 1);
	}
	cell->type = PQ_TEXT;
	cell->p = lua_tolstring(L, -1, &n);
	cell->size = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	lua_pop(L, 1);
}

static int read_histogram(lua_State *L)
{
	pl_to_histogram(L, 1, lua_touserdata(L, 2));
	return 0;
}

/* Sets the cell to the histogram on top. [-1, +0] */
static void set_histogram_cell(struct lua_rows *rows, size_t column, struct pq_value *cell)
{
	lua_State *L = rows->L;
	struct pq_sketch *sketch = &rows->sketches[column];

	pq_sketch_deinit(sketch);
	lua_pushcfunction(L, read_histogram);
	lua_insert(L, -2);
	lua_pushlightuserdata(L, sketch);
	keep_error(rows, lua_pcall(L, 2, 0, 0));
	*cell = (struct pq_value){ .type = PQ_HIST, .p = (const char *)sketch };
}

/* Sets a cell to the value on top. [-1, +0] */
static void set_cell(struct lua_rows *rows, size_t column, struct pq_value *cell)
{
	lua_State *L = rows->L;

	if (pl_to_scalar(L, -1, cell))
		lua_pop(L, 1);
	else if (rows->columns[column].kind == PR_HISTOGRAM && lua_istable(L, -1))
		set_histogram_cell(rows, column, cell);
	else
		set_text_cell(rows, column, cell);
}

static void read_lua_row(void *arg, size_t i, struct pq_value *cells)
{
	struct lua_rows *rows = arg;
	lua_State *L = rows->L;

	lua_rawgeti(L, ROWS_AT, (lua_Integer)i + 1);
	for (size_t c = 0; c < rows->n_columns; c++) {
		if (lua_istable(L, -1))
			lua_rawgeti(L, -1, (lua_Integer)c + 1);
		else
			lua_pushnil(L);
		set_cell(rows, c, &cells[c]);
	}
	lua_pop(L, 1);
}

/* Reads the columns at COLUMNS_AT; the table at KEEP_AT keeps them. */
static const struct pr_column *read_columns(lua_State *L, size_t n)
{
	struct pr_column *columns = pl_keep(L, KEEP_AT, (n + 1) * sizeof(*columns));

	for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, COLUMNS_AT, (lua_Integer)i + 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		lua_getfield(L, -1, "name");
		columns[i].name.p = luaL_checklstring(L, -1, &columns[i].name.n);
		lua_getfield(L, -2, "kind");
		columns[i].kind = pl_to_shown_kind(luaL_optstring(L, -1, ""));
		lua_pop(L, 2);
		columns[i].unit = pl_get_unit(L);
		columns[i].is_measured = pl_get_flag(L, -1, "measured");
		columns[i].is_verdict = pl_get_flag(L, -1, "verdict");
	}
	return columns;
}

int pl_write_table(lua_State *L)
{
	struct lua_rows rows = { .L = L };
	int results;
	struct options options;
	struct pr_source source;

	read_options(L, &options);
	luaL_checktype(L, COLUMNS_AT, LUA_TTABLE);
	luaL_checktype(L, ROWS_AT, LUA_TTABLE);
	lua_settop(L, CELLS_AT);
	rows.n_columns = (size_t)lua_rawlen(L, COLUMNS_AT);
	/* TEXTS_AT has room for all, as rows are read where nothing may raise */
	lua_createtable(L, (int)rows.n_columns, 1);
	lua_newtable(L);
	rows.columns = read_columns(L, rows.n_columns);
	rows.sketches = pl_push_sketches(L, rows.n_columns);
	lua_newuserdatauv(L, (rows.n_columns + 1) * sizeof(struct pq_value), 0);
	lua_replace(L, CELLS_AT);
	source = (struct pr_source){
		.columns = rows.columns,
		.n_columns = rows.n_columns,
		.n_rows = (size_t)lua_rawlen(L, ROWS_AT),
		.row = read_lua_row,
		.arg = &rows,
	};
	options.is_wrong = &rows.raised;
	results = write_source(L, &source, &options);
	if (rows.raised) {
		lua_rawgeti(L, TEXTS_AT, 0);
		return lua_error(L);
	}
	return results;
}
