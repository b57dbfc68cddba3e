#include "trees.h"

#include <string.h>

#include "calls.h"
#include "scope.h"

#define MAX_NODES (1u << 18) /* of one tree: a filter has fewer */

/* Bits: the parts that an op needs. */
enum {
	LEFT = 1,
	RIGHT = 2,
	BOTH = LEFT | RIGHT,
	VALUE = 4,
	REF = 8,
	EVENTS = 16,
	SET = 32,
	FN = 64,
};

/* By the names of lua/perflua/filter/check.lua. */
static const struct op {
	const char *name;
	enum pq_op op;
	unsigned needs;
} ops[] = {
	{ "const", PQ_CONST, VALUE },  { "field", PQ_FIELD, REF },
	{ "and", PQ_AND, BOTH },       { "or", PQ_OR, BOTH },
	{ "not", PQ_NOT, LEFT },       { "present", PQ_PRESENT, LEFT },
	{ "==", PQ_EQ, BOTH },	       { "<", PQ_LT, BOTH },
	{ "<=", PQ_LE, BOTH },	       { ">", PQ_GT, BOTH },
	{ ">=", PQ_GE, BOTH },	       { "event", PQ_EVENT_IN, LEFT | EVENTS },
	{ "in", PQ_IN, LEFT | SET },   { "find", PQ_FIND, BOTH },
	{ "starts", PQ_STARTS, BOTH }, { "under", PQ_UNDER, RIGHT },
	{ "+", PQ_ADD, BOTH },	       { "-", PQ_SUB, BOTH },
	{ "*", PQ_MUL, BOTH },	       { "/", PQ_DIV, BOTH },
	{ "//", PQ_IDIV, BOTH },       { "%", PQ_MOD, BOTH },
	{ "^", PQ_POW, BOTH },	       { "&", PQ_BAND, BOTH },
	{ "|", PQ_BOR, BOTH },	       { "~", PQ_BXOR, BOTH },
	{ "<<", PQ_SHL, BOTH },	       { ">>", PQ_SHR, BOTH },
	{ "neg", PQ_NEG, LEFT },       { "bnot", PQ_BNOT, LEFT },
	{ "bucket", PQ_BUCKET, BOTH }, { "count", PQ_COUNT, LEFT },
	{ "call", PQ_CALL, FN },       { "glob", PQ_GLOB, BOTH },
	{ "match", PQ_MATCH, BOTH },   { "lower", PQ_LOWER, LEFT },
	{ "given", PQ_GIVEN, BOTH },   { "either", PQ_EITHER, BOTH },
};

/* Reads the keys of the table {[value] = true} on top, and pops it. */
static void to_set(struct pl_tree_reader *r, struct pq_node *node)
{
	lua_State *L = r->L;
	struct pq_value *set;
	size_t n = 0;

	if (!lua_istable(L, -1))
		pl_refuse_tree(L, "a set is a table");
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
		n++;
	set = pl_keep_array(L, r->keep, n, sizeof(*set));
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		lua_pushvalue(L, -2);
		set[node->n_set++] = pl_to_constant(L, r->keep);
	}
	node->set = set;
	lua_pop(L, 1);
}

/* Reads the table {[index] = true} on top, and pops it. */
static void to_node_events(struct pl_tree_reader *r, struct pq_node *node)
{
	size_t n = r->file->session->n_events;
	uint8_t *events = pl_keep(r->L, r->keep, n);

	if (!lua_istable(r->L, -1))
		pl_refuse_tree(r->L, "events are a table");
	pl_to_events(r->L, -1, events, n);
	node->events = events;
	node->n_events = n;
	lua_pop(r->L, 1);
}

static const struct op *to_op(lua_State *L, int index)
{
	const char *name = lua_getfield(L, index, "op") == LUA_TSTRING ? lua_tostring(L, -1) :
									 "";

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i].name, name) == 0) {
			lua_pop(L, 1);
			return &ops[i];
		}
	}
	pl_refuse_tree(L, "no such op");
	return NULL;
}

