/*
 * Converts descriptions of queries from Lua tables to trees (node.h), and answers to Lua
 * values.
 *
 * A tree is a table that lua/perflua/plan/lower.lua makes:
 *	{ op = name, kind = name, negated = boolean, left = tree, right = tree, … }
 * Further fields depend on the op:
 *	const: value    field: field    in: set = {value, …}
 *	event_in: events = {[index] = true}
 * A field is { name, step, … }, where steps are names or positions, with by_event = {[index] =
 * value}, kind = name and types = {[type_id] = true} as in struct pq_field; chain = name gives
 * the pq_chain_kind of a call chain. A field of items is { view = name, item = name of a member
 * }; a field of a row of values is { row = position }.
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
