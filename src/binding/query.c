#include "query.h"

#include "query_calls.h"
#include "value.h"

#include <string.h>

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
};

static const struct kind {
	const char *name;
	enum pq_kind kind;
} kinds[] = {
	{ "any", PQ_K_ANY },	     { "signed", PQ_K_SIGNED },	  { "unsigned", PQ_K_UNSIGNED },
	{ "address", PQ_K_ADDRESS }, { "natural", PQ_K_NATURAL }, { "bits", PQ_K_BITS },
	{ "float", PQ_K_FLOAT },     { "string", PQ_K_STRING },	  { "bytes", PQ_K_STRING },
	{ "boolean", PQ_K_BOOLEAN }, { "event", PQ_K_EVENT },	  { "view", PQ_K_VIEW },
	{ "nil", PQ_K_NIL },	     { "stack", PQ_K_STACK },
};

/* State of making a tree. */
struct maker {
	lua_State *L;
	int keep;
	const struct pl_file *file;
	unsigned nodes, depth;
};

static int no_tree(lua_State *L, const char *what)
{
	return luaL_error(L, "invalid query: %s", what);
}

/* Stores the value on top in `keep`, and pops it. */
static void keep_top(lua_State *L, int keep)
{
	lua_rawseti(L, keep, (lua_Integer)lua_rawlen(L, keep) + 1);
}

void *pl_keep(lua_State *L, int keep, size_t size)
{
	void *p;

	luaL_checkstack(L, 2, "query");
	p = lua_newuserdatauv(L, size ? size : 1, 0);
	keep_top(L, keep);
	return memset(p, 0, size ? size : 1);
}

/* Returns zeroed memory for n elements, owned by `keep`; n is at most a table's length. */
static void *keep_array(lua_State *L, int keep, size_t n, size_t size)
{
	if (n > (size_t)PTRDIFF_MAX / size)
		no_tree(L, "too large");
	return pl_keep(L, keep, n * size);
}

/*
 * Reads the value on top, and pops it. Text stays at Lua's address, and `keep` keeps its
 * string.
 */
static struct pq_value to_constant(lua_State *L, int keep)
{
	struct pq_value v = { .type = PQ_NIL };
	size_t n;

	switch (lua_type(L, -1)) {
	case LUA_TNIL:
		break;
	case LUA_TBOOLEAN:
		v.type = PQ_BOOL;
		v.u = (uint64_t)lua_toboolean(L, -1);
		break;
	case LUA_TNUMBER:
		v.type = lua_isinteger(L, -1) ? PQ_INT : PQ_FLOAT;
		if (v.type == PQ_INT)
			v.i = lua_tointeger(L, -1);
		else
			v.f = lua_tonumber(L, -1);
		break;
	case LUA_TSTRING:
		v.type = PQ_TEXT;
		v.p = lua_tolstring(L, -1, &n);
		if (n > UINT32_MAX)
			no_tree(L, "a text is too long");
		v.size = (uint32_t)n;
		keep_top(L, keep);
		return v;
	default:
		no_tree(L, "a value is no number, string or boolean");
	}
	lua_pop(L, 1);
	return v;
}

/* Reads the name of a step, which `keep` keeps, and which has no NUL. */
static const char *to_name(lua_State *L, int keep)
{
	size_t n;
	const char *name = lua_tolstring(L, -1, &n);

	if (strlen(name) != n)
		no_tree(L, "a name has a NUL");
	keep_top(L, keep);
	return name;
}

/* Reads the step on top, and pops it. */
static void to_step(lua_State *L, int keep, struct pq_step *step)
{
	if (lua_type(L, -1) == LUA_TSTRING) {
		step->name = to_name(L, keep);
	} else if (lua_isinteger(L, -1)) {
		lua_Integer i = lua_tointeger(L, -1);

		/* no array has an item with such a number */
		step->index = i < 1 || i > UINT32_MAX ? UINT32_MAX : (uint32_t)i;
		lua_pop(L, 1);
	} else {
		no_tree(L, "a step is a name or a position");
	}
}

static unsigned to_field_name(struct maker *m, int index)
{
	unsigned id = 0;

	if (lua_rawgeti(m->L, index, 1) == LUA_TSTRING)
		id = pl_names_find(m->file->names, lua_tostring(m->L, -1));
	if (!id || id >= PL_METHODS)
		no_tree(m->L, "no such field");
	lua_pop(m->L, 1);
	return id;
}

void pl_to_events(lua_State *L, int index, uint8_t *events, size_t n)
{
	index = lua_absindex(L, index);
	for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
		int is_integer;
		lua_Integer i = lua_tointegerx(L, -2, &is_integer);

		if (!is_integer || i < 1 || (lua_Unsigned)i > n)
			luaL_error(L, "no event of that number");
		events[i - 1] = (uint8_t)lua_toboolean(L, -1);
	}
}

