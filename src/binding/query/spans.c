/* Spans, the rows of a cursor, in formats that have tracks for threads: export/spans.h. */
#include "export/spans.h"

#include "binding/functions.h"
#include "binding/writer.h"
#include "cursor.h"

/* Positions on the stack of pl_write_spans(). */
enum {
	CURSOR_AT = 1,
	OUT_AT,
	FORMAT_AT,
	COLUMNS_AT,
	TITLE_AT,
	START_AT,
	MOST_AT,
};

struct span_export {
	struct pl_writer out;
	struct pe_span_options options;
	size_t at[PE_SPAN_COLUMNS];
	const struct pe_span_writer *writer;
	void *state; /* the writer's */
};

static int span_export_gc(lua_State *L)
{
	struct span_export *export = lua_touserdata(L, 1);

	if (export->state)
		export->writer->destroy(export->state);
	export->state = NULL;
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

int pl_write_spans(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, CURSOR_AT, PL_CURSOR);
	luaL_Stream *out = pl_check_stream(L, OUT_AT);
	const struct pe_span_writer *writer = pe_span_writer_find(
		luaL_checkstring(L, FORMAT_AT));
	const char *title = luaL_checkstring(L, TITLE_AT);
	uint64_t most = (uint64_t)luaL_optinteger(L, MOST_AT, -1);
	struct span_export *export;
	lua_Integer n_spans = 0;
	bool ok = true;

	luaL_argcheck(L, writer, FORMAT_AT, "no such format");
	luaL_argcheck(L, c->n_values, CURSOR_AT, "values expected");
	export = pl_push_finalized(L, sizeof(*export), span_export_gc);
	pl_writer_init(&export->out, out);
	read_span_columns(L, c, export->at);
	export->options.system = c->scope.system;
	export->options.n_machines = (uint32_t)c->file->session->n_files;
	export->options.title = title;
	export->options.start = (uint64_t)luaL_optinteger(L, START_AT, 0);
	export->options.threads = c->scope.threads;
	export->options.out = &export->out.print;
	export->writer = writer;
	export->state = writer->create(&export->options);
	ok = export->state;
	while (ok && !export->out.error && export->out.written <= most &&
	       pl_cursor_rows(L, c, CURSOR_AT)) {
		size_t n = c->left;

		c->left = 0;
		n_spans += (lua_Integer)n;
		for (size_t i = 0; ok && i < n; i++) {
			struct pe_span span;

			pe_span_read(c->next + i * c->n_values, export->at, &span);
			ok = writer->add(export->state, &span);
		}
	}
	if (!ok || (!export->out.error && !writer->finish(export->state)))
		return luaL_error(L, "no memory for spans");
	writer->destroy(export->state);
	export->state = NULL;
	if (export->out.error)
		return pl_writer_failed(L, &export->out);
	if (export->out.written > most)
		lua_pushboolean(L, 0);
	else
		lua_pushinteger(L, n_spans);
	return 1;
}
