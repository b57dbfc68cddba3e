/*
 * Writes text that is made in C to a file of Lua's.
 */
#ifndef PERFLUA_BINDING_WRITER_H
#define PERFLUA_BINDING_WRITER_H

#include "binding.h"
#include "perfdata/format/print.h"

struct pl_writer {
	struct pd_print print;
	const luaL_Stream *out;
	int error;	  /* errno of the first write that failed */
	uint64_t written; /* bytes */
};

/*
 * Returns the file at an index of the stack, which must be open and stay there. Raises if it is
 * none.
 */
luaL_Stream *pl_check_stream(lua_State *L, int index);
void pl_writer_init(struct pl_writer *writer, const luaL_Stream *out);

/* Writes the text that is left. Raises if anything could not be written. */
void pl_writer_finish(lua_State *L, struct pl_writer *writer);

/* Pushes what a function of Lua returns for the error of the first failed write. [-0, +3] */
int pl_writer_failed(lua_State *L, const struct pl_writer *writer);

#endif
