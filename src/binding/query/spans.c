/* Spans, the rows of a cursor, in formats that have tracks for threads: export/spans.h. */
#include "export/spans.h"

#include <string.h>

#include "binding/functions.h"
#include "binding/writer.h"
#include "cursor.h"

/* Positions on the stack of pl_measure_spans() and pl_write_spans(). */
enum {
	CURSOR_AT = 1,
	FORMAT_AT,
	COLUMNS_AT,
	MOST_AT,
	OUT_AT,
	TITLE_AT,
	START_AT,
	LEAST_AT,
};

#define NO_MEMORY "no memory for spans"

struct span_export {
	struct pl_writer out;
	struct pe_span_options options;
	size_t at[PE_SPAN_COLUMNS];
	const struct pe_span_writer *writer;
	void *state; /* the writer's */
};

static void end_spans(struct span_export *export)
{
	if (export->state)
		export->writer->destroy(export->state);
	export->state = NULL;
}

static int span_export_gc(lua_State *L)
{
	end_spans(lua_touserdata(L, 1));
	return 0;
}

/* Reads where the values of a span are in a row. [-0, +0] */
static void read_span_columns(lua_State *L, const struct pl_cursor *c, size_t *columns)
{
	luaL_checktype(L, COLUMNS_AT, LUA_TTABLE);
	for (size_t i = 0; i < PE_SPAN_COLUMNS; i++) {
		lua_Integer at;

		lua_rawgeti(L, COLUMNS_AT, (lua_Integer)i + 1);
		at = lua_tointeger(L, -1);
		lua_pop(L, 1);
		luaL_argcheck(L, at >= 0 && (size_t)at <= c->n_values, COLUMNS_AT,
			      "no such value");
		columns[i] = at ? (size_t)at - 1 : SIZE_MAX;
	}
}

/* Returns the writer of the format that is asked for; checks what all functions here take. */
static const struct pe_span_writer *check_spans(lua_State *L, const struct pl_cursor *c,
						size_t *columns)
{
	const struct pe_span_writer *writer = pe_span_writer_find(
		luaL_checkstring(L, FORMAT_AT));

	luaL_argcheck(L, writer, FORMAT_AT, "no such format");
	luaL_argcheck(L, c->n_values, CURSOR_AT, "values expected");
	read_span_columns(L, c, columns);
	return writer;
}

/* Reads the next span of a cursor. Returns false if there is none. */
static bool next_span(lua_State *L, struct pl_cursor *c, const size_t *columns,
		      struct pe_span *span)
{
	if (!c->left && !pl_cursor_rows(L, c, CURSOR_AT))
		return false;
	pe_span_read(c->next, columns, span);
	c->next += c->n_values;
	c->left--;
	return true;
}

int pl_measure_spans(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, CURSOR_AT, PL_CURSOR);
	size_t columns[PE_SPAN_COLUMNS];
	const struct pe_span_writer *writer = check_spans(L, c, columns);
	uint64_t most = (uint64_t)luaL_checkinteger(L, MOST_AT), least;
	struct pe_span_sizes *sizes = lua_newuserdatauv(L, sizeof(*sizes), 0);
	struct pe_span span;

	memset(sizes, 0, sizeof(*sizes));
	while (next_span(L, c, columns, &span))
		pe_span_measure(sizes, writer, &span);
	least = pe_span_least(sizes, most);
	lua_pushinteger(L, least > INT64_MAX ? INT64_MAX : (lua_Integer)least);
	return 1;
}

/* Creates the writer of an export, with the options that the stack has. */
static void begin_spans(lua_State *L, const struct pl_cursor *c, struct span_export *export)
{
	pl_writer_init(&export->out, pl_check_stream(L, OUT_AT));
	export->options = (struct pe_span_options){
		.system = c->scope.system,
		.n_machines = (uint32_t)c->file->session->n_files,
		.title = luaL_checkstring(L, TITLE_AT),
		.start = (uint64_t)luaL_optinteger(L, START_AT, 0),
		.most = (uint64_t)luaL_checkinteger(L, MOST_AT),
		.threads = c->scope.threads,
		.out = &export->out.print,
	};
	export->state = export->writer->create(&export->options);
	if (!export->state)
		luaL_error(L, NO_MEMORY);
}

int pl_write_spans(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, CURSOR_AT, PL_CURSOR);
	uint64_t least = (uint64_t)luaL_optinteger(L, LEAST_AT, 0), n = 0, n_short = 0,
		 ns_short = 0, size = 0;
	struct span_export *export = pl_push_finalized(L, sizeof(*export), span_export_gc);
	struct pl_writer *out = &export->out;
	struct pe_span span;

	export->writer = check_spans(L, c, export->at);
	begin_spans(L, c, export);
	while (!out->error && out->written <= export->options.most &&
	       next_span(L, c, export->at, &span)) {
		n++;
		if (pe_span_length(&span) < least) {
			n_short++;
			ns_short += pe_span_length(&span);
		} else if (!export->writer->add(export->state, &span)) {
			return luaL_error(L, NO_MEMORY);
		}
	}
	if (!out->error && !export->writer->finish(export->state, &size))
		return luaL_error(L, NO_MEMORY);
	end_spans(export);
	if (out->error)
		return pl_writer_failed(L, out);
	if ((size ? size : out->written) > export->options.most) {
		lua_pushboolean(L, 0);
		return 1;
	}
	lua_pushinteger(L, (lua_Integer)n);
	lua_pushinteger(L, (lua_Integer)n_short);
	lua_pushinteger(L, (lua_Integer)ns_short);
	return 3;
}
