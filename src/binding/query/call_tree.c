/*
 * Trees of calls (src/result/tree.h) as they are drawn, for flame graphs: those of profiles,
 * and of folded stacks that are text already.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "binding/writer.h"
#include "call_tree.h"
#include "group.h"

/* A tree, with all that it is made of, which a userdata owns. */
struct pl_drawn {
	struct pr_tree *tree;
	struct pm_string_pool names; /* of folded stacks */
	struct pr_step *steps;	     /* of one of them */
	size_t steps_room;
	uint32_t *binaries; /* see pe_profile_binaries(); NULL: none is known */
	uint64_t unresolved;
	bool is_part; /* places are numbers of nodes in another tree */
};

static void free_tree(struct pl_drawn *owner)
{
	pr_tree_destroy(owner->tree);
	pm_string_pool_deinit(&owner->names);
	free(owner->steps);
	free(owner->binaries);
	*owner = (struct pl_drawn){ 0 };
}

static int tree_gc(lua_State *L)
{
	free_tree(lua_touserdata(L, 1));
	return 0;
}

void pl_check_tree(lua_State *L, bool ok)
{
	if (!ok)
		luaL_error(L,
			   "the tree of call stacks is too large: it has more than %d nodes, "
			   "or there is no memory; choose fewer samples, or cut deep stacks",
			   (int)PR_MAX_NODES);
}

/* Returns the limit in field `name` of the table at `index`; UINT32_MAX: there is none. */
static uint32_t get_limit(lua_State *L, int index, const char *name)
{
	lua_Integer limit;

	lua_getfield(L, index, name);
	limit = luaL_optinteger(L, -1, UINT32_MAX);
	lua_pop(L, 1);
	return limit < 0 || limit > UINT32_MAX ? UINT32_MAX : (uint32_t)limit;
}

/*
 * Makes the tree that the options at `index` describe: {event = position of the only event |
 * nil, head, inlined, reversed, lines = booleans, max_depth = frames | nil}. Pushes a userdata
 * that owns it. [-0, +1]
 */
static struct pl_drawn *make_tree(lua_State *L, int index)
{
	const struct pl_job *job = lua_touserdata(L, PL_PROFILE_JOB);
	struct pe_tree_asked asked;
	struct pl_drawn *owner;

	luaL_checktype(L, index, LUA_TTABLE);
	lua_getfield(L, index, "event");
	asked = (struct pe_tree_asked){
		.event = (uint32_t)(luaL_optinteger(L, -1, 0) - 1),
		.has_head = pl_get_flag(L, index, "head"),
		.has_inlined = pl_get_flag(L, index, "inlined"),
		.is_reversed = pl_get_flag(L, index, "reversed"),
		.has_lines = pl_get_flag(L, index, "lines"),
		.max_depth = get_limit(L, index, "max_depth"),
	};
	lua_pop(L, 1);
	owner = pl_push_finalized(L, sizeof(*owner), tree_gc);
	owner->tree = pe_tree_create(job->profile.made, &asked, &owner->unresolved);
	pl_check_tree(L, owner->tree);
	return owner;
}

/*
 * fold(out, options) -> true | nil, message, error number: writes folded stacks. Options:
 * those of make_tree(), and annotate
 */
int pl_profile_fold(lua_State *L)
{
	luaL_Stream *out = pl_check_stream(L, 1);
	struct pl_drawn *owner = make_tree(L, 2);
	struct pl_writer *w = lua_newuserdatauv(L, sizeof(*w), 0);

	pl_writer_init(w, out);
	pl_check_tree(L, pr_tree_finish(owner->tree, -1) &&
				 pe_tree_fold(owner->tree, pl_get_flag(L, 2, "annotate"),
					      &w->print));
	free_tree(owner);
	if (w->error)
		return pl_writer_failed(L, w);
	lua_pushboolean(L, 1);
	return 1;
}

/* Places on the stack of push_drawn(). */
enum {
	OWNER_AT = 1,
	RESULT_AT,
	NAMES_AT,    /* the distinct names */
	BINARIES_AT, /* binaries by name */
	PLACES_AT,   /* source lines of frames that have one; or numbers of nodes */
	ARRAYS_AT,   /* arrays with an element for each frame, see `arrays` */
};
static const char *const arrays[] = { "name",  "kind", "depth",	 "start",
				      "total", "own",  "samples" };
