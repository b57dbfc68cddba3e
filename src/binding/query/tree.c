/* Trees of calls of Tables as Lua values: Nodes (src/result/tree.h). */
#include <string.h>

#include "binding/stack.h"
#include "binding/system.h"
#include "call_tree.h"
#include "result.h"
#include "result/tree.h"

#define PL_NODE "perflua.node"

/* A tree, which a userdata owns. */
struct tree_owner {
	struct pr_tree *tree;
	struct pm_string_pool names;
	struct pb_string text; /* while it is written */
	struct pl_stacks *stacks;
	enum pr_by by;
	bool has_counts;
};

/* User values of a Node: the pl_stacks, first for pl_push_frame(); the owner. */
enum {
	OF_STACKS = 1,
	OF_OWNER,
	N_VALUES = OF_OWNER
};

struct pl_node {
	const struct tree_owner *of;
	uint32_t number;
};

static int tree_owner_gc(lua_State *L)
{
	struct tree_owner *owner = lua_touserdata(L, 1);

	pr_tree_destroy(owner->tree);
	pm_string_pool_deinit(&owner->names);
	pb_string_deinit(&owner->text);
	*owner = (struct tree_owner){ 0 };
	return 0;
}

static const struct pl_node *check_node(lua_State *L, int index)
{
	return luaL_checkudata(L, index, PL_NODE);
}

/* Pushes node `number` of an owner, of whose tree the Node at `index` is one. [-0, +1] */
static void push_node(lua_State *L, int index, const struct tree_owner *owner, uint32_t number)
{
	struct pl_node *node = lua_newuserdatauv(L, sizeof(*node), N_VALUES);

	*node = (struct pl_node){ owner, number };
	luaL_setmetatable(L, PL_NODE);
	for (int i = OF_STACKS; i <= N_VALUES; i++) {
		lua_getiuservalue(L, index, i);
		lua_setiuservalue(L, -2, i);
	}
}

static const struct pr_node *node_of(const struct pl_node *node)
{
	return &node->of->tree->nodes[node->number];
}

static void push_weight(lua_State *L, const struct pl_node *node, union pr_amount weight)
{
	if (node->of->tree->shape.is_float)
		lua_pushnumber(L, weight.f);
	else
		lua_pushinteger(L, weight.i);
}

static void push_count(lua_State *L, const struct pl_node *node, uint64_t count)
{
	if (node->of->has_counts)
		lua_pushinteger(L, (lua_Integer)count);
	else
		lua_pushnil(L);
}

/* Pushes that field of the node's Frame, or, if `name` is NULL, the Frame. [-0, +1] */
static void push_of_frame(lua_State *L, const struct pl_node *node, const char *name)
{
	uint32_t place = node_of(node)->place;

	if (place == PR_NO_PLACE) {
		lua_pushnil(L);
		return;
	}
	pl_push_frame(L, node->of->stacks, place);
	if (name)
		lua_getfield(L, -1, name);
}

static void push_name(lua_State *L, const struct pl_node *node)
{
	if (node->number)
		lua_pushstring(L, pr_tree_name(node->of->tree, node->number).p);
	else
		lua_pushnil(L);
}

static const char *const node_fields[] = { "name", "frame", "symbol", "dso",   "srcline",
					   "kind", "self",  "total",  "count", "parent",
					   "find", "walk",  NULL };
enum node_field {
	NAME,
	FRAME,
	SYMBOL,
	DSO,
	SRCLINE,
	KIND,
	SELF,
	TOTAL,
	COUNT,
	PARENT,
	FIND,
	WALK,
	N_NODE_FIELDS
};

/* node:find(name) -> the heaviest node of that name below it | nil */
static int node_find(lua_State *L)
{
	const struct pl_node *node = check_node(L, 1);
	const char *name = luaL_checkstring(L, 2);
	const struct pr_tree *tree = node->of->tree;
	uint32_t found = 0;
	uint8_t *below = lua_newuserdatauv(L, tree->n, 0);

	/* callers come first, so one pass knows what is below */
	memset(below, 0, tree->n);
	below[node->number] = 1;
	for (uint32_t i = node->number + 1; i < tree->n; i++) {
		below[i] = below[tree->nodes[i].caller];
		if (!below[i] || strcmp(pr_tree_name(tree, i).p, name) != 0)
			continue;
		if (!found || pr_to_float(tree, tree->nodes[i].total) >
				      pr_to_float(tree, tree->nodes[found].total))
			found = i;
	}
	if (found)
		push_node(L, 1, node->of, found);
	else
		lua_pushnil(L);
	return 1;
}

