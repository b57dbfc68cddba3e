/*
 * The stacks of a profile as a tree of calls (src/export/export.h), for folded stacks and flame
 * graphs.
 */
#include "group.h"
#include "binding/writer.h"

static void free_tree(struct pe_tree **owner)
{
	pe_tree_destroy(*owner);
	*owner = NULL;
}

static int tree_gc(lua_State *L)
{
	free_tree(lua_touserdata(L, 1));
	return 0;
}

/*
 * Makes the tree that the options at `index` describe: {event = position of the only event |
 * nil, head, inlined, reversed, lines = booleans}. Pushes a userdata that owns it. [-0, +1]
 */
static struct pe_tree **make_tree(lua_State *L, int index)
{
	const struct pl_job *job = lua_touserdata(L, PL_PROFILE_JOB);
	struct pe_tree_asked asked;
	struct pe_tree **owner;

	luaL_checktype(L, index, LUA_TTABLE);
	lua_getfield(L, index, "event");
	lua_getfield(L, index, "head");
	lua_getfield(L, index, "inlined");
	lua_getfield(L, index, "reversed");
	lua_getfield(L, index, "lines");
	asked = (struct pe_tree_asked){
		.event = (uint32_t)(luaL_optinteger(L, -5, 0) - 1),
		.has_head = lua_toboolean(L, -4),
		.has_inlined = lua_toboolean(L, -3),
		.is_reversed = lua_toboolean(L, -2),
		.has_lines = lua_toboolean(L, -1),
	};
	lua_pop(L, 5);
	owner = pl_push_finalized(L, sizeof(struct pe_tree *), tree_gc);
	*owner = pe_tree_create(job->profile.made, &asked);
	if (!*owner)
		luaL_error(L, "no memory for call stacks");
	return owner;
}

/*
 * fold(out, options) -> true | nil, message, error number: writes folded stacks. Options:
 * those of make_tree(), and annotate
 */
int pl_profile_fold(lua_State *L)
{
	luaL_Stream *out = pl_check_stream(L, 1);
	struct pe_tree **owner = make_tree(L, 2);
	struct pl_writer *w = lua_newuserdatauv(L, sizeof(*w), 0);

	pl_writer_init(w, out);
	lua_getfield(L, 2, "annotate");
	if (!pe_tree_fold(*owner, lua_toboolean(L, -1), &w->print))
		luaL_error(L, "no memory for call stacks");
	free_tree(owner);
	if (w->error)
		return pl_writer_failed(L, w);
	lua_pushboolean(L, 1);
	return 1;
}

/* Places on the stack of pl_profile_tree. */
enum {
	RESULT_AT = 3,
	NAMES_AT,    /* the distinct names */
	KNOWN_AT,    /* their positions */
	BINARIES_AT, /* binaries by name */
	SRCLINES_AT, /* source lines of nodes that have one */
	ARRAYS_AT,   /* arrays with an element for each node, see `arrays` */
};
static const char *const arrays[] = { "name", "kind", "caller", "total", "own", "samples" };
#define N_ARRAYS ((int)(sizeof(arrays) / sizeof(arrays[0])))

/* Pushes the position of a name, which is added with its binary if it is new. [-0, +1] */
static void push_node_name(lua_State *L, const struct pe_profile *profile, struct pd_text name,
			   uint32_t binary)
{
	lua_Integer n = (lua_Integer)lua_rawlen(L, NAMES_AT) + 1;
	struct pd_text text;

	lua_pushlstring(L, name.p, name.n);
	lua_pushvalue(L, -1);
	if (lua_rawget(L, KNOWN_AT) == LUA_TNIL) {
		lua_pop(L, 1);
		if (binary != UINT32_MAX) {
			text = pe_profile_text(profile, binary);
			lua_pushvalue(L, -1);
			lua_pushlstring(L, text.p, text.n);
			lua_rawset(L, BINARIES_AT);
		}
		lua_pushvalue(L, -1);
		lua_rawseti(L, NAMES_AT, n);
		lua_pushvalue(L, -1);
		lua_pushinteger(L, n);
		lua_rawset(L, KNOWN_AT);
		lua_pushinteger(L, n);
	}
	lua_remove(L, -2);
}

