/* A cursor that yields values: the rows of a query, batch by batch. */
#include <string.h>

#include "pairs.h"
#include "binding/system.h"
#include "binding/value.h"
#include "binding/functions.h"

/*
 * Returns true if values of a field of that name can be made without a record. Composite ones
 * keep theirs.
 */
static bool is_value(const struct pd_field *field, const char *name)
{
	for (; field && field->name; field++) {
		if (strcmp(field->name, name) != 0)
			continue;
		if (field->view || (field->kind == PD_K_SYSTEM && field->arg == PD_SYS_INLINED))
			return false;
	}
	return true;
}

static bool are_values(const struct pl_cursor *c)
{
	for (unsigned i = 0; i < c->n_names; i++) {
		const char *name = c->file->names->names.name[c->names[i]];

		if (!is_value(pd_common_fields, name) || !is_value(pd_sample_fields, name))
			return false;
		for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
			const struct pd_record_desc *desc = pd_record_desc(type);

			if (desc && !is_value(desc->fields, name))
				return false;
		}
	}
	return true;
}

/* Makes trees of the fields that the cursor's names are of. */
static const struct pq_node *const *collect_named(lua_State *L, const struct pl_cursor *c,
						  int keep)
{
	struct {
		const struct pq_node *nodes[PL_MAX_FIELDS];
		struct pq_node node[PL_MAX_FIELDS];
		struct pq_field field[PL_MAX_FIELDS];
	} *trees = pl_keep(L, keep, sizeof(*trees));

	for (unsigned i = 0; i < c->n_names; i++) {
		trees->field[i].name = c->names[i];
		trees->node[i] = (struct pq_node){ .op = PQ_FIELD, .field = &trees->field[i] };
		trees->nodes[i] = &trees->node[i];
	}
	return trees->nodes;
}

static bool nodes_ask_system(const struct pq_scope *scope, const struct pq_node *const *nodes,
			     size_t n)
{
	bool asks = (scope->filter && pq_asks_system(scope->filter, scope->session)) ||
		    pq_items_ask(scope->unnest, scope->session);

	for (size_t i = 0; i < n; i++)
		asks = asks || pq_asks_system(nodes[i], scope->session);
	return asks;
}

/*
 * Sets the cursor's objects: the Events of the File, then the strings of texts that have a
 * number. They are an array, in which look-ups are fast.
 */
static void make_objects(lua_State *L, const struct pl_cursor *c, int cursor)
{
	lua_Integer n = (lua_Integer)c->scope.n_events;

	lua_getiuservalue(L, cursor, PL_CURSOR_FILE);
	pl_push_events(L, -1);
	lua_createtable(L, n < 1 << 20 ? (int)n + 8 : 0, 0);
	for (lua_Integer i = 1; i <= n; i++) {
		lua_rawgeti(L, -2, i);
		lua_rawseti(L, -2, i);
	}
	lua_setiuservalue(L, cursor, PL_CURSOR_OBJECTS);
	lua_pop(L, 2);
}

/* Opens the values that loops get of rows of pairs. */
static void open_made(lua_State *L, struct pl_cursor *c, int keep, int options,
		      struct pq_paired *paired)
{
	const struct pq_node *const *nodes;
	size_t n;

	pl_to_made(L, keep, c->file, options, paired);
	lua_getfield(L, options, "results");
	nodes = pl_to_nodes(L, keep, c->file, lua_gettop(L), PQ_MAX_ROW, &n);
	c->calls = pl_calls_of(L, keep);
	c->made_values = pl_keep(L, keep, n * sizeof(*c->made_values));
	c->n_values = n;
	c->has_pairs = true;
	if (!n)
		luaL_error(L, "pairs: no values of their rows");
	if (!pq_made_init(&c->made, &c->scope, c->calls ? &c->calls->calls : NULL, paired,
			  nodes, n))
		luaL_error(L, "%s: no memory for rows", c->file->file->path);
}

/* Makes value number `at` of records, from 1 on, the number of a call chain; 0: none is. */
static void number_chains(lua_State *L, struct pl_cursor *c, lua_Integer at)
{
	if (!at)
		return;
	if (at < 0 || (size_t)at > c->n_values || c->has_pairs)
		luaL_error(L, "invalid query: no such value");
	c->chains = pq_chains_create();
	if (!c->chains)
		luaL_error(L, "%s: no memory for call chains", c->file->file->path);
	pq_rows_number_chains(c->rows, (size_t)at - 1, c->chains);
}

/* Opens rows of the nodes that the options, or names of fields, gave. */
static void open_value_rows(lua_State *L, struct pl_cursor *c, int keep, int options,
			    struct pq_paired *paired)
{
	struct pd_error err;

