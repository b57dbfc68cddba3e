/*
 * core.gzip(out) -> write, finish: two functions. write(text) compresses a text; finish()
 * writes what is left to `out` and returns true, or nil, a message and an error number.
 */
#include "export/gzip.h"

#include "functions.h"
#include "perfdata/format/print_scalar.h"
#include "writer.h"

struct compressor {
	struct pl_writer out;
	struct pe_gzip gzip;
	bool is_open; /* gzip must be freed */
};

static int compressor_gc(lua_State *L)
{
	struct compressor *c = lua_touserdata(L, 1);

	if (c->is_open)
		pe_gzip_deinit(&c->gzip);
	c->is_open = false;
	return 0;
}

/* Upvalue of both functions: the compressor, which keeps the file. Raises if it is finished. */
static struct compressor *check_compressor(lua_State *L)
{
	struct compressor *c = lua_touserdata(L, lua_upvalueindex(1));

	if (!c->is_open)
		luaL_error(L, "the text is finished");
	return c;
}

/* write(text) */
static int write_compressed(lua_State *L)
{
	struct compressor *c = check_compressor(L);
	size_t n;
	const char *text = luaL_checklstring(L, 1, &n);

	pd_print_bytes(&c->gzip.in, text, n);
	return 0;
}

/* finish() -> true | nil, message, error number */
static int finish_compressed(lua_State *L)
{
	struct compressor *c = check_compressor(L);
	bool is_whole;

	is_whole = pe_gzip_finish(&c->gzip);
	pe_gzip_deinit(&c->gzip);
	c->is_open = false;
	if (!is_whole)
		return luaL_error(L, "no memory to compress");
	pd_print_flush(&c->out.print);
	if (c->out.error)
		return pl_writer_failed(L, &c->out);
	lua_pushboolean(L, 1);
	return 1;
}

int pl_gzip(lua_State *L)
{
	luaL_Stream *out = pl_check_stream(L, 1);
	struct compressor *c = pl_push_finalized(L, sizeof(*c), compressor_gc);

	lua_pushvalue(L, 1);
	lua_setiuservalue(L, -2, 1);
	pl_writer_init(&c->out, out);
	pe_gzip_init(&c->gzip, UINT64_MAX, 1, &c->out.print);
	c->is_open = true;
	lua_pushvalue(L, -1);
	lua_pushcclosure(L, write_compressed, 1);
	lua_insert(L, -2);
	lua_pushcclosure(L, finish_compressed, 1);
	return 2;
}