/* Adds a node, of that name, to the arrays. */
static void add_node(lua_State *L, const struct pe_tree *tree, const struct pe_node *node,
		     struct pd_text name, lua_Integer at)
{
	struct pd_text file;
	uint32_t line;

	push_node_name(L, tree->profile, name, node->binary);
	lua_pushlstring(L, (char[]){ (char)node->kind }, 1);
	lua_pushinteger(L, (lua_Integer)(uint32_t)(node->caller + 1) + 1);
	lua_pushinteger(L, (lua_Integer)node->weight);
	lua_pushinteger(L, (lua_Integer)node->own_weight);
	lua_pushinteger(L, (lua_Integer)node->samples);
	for (int i = N_ARRAYS; i--;)
		lua_rawseti(L, ARRAYS_AT + i, at);
	if (pe_profile_line(tree->profile, node->line, &file, &line)) {
		lua_pushfstring(L, "%s:%I", file.p, (lua_Integer)line);
		lua_rawseti(L, SRCLINES_AT, at);
	}
}

static uint32_t to_depth(lua_Integer depth)
{
	return depth < 0 || depth > UINT32_MAX ? UINT32_MAX : (uint32_t)depth;
}

static void push_arrays(lua_State *L, const struct pe_tree *tree)
{
	const struct pe_node root = {
		.caller = UINT32_MAX,
		.kind = 'n',
		.binary = UINT32_MAX,
		.line = UINT32_MAX,
		.samples = tree->samples,
		.weight = tree->weight,
	};
	struct pd_text name = { "all", 3 };

	luaL_checkstack(L, 2 * N_ARRAYS, "call stacks");
	for (int i = RESULT_AT + 1; i < ARRAYS_AT; i++)
		lua_newtable(L);
	for (int i = 0; i < N_ARRAYS; i++)
		lua_createtable(L, (int)tree->n + 1, 0);
	add_node(L, tree, &root, name, 1);
	for (size_t i = 0; i < tree->n; i++) {
		name = pe_profile_text(tree->profile, tree->nodes[i].name);
		add_node(L, tree, &tree->nodes[i], name, (lua_Integer)i + 2);
	}
	for (int i = N_ARRAYS; i--;)
		lua_setfield(L, RESULT_AT, arrays[i]);
	lua_setfield(L, RESULT_AT, "srclines");
	lua_setfield(L, RESULT_AT, "binaries");
	lua_pop(L, 1);
	lua_setfield(L, RESULT_AT, "names");
}

/*
 * tree(options) -> {names = array, binaries = by name, srclines = "path:line" by node, name,
 * kind, caller, total, own, samples = arrays with an element for each node, of which the first
 * is the root and callers come first, unresolved, small, small_total, deep}: see struct
 * pe_tree. Options: those of make_tree(), least, max_depth
 */
int pl_profile_tree(lua_State *L)
{
	struct pe_tree **owner;
	struct pe_tree *tree;
	uint32_t max_depth;
	double least;

	lua_settop(L, 1);
	owner = make_tree(L, 1);
	tree = *owner;
	lua_getfield(L, 1, "least");
	least = luaL_optnumber(L, -1, 0);
	lua_getfield(L, 1, "max_depth");
	max_depth = to_depth(luaL_optinteger(L, -1, UINT32_MAX));
	lua_settop(L, RESULT_AT - 1);
	if (!pe_tree_cut(tree, least, max_depth) || !pe_tree_find_binaries(tree))
		luaL_error(L, "no memory for call stacks");
	lua_newtable(L);
	pl_set_integer(L, "unresolved", tree->unresolved);
	pl_set_integer(L, "small", tree->n_small);
	pl_set_integer(L, "small_total", tree->small_weight);
	pl_set_integer(L, "deep", tree->n_deep);
	push_arrays(L, tree);
	free_tree(owner);
	return 1;
}