	if (c->scope.system || nodes_ask_system(&c->scope, paired->nodes, c->n_values))
		c->scope.system = pl_scope_system(L, c->file, &c->scope);
	if (paired->how)
		open_made(L, c, keep, options, paired);
	c->rows = paired->how ? pq_rows_open_pairs(&c->scope, paired, &err) :
				pq_rows_open(&c->scope, paired->nodes, paired->n, &err);
	if (!c->rows)
		luaL_error(L, "%s", err.message);
	lua_getfield(L, options, "chain");
	number_chains(L, c, luaL_optinteger(L, -1, 0));
	lua_pop(L, 1);
}

bool pl_open_values(lua_State *L, struct pl_cursor *c, int cursor, int options)
{
	struct pq_paired paired = { .n = 0 };
	int top = lua_gettop(L), keep = top + 1;

	lua_getiuservalue(L, cursor, PL_CURSOR_TREES);
	if (!pl_to_paired(L, keep, c->file, options, &paired) &&
	    lua_getfield(L, options, "values") == LUA_TTABLE) {
		paired.nodes = pl_to_nodes(L, keep, c->file, lua_gettop(L), PQ_MAX_ROW,
					   &paired.n);
	} else if (!paired.how && c->n_names && are_values(c)) {
		paired.nodes = collect_named(L, c, keep);
		paired.n = c->n_names;
	}
	c->n_values = paired.n;
	pl_cursor_take_calls(L, c, keep);
	if (c->n_values) {
		make_objects(L, c, cursor);
		open_value_rows(L, c, keep, options, &paired);
	}
	if (c->has_pairs && lua_getfield(L, options, "counts") == LUA_TTABLE)
		lua_setiuservalue(L, cursor, PL_CURSOR_COUNTS);
	lua_settop(L, top);
	return c->n_values != 0;
}

void pl_close_values(struct pl_cursor *c)
{
	c->left = 0;
	if (!c->rows)
		return;
	c->counts = pq_rows_counts(c->rows);
	c->has_counts = c->has_pairs;
	c->file->late = pq_rows_late(c->rows);
	pq_rows_close(c->rows);
	c->rows = NULL;
	if (c->has_pairs)
		pq_made_deinit(&c->made);
}

void pl_tell_counts(lua_State *L, struct pl_cursor *c, int cursor)
{
	if (!c->has_counts)
		return;
	c->has_counts = false;
	if (lua_getiuservalue(L, cursor, PL_CURSOR_COUNTS) == LUA_TTABLE)
		pl_set_pair_counts(L, &c->counts);
	lua_pop(L, 1);
}

/*
 * Gets the next batch of rows. Returns 1; 0 if there is none, or after an interrupt; -1 with
 * *err set.
 */
static int next_batch(struct pl_cursor *c, struct pq_batch *batch, struct pd_error *err)
{
	struct pb_lap lap;
	bool is_timed;
	int got;

	if (!c->open || !pl_goes_on(c->interrupt))
		return 0;
	/* where batches have one row, the clock is not asked for each */
	is_timed = !c->calls && !pl_file_passes(c->file);
	lap = pb_stage_enter(is_timed ? c->file->session->timing : NULL, c->pass,
			     PB_STAGE_ROWS);
	got = pq_rows_next(c->rows, batch, err);
	pb_stage_leave(&lap);
	return got;
}

/* Makes the values of the next row of pairs that is kept. Returns what next_batch() returns. */
static int make_next(lua_State *L, struct pl_cursor *c, struct pd_error *err)
{
	struct pq_batch *batch = &c->batch;
	bool ok = true, kept = false;

	while (ok && !kept) {
		if (batch->at == batch->n_rows) {
			int got = next_batch(c, batch, err);

			if (got <= 0)
				return got;
			c->part = batch->part;
		}
		ok = pq_made_enter(&c->made, batch->values + batch->at++ * c->made.n_row,
				   &kept);
	}
	if (!ok || !pq_made_values(&c->made, c->made_values))
		luaL_error(L, "%s: no memory for rows", c->file->file->path);
	return 1;
}

/* Shows how far the rows are. */
static void show_rows_progress(struct pl_cursor *c)
{
	uint64_t size = pd_session_size(c->file->session);

	if (c->progress.shows && size && c->part >= 0)
		pl_progress_at(&c->progress, (uint64_t)(c->part * (double)size), size);
}

#define SHOW_EVERY 1024 /* records between two looks at the clock */

