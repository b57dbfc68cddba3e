#include "cursor.h"
#include "binding/system.h"
#include "binding/value.h"
#include "binding/functions.h"

#include <stdlib.h>
#include <string.h>

void pl_cursor_set_idle(struct pl_cursor *c, struct pd_idle idle)
{
	const struct pd_session *s = c->file->session;

	for (size_t i = 0; s && i < s->n_files; i++)
		s->files[i]->input.idle = idle;
	c->has_idle = idle.call != NULL;
}

void pl_cursor_close(struct pl_cursor *c)
{
	if (c->has_idle)
		pl_cursor_set_idle(c, (struct pd_idle){ 0 });
	if (c->open && !c->n_values) {
		pd_walk_deinit(&c->walk);
		c->file->late = c->walk.late;
	}
	pl_progress_end(&c->progress);
	pl_close_values(c);
	pq_expr_destroy(c->filter);
	c->filter = NULL;
	for (size_t i = 0; i < c->n_parts; i++)
		pq_expr_destroy(c->parts[i]);
	free(c->parts);
	c->parts = NULL;
	c->n_parts = 0;
	pq_fields_deinit(&c->fields);
	c->open = false;
	pb_pass_end(c->pass);
	c->pass = NULL;
}

/* Returns true if the filter holds for a record. Raises without memory. */
static bool passes_filter(lua_State *L, struct pl_cursor *c, const struct pd_record *rec)
{
	bool entered = pq_fields_enter(&c->fields, rec);
	bool passes = entered && pq_expr_test(c->filter, &c->fields);

	if (!entered || c->fields.failed)
		luaL_error(L, "%s: no memory for its fields", c->file->file->path);
	return passes;
}

/* Returns the part of the session that the walk has read: see pd_session_part. */
static double part_of_walk(const struct pl_cursor *c)
{
	if (!c->last_met.offset)
		return pl_file_passes(c->file) ? -1 : 0;
	return pd_walk_part(&c->walk, &c->last_met);
}

bool pl_cursor_end(lua_State *L, struct pl_cursor *c, const struct pd_error *err)
{
	bool is_cut = c->open && !pl_goes_on(c->interrupt);

	if (is_cut && !c->n_values)
		c->part = part_of_walk(c);
	pl_cursor_close(c);
	/* a stream that a reader waited for ends as if the recording had ended */
	if (err && !c->ended && pl_tells(c->interrupt, err))
		luaL_error(L, "%s", err->message);
	if (is_cut)
		pl_cut_pass(L, c->part);
	pl_cut_names(L, c->file);
	pl_file_report(L, c->file);
	return false;
}

#define SHOW_EVERY 1024 /* records between two looks at the clock */

static void show_walk_progress(struct pl_cursor *c)
{
	uint64_t size = pd_session_size(c->file->session);
	double part = part_of_walk(c);

	c->until_shown = SHOW_EVERY;
	if (part < 0 || !size)
		pl_progress_at(&c->progress, c->last_met.offset, 0);
	else
		pl_progress_at(&c->progress, (uint64_t)(part * (double)size), size);
}

/* Raises if the loop cannot continue. */
static void check_cursor(lua_State *L, struct pl_cursor *c)
{
	if (c->busy && c->calls)
		luaL_error(L,
			   "a loop cannot continue inside a function that it calls, or after "
			   "an error in one");
	if (c->busy)
		luaL_error(L, "a loop cannot continue in a finalizer that runs inside it");
	if (c->open && c->file->closed) {
		pl_cursor_close(c);
		luaL_error(L, "%s: loop over a closed file",
			   c->file->file ? c->file->file->path : "file");
	}
}

/*
 * Finds the next record that passes the filters. Returns 1; 0 if there is none; -1 with *err
 * set.
 */
static int next_that_passes(lua_State *L, struct pl_cursor *c, struct pd_record *rec,
			    struct pd_error *err)
{
	bool looks = c->scope.events || c->scope.by_time;
	int got = 0;

	while (c->open && pl_goes_on(c->interrupt)) {
		got = pd_walk_next(&c->walk, rec, err);
		if (got <= 0)
			break;
		c->last_met.offset = rec->offset;
		c->last_met.source = rec->source;
		c->last_met.stream = rec->stream;
		if (!--c->until_shown)
			show_walk_progress(c);
		if (pd_types_has(&c->others, rec->type))
			return 1;
		if (looks && !pq_in_scope(&c->scope, rec, c->time_id))
			continue;
		if (c->calls)
			pq_calls_next(&c->calls->calls);
		if (c->filter && !passes_filter(L, c, rec))
			continue;
		return 1;
	}
	return got < 0 ? got : 0;
}