#define N_ARRAYS ((int)(sizeof(arrays) / sizeof(arrays[0])))

static void push_amount(lua_State *L, const struct pr_tree *tree, union pr_amount amount)
{
	if (tree->shape.is_float)
		lua_pushnumber(L, amount.f);
	else
		lua_pushinteger(L, amount.i);
}

/* A tree that is drawn. */
struct drawing {
	const struct pr_tree *tree;
	const struct pe_profile *profile; /* NULL: the stacks were folded */
	const uint32_t *binaries;
	bool is_part;
	union pr_amount *starts; /* [nodes]: what is to the left of each */
	uint32_t *open;		 /* [nodes]: the last one is drawn next */
	uint32_t *of_frame;	 /* [names]: position of a name, from 2 on; 0: it is new */
	uint32_t n_names;
};

/* Pushes the position of a node's name, which is added with its binary if it is new. [-0, +1]
 */
static void push_node_name(lua_State *L, struct drawing *d, uint32_t node)
{
	uint32_t frame = d->tree->nodes[node].frame, *known = &d->of_frame[frame];
	struct pd_text name = pr_tree_name(d->tree, node), binary;

	if (!*known) {
		*known = ++d->n_names;
		lua_pushlstring(L, name.p, name.n);
		if (d->binaries && d->binaries[frame] != UINT32_MAX) {
			binary = pe_profile_text(d->profile, d->binaries[frame]);
			lua_pushvalue(L, -1);
			lua_pushlstring(L, binary.p, binary.n);
			lua_rawset(L, BINARIES_AT);
		}
		lua_rawseti(L, NAMES_AT, *known);
	}
	lua_pushinteger(L, *known);
}

/* Adds a node as frame `at` of the arrays. */
static void add_drawn(lua_State *L, struct drawing *d, uint32_t number, lua_Integer at)
{
	const struct pr_node *node = &d->tree->nodes[number];
	struct pd_text file;
	uint32_t line;

	if (number)
		push_node_name(L, d, number);
	else
		lua_pushinteger(L, 1);
	lua_pushlstring(L, (char[]){ (char)node->kind }, 1);
	lua_pushinteger(L, node->depth);
	push_amount(L, d->tree, d->starts[number]);
	push_amount(L, d->tree, node->total);
	push_amount(L, d->tree, node->own);
	lua_pushinteger(L, (lua_Integer)node->count);
	for (int i = N_ARRAYS; i--;)
		lua_rawseti(L, ARRAYS_AT + i, at);
	if (d->profile && node->place != PR_NO_PLACE) {
		pe_profile_line(d->profile, node->place, &file, &line);
		lua_pushfstring(L, "%s:%I", file.p, (lua_Integer)line);
		lua_rawseti(L, PLACES_AT, at);
	}
	if (d->is_part) {
		lua_pushinteger(L, node->place);
		lua_rawseti(L, PLACES_AT, at);
	}
}

/* Opens the callees of a node, side by side, of which the first one is drawn next. */
static size_t open_callees(struct drawing *d, uint32_t number, size_t n_open)
{
	const struct pr_tree *tree = d->tree;
	const struct pr_node *node = &tree->nodes[number];
	const uint32_t *callees = tree->order + node->first;
	union pr_amount stop = d->starts[number];

	for (uint32_t i = 0; i < node->n_callees; i++)
		if (tree->shape.is_float)
			stop.f += tree->nodes[callees[i]].total.f;
		else
			stop.i += tree->nodes[callees[i]].total.i;
	for (uint32_t i = node->n_callees; i--;) {
		if (tree->shape.is_float)
			stop.f -= tree->nodes[callees[i]].total.f;
		else
			stop.i -= tree->nodes[callees[i]].total.i;
		d->starts[callees[i]] = stop;
		d->open[n_open++] = callees[i];
	}
	return n_open;
}

/*
 * Frees the finished tree of the owner at OWNER_AT, and pushes {names = array, name, kind,
 * depth, start, total, own, samples = arrays with an element for each frame, of which the first
 * is the root and callers come first, with callees by name, small, small_total, deep}: see
 * struct pr_tree; of a profile also {binaries = by name, srclines = "path:line" by frame,
 * unresolved}, of a part of a tree {nodes = numbers there by frame}. [-0, +1]
 */
