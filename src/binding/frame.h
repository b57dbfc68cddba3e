/*
 * Frames of call stacks as Lua values.
 */
#ifndef PERFLUA_BINDING_FRAME_H
#define PERFLUA_BINDING_FRAME_H

#include "stack.h"

/*
 * Pushes frame `number` of `stacks`, which are user value 1 of the object at 1. The frame keeps
 * them. [-0, +1]
 */
void pl_push_frame(lua_State *L, struct pl_stacks *stacks, uint32_t number);

void pl_frame_register(lua_State *L);

#endif