/* Raises if parts of a node would make it unsafe to run. */
static void check_node(lua_State *L, const struct pq_node *node)
{
	const struct pq_node *left = node->left, *right = node->right;

	switch (node->op) {
	case PQ_EVENT_IN:
		if (left->op != PQ_FIELD)
			pl_refuse_tree(L, "event takes a field");
		break;
	case PQ_UNDER:
		if (right->op != PQ_CONST || right->constant.type != PQ_TEXT)
			pl_refuse_tree(L, "under() takes a name");
		break;
	case PQ_GLOB:
	case PQ_MATCH:
		if (right->op != PQ_CONST || right->constant.type != PQ_TEXT)
			pl_refuse_tree(L, "a pattern is a text");
		break;
	case PQ_BUCKET:
		if (right->op != PQ_CONST || right->constant.type != PQ_INT ||
		    right->constant.i <= 0)
			pl_refuse_tree(L, "a bucket's size is an integer above 0");
		break;
	case PQ_COUNT:
		if (left->op != PQ_FIELD && left->kind != PQ_K_STRING)
			pl_refuse_tree(L, "count takes a field or a text");
		break;
	default:
		break;
	}
}

static const struct pq_node *make_node(struct pl_tree_reader *r, int index);

/* Makes the call of the table at `index`, with its arguments. */
static const struct pq_call *make_call(struct pl_tree_reader *r, int index)
{
	static const char *const results[] = { "value", "condition", "key", NULL };
	lua_State *L = r->L;
	const struct pq_node **args;
	struct pq_call *call;
	int result;
	size_t n;

	lua_getfield(L, index, "is");
	result = luaL_checkoption(L, -1, results[PL_CALL_VALUE], results);
	lua_getfield(L, index, "fn");
	call = pl_to_call(L, r->keep, (enum pl_call_result)result);
	lua_pop(L, 1);
	if (lua_getfield(L, index, "args") == LUA_TTABLE) {
		n = (size_t)lua_rawlen(L, -1);
		if (!n || n > PQ_MAX_ROW)
			pl_refuse_tree(L, "a function has no arguments, or too many");
		args = pl_keep_array(L, r->keep, n, sizeof(const struct pq_node *));
		for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
			lua_rawgeti(L, -1, (lua_Integer)i + 1);
			args[i] = make_node(r, lua_gettop(L));
		}
		call->args = args;
		call->n_args = n;
		pl_calls_of(L, r->keep)->most_args = PQ_MAX_ROW;
	}
	lua_pop(L, 1);
	return call;
}

/* Raises for parts that only records have, if there is no file. */
static void check_op(const struct pl_tree_reader *r, const struct op *op)
{
	if (!r->file && (op->needs & (EVENTS | FN) || op->op == PQ_UNDER))
		pl_refuse_tree(r->L, "that is not for columns");
}

static const struct pq_node *make_part(struct pl_tree_reader *r, int index, const char *name)
{
	const struct pq_node *part;

	lua_getfield(r->L, index, name);
	part = make_node(r, lua_gettop(r->L));
	lua_pop(r->L, 1);
	return part;
}

/* Returns whether the table at `index` has a value of that name. [-0, +0] */
static bool has_value(lua_State *L, int index, const char *name)
{
	bool has = lua_getfield(L, index, name) != LUA_TNIL;

	lua_pop(L, 1);
	return has;
}

/* Makes the node a call of that function of the Ref on top, which it pops. */
static void to_call_of_ref(struct pl_tree_reader *r, const char *name, struct pq_node *node)
{
	if (!r->file)
		pl_refuse_tree(r->L, "that is not for columns");
	lua_getfield(r->L, -1, name);
	node->op = PQ_CALL;
	node->call = pl_to_call(r->L, r->keep, PL_CALL_VALUE);
	lua_pop(r->L, 1);
}

/* Makes the field of the table at `index`, or the call of the function that reads it. */
static void to_leaf(struct pl_tree_reader *r, int index, struct pq_node *node)
{
	lua_State *L = r->L;

	if (lua_getfield(L, index, "ref") == LUA_TTABLE &&
	    (has_value(L, -1, "by_call") ||
	     (has_value(L, -1, "as_value") && !has_value(L, index, "tested"))))
		to_call_of_ref(r, "get", node);
	else
		node->field = pl_to_field(r);
}

/* Makes the count of the items of a field, or of the function that counts those of a call. */
static void to_count(struct pl_tree_reader *r, int index, struct pq_node *node)
{
	lua_State *L = r->L;
	int top = lua_gettop(L);

	if (lua_getfield(L, index, "left") == LUA_TTABLE &&
	    lua_getfield(L, -1, "ref") == LUA_TTABLE && has_value(L, -1, "by_call"))
		to_call_of_ref(r, "length", node);
	else
		node->left = make_node(r, top + 1);
	lua_settop(L, top);
}