struct pd_types pl_to_types(lua_State *L, int index)
{
	struct pd_types types = { 0 };

	index = lua_absindex(L, index);
	for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
		int is_integer;
		lua_Integer type = lua_tointegerx(L, -2, &is_integer);

		if (!is_integer || type < 0 || type > UINT32_MAX)
			luaL_error(L, "no record type of that number");
		pd_types_add(&types, (uint32_t)type);
	}
	return types;
}

/* Reads {[index] = value} on top, and pops it. */
static void to_by_event(struct maker *m, struct pq_field *field)
{
	lua_State *L = m->L;
	size_t n = m->file->session->n_events;
	struct pq_value *values = keep_array(L, m->keep, n, sizeof(*values));

	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		values[i] = to_constant(L, m->keep);
	}
	field->by_event = values;
	field->n_by_event = n;
	lua_pop(L, 1);
}

static enum pq_kind to_kind(lua_State *L, int index)
{
	const char *name = lua_getfield(L, index, "kind") == LUA_TSTRING ? lua_tostring(L, -1) :
									   "";

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0) {
			lua_pop(L, 1);
			return kinds[i].kind;
		}
	}
	no_tree(L, "no such kind");
	return PQ_K_ANY;
}

/*
 * Reads the place on top of a field in a row of values, and pops it. Its upper limit is left to
 * the caller that runs the query, which knows the length of rows.
 */
static struct pq_field *row_field(lua_State *L, struct pq_field *field)
{
	lua_Integer row = lua_tointeger(L, -1);

	if (row < 1 || row > PQ_MAX_ROW)
		no_tree(L, "a field is not in the row");
	lua_pop(L, 1);
	field->row = (uint32_t)row;
	return field;
}

/* Returns the view that the table at `index` names, whose items can be rows. [-0, +0] */
static const struct pd_view_desc *to_view(lua_State *L, int index)
{
	const struct pd_view_desc *view = NULL;

	if (lua_getfield(L, index, "view") == LUA_TSTRING)
		view = pq_unnest_view(lua_tostring(L, -1));
	if (!view)
		no_tree(L, "no view whose items can be rows");
	lua_pop(L, 1);
	return view;
}

/* Reads the field of an item, by its name on top, and pops it. */
static struct pq_field *item_field(lua_State *L, int index, struct pq_field *field)
{
	const char *name = luaL_checkstring(L, -1);

	field->item = pq_item_member(to_view(L, index), name);
	if (!field->item)
		no_tree(L, "items have no such member");
	lua_pop(L, 1);
	return field;
}

/* Makes the field that the table at `index` describes. */
static struct pq_field *make_field(struct maker *m, int index)
{
	lua_State *L = m->L;
	size_t n = (size_t)lua_rawlen(L, index);
	struct pq_field *field;

	field = pl_keep(L, m->keep, sizeof(*field));
	if (lua_getfield(L, index, "row") != LUA_TNIL)
		return row_field(L, field);
	lua_pop(L, 1);
	if (lua_getfield(L, index, "item") != LUA_TNIL)
		return item_field(L, index, field);
	lua_pop(L, 1);
	if (n < 1 || n > PQ_MAX_STEPS + 1)
		no_tree(L, "a field has too many parts, or none");
	field->name = to_field_name(m, index);
	field->n_steps = (unsigned)n - 1;
	for (unsigned i = 0; i < field->n_steps; i++) {
		lua_rawgeti(L, index, i + 2);
		to_step(L, m->keep, &field->steps[i]);
	}
	lua_getfield(L, index, "stack");
	field->is_stack = lua_toboolean(L, -1);
	lua_getfield(L, index, "mapped");
	field->is_mapped = lua_toboolean(L, -1);
	lua_pop(L, 2);
	if (lua_getfield(L, index, "types") == LUA_TTABLE) {
		struct pd_types *types = pl_keep(L, m->keep, sizeof(*types));

		*types = pl_to_types(L, -1);
		field->types = types;
	}
	lua_pop(L, 1);
	if (lua_getfield(L, index, "kind") != LUA_TNIL)
		field->kind = to_kind(L, index);
	lua_pop(L, 1);
	if (lua_getfield(L, index, "by_event") == LUA_TTABLE)
		to_by_event(m, field);
	else
		lua_pop(L, 1);
	return field;
}

/*
 * Returns the field of the table on top, and pops that. One table is one field, and is read
 * once.
 */
static const struct pq_field *to_field(struct maker *m)
{
	lua_State *L = m->L;
	int index = lua_gettop(L);
	struct pq_field *field;

	if (!lua_istable(L, index))
		no_tree(L, "a field is a table");
	lua_pushvalue(L, index);
	if (lua_rawget(L, m->keep) == LUA_TLIGHTUSERDATA) {
		field = lua_touserdata(L, -1);
	} else {
		field = make_field(m, index);
		lua_pushvalue(L, index);
		lua_pushlightuserdata(L, field);
		lua_rawset(L, m->keep);
	}
	lua_settop(L, index - 1);
	return field;
}

