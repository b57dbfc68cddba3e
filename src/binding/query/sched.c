/* Tracepoints of the scheduler, the rows of a cursor, as events of a Perfetto trace. */
#include "export/export.h"

#include "binding/functions.h"
#include "binding/writer.h"
#include "cursor.h"

/* Positions on the stack of pl_write_sched(). */
enum {
	CURSOR_AT = 1,
	OUT_AT,
	EVENTS_AT,
};

/* An event of the session, as one of Perfetto's. */
struct sched_event {
	size_t number; /* in the session */
	unsigned field;
	uint8_t numbers[PE_SCHED_ARGS]; /* fields of the arguments of a row; 0: it has none */
};

struct sched_export {
	struct pl_writer out;
	struct pb_string packet;
	size_t n_args, n_events;
	struct sched_event events[]; /* [n_events] */
};

static int sched_export_gc(lua_State *L)
{
	struct sched_export *export = lua_touserdata(L, 1);

	pb_string_deinit(&export->packet);
	return 0;
}

/* Returns integer `i` of the table on top, which is at least 0 and at most `most`. */
static lua_Integer read_number(lua_State *L, lua_Integer i, lua_Integer most)
{
	lua_Integer number;

	lua_rawgeti(L, -1, i);
	number = lua_tointeger(L, -1);
	luaL_argcheck(L, number >= 0 && number <= most, EVENTS_AT, "not the number of a field");
	lua_pop(L, 1);
	return number;
}

/* Reads the events: each a table { number in the session, field, fields of arguments … }. */
static void read_sched_events(lua_State *L, struct sched_export *export)
{
	for (size_t i = 0; i < export->n_events; i++) {
		struct sched_event *event = &export->events[i];

		lua_rawgeti(L, EVENTS_AT, (lua_Integer)i + 1);
		luaL_argcheck(L, lua_istable(L, -1), EVENTS_AT, "tables expected");
		event->number = (size_t)read_number(L, 1, INT32_MAX);
		event->field = (unsigned)read_number(L, 2, UINT16_MAX);
		for (size_t k = 0; k < export->n_args; k++)
			event->numbers[k] = (uint8_t)read_number(L, (lua_Integer)k + 3,
								 UINT8_MAX);
		lua_pop(L, 1);
	}
}

static void write_row(struct sched_export *export, const struct pq_value *row)
{
	const struct pq_value *found = &row[PE_SCHED_FIELDS - 1];

	for (size_t i = 0; found->type == PQ_EVENT && i < export->n_events; i++) {
		const struct sched_event *event = &export->events[i];

		if (event->number == found->event->number + (size_t)1)
			pe_write_sched(row, event->field, event->numbers, export->n_args,
				       &export->packet, &export->out.print);
	}
}

int pl_write_sched(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, CURSOR_AT, PL_CURSOR);
	luaL_Stream *out = pl_check_stream(L, OUT_AT);
	const char *release = luaL_optstring(L, 4, NULL), *arch = luaL_optstring(L, 5, NULL);
	struct sched_export *export;
	size_t n;

	luaL_argcheck(L,
		      c->n_values >= PE_SCHED_FIELDS &&
			      c->n_values <= PE_SCHED_FIELDS + PE_SCHED_ARGS,
		      CURSOR_AT, "values expected");
	luaL_checktype(L, EVENTS_AT, LUA_TTABLE);
	n = (size_t)lua_rawlen(L, EVENTS_AT);
	export = pl_push_finalized(L, sizeof(*export) + n * sizeof(export->events[0]),
				   sched_export_gc);
	pl_writer_init(&export->out, out);
	export->n_args = c->n_values - PE_SCHED_FIELDS;
	export->n_events = n;
	read_sched_events(L, export);
	if (release)
		pe_write_kernel(release, arch, &export->packet, &export->out.print);
	while (!export->out.error && !export->packet.failed &&
	       pl_cursor_rows(L, c, CURSOR_AT)) {
		size_t n_rows = c->left;

		c->left = 0;
		for (size_t i = 0; i < n_rows; i++)
			write_row(export, c->next + i * c->n_values);
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
