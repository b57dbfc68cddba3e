/* core.dump(), which writes every record as a line, from C. */
#include "cursor.h"
#include "binding/writer.h"
#include "binding/system.h"
#include "binding/functions.h"

/* Stack of the loop. */
enum {
	AT_FILE = 1,
	AT_OUT,
	AT_OPTIONS,
	AT_CURSOR,
};

/* The fields that a line has besides the recorded ones. */
struct names {
	uint16_t ids[PL_MAX_FIELDS];
	unsigned n;
};

/* Takes the option `names`, and makes the recorded system, which knows these fields. */
static void take_names(lua_State *L, struct pl_file *f, struct names *names)
{
	names->n = 0;
	if (lua_getfield(L, AT_OPTIONS, "names") == LUA_TTABLE)
		names->n = pl_field_ids(L, f->names, lua_gettop(L), names->ids);
	lua_pop(L, 1);
	if (names->n)
		pl_system(L, f);
}

static void print_names(struct pl_writer *w, const struct pl_file *f, const struct names *names,
			const struct pd_record *rec, bool json)
{
	for (unsigned i = 0; i < names->n; i++) {
		unsigned index = rec->layout->slot[names->ids[i]];
		struct pd_value asked, value = { .type = PD_NIL };

		if (!index)
			continue;
		pd_record_get(rec, index, &asked);
		if (asked.type != PD_SYSTEM || asked.asked.field == PD_SYS_INLINED)
			continue; /* recorded, so that the line has it; or no single value */
		pm_field(f->resolver, rec, &asked.asked, &value);
		pd_print_field(&w->print, rec->layout->bound[index].field->name, &value, json);
	}
}

/*
 * core.dump(file, out, options)
 *
 * The options are those of a cursor (cursor.h), json, and names = {name, …}: the fields of the
 * recorded system that a line has, too.
 */
int pl_file_dump(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, AT_FILE);
	luaL_Stream *stream = pl_check_stream(L, AT_OUT);
	struct pl_cursor *cursor;
	struct pl_writer *w;
	struct names names;
	struct pd_record rec;
	bool json;

	luaL_checktype(L, AT_OPTIONS, LUA_TTABLE);
	lua_settop(L, AT_OPTIONS);
	lua_getfield(L, AT_OPTIONS, "json");
	json = lua_toboolean(L, -1);
	lua_pop(L, 1);
	take_names(L, f, &names);
	cursor = pl_push_cursor(L, AT_FILE, AT_OPTIONS, NULL);
	w = lua_newuserdatauv(L, sizeof(*w), 0);
	pl_writer_init(w, stream);
	while (!w->error && pl_cursor_next(L, cursor, AT_CURSOR, &rec)) {
		pd_print_recorded(&w->print, &rec, json);
		print_names(w, f, &names, &rec, json);
		pd_print_end(&w->print, json);
	}
	pl_cursor_close(cursor);
	pl_writer_finish(L, w);
	return 0;
}
