#include "printing.h"

static void end_printing(struct pl_printing *printing)
{
	pq_printer_destroy(printing->printer);
	printing->printer = NULL;
}

static int printing_gc(lua_State *L)
{
	end_printing(lua_touserdata(L, 1));
	return 0;
}

struct pl_printing *pl_push_printing(lua_State *L, const luaL_Stream *stream)
{
	struct pl_printing *printing = pl_push_finalized(L, sizeof(*printing), printing_gc);

	pl_writer_init(&printing->writer, stream);
	printing->enough = false;
	return printing;
}

lua_Integer pl_print_records(lua_State *L, struct pl_printing *printing, int index,
			     unsigned workers, pl_print_fn *print, void *arg)
{
	struct pl_cursor *cursor = lua_touserdata(L, index);
	struct pl_writer *w = &printing->writer;
	struct pb_timing *timing = cursor->file->session->timing;
	const struct pq_printing how = {
		.print = print,
		.arg = arg,
		.out = &w->print,
		.workers = workers,
		.timing = timing,
		.pass = pb_pass_current(timing),
	};
	struct pd_record rec;
	struct pd_error err;
	lua_Integer n = 0;
	int got = 0;

	printing->printer = pq_printer_create(&how);
	if (!printing->printer)
		luaL_error(L, "no memory for the lines");
	while (!w->error && !printing->enough &&
	       (got = pl_cursor_read(L, cursor, index, &rec, &err)) > 0) {
		printing->enough = !pq_printer_add(printing->printer, &rec);
		n++;
	}
	if (!w->error && !pq_printer_finish(printing->printer))
		printing->enough = true;
	end_printing(printing);
	pd_print_flush(&w->print);
	if (got <= 0)
		pl_cursor_end(L, cursor, got < 0 ? &err : NULL);
	pl_cursor_close(cursor);
	return n;
}
