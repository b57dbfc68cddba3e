/* Tracepoints of the scheduler, the rows of a cursor, as events of a Perfetto trace. */
#include "export/export.h"

#include "binding/functions.h"
#include "binding/writer.h"
#include "cursor.h"

struct sched_export {
	struct pl_writer out;
	struct pb_string packet;
	uint8_t numbers[PE_SCHED_ARGS];
};

static int sched_export_gc(lua_State *L)
{
	struct sched_export *export = lua_touserdata(L, 1);

	pb_string_deinit(&export->packet);
	return 0;
}

int pl_write_sched(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, 1, PL_CURSOR);
	luaL_Stream *out = pl_check_stream(L, 2);
	lua_Integer event = luaL_checkinteger(L, 3);
	const char *release = luaL_optstring(L, 5, NULL), *arch = luaL_optstring(L, 6, NULL);
	size_t n = c->n_values > 3 ? c->n_values - 3 : 0;
	struct sched_export *export;

	luaL_argcheck(L, c->n_values >= 3 && n <= PE_SCHED_ARGS, 1, "values expected");
	luaL_argcheck(L, event > 0 && event < 1 << 16, 3, "not the number of a field");
	luaL_checktype(L, 4, LUA_TTABLE);
	export = pl_push_finalized(L, sizeof(*export), sched_export_gc);
	pl_writer_init(&export->out, out);
	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, 4, (lua_Integer)i + 1);
		luaL_argcheck(L, lua_tointeger(L, -1) > 0 && lua_tointeger(L, -1) <= UINT8_MAX,
			      4, "not the number of a field");
		export->numbers[i] = (uint8_t)lua_tointeger(L, -1);
		lua_pop(L, 1);
	}
	if (release)
		pe_write_kernel(release, arch, &export->packet, &export->out.print);
	while (!export->out.error && !export->packet.failed && pl_cursor_rows(L, c, 1)) {
		size_t n_rows = c->left;

		c->left = 0;
		for (size_t i = 0; i < n_rows; i++)
			pe_write_sched(c->next + i * c->n_values, (unsigned)event,
				       export->numbers, n, &export->packet, &export->out.print);
	}
	if (export->packet.failed)
		return luaL_error(L, "no memory for packets");
	pb_string_deinit(&export->packet);
	pd_print_flush(&export->out.print);
	if (export->out.error)
		return pl_writer_failed(L, &export->out);
	lua_pushboolean(L, 1);
	return 1;
}