/* Reads the parts of a node that are not nodes. */
static void to_parts(struct pl_tree_reader *r, int index, unsigned needs, struct pq_node *node)
{
	lua_State *L = r->L;

	if (needs & VALUE) {
		lua_getfield(L, index, "value");
		node->constant = pl_to_constant(L, r->keep);
	} else if (needs & REF) {
		to_leaf(r, index, node);
	} else if (needs & EVENTS) {
		lua_getfield(L, index, "set");
		to_node_events(r, node);
	} else if (needs & SET) {
		lua_getfield(L, index, "set");
		to_set(r, node);
	} else if (needs & FN) {
		node->call = make_call(r, index);
	}
}

/* Makes the tree of the table at `index`. */
static const struct pq_node *make_node(struct pl_tree_reader *r, int index)
{
	lua_State *L = r->L;
	const struct op *op;
	struct pq_node *node;

	if (!lua_istable(L, index))
		pl_refuse_tree(L, "a part is missing");
	if (++r->depth > PQ_MAX_DEPTH)
		luaL_error(L, "invalid query: nested deeper than %d levels", PQ_MAX_DEPTH);
	if (++r->nodes > MAX_NODES)
		pl_refuse_tree(L, "too large");
	luaL_checkstack(L, 8, "query");
	op = to_op(L, index);
	check_op(r, op);
	node = pl_keep(L, r->keep, sizeof(*node));
	node->op = op->op;
	node->kind = pl_to_kind(L, index, "kind");
	lua_getfield(L, index, "negated");
	node->negated = lua_toboolean(L, -1);
	lua_pop(L, 1);
	if (op->op == PQ_COUNT)
		to_count(r, index, node);
	else if (op->needs & LEFT)
		node->left = make_part(r, index, "left");
	if (op->needs & RIGHT)
		node->right = make_part(r, index, "right");
	to_parts(r, index, op->needs, node);
	check_node(L, node);
	r->depth--;
	return node;
}

const struct pq_node *pl_to_node(lua_State *L, int keep, const struct pl_file *file, int index)
{
	struct pl_tree_reader r = { L, lua_absindex(L, keep), file, 0, 0 };

	return make_node(&r, lua_absindex(L, index));
}

const struct pq_node *const *pl_to_nodes(lua_State *L, int keep, const struct pl_file *file,
					 int index, size_t max, size_t *n)
{
	const struct pq_node **nodes;

	index = lua_absindex(L, index);
	keep = lua_absindex(L, keep);
	*n = lua_istable(L, index) ? (size_t)lua_rawlen(L, index) : 0;
	if (*n > max)
		pl_refuse_tree(L, "too many of them");
	nodes = pl_keep_array(L, keep, *n, sizeof(const struct pq_node *));
	for (size_t i = 0; i < *n; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, index, (lua_Integer)i + 1);
		nodes[i] = pl_to_node(L, keep, file, -1);
	}
	return nodes;
}

/* Returns the tree of that name in the table on top; NULL if there is none. [-0, +0] */
static const struct pq_node *to_part(lua_State *L, int keep, const struct pl_file *file,
				     const char *name)
{
	const struct pq_node *node = NULL;

	if (lua_getfield(L, -1, name) != LUA_TNIL)
		node = pl_to_node(L, keep, file, -1);
	lua_pop(L, 1);
	return node;
}

const struct pq_unnest *pl_to_unnest(lua_State *L, int keep, const struct pl_file *file,
				     int options)
{
	struct pq_unnest *unnest = NULL;

	keep = lua_absindex(L, keep);
	if (lua_getfield(L, options, "unnest") == LUA_TTABLE) {
		unnest = pl_keep(L, keep, sizeof(*unnest));
		unnest->view = pl_to_view(L, lua_gettop(L));
		lua_getfield(L, -1, "view");
		unnest->name = pl_names_find(L, file->names, -1);
		lua_pop(L, 1);
		unnest->once = to_part(L, keep, file, "once");
		unnest->filter = to_part(L, keep, file, "filter");
		lua_getfield(L, -1, "inline");
		unnest->inlined = lua_toboolean(L, -1);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	return unnest;
}
