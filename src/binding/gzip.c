#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <lauxlib.h>
#include <zlib.h>

#include "binding.h"
#include "gzip.h"

#define GZIP_BITS   (MAX_WBITS + 16) /* zlib then writes the header and the trailer of gzip */
#define MEMORY	    8		     /* zlib's default */
#define BUFFER_SIZE 16384

struct pl_gzip {
	z_stream stream;
	bool is_open;
};

static void end_gzip(struct pl_gzip *gzip)
{
	if (gzip->is_open)
		deflateEnd(&gzip->stream);
	gzip->is_open = false;
}

static int gzip_gc(lua_State *L)
{
	end_gzip(lua_touserdata(L, 1));
	return 0;
}

/* compress(text | nil) -> bytes */
static int compress_text(lua_State *L)
{
	struct pl_gzip *gzip = lua_touserdata(L, lua_upvalueindex(1));
	z_stream *stream = &gzip->stream;
	size_t n = 0;
	const char *text = luaL_optlstring(L, 1, NULL, &n);
	int flush = text ? Z_NO_FLUSH : Z_FINISH, result;
	luaL_Buffer buffer;

	if (!gzip->is_open)
		return luaL_error(L, "gzip: the last bytes were written");
	luaL_argcheck(L, n <= UINT_MAX, 1, "more than 4 GB");
	stream->next_in = (Bytef *)(uintptr_t)text;
	stream->avail_in = (uInt)n;
	luaL_buffinit(L, &buffer);
	do {
		stream->next_out = (Bytef *)luaL_prepbuffsize(&buffer, BUFFER_SIZE);
		stream->avail_out = BUFFER_SIZE;
		result = deflate(stream, flush);
		luaL_addsize(&buffer, BUFFER_SIZE - stream->avail_out);
	} while (result == Z_OK && (stream->avail_in || !stream->avail_out || !text));
	if (!text)
		end_gzip(gzip);
	luaL_pushresult(&buffer);
	return 1;
}

int pl_gzip(lua_State *L)
{
	struct pl_gzip *gzip = pl_push_finalized(L, sizeof(*gzip), gzip_gc);

	if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_BITS, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return luaL_error(L, "no memory to compress");
	gzip->is_open = true;
	lua_pushcclosure(L, compress_text, 1);
	return 1;
}