static void push_drawn(lua_State *L, struct pl_drawn *owner, const struct pe_profile *profile)
{
	struct pr_tree *tree = owner->tree;
	struct drawing d = { .tree = tree,
			     .profile = profile,
			     .binaries = owner->binaries,
			     .is_part = owner->is_part };
	size_t n_open = 1;

	lua_settop(L, OWNER_AT);
	pl_check_tree(L, pr_tree_sort(tree, true));
	luaL_checkstack(L, 2 * N_ARRAYS + 8, "call stacks");
	lua_newtable(L);
	for (int i = NAMES_AT; i < ARRAYS_AT; i++)
		lua_newtable(L);
	for (int i = 0; i < N_ARRAYS; i++)
		lua_createtable(L, (int)tree->n, 0);
	d.starts = lua_newuserdatauv(L, tree->n * sizeof(*d.starts), 0);
	d.open = lua_newuserdatauv(L, tree->n * sizeof(*d.open), 0);
	d.of_frame = lua_newuserdatauv(L, (tree->names->n + 1) * sizeof(*d.of_frame), 0);
	memset(d.of_frame, 0, tree->names->n * sizeof(*d.of_frame));
	d.starts[0] = (union pr_amount){ 0 };
	d.open[0] = 0;
	d.n_names = 1;
	lua_pushliteral(L, "all");
	lua_rawseti(L, NAMES_AT, 1);
	for (lua_Integer at = 1; n_open; at++) {
		uint32_t number = d.open[--n_open];

		add_drawn(L, &d, number, at);
		n_open = open_callees(&d, number, n_open);
	}
	lua_settop(L, ARRAYS_AT + N_ARRAYS - 1);
	for (int i = N_ARRAYS; i--;)
		lua_setfield(L, RESULT_AT, arrays[i]);
	if (profile) {
		lua_setfield(L, RESULT_AT, "srclines");
		lua_setfield(L, RESULT_AT, "binaries");
	}
	if (owner->is_part) {
		lua_settop(L, PLACES_AT);
		lua_setfield(L, RESULT_AT, "nodes");
	}
	lua_settop(L, NAMES_AT);
	lua_setfield(L, RESULT_AT, "names");
	pl_set_integer(L, "unresolved", owner->unresolved);
	pl_set_integer(L, "small", tree->n_small);
	pl_set_integer(L, "deep", tree->n_deep);
	push_amount(L, tree, tree->small);
	lua_setfield(L, RESULT_AT, "small_total");
	free_tree(owner);
}

/* tree(options) -> see push_drawn(). Options: those of make_tree(), least */
int pl_profile_tree(lua_State *L)
{
	const struct pl_job *job = lua_touserdata(L, PL_PROFILE_JOB);
	struct pl_drawn *owner;
	double least;

	lua_settop(L, 1);
	owner = make_tree(L, 1);
	lua_getfield(L, 1, "least");
	least = luaL_optnumber(L, -1, 0);
	owner->binaries = pe_profile_binaries(job->profile.made);
	pl_check_tree(L, owner->binaries && pr_tree_finish(owner->tree, least));
	lua_pop(L, 1);
	lua_replace(L, OWNER_AT);
	push_drawn(L, owner, job->profile.made);
	return 1;
}

/*
 * Pushes an empty tree of the shape that the table at `options` describes, and returns it.
 * [-0, +1]
 */
static struct pl_drawn *push_folded(lua_State *L, int options, bool is_float)
{
	struct pr_shape_of_tree shape = {
		.from_callee = pl_get_flag(L, options, "reversed"),
		.max_depth = get_limit(L, options, "max_depth"),
		.max_nodes = get_limit(L, options, "max_nodes"),
		.is_float = is_float,
	};
	struct pl_drawn *owner = pl_push_finalized(L, sizeof(*owner), tree_gc);

	owner->tree = pr_tree_create(&shape, &owner->names);
	pl_check_tree(L, owner->tree);
	return owner;
}

/*
 * Adds a stack: `text` has its frames, separated by ';', and `kinds` one letter for each of
 * them, the first caller first. Returns false without memory.
 */