/* Makes the functions of the trees callable. [-0, +n] */
static void enter_cursor_calls(lua_State *L, struct pl_cursor *c, int index)
{
	luaL_checkstack(L, LUA_MINSTACK, "functions");
	lua_getiuservalue(L, index, PL_CURSOR_FILE);
	lua_getiuservalue(L, index, PL_CURSOR_TREES);
	pl_calls_enter(L, c->calls, -2, -1);
	if (c->reuse) {
		lua_getiuservalue(L, index, PL_CURSOR_RECORD);
		pl_calls_reuse(L, c->calls);
	}
	c->busy = true;
}

/*
 * Pops the values that enter_cursor_calls() pushed, and keeps the record that functions were
 * given.
 */
static void leave_calls(lua_State *L, struct pl_cursor *c, int index, int top)
{
	bool has = pl_calls_push_record(L, c->calls);

	if (!has && !c->reuse)
		lua_pushnil(L);
	if (has || !c->reuse)
		lua_setiuservalue(L, index, PL_CURSOR_RECORD);
	lua_settop(L, top);
	c->busy = false;
}

int pl_cursor_read(lua_State *L, struct pl_cursor *c, int index, struct pd_record *rec,
		   struct pd_error *err)
{
	int top = lua_gettop(L), got;

	check_cursor(L, c);
	if (c->calls)
		enter_cursor_calls(L, c, index);
	got = c->rows ? pl_next_of_rows(c, rec, err) : next_that_passes(L, c, rec, err);
	if (c->calls)
		leave_calls(L, c, index, top);
	return got;
}

int pl_cursor_next(lua_State *L, struct pl_cursor *c, int index, struct pd_record *rec)
{
	struct pd_error err;
	int got = pl_cursor_read(L, c, index, rec, &err);

	return got > 0 ? 1 : pl_cursor_end(L, c, got < 0 ? &err : NULL);
}

bool pl_cursor_rows(lua_State *L, struct pl_cursor *c, int index)
{
	int top = lua_gettop(L);
	bool more;

	check_cursor(L, c);
	if (c->calls)
		enter_cursor_calls(L, c, index);
	more = pl_more_values(L, c);
	if (!more && c->has_pairs)
		pl_tell_counts(L, c, index);
	c->busy = false;
	lua_settop(L, top);
	return more;
}

int pl_cursor_step(lua_State *L, struct pl_cursor *c, int index)
{
	struct pd_record rec;

	if (c->n_values) {
		int n = 0;

		check_cursor(L, c);
		if (c->calls)
			enter_cursor_calls(L, c, index);
		if (pl_has_values(c) || pl_more_values(L, c)) {
			pl_push_values(L, c, index);
			n = (int)c->n_values;
		} else if (c->has_pairs) {
			pl_tell_counts(L, c, index);
		}
		c->busy = false;
		return n;
	}
	/* the stack has room for 20 values without a check */
	if (c->n_names > 8)
		luaL_checkstack(L, PL_MAX_FIELDS + 8, "fields");
	if (!pl_cursor_next(L, c, index, &rec))
		return 0;
	if (c->calls && !c->n_names && !c->calls->calls.is_new) {
		lua_getiuservalue(L, index, PL_CURSOR_RECORD);
		return 1; /* as functions were given it */
	}
	c->busy = true;
	if (c->n_names) {
		pl_push_fields(L, index, &rec, c->names, c->n_names);
	} else if (c->reuse) {
		lua_getiuservalue(L, index, PL_CURSOR_RECORD);
		pl_reuse_record(L, -1, &rec);
	} else {
		pl_push_record_of(L, c->file, index, PL_CURSOR_META, &rec);
	}
	c->busy = false;
	return c->n_names ? (int)c->n_names : 1;
}

/* cursor() -> record | values … | nothing at the end */
static int cursor_call(lua_State *L)
{
	struct pl_cursor *c = pl_to_cursor(L, 1);

	if (!c)
		return luaL_typeerror(L, 1, PL_CURSOR);
	return pl_cursor_step(L, c, 1);
}

static int cursor_close(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, 1, PL_CURSOR);

	if (!c->busy) {
		pl_cursor_close(c);
		pl_tell_counts(L, c, 1);
	}
	return 0;
}

/*
 * cursor:texts() -> the texts of the call chains that were yielded as numbers, by number, once
 * the loop has ended
 */
static int cursor_texts(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, 1, PL_CURSOR);
	uint32_t n_chains = c->chains ? pq_chains_size(c->chains) : 0;

	luaL_argcheck(L, !c->rows, 1, "the loop has not ended");
	lua_createtable(L, (int)n_chains, 0);
	for (uint32_t i = 0; i < n_chains; i++) {
		size_t n;
		const char *text = pq_chains_text(c->chains, i, &n);

		if (!text)
			return luaL_error(L, "no memory for a call chain");
		lua_pushlstring(L, text, n);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

static int cursor_gc(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, 1, PL_CURSOR);

	pl_cursor_close(c);
	pq_chains_destroy(c->chains);
	c->chains = NULL;
	if (c->holds_system)
		pl_system_let_go(c->file);
	c->holds_system = false;
	return 0;
}