int pl_next_of_rows(struct pl_cursor *c, struct pd_record *rec, struct pd_error *err)
{
	bool goes_on = pl_goes_on(c->interrupt);
	int got = c->open && goes_on ? pq_rows_next_record(c->rows, rec, err) : 0;
	bool shows = got > 0 && !--c->until_shown;

	if ((shows || !goes_on) && c->last_met.offset)
		c->part = pq_rows_part(c->rows, &c->last_met);
	if (shows) {
		c->until_shown = SHOW_EVERY;
		show_rows_progress(c);
	}
	if (got > 0) {
		c->last_met.offset = rec->offset;
		c->last_met.source = rec->source;
		c->last_met.stream = rec->stream;
	}
	return got;
}

bool pl_more_values(lua_State *L, struct pl_cursor *c)
{
	struct pq_batch batch = { .n_rows = 0 };
	struct pd_error err;
	int got;

	if (c->has_pairs) {
		got = c->open ? make_next(L, c, &err) : 0;
		batch = (struct pq_batch){ c->made_values, 1, 0, c->part };
	} else {
		got = next_batch(c, &batch, &err);
	}
	if (got > 0) {
		c->next = batch.values;
		c->left = batch.n_rows;
		c->part = batch.part;
		show_rows_progress(c);
		pl_cut_names(L, c->file);
		return true;
	}
	return pl_cursor_end(L, c, got < 0 ? &err : NULL);
}

static void push_row_text(lua_State *L, const struct pl_cursor *c, int objects,
			  const struct pq_value *v)
{
	lua_Integer i = (lua_Integer)c->scope.n_events + v->id;

	if (!v->id) {
		lua_pushlstring(L, v->p, v->size);
	} else if (lua_rawgeti(L, objects, i) == LUA_TNIL) {
		lua_pop(L, 1);
		lua_pushlstring(L, v->p, v->size);
		lua_pushvalue(L, -1);
		lua_rawseti(L, objects, i);
	}
}

static void push_event(lua_State *L, const struct pl_cursor *c, int cursor, int objects,
		       const struct pd_event *event)
{
	if (event->number < c->scope.n_events) {
		lua_rawgeti(L, objects, (lua_Integer)event->number + 1);
		return;
	}
	/* the event came late */
	lua_getiuservalue(L, cursor, PL_CURSOR_FILE);
	pl_push_event(L, -1, event);
	lua_remove(L, -2);
}

void pl_push_values(lua_State *L, struct pl_cursor *c, int cursor)
{
	const struct pq_value *v = c->next;
	size_t left = c->left - 1;
	int objects;

	c->next += c->n_values;
	c->busy = true;
	c->left = 0; /* who steps now is to look why not */
	luaL_checkstack(L, (int)c->n_values + 8, "values");
	lua_getiuservalue(L, cursor, PL_CURSOR_OBJECTS);
	objects = lua_gettop(L);
	for (size_t i = 0; i < c->n_values; i++, v++) {
		switch (v->type) {
		case PQ_INT:
			lua_pushinteger(L, v->i);
			break;
		case PQ_BOOL:
			lua_pushboolean(L, v->u != 0);
			break;
		case PQ_FLOAT:
			lua_pushnumber(L, v->f);
			break;
		case PQ_TEXT:
			push_row_text(L, c, objects, v);
			break;
		case PQ_EVENT:
			push_event(L, c, cursor, objects, v->event);
			break;
		case PQ_CHAIN:
			lua_pushinteger(L, (lua_Integer)v->u + 1);
			break;
		case PQ_OBJECT:
			pl_calls_push_object(L, c->calls, v);
			break;
		default:
			lua_pushboolean(L, 0);
		}
	}
	c->left = left;
	c->busy = false;
}

/*
 * core.loop_workers(file, options of a cursor) -> the number of threads of a loop over values,
 * the reason (see pq_rows_threads), and the passes before (scope.h)
 */
int pl_file_loop_threads(lua_State *L)
{
	const struct pl_file *f = pl_check_open_file(L, 1);
	struct pq_paired paired = { .n = 0 };
	const char *why;
	struct pq_scope scope;

	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	lua_newtable(L);
	pl_to_scope(L, 3, f, 2, NULL, &scope);
	if (!pl_to_paired(L, 3, f, 2, &paired) && lua_getfield(L, 2, "values") == LUA_TTABLE)
		paired.nodes = pl_to_nodes(L, 3, f, lua_gettop(L), PQ_MAX_ROW, &paired.n);
	lua_pushinteger(L, pq_rows_threads(&scope, &why));
	lua_pushstring(L, why);
	pl_push_passes(L, f, &scope, nodes_ask_system(&scope, paired.nodes, paired.n), false);
	return 3;
}