static bool add_folded(struct pl_drawn *owner, const char *text, struct pd_text kinds,
		       uint64_t count, union pr_amount weight)
{
	const char *stop;
	size_t n = 0;

	for (;; text = stop) {
		text += strspn(text, ";");
		stop = text + strcspn(text, ";");
		if (stop == text)
			break;
		if (!pb_reserve(owner->steps, n, owner->steps_room))
			return false;
		owner->steps[n] = (struct pr_step){
			pm_string_pool_add(&owner->names,
					   (struct pd_text){ text, (size_t)(stop - text) }),
			PR_NO_PLACE,
			(uint8_t)(n < kinds.n ? kinds.p[n] : 'u'),
		};
		if (owner->steps[n++].frame == PM_NO_STRING)
			return false;
	}
	return pr_tree_add(owner->tree, owner->steps, n, count, weight);
}

void pl_draw_below(lua_State *L, int options, const struct pr_tree *tree, uint32_t top)
{
	uint32_t max_depth = get_limit(L, options, "max_depth");
	struct pl_drawn *owner;
	double least;

	lua_getfield(L, options, "min_share");
	least = pr_to_float(tree, tree->nodes[top].total) * luaL_optnumber(L, -1, 0) / 100;
	owner = pl_push_finalized(L, sizeof(*owner), tree_gc);
	owner->tree = pr_tree_below(tree, top, max_depth, least);
	pl_check_tree(L, owner->tree);
	owner->is_part = true;
	lua_replace(L, OWNER_AT);
	push_drawn(L, owner, NULL);
}

/*
 * Adds the stack of the entry on top, of the list at 1, {stack = text, value = number, kinds =
 * letters | nil, samples = integer | nil}. Returns false without memory.
 */
static bool add_entry(lua_State *L, struct pl_drawn *owner)
{
	struct pd_text kinds;
	union pr_amount weight;
	const char *text;
	lua_Integer count;
	bool ok;

	lua_getfield(L, -1, "stack");
	text = luaL_checkstring(L, -1);
	lua_getfield(L, -2, "kinds");
	kinds.p = luaL_optlstring(L, -1, "", &kinds.n);
	lua_getfield(L, -3, "samples");
	count = luaL_optinteger(L, -1, 0);
	lua_getfield(L, -4, "value");
	if (owner->tree->shape.is_float)
		weight.f = luaL_checknumber(L, -1);
	else
		weight.i = luaL_checkinteger(L, -1);
	ok = add_folded(owner, text, kinds, (uint64_t)count, weight);
	lua_pop(L, 4);
	return ok;
}

/* Returns whether a value of the list at `index` is a float, and sums are. */
static bool has_floats(lua_State *L, int index, lua_Integer n)
{
	bool is_float = false;

	for (lua_Integer i = 1; i <= n && !is_float; i++) {
		lua_rawgeti(L, index, i);
		lua_getfield(L, -1, "value");
		is_float = !lua_isinteger(L, -1);
		lua_pop(L, 2);
	}
	return is_float;
}

/*
 * core.folded_tree(list, options) -> see push_drawn(). list: entries of add_entry(); options:
 * {reversed = boolean, max_depth, max_nodes, min_share = percent of the total | nil}
 */
int pl_folded_tree(lua_State *L)
{
	struct pl_drawn *owner;
	lua_Integer n;
	double share, least;
	bool ok = true;

	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	lua_getfield(L, 2, "min_share");
	share = luaL_optnumber(L, -1, 0);
	n = (lua_Integer)lua_rawlen(L, 1);
	owner = push_folded(L, 2, has_floats(L, 1, n));
	for (lua_Integer i = 1; ok && i <= n; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, 1, i);
		ok = add_entry(L, owner);
	}
	pl_check_tree(L, ok);
	if (owner->tree->is_too_heavy)
		return luaL_error(L, "the weights add up to more than 2^63");
	least = pr_to_float(owner->tree, owner->tree->nodes[0].total) * share / 100;
	pl_check_tree(L, pr_tree_finish(owner->tree, least));
	lua_replace(L, OWNER_AT);
	push_drawn(L, owner, NULL);
	return 1;
}
