/*
 * The Lua functions that a query calls: leaves of its trees (struct pq_call), given as
 *	{ op = "call", kind = name, fn = function, args = {tree, …} | nil, is = name | nil }
 * Without args the function is given the record. `is` says how its result is converted: a
 * "condition" becomes true or false; a "key" that is not a number, string or boolean is
 * distinguished by its identity; an "event" is an Event.
 *
 * A function may raise an error, which leaves the query. The memory that the query holds is
 * freed by the owner of the calls, at the latest when that is collected.
 */
#ifndef PERFLUA_BINDING_QUERY_CALLS_H
#define PERFLUA_BINDING_QUERY_CALLS_H

#include "query/query.h"
#include "binding/handle.h"

/* The calls of one query. They are a part of its table of trees (pl_keep). */
struct pl_calls {
	struct pq_calls calls;
	/*
	 * while they may be called: the state, the file, and the first stack index of the rest
	 */
	lua_State *L;
	struct pl_file *file;
	int at;
	bool reuse;    /* functions are given one record again and again */
	int most_args; /* greatest number of arguments of a function */
};

/* Makes the node of the table at `index`, without its arguments. [-0, +0] */
struct pq_call *pl_to_call(lua_State *L, int keep, int index);

/* Returns the calls of all trees that `keep` keeps; NULL if there are none. [-0, +0] */
struct pl_calls *pl_calls_of(lua_State *L, int keep);

/*
 * Pushes the objects that the functions need, which must stay on the stack until the query
 * returns. `file` and `keep` are indices on the stack. [-0, +PL_CALLS_PLACES]
 */
#define PL_CALLS_PLACES 5
void pl_calls_enter(lua_State *L, struct pl_calls *calls, int file, int keep);

/* Makes the functions be given the Record on top each time, and pops it. [-1, +0] */
void pl_calls_reuse(lua_State *L, struct pl_calls *calls);

/*
 * Pushes the Record that functions were given for the record read last. Returns false, and
 * pushes nothing, if there was none. [-0, +(0|1)]
 */
bool pl_calls_push_record(lua_State *L, const struct pl_calls *calls);

/* Pushes the value of a PQ_OBJECT, while the calls are entered. [-0, +1] */
void pl_calls_push_object(lua_State *L, const struct pl_calls *calls,
			  const struct pq_value *value);

#endif
