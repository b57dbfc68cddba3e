/* core.dump(), which writes every record as a line, from C. */
#include "printing.h"
#include "binding/system.h"
#include "binding/functions.h"

/* Stack of the loop. */
enum {
	AT_FILE = 1,
	AT_OUT,
	AT_OPTIONS,
	AT_DUMP,
	AT_CURSOR,
};

/* The parts of a line. `names` are fields besides the recorded ones. */
struct dump {
	bool json;
	uint16_t names[PL_MAX_FIELDS];
	unsigned n_names;
	struct pm_resolver *resolvers[PQ_PRINTERS_MAX]; /* by worker; that of 0 is the File's */
};

static int dump_gc(lua_State *L)
{
	struct dump *dump = lua_touserdata(L, 1);

	for (unsigned i = 1; i < PQ_PRINTERS_MAX; i++) {
		pm_resolver_destroy(dump->resolvers[i]);
		dump->resolvers[i] = NULL;
	}
	return 0;
}

/* Takes the options, and makes the recorded system if it knows fields of lines. */
static void take_options(lua_State *L, struct pl_file *f, struct dump *dump)
{
	lua_getfield(L, AT_OPTIONS, "json");
	dump->json = lua_toboolean(L, -1);
	dump->n_names = 0;
	if (lua_getfield(L, AT_OPTIONS, "names") == LUA_TTABLE)
		dump->n_names = pl_field_ids(L, f->names, lua_gettop(L), dump->names);
	lua_pop(L, 2);
	if (dump->n_names)
		pl_system(L, f);
	dump->resolvers[0] = f->resolver;
}

/* Prepares the recorded system for `workers`. */
static void share_system(lua_State *L, const struct pl_file *f, struct dump *dump,
			 unsigned workers)
{
	bool ok = !dump->n_names || workers < 2 || pm_system_prepare(f->system);

	for (unsigned i = 1; ok && dump->n_names && i < workers; i++) {
		dump->resolvers[i] = pm_resolver_create(f->system);
		ok = dump->resolvers[i] != NULL;
	}
	if (!ok)
		luaL_error(L, "%s: no memory for names", f->file->path);
}

static void print_names(struct pd_print *out, const struct dump *dump,
			struct pm_resolver *resolver, const struct pd_record *rec)
{
	for (unsigned i = 0; i < dump->n_names; i++) {
		unsigned index = rec->layout->slot[dump->names[i]];
		struct pd_value asked, value = { .type = PD_NIL };

		if (!index)
			continue;
		pd_record_get(rec, index, &asked);
		if (asked.type != PD_SYSTEM || asked.asked.field == PD_SYS_INLINED)
			continue; /* recorded, so that the line has it; or no single value */
		pm_field(resolver, rec, &asked.asked, &value);
		pd_print_field(out, rec->layout->bound[index].field->name, &value, dump->json);
	}
}

static bool print_record(void *arg, unsigned worker, const struct pd_record *rec,
			 struct pd_print *out)
{
	const struct dump *dump = arg;

	pd_print_recorded(out, rec, dump->json);
	print_names(out, dump, dump->resolvers[worker], rec);
	pd_print_end(out, dump->json);
	return true;
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
	struct pl_printing *printing;
	struct pl_cursor *cursor;
	struct dump *dump;
	unsigned workers;

	luaL_checktype(L, AT_OPTIONS, LUA_TTABLE);
	lua_settop(L, AT_OPTIONS);
	dump = pl_push_finalized(L, sizeof(*dump), dump_gc);
	take_options(L, f, dump);
	cursor = pl_push_cursor(L, AT_FILE, AT_OPTIONS, NULL);
	workers = pq_printer_workers(&cursor->scope);
	share_system(L, f, dump, workers);
	printing = pl_push_printing(L, stream);
	pl_print_records(L, printing, AT_CURSOR, workers, print_record, dump);
	pl_writer_finish(L, &printing->writer);
	return 0;
}
