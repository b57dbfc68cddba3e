/*
 * Text that is made in C and goes to a file of Lua's.
 */
#ifndef PERFLUA_BINDING_WRITER_H
#define PERFLUA_BINDING_WRITER_H

#include "binding.h"
#include "perfdata/format/print.h"

struct pl_writer {
	struct pd_print print;
	const luaL_Stream *out;
	int error; /* errno of the first write that failed */
};

/* The file at an index of the stack, which must be open and stay there. */
luaL_Stream *pl_check_stream(lua_State *L, int index);
void pl_writer_init(struct pl_writer *writer, const luaL_Stream *out);

/* Writes what is left. Raises if anything could not be written. */
void pl_writer_finish(lua_State *L, struct pl_writer *writer);

#endif
