/*
 * What a query describes, from Lua tables to trees of query's (node.h), and answers back to
 * Lua.
 *
 * A tree is a table as lua/perflua/plan/lower.lua makes it:
 *	{ op = name, kind = name, negated = boolean, left = tree, right = tree, … } and by its op
 *	value (const), field (field), set = {value, …} (in), events = {[index] = true} (event_in).
 * A field is { name, step, … }, steps being names or positions, with by_event = {[index] =
 * value}, kind = name and types = {[type_id] = true} as struct pq_field has them. Of items it is
 * { view = name, item = name of a member }.
 *
 * Scripts can reach the core: a table that is no tree raises.
 */
#ifndef PERFLUA_BINDING_QUERY_H
#define PERFLUA_BINDING_QUERY_H

#include "query/query.h"
#include "handle.h"

/*
 * What trees are made of is kept by a table, which must live as long as they do: in a user
 * value, or on the stack. `keep` is the index of that table, which may start empty.
 *
 *	lua_newtable(L);
 *	node = pl_to_node(L, lua_gettop(L), file, index);
 *	lua_setiuservalue(L, owner, N);
 */

/* The tree of the table at `index`. [-0, +0] */
const struct pq_node *pl_to_node(lua_State *L, int keep, const struct pl_file *file, int index);

/*
 * The items of records that are rows, of the table of options at `options`: unnest = { view =
 * name, filter = tree | nil, once = tree | nil, inline = boolean }; NULL: rows are records.
 * [-0, +0]
 */
const struct pq_unnest *pl_to_unnest(lua_State *L, int keep, const struct pl_file *file,
				     int options);

/* The trees of the array at `index`: *n of them, at most `max`. [-0, +0] */
const struct pq_node *const *pl_to_nodes(lua_State *L, int keep, const struct pl_file *file,
					 int index, size_t max, size_t *n);

/* Bytes, zeroed, that live as long as the table does. [-0, +0] */
void *pl_keep(lua_State *L, int keep, size_t size);

/*
 * The events of the table {[index] = true} at `index`: [n] bytes, 1 for those that are in it.
 * [-0, +0]
 */
void pl_to_events(lua_State *L, int index, uint8_t *events, size_t n);

/* The types of the table {[type_id] = true} at `index`. [-0, +0] */
struct pd_types pl_to_types(lua_State *L, int index);

/*
 * A value, an event as the Event object of the File at `file`; nil if it is absent. Not for
 * PQ_CHAIN. [-0, +1]
 */
void pl_push_answer(lua_State *L, int file, const struct pq_value *value);

#endif
