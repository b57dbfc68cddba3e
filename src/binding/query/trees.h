/*
 * Converts the description of a query from Lua tables to trees of query's (node.h), and its
 * answers to Lua values.
 *
 * A tree is a table as lua/perflua/plan/lower.lua makes it:
 *	{ op = name, kind = name, negated = boolean, left = tree, right = tree, … }
 * Its op decides the other fields:
 *	value (const), field (field), set = {value, …} (in),
 *	events = {[index] = true} (event_in).
 * A field is { name, step, … }, steps being names or positions, with by_event = {[index] =
 * value}, kind = name and types = {[type_id] = true} as struct pq_field has them; chain = name
 * says which pq_chain_kind a call chain has. A field of items is { view = name, item = name of
 * a member }, one of a row of values { row = position }.
 *
 * Scripts can reach the core, so a table that is not a tree raises.
 */
#ifndef PERFLUA_BINDING_QUERY_TREES_H
#define PERFLUA_BINDING_QUERY_TREES_H

#include "query/query.h"
#include "binding/handle.h"

/*
 * A table keeps the memory of trees, and must live as long as they do: in a user value, or on
 * the stack. `keep` is the index of that table, which may start empty.
 *
 *	lua_newtable(L);
 *	node = pl_to_node(L, lua_gettop(L), file, index);
 *	lua_setiuservalue(L, owner, N);
 */

/*
 * Makes the tree of the table at `index`. Raises if it is none. Without a file (NULL) its
 * fields are places in a row. [-0, +0]
 */
const struct pq_node *pl_to_node(lua_State *L, int keep, const struct pl_file *file, int index);

/*
 * Reads which items of records are rows, from the table at `options`: unnest = { view = name,
 * filter = tree | nil, once = tree | nil, inline = boolean }. Returns NULL if rows are records.
 * [-0, +0]
 */
const struct pq_unnest *pl_to_unnest(lua_State *L, int keep, const struct pl_file *file,
				     int options);

/*
 * Makes the trees of the array at `index`, and sets *n to their number, at most `max`. [-0, +0]
 */
const struct pq_node *const *pl_to_nodes(lua_State *L, int keep, const struct pl_file *file,
					 int index, size_t max, size_t *n);

/* Returns `size` zeroed bytes that live as long as the table at `keep` does. [-0, +0] */
void *pl_keep(lua_State *L, int keep, size_t size);

/*
 * Sets events[n] from the table {[index] = true} at `index`: 1 for events that are in it.
 * [-0, +0]
 */
void pl_to_events(lua_State *L, int index, uint8_t *events, size_t n);

/* Reads the types from the table {[type_id] = true} at `index`. [-0, +0] */
struct pd_types pl_to_types(lua_State *L, int index);

/*
 * Pushes a value: an event as the Event object of the File at `file`, and nil if it is absent.
 * It must not be a PQ_CHAIN. [-0, +1]
 */
void pl_push_answer(lua_State *L, int file, const struct pq_value *value);

/*
 * Sets *value to the nil, boolean or number at `index`. Returns false, and sets nothing, for
 * other types. [-0, +0]
 */
bool pl_to_scalar(lua_State *L, int index, struct pq_value *value);

#endif