/* Reads the array of values on top, and pops it. */
static void to_set(struct maker *m, struct pq_node *node)
{
	lua_State *L = m->L;
	struct pq_value *set;
	size_t n;

	if (!lua_istable(L, -1))
		no_tree(L, "a set is a table");
	n = (size_t)lua_rawlen(L, -1);
	set = keep_array(L, m->keep, n, sizeof(*set));
	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		set[i] = to_constant(L, m->keep);
	}
	node->set = set;
	node->n_set = n;
	lua_pop(L, 1);
}

/* Reads the table {[index] = true} on top, and pops it. */
static void to_node_events(struct maker *m, struct pq_node *node)
{
	size_t n = m->file->session->n_events;
	uint8_t *events = pl_keep(m->L, m->keep, n);

	if (!lua_istable(m->L, -1))
		no_tree(m->L, "events are a table");
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
	no_tree(L, "no such op");
	return NULL;
}

/* Raises if parts of a node would make it unsafe to run. */
static void check_node(lua_State *L, const struct pq_node *node)
{
	const struct pq_node *left = node->left, *right = node->right;

	switch (node->op) {
	case PQ_EVENT_IN:
		if (left->op != PQ_FIELD)
			no_tree(L, "event_in takes a field");
		break;
	case PQ_UNDER:
		if (right->op != PQ_CONST || right->constant.type != PQ_TEXT)
			no_tree(L, "under() takes a name");
		break;
	case PQ_GLOB:
	case PQ_MATCH:
		if (right->op != PQ_CONST || right->constant.type != PQ_TEXT)
			no_tree(L, "a pattern is a text");
		break;
	case PQ_BUCKET:
		if (right->op != PQ_CONST || right->constant.type != PQ_INT ||
		    right->constant.i <= 0)
			no_tree(L, "a bucket's size is an integer above 0");
		break;
	case PQ_COUNT:
		if (left->op != PQ_FIELD && left->kind != PQ_K_STRING)
			no_tree(L, "count takes a field or a text");
		break;
	default:
		break;
	}
}

static const struct pq_node *make_node(struct maker *m, int index);

/* Makes the call of the table at `index`, with its arguments. */
static const struct pq_call *make_call(struct maker *m, int index)
{
	lua_State *L = m->L;
	struct pq_call *call = pl_to_call(L, m->keep, index);
	const struct pq_node **args;
	size_t n;

	if (lua_getfield(L, index, "args") == LUA_TTABLE) {
		n = (size_t)lua_rawlen(L, -1);
		if (!n || n > PQ_MAX_ROW)
			no_tree(L, "a function has no arguments, or too many");
		args = keep_array(L, m->keep, n, sizeof(const struct pq_node *));
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

static const struct pq_node *make_part(struct maker *m, int index, const char *name)
{
	const struct pq_node *part;

	lua_getfield(m->L, index, name);
	part = make_node(m, lua_gettop(m->L));
	lua_pop(m->L, 1);
	return part;
}

/* Makes the tree of the table at `index`. */
static const struct pq_node *make_node(struct maker *m, int index)
{
	lua_State *L = m->L;
	const struct op *op;
	struct pq_node *node;

	if (!lua_istable(L, index))
		no_tree(L, "a part is missing");
	if (++m->depth > PQ_MAX_DEPTH)
		luaL_error(L, "invalid query: nested deeper than %d levels", PQ_MAX_DEPTH);
	if (++m->nodes > MAX_NODES)
		no_tree(L, "too large");
	luaL_checkstack(L, 8, "query");
	op = to_op(L, index);
	node = pl_keep(L, m->keep, sizeof(*node));
	node->op = op->op;
	node->kind = to_kind(L, index);
	lua_getfield(L, index, "negated");
	node->negated = lua_toboolean(L, -1);
	lua_pop(L, 1);
	if (op->needs & LEFT)
		node->left = make_part(m, index, "left");
	if (op->needs & RIGHT)
		node->right = make_part(m, index, "right");
	if (op->needs & VALUE) {
		lua_getfield(L, index, "value");
		node->constant = to_constant(L, m->keep);
	} else if (op->needs & FIELD) {
		lua_getfield(L, index, "field");
		node->field = to_field(m);
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
	struct maker m = { L, lua_absindex(L, keep), file, 0, 0 };

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
		no_tree(L, "too many of them");
	nodes = keep_array(L, keep, *n, sizeof(const struct pq_node *));
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
		unnest->view = to_view(L, lua_gettop(L));
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
