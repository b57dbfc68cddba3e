/*
 * The functions of Lua that a query calls: leaves of its trees (struct pq_call), given as
 *
 *	{ op = "call", kind = name, fn = function, args = {tree, …} | nil, is = name | nil }
 *
 * Without args the function is given the record. A "condition" becomes true or false;
 * what a "key" is beside numbers, strings and booleans is told apart by its identity; an
 * "event" is an Event.
 *
 * A function may raise: it leaves the query, and what that holds is given back by whoever made
 * the calls, at the latest when it is collected.
 */
#ifndef PERFLUA_BINDING_QUERY_CALLS_H
#define PERFLUA_BINDING_QUERY_CALLS_H

#include "query/query.h"
#include "handle.h"

/* Those of one query: a part of what its trees keep (pl_keep). */
struct pl_calls {
	struct pq_calls calls;
	/* while they may be called: the state, the file, and where on the stack all else is */
	lua_State *L;
	struct pl_file *file;
	int at;
	bool reuse;    /* functions are given one record again and again */
	int most_args; /* of a function */
};

/* The node of the table at `index`, whose arguments are not in it yet. [-0, +0] */
struct pq_call *pl_to_call(lua_State *L, int keep, int index);

/* The calls of all trees that `keep` keeps; NULL: there are none. [-0, +0] */
struct pl_calls *pl_calls_of(lua_State *L, int keep);

/*
 * Makes what functions are given, and what they answer, ready on the stack, where it must stay
 * until the query returns; `file` and `keep` are where these are. [-0, +PL_CALLS_PLACES]
 */
#define PL_CALLS_PLACES 5
void pl_calls_enter(lua_State *L, struct pl_calls *calls, int file, int keep);

/* Has functions given the Record on top again and again, which is popped. [-1, +0] */
void pl_calls_reuse(lua_State *L, struct pl_calls *calls);

/*
 * The Record that functions were given for the record that was looked at last; false: none was,
 * and nothing is pushed. [-0, +1]
 */
bool pl_calls_push_record(lua_State *L, const struct pl_calls *calls);

/* The value of a PQ_OBJECT, while the calls are entered. [-0, +1] */
void pl_calls_push_object(lua_State *L, const struct pl_calls *calls,
			  const struct pq_value *value);

#endif