void pl_cursor_take_calls(lua_State *L, struct pl_cursor *c, int keep)
{
	c->calls = pl_calls_of(L, keep);
	c->scope.calls = c->calls ? &c->calls->calls : NULL;
}

/* Sets the records that the cursor walks, and their order. */
static void set_scope(lua_State *L, struct pl_cursor *c, int cursor, int options)
{
	lua_newtable(L);
	pl_to_scope(L, lua_gettop(L), c->file, options, NULL, &c->scope);
	pl_cursor_take_calls(L, c, lua_gettop(L));
	lua_setiuservalue(L, cursor, PL_CURSOR_TREES);
	c->scope.progress = pb_until_set(c->interrupt);
	if (pl_file_passes(c->file))
		c->scope.system = pl_system(L, c->file);
}

/* Compiles the filter of records. */
static void open_filter(lua_State *L, struct pl_cursor *c)
{
	struct pl_file *f = c->file;

	if (c->scope.system || pq_asks_system(c->scope.filter, f->session))
		c->scope.system = pl_scope_system(L, f, &c->scope);
	if (pq_fields_init(&c->fields, f->session, f->resolver))
		c->filter = pq_expr_create(c->scope.filter, &c->fields);
	if (!c->filter)
		luaL_error(L, "%s: no memory for a filter", f->file->path);
}

static void open_walk(lua_State *L, struct pl_cursor *c)
{
	struct pd_error err;

	c->scope.progress = pl_progress_shown(&c->progress); /* while the times are indexed */
	/*
	 * the walk may read ahead: no thread makes records beside the loop, which may do little
	 * with each
	 */
	if (!pq_scope_open_walk(&c->scope, true, &c->walk, &err))
		luaL_error(L, "%s", err.message);
	c->open = true;
	if (c->scope.filter)
		open_filter(L, c);
}

struct pl_cursor *pl_push_cursor(lua_State *L, int file, int options, const char *pass)
{
	struct pl_file *f = pl_check_open_file(L, file);
	struct pl_cursor *c = lua_newuserdatauv(L, sizeof(*c), PL_CURSOR_VALUES);
	int index = lua_gettop(L);

	memset(c, 0, sizeof(*c));
	c->magic = PL_CURSOR_MAGIC;
	c->file = f;
	c->holds_system = true;
	pl_system_hold(f);
	luaL_setmetatable(L, PL_CURSOR);
	if (pass)
		c->pass = pb_pass_begin(f->session->timing, pass, f->session->number);
	lua_pushvalue(L, file);
	lua_setiuservalue(L, index, PL_CURSOR_FILE);
	lua_getiuservalue(L, file, PL_FILE_RECORD);
	lua_setiuservalue(L, index, PL_CURSOR_META);
	c->time_id = pd_field_name_id(&f->names->names, "time", 4);
	c->interrupt = pl_interrupt(L);
	pl_progress_init_beside_output(L, &c->progress);
	pl_progress_watch(&c->progress, f->interrupt);
	c->until_shown = c->progress.shows ? SHOW_EVERY : UINT64_MAX;
	set_scope(L, c, index, options);
	lua_getfield(L, options, "reuse");
	c->reuse = lua_toboolean(L, -1);
	if (lua_getfield(L, options, "fields") == LUA_TTABLE) {
		c->n_names = pl_field_ids(L, f->names, lua_gettop(L), c->names);
		c->reuse = false;
	}
	lua_settop(L, index);
	if (c->reuse) {
		pl_push_reusable(L, file);
		lua_setiuservalue(L, index, PL_CURSOR_RECORD);
	}
	if (pl_open_values(L, c, index, options))
		c->open = true;
	else
		open_walk(L, c);
	return c;
}

/* core.cursor(file, options) -> cursor */
int pl_file_cursor(lua_State *L)
{
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	pl_push_cursor(L, 1, 2, "loop");
	return 1;
}

void pl_cursor_register(lua_State *L)
{
	static const luaL_Reg meta[] = {
		{ "__call", cursor_call },
		{ "__gc", cursor_gc },
		{ "__close", cursor_close },
		{ NULL, NULL },
	};
	static const luaL_Reg methods[] = {
		{ "close", cursor_close },
		{ "texts", cursor_texts },
		{ NULL, NULL },
	};

	luaL_newmetatable(L, PL_CURSOR);
	luaL_setfuncs(L, meta, 0);
	lua_pushliteral(L, PL_CURSOR);
	lua_setfield(L, -2, "__metatable");
	luaL_newlib(L, methods);
	lua_setfield(L, -2, "__index");
	lua_pop(L, 1);
}
