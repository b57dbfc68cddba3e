/*
 * Decoded values as Lua values, and the objects that some of them are.
 */
#ifndef PERFLUA_BINDING_VALUE_H
#define PERFLUA_BINDING_VALUE_H

#include "record.h"

/*
 * Pushes a value of the record at `record`. If that is 0 there is no record, and the value must
 * be neither a view nor an event, nor come from the recorded system. [-0, +1]
 */
void pl_push_value(lua_State *L, int record, const struct pd_value *value);

/* A sink that leaves the value that it is given on the Lua stack. */
struct pl_sink {
	struct pd_sink sink;
	lua_State *L;
	lua_Integer n[16]; /* items so far of each open array, -1 for a table */
	int depth;
};
void pl_sink_init(struct pl_sink *sink, lua_State *L);

/* Pushes a view of the record at `record`. [-0, +1] */
void pl_push_view(lua_State *L, int record, const struct pd_view *view);

/* Pushes a view's items as a table. [-0, +1] */
void pl_push_list(lua_State *L, int record, const struct pd_view *view);

/* Pushes `args` of the record r at `record`, or nil; `meta`: its metatable. [-0, +1] */
void pl_push_args(lua_State *L, struct pl_record *r, int record, int meta);

/* Push the Features and the Events of the File at `file`. [-0, +1] */
void pl_push_features(lua_State *L, int file);
void pl_push_events(lua_State *L, int file);

/* Pushes the Event of the File at `file`; nil for NULL. [-0, +1] */
void pl_push_event(lua_State *L, int file, const struct pd_event *event);

/* Returns the event of the Event at `index`. Raises if it is none. */
const struct pd_event *pl_check_event(lua_State *L, int index);

/* Push the description of a field of records, and of a member of views or events. [-0, +1] */
void pl_push_field(lua_State *L, const struct pd_field *field);
void pl_push_member(lua_State *L, const struct pd_member *member);

#endif
