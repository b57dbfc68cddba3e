#include "trees_internal.h"

#include <string.h>

#include "binding/value.h"
#include "calls.h"

#define MAX_NODES (1u << 18) /* of one tree: a filter has fewer */

/* Bits: the parts that an op needs. */
enum {
	LEFT = 1,
	RIGHT = 2,
	BOTH = LEFT | RIGHT,
	VALUE = 4,
	FIELD = 8,
	EVENTS = 16,
	SET = 32,
	CALL = 64,
};

static const struct op {
	const char *name;
	enum pq_op op;
	unsigned needs;
} ops[] = {
	{ "const", PQ_CONST, VALUE },  { "field", PQ_FIELD, FIELD },
	{ "and", PQ_AND, BOTH },       { "or", PQ_OR, BOTH },
	{ "not", PQ_NOT, LEFT },       { "present", PQ_PRESENT, LEFT },
	{ "eq", PQ_EQ, BOTH },	       { "lt", PQ_LT, BOTH },
	{ "le", PQ_LE, BOTH },	       { "gt", PQ_GT, BOTH },
	{ "ge", PQ_GE, BOTH },	       { "event_in", PQ_EVENT_IN, LEFT | EVENTS },
	{ "in", PQ_IN, LEFT | SET },   { "find", PQ_FIND, BOTH },
	{ "starts", PQ_STARTS, BOTH }, { "under", PQ_UNDER, RIGHT },
	{ "add", PQ_ADD, BOTH },       { "sub", PQ_SUB, BOTH },
	{ "mul", PQ_MUL, BOTH },       { "div", PQ_DIV, BOTH },
	{ "idiv", PQ_IDIV, BOTH },     { "mod", PQ_MOD, BOTH },
	{ "pow", PQ_POW, BOTH },       { "band", PQ_BAND, BOTH },
	{ "bor", PQ_BOR, BOTH },       { "bxor", PQ_BXOR, BOTH },
	{ "shl", PQ_SHL, BOTH },       { "shr", PQ_SHR, BOTH },
	{ "neg", PQ_NEG, LEFT },       { "bnot", PQ_BNOT, LEFT },
	{ "bucket", PQ_BUCKET, BOTH }, { "count", PQ_COUNT, LEFT },
	{ "call", PQ_CALL, CALL },     { "glob", PQ_GLOB, BOTH },
	{ "match", PQ_MATCH, BOTH },   { "lower", PQ_LOWER, LEFT },
	{ "given", PQ_GIVEN, BOTH },   { "either", PQ_EITHER, BOTH },
};

/* Reads the array of values on top, and pops it. */
static void to_set(struct pl_tree_maker *m, struct pq_node *node)
{
	lua_State *L = m->L;
	struct pq_value *set;
	size_t n;

	if (!lua_istable(L, -1))
		pl_no_tree(L, "a set is a table");
	n = (size_t)lua_rawlen(L, -1);
	set = pl_keep_array(L, m->keep, n, sizeof(*set));
	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		set[i] = pl_to_constant(L, m->keep);
	}
	node->set = set;
	node->n_set = n;
	lua_pop(L, 1);
}

/* Reads the table {[index] = true} on top, and pops it. */
static void to_node_events(struct pl_tree_maker *m, struct pq_node *node)
{
	size_t n = m->file->session->n_events;
	uint8_t *events = pl_keep(m->L, m->keep, n);

	if (!lua_istable(m->L, -1))
		pl_no_tree(m->L, "events are a table");
	pl_to_events(m->L, -1, events, n);
	node->events = events;
	node->n_events = n;
	lua_pop(m->L, 1);
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
	pl_no_tree(L, "no such op");
	return NULL;
}

/* Raises if parts of a node would make it unsafe to run. */
static void check_node(lua_State *L, const struct pq_node *node)
{
	const struct pq_node *left = node->left, *right = node->right;

	switch (node->op) {
	case PQ_EVENT_IN:
		if (left->op != PQ_FIELD)
			pl_no_tree(L, "event_in takes a field");
		break;
	case PQ_UNDER:
		if (right->op != PQ_CONST || right->constant.type != PQ_TEXT)
			pl_no_tree(L, "under() takes a name");
		break;
	case PQ_GLOB:
	case PQ_MATCH:
		if (right->op != PQ_CONST || right->constant.type != PQ_TEXT)
			pl_no_tree(L, "a pattern is a text");
		break;
	case PQ_BUCKET:
		if (right->op != PQ_CONST || right->constant.type != PQ_INT ||
		    right->constant.i <= 0)
			pl_no_tree(L, "a bucket's size is an integer above 0");
		break;
	case PQ_COUNT:
		if (left->op != PQ_FIELD && left->kind != PQ_K_STRING)
			pl_no_tree(L, "count takes a field or a text");
		break;
	default:
		break;
	}
}

static const struct pq_node *make_node(struct pl_tree_maker *m, int index);