static uint32_t max_depth_of(const struct pr_tree *tree)
{
	uint32_t most = 0;

	for (size_t i = 0; i < tree->n; i++)
		if (tree->nodes[i].depth > most)
			most = tree->nodes[i].depth;
	return most;
}

/*
 * node:walk(fn): calls fn(node, depth) with it, and with all nodes below it, a caller first and
 * the heaviest of its callees next
 */
static int node_walk(lua_State *L)
{
	const struct pl_node *node = check_node(L, 1);
	const struct pr_tree *tree = node->of->tree;
	uint32_t at = node->number, depth = 0, *next;

	luaL_checktype(L, 2, LUA_TFUNCTION);
	lua_settop(L, 2);
	/* by depth: which callee of the node there is next */
	next = lua_newuserdatauv(L, (max_depth_of(tree) + (size_t)2) * sizeof(*next), 0);
	for (;;) {
		lua_pushvalue(L, 2);
		push_node(L, 1, node->of, at);
		lua_pushinteger(L, depth);
		lua_call(L, 2, 0);
		next[depth] = 0;
		for (; next[depth] == tree->nodes[at].n_callees; depth--) {
			if (!depth)
				return 0;
			at = tree->nodes[at].caller;
		}
		at = tree->order[tree->nodes[at].first + next[depth]++];
		depth++;
	}
}

static void push_parent(lua_State *L, const struct pl_node *node)
{
	if (node->number)
		push_node(L, 1, node->of, node_of(node)->caller);
	else
		lua_pushnil(L);
}

static void push_field(lua_State *L, const struct pl_node *node, enum node_field field)
{
	bool is_code = node->of->by != PR_BY_DSO;

	switch (field) {
	case NAME:
		push_name(L, node);
		return;
	case FRAME:
		push_of_frame(L, node, NULL);
		return;
	case SYMBOL:
	case SRCLINE:
		if (is_code)
			push_of_frame(L, node, node_fields[field]);
		else
			lua_pushnil(L);
		return;
	case DSO:
	case KIND:
		push_of_frame(L, node, node_fields[field]);
		return;
	case SELF:
		push_weight(L, node, node_of(node)->own);
		return;
	case TOTAL:
		push_weight(L, node, node_of(node)->total);
		return;
	case COUNT:
		push_count(L, node, node_of(node)->count);
		return;
	case PARENT:
		push_parent(L, node);
		return;
	default:
		lua_pushcfunction(L, field == FIND ? node_find : node_walk);
	}
}

/* Pushes callee `i` of the Node at 1, from 1 on, or nil. [-0, +1] */
static void push_callee(lua_State *L, const struct pl_node *node, lua_Integer i)
{
	const struct pr_node *data = node_of(node);

	if (i < 1 || (lua_Unsigned)i > data->n_callees)
		lua_pushnil(L);
	else
		push_node(L, 1, node->of, node->of->tree->order[data->first + (size_t)i - 1]);
}

/* node[i], node.name -> value | nil */
static int node_index(lua_State *L)
{
	const struct pl_node *node = check_node(L, 1);
	struct pl_closest closest;
	const char *name;
	unsigned field = 0;

	if (lua_type(L, 2) == LUA_TNUMBER) {
		push_callee(L, node, lua_tointeger(L, 2)); /* 0 for no integer */
		return 1;
	}
	name = luaL_checkstring(L, 2);
	while (field < N_NODE_FIELDS && strcmp(node_fields[field], name) != 0)
		field++;
	if (field < N_NODE_FIELDS) {
		push_field(L, node, (enum node_field)field);
		return 1;
	}
	pl_closest_init(&closest, name);
	for (field = 0; field < N_NODE_FIELDS; field++)
		pl_closest_try(&closest, node_fields[field]);
	return pl_closest_raise(L, &closest, "a node has no field");
}

static int node_len(lua_State *L)
{
	lua_pushinteger(L, node_of(check_node(L, 1))->n_callees);
	return 1;
}

static int node_eq(lua_State *L)
{
	const struct pl_node *a = luaL_testudata(L, 1, PL_NODE);
	const struct pl_node *b = luaL_testudata(L, 2, PL_NODE);

	lua_pushboolean(L, a && b && a->of == b->of && a->number == b->number);
	return 1;
}

