/*
 * Converts descriptions of queries from Lua tables to trees (expr.h), and answers to Lua
 * values.
 *
 * A tree is an expression as lua/perflua/filter/check.lua leaves it, which says what its nodes
 * have:
 *	{ op = name, kind = name, negated = boolean, left = tree, right = tree, … }
 * Others add calls of functions (calls.h), and fields of rows. A field's `ref` is a table with
 *	path     { name, step, … }, where steps are names or positions
 *	types    {[type_id] = true}; checks: the kind; as in struct pq_field
 *	chain    name of the pq_chain_kind of a call chain
 *	by_event {[index] = value}
 *	by_call  present if the function `get`, or `length` for a count, is called in its place
 *	as_value likewise, unless the node is `tested`
 * that of items has { view = name, item = name of a member }, that of a row of values { row =
 * position }.
 *
 * Scripts can reach the core, so a table that is not a tree raises.
 */
#ifndef PERFLUA_BINDING_QUERY_TREES_H
#define PERFLUA_BINDING_QUERY_TREES_H

#include "binding/handle.h"
#include "query/query.h"

/*
 * A table keeps the memory of trees, and must live as long as they do: in a user value, or on
 * the stack. `keep` is the index of that table, which may start empty.
 *
 *	lua_newtable(L);
 *	node = pl_to_node(L, lua_gettop(L), file, index);
 *	lua_setiuservalue(L, owner, N);
 */

/*
 * Converts the table at `index` to a tree. Raises if it does not describe one. Without a file
 * (NULL), fields are places in a row. [-0, +0]
 */
const struct pq_node *pl_to_node(lua_State *L, int keep, const struct pl_file *file, int index);

/*
 * Reads from the table at `options` the items of records that are rows: unnest = { view = name,
 * filter = tree | nil, once = tree | nil, inline = boolean }. Returns NULL if rows are records.
 * [-0, +0]
 */
const struct pq_unnest *pl_to_unnest(lua_State *L, int keep, const struct pl_file *file,
				     int options);

/*
 * Converts the array at `index` to trees, and sets *n to their number. Raises if there are more
 * than `max`. [-0, +0]
 */
const struct pq_node *const *pl_to_nodes(lua_State *L, int keep, const struct pl_file *file,
					 int index, size_t max, size_t *n);

/* Returns `size` zeroed bytes that live as long as the table at `keep` does. [-0, +0] */
void *pl_keep(lua_State *L, int keep, size_t size);

/* The state of converting a tree, which the files for nodes and for leaves share. */
struct pl_tree_reader {
	lua_State *L;
	int keep;
	const struct pl_file *file;
	unsigned nodes, depth;
};

/* Raises that the query is invalid, and why. */
int pl_refuse_tree(lua_State *L, const char *what);

/* Returns zeroed memory for n elements, owned by `keep`; n is at most a table's length. */
void *pl_keep_array(lua_State *L, int keep, size_t n, size_t size);

/* Pops the value on top, and returns it. `keep` keeps a string alive, which is not copied. */
struct pq_value pl_to_constant(lua_State *L, int keep);

/* Reads the kind that a field of the table at `index` names. [-0, +0] */
enum pq_kind pl_to_kind(lua_State *L, int index, const char *field);

/* Returns the view, one whose items can be rows, that the table at `index` names. [-0, +0] */
const struct pd_view_desc *pl_to_view(lua_State *L, int index);

/* Pops the Ref on top, and returns its field: a table that was read before has the same. */
const struct pq_field *pl_to_field(struct pl_tree_reader *r);

#endif