/* Makes the call of the table at `index`, with its arguments. */
static const struct pq_call *make_call(struct pl_tree_maker *m, int index)
{
	lua_State *L = m->L;
	struct pq_call *call = pl_to_call(L, m->keep, index);
	const struct pq_node **args;
	size_t n;

	if (lua_getfield(L, index, "args") == LUA_TTABLE) {
		n = (size_t)lua_rawlen(L, -1);
		if (!n || n > PQ_MAX_ROW)
			pl_no_tree(L, "a function has no arguments, or too many");
		args = pl_keep_array(L, m->keep, n, sizeof(const struct pq_node *));
		for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
			lua_rawgeti(L, -1, (lua_Integer)i + 1);
			args[i] = make_node(m, lua_gettop(L));
		}
		call->args = args;
		call->n_args = n;
		pl_calls_of(L, m->keep)->most_args = PQ_MAX_ROW;
	}
	lua_pop(L, 1);
	return call;
}

/* Raises for parts that only records have, if there is no file. */
static void check_op(const struct pl_tree_maker *m, const struct op *op)
{
	if (!m->file && (op->needs & (EVENTS | CALL) || op->op == PQ_UNDER))
		pl_no_tree(m->L, "that is not for columns");
}

static const struct pq_node *make_part(struct pl_tree_maker *m, int index, const char *name)
{
	const struct pq_node *part;

	lua_getfield(m->L, index, name);
	part = make_node(m, lua_gettop(m->L));
	lua_pop(m->L, 1);
	return part;
}

/* Makes the tree of the table at `index`. */
static const struct pq_node *make_node(struct pl_tree_maker *m, int index)
{
	lua_State *L = m->L;
	const struct op *op;
	struct pq_node *node;

	if (!lua_istable(L, index))
		pl_no_tree(L, "a part is missing");
	if (++m->depth > PQ_MAX_DEPTH)
		luaL_error(L, "invalid query: nested deeper than %d levels", PQ_MAX_DEPTH);
	if (++m->nodes > MAX_NODES)
		pl_no_tree(L, "too large");
	luaL_checkstack(L, 8, "query");
	op = to_op(L, index);
	check_op(m, op);
	node = pl_keep(L, m->keep, sizeof(*node));
	node->op = op->op;
	node->kind = pl_to_kind(L, index);
	lua_getfield(L, index, "negated");
	node->negated = lua_toboolean(L, -1);
	lua_pop(L, 1);
	if (op->needs & LEFT)
		node->left = make_part(m, index, "left");
	if (op->needs & RIGHT)
		node->right = make_part(m, index, "right");
	if (op->needs & VALUE) {
		lua_getfield(L, index, "value");
		node->constant = pl_to_constant(L, m->keep);
	} else if (op->needs & FIELD) {
		lua_getfield(L, index, "field");
		node->field = pl_to_field(m);
	} else if (op->needs & EVENTS) {
		lua_getfield(L, index, "events");
		to_node_events(m, node);
	} else if (op->needs & SET) {
		lua_getfield(L, index, "set");
		to_set(m, node);
	} else if (op->needs & CALL) {
		node->call = make_call(m, index);
	}
	check_node(L, node);
	m->depth--;
	return node;
}

const struct pq_node *pl_to_node(lua_State *L, int keep, const struct pl_file *file, int index)
{
	struct pl_tree_maker m = { L, lua_absindex(L, keep), file, 0, 0 };

	return make_node(&m, lua_absindex(L, index));
}

const struct pq_node *const *pl_to_nodes(lua_State *L, int keep, const struct pl_file *file,
					 int index, size_t max, size_t *n)
{
	const struct pq_node **nodes;

	index = lua_absindex(L, index);
	keep = lua_absindex(L, keep);
	*n = lua_istable(L, index) ? (size_t)lua_rawlen(L, index) : 0;
	if (*n > max)
		pl_no_tree(L, "too many of them");
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
		unnest->name = pl_names_find(file->names, lua_tostring(L, -1));
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

void pl_push_answer(lua_State *L, int file, const struct pq_value *v)
{
	switch (v->type) {
	case PQ_BOOL:
		lua_pushboolean(L, v->u != 0);
		break;
	case PQ_INT:
		lua_pushinteger(L, v->i);
		break;
	case PQ_FLOAT:
		lua_pushnumber(L, v->f);
		break;
	case PQ_TEXT:
		lua_pushlstring(L, v->p, v->size);
		break;
	case PQ_EVENT:
		pl_push_event(L, file, v->event);
		break;
	default:
		lua_pushnil(L);
	}
}

bool pl_to_scalar(lua_State *L, int index, struct pq_value *value)
{
	switch (lua_type(L, index)) {
	case LUA_TNIL:
		value->type = PQ_NIL;
		return true;
	case LUA_TBOOLEAN:
		value->type = PQ_BOOL;
		value->u = (uint64_t)lua_toboolean(L, index);
		return true;
	case LUA_TNUMBER:
		value->type = lua_isinteger(L, index) ? PQ_INT : PQ_FLOAT;
		if (value->type == PQ_INT)
			value->i = lua_tointeger(L, index);
		else
			value->f = lua_tonumber(L, index);
		return true;
	default:
		return false;
	}
}