/* tostring(node): what is below it, as perf report -g prints it */
static int node_tostring(lua_State *L)
{
	const struct pl_node *node = check_node(L, 1);
	struct pr_tree_text how = { .least = 0.005 }; /* perf's default */
	struct tree_owner *owner;

	lua_getiuservalue(L, 1, OF_OWNER);
	owner = lua_touserdata(L, -1);
	how.total = how.whole = pr_to_float(owner->tree,
					    owner->tree->nodes[node->number].total);
	pb_string_clear(&owner->text);
	pr_tree_write(owner->tree, node->number, &how, &owner->text);
	if (!pb_string_end(&owner->text))
		return luaL_error(L, "no memory for call stacks");
	lua_pushlstring(L, owner->text.p, owner->text.n - (owner->text.n > 0));
	pb_string_deinit(&owner->text);
	return 1;
}

/* Returns the source line of a function at a frame's address, not of one inlined there. */
static const char *line_of(void *arg, const struct pq_stack_frame *frame)
{
	const struct ps_line *lines;
	size_t n = 0;

	(void)arg;
	if (frame->dso)
		n = ps_dso_lines(frame->dso, frame->address, &lines);
	return n ? lines[n - 1].srcline : NULL;
}

/* Reads field `name` of the options at 2, the number of a key or measure, from 1 on. */
static size_t read_number(lua_State *L, const char *name, size_t n)
{
	lua_Integer number;

	lua_getfield(L, 2, name);
	number = luaL_checkinteger(L, -1);
	luaL_argcheck(L, number >= 1 && (lua_Unsigned)number <= n, 2, name);
	lua_pop(L, 1);
	return (size_t)number - 1;
}

/* Reads the options at 2: see pl_result_tree(). */
static void read_options(lua_State *L, const struct pl_result *r, struct tree_owner *owner,
			 struct pr_tree_asked *asked)
{
	static const char *const by[] = {
		[PR_BY_SYMBOL] = "symbol",
		[PR_BY_SRCLINE] = "srcline",
		[PR_BY_ADDRESS] = "address",
		[PR_BY_DSO] = "dso",
		NULL,
	};
	const struct pr_shape *shape = &r->result->shape;

	luaL_checktype(L, 2, LUA_TTABLE);
	lua_getfield(L, 2, "by");
	owner->by = (enum pr_by)luaL_checkoption(L, -1, NULL, by);
	owner->has_counts = lua_getfield(L, 2, "count") != LUA_TNIL;
	lua_getfield(L, 2, "section");
	*asked = (struct pr_tree_asked){
		.by = owner->by,
		.from_callee = pl_get_flag(L, 2, "from_callee"),
		.key = read_number(L, "key", shape->n_keys),
		.weight = read_number(L, "weight", shape->n_measures),
		.section = (uint32_t)luaL_optinteger(L, -1, 0),
		.line_of = line_of,
	};
	asked->count = owner->has_counts ? read_number(L, "count", shape->n_measures) :
					   asked->weight;
	luaL_argcheck(L, shape->keys[asked->key].kind == PR_STACK, 2, "not a stack");
	lua_pop(L, 3);
}

int pl_result_tree(lua_State *L)
{
	const struct pl_result *r = pl_check_result(L, 1);
	struct pr_tree_asked asked;
	struct tree_owner *owner;
	struct pl_node *root;

	lua_settop(L, 2);
	owner = pl_push_finalized(L, sizeof(*owner), tree_owner_gc);
	owner->stacks = r->stacks;
	read_options(L, r, owner, &asked);
	root = lua_newuserdatauv(L, sizeof(*root), N_VALUES);
	*root = (struct pl_node){ owner, 0 };
	lua_getiuservalue(L, 1, 1);
	lua_setiuservalue(L, -2, OF_STACKS);
	lua_pushvalue(L, -2);
	lua_setiuservalue(L, -2, OF_OWNER);
	owner->tree = pr_tree_of_result(r->result, &asked, &owner->names);
	pl_check_tree(L, owner->tree != NULL);
	if (owner->tree->is_too_heavy)
		return luaL_error(L, "the weights add up to more than 2^63");
	if (asked.by == PR_BY_SRCLINE)
		pl_check_lines(L, r->stacks);
	luaL_setmetatable(L, PL_NODE);
	return 1;
}

void pl_node_register(lua_State *L)
{
	static const luaL_Reg node[] = {
		{ "__index", node_index },	 { "__len", node_len }, { "__eq", node_eq },
		{ "__tostring", node_tostring }, { NULL, NULL },
	};

	luaL_newmetatable(L, PL_NODE);
	luaL_setfuncs(L, node, 0);
	lua_pop(L, 1);
}
