/*
 * The Lua functions that a query calls. They are leaves of its trees (struct pq_call). Some
 * read a field of a record in Lua (trees.h), others are given as
 *	{ op = "call", kind = name, fn = function, args = {tree, …} | nil, is = name | nil }
 * Without args the function gets the record. `is` names an enum pl_call_result: "value" (nil),
 * "condition" or "key".
 *
 * An error that a function raises aborts the query. The owner of the calls then frees the
 * memory that the query holds, at the latest when the owner is collected.
 */
#ifndef PERFLUA_BINDING_QUERY_CALLS_H
#define PERFLUA_BINDING_QUERY_CALLS_H

#include "query/query.h"
#include "binding/handle.h"

/* The calls of one query. They are a part of its table of trees (pl_keep). */
struct pl_calls {
	struct pq_calls calls;
	/* set while calls are entered: the state, the file, the index of the first object */
	lua_State *L;
	struct pl_file *file;
	int at;
	bool reuse;    /* functions get the same Record each time, with new content */
	int most_args; /* greatest number of arguments of a function */
};

/* Conversions of a function's result. */
enum pl_call_result {
	PL_CALL_VALUE,
	PL_CALL_CONDITION, /* true or false */
	/* values other than numbers, strings and booleans are distinguished by identity */
	PL_CALL_KEY,
};

/* Makes a call, without arguments, of the function on top. Raises if it is none. [-1, +0] */
struct pq_call *pl_to_call(lua_State *L, int keep, enum pl_call_result result);

/* Returns the calls of all trees that `keep` keeps; NULL if there are none. [-0, +0] */
struct pl_calls *pl_calls_of(lua_State *L, int keep);

/*
 * Pushes the objects that the functions need, which must stay on the stack until the query
 * returns. `file` and `keep` are indices on the stack. [-0, +PL_CALLS_PLACES]
 */
#define PL_CALLS_PLACES 5
void pl_calls_enter(lua_State *L, struct pl_calls *calls, int file, int keep);

/* Pops the Record on top; the functions get that one each time. [-1, +0] */
void pl_calls_reuse(lua_State *L, struct pl_calls *calls);

/*
 * Pushes the Record that functions got for the record read last. Returns false, and pushes
 * nothing, if they got none. [-0, +(0|1)]
 */
bool pl_calls_push_record(lua_State *L, const struct pl_calls *calls);

/* Pushes the Lua value of a PQ_OBJECT; calls must be entered. [-0, +1] */
void pl_calls_push_object(lua_State *L, const struct pl_calls *calls,
			  const struct pq_value *value);

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
