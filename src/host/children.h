/* Other processes of this program, for tools that read many recordings: see children.c. */
#ifndef PERFLUA_CHILDREN_H
#define PERFLUA_CHILDREN_H

#include <lua.h>

int perflua_start(lua_State *L);
int perflua_wait(lua_State *L);

#endif
