/* Compressed output. */
#ifndef PERFLUA_BINDING_GZIP_H
#define PERFLUA_BINDING_GZIP_H

#include <lua.h>

/*
 * core.gzip() -> a function that compresses: given a string it returns the bytes that are
 * ready, without an argument the last ones. The bytes joined are one file of gzip.
 */
int pl_gzip(lua_State *L);

#endif
