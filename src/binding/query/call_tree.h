/* Trees of folded stacks, as they are drawn. */
#ifndef PERFLUA_BINDING_QUERY_CALL_TREE_H
#define PERFLUA_BINDING_QUERY_CALL_TREE_H

#include <lua.h>
#include <stdbool.h>

#include "result/tree.h"

struct pl_drawn;

/*
 * Pushes an empty tree of the shape that the options at `options` describe: {reversed =
 * boolean, max_depth}. [-0, +1]
 */
struct pl_drawn *pl_push_folded(lua_State *L, int options, bool is_float);

/*
 * Adds a stack, whose frames ';' separates and whose kinds are letters, of the first callers.
 * Returns false without memory.
 */
bool pl_add_folded(struct pl_drawn *drawn, const char *text, struct pd_text kinds,
		   uint64_t count, union pr_amount weight);

/*
 * Leaves the table that is drawn of the tree at the top of the stack, and nothing else: see
 * push_drawn(). Leaves out what is less than `share` percent of all.
 */
void pl_draw_folded(lua_State *L, struct pl_drawn *drawn, double share);

#endif
