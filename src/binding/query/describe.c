/*
 * core.describe(file, out, options) -> true | nil, message, code
 *
 * Prints the description of a recording to an open file. The options are those of a cursor over
 * all records, in the order of the file.
 *
 * core.build(from, name, out) -> { records, samples, bytes } | nil, message, code or error
 * number
 *
 * Builds a recording from the description in an open file, which messages call `name`; `out` is
 * the path of a file, or an open file.
 */
#include <errno.h>
#include <string.h>

#include "binding/writer.h"
#include "cursor.h"
#include "describe/build.h"
#include "describe/describe.h"
#include "write.h"

enum {
	AT_FILE = 1,
	AT_OUT,
	AT_OPTIONS,
	AT_DESCRIBING,
	AT_CURSOR,
};

struct describing {
	struct pw_describer describer;
	struct pl_writer writer;
};

static int describing_gc(lua_State *L)
{
	struct describing *describing = lua_touserdata(L, 1);

	pw_describer_deinit(&describing->describer);
	return 0;
}

/* Describes all records. Returns false with *err. */
static bool describe_records(lua_State *L, struct describing *describing, struct pd_error *err)
{
	struct pl_cursor *cursor = lua_touserdata(L, AT_CURSOR);
	struct pd_record rec;
	bool ok = true;
	int got = 0;

	while (ok && !describing->writer.error &&
	       (got = pl_cursor_read(L, cursor, AT_CURSOR, &rec, err)) > 0)
		ok = pw_describe_record(&describing->describer, &rec, err);
	if (ok)
		pl_cursor_end(L, cursor, got < 0 ? err : NULL);
	pl_cursor_close(cursor);
	return ok;
}

static int push_error(lua_State *L, const struct pd_error *err)
{
	lua_pushnil(L);
	lua_pushstring(L, err->message);
	lua_pushstring(L, err->code);
	return 3;
}

int pl_file_describe(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, AT_FILE);
	luaL_Stream *out = pl_check_stream(L, AT_OUT);
	struct describing *describing;
	struct pd_error err;
	bool ok;

	luaL_checktype(L, AT_OPTIONS, LUA_TTABLE);
	luaL_argcheck(L, f->session->n_files == 1, AT_FILE, "one recording expected");
	lua_settop(L, AT_OPTIONS);
	describing = pl_push_finalized(L, sizeof(*describing), describing_gc);
	pl_writer_init(&describing->writer, out);
	pw_describer_init(&describing->describer, f->session->files[0],
			  &describing->writer.print);
	pl_push_cursor(L, AT_FILE, AT_OPTIONS, "describe")->walk.options.split = false;
	ok = pw_describe_head(&describing->describer, &err) &&
	     describe_records(L, describing, &err) &&
	     pw_describe_end(&describing->describer, &err);
	pl_writer_finish(L, &describing->writer);
	if (!ok)
		return push_error(L, &err);
	lua_pushboolean(L, 1);
	return 1;
}

enum {
	AT_FROM = 1,
	AT_NAME,
	AT_TARGET,
	AT_BUILDER,
	AT_WRITING,
};

struct building {
	struct pw_builder builder;
	const luaL_Stream *from;
	void *interrupt;
};

static int building_gc(lua_State *L)
{
	struct building *building = lua_touserdata(L, 1);

	pw_builder_deinit(&building->builder);
	return 0;
}

static int64_t read_description(void *arg, char *buffer, size_t n)
{
	struct building *building = arg;
	size_t got;

	if (!pl_goes_on(building->interrupt)) {
		errno = EINTR;
		return -1;
	}
	got = fread(buffer, 1, n, building->from->f);
	return !got && ferror(building->from->f) ? -1 : (int64_t)got;
}

static void push_built(lua_State *L, const struct pw_builder *b, uint64_t bytes)
{
	lua_newtable(L);
	pl_set_integer(L, "records", b->records);
	pl_set_integer(L, "samples", b->samples);
	pl_set_integer(L, "bytes", bytes);
}

int pl_build(lua_State *L)
{
	luaL_Stream *from = pl_check_stream(L, AT_FROM);
	const char *name = luaL_checkstring(L, AT_NAME);
	struct building *building;
	struct pl_writing *writing;
	struct pd_error err;
	int fd;

	lua_settop(L, AT_TARGET);
	building = pl_push_finalized(L, sizeof(*building), building_gc);
	writing = pl_push_writing(L);
	building->from = from;
	building->interrupt = pl_interrupt(L);
	fd = pl_writing_open(L, writing, AT_TARGET);
	if (fd < 0)
		return luaL_fileresult(L, 0, NULL);
	if (!pw_builder_init(&building->builder, read_description, building, name, fd))
		return luaL_error(L, "no memory to build a recording");
	if (!pw_build(&building->builder, &err)) {
		if (!building->builder.out.error)
			return push_error(L, &err);
		errno = building->builder.out.error;
		return luaL_fileresult(L, 0, NULL);
	}
	push_built(L, &building->builder, building->builder.out.at);
	return 1;
}
