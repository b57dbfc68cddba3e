/* Trees of calls, for drawings. */
#ifndef PERFLUA_BINDING_QUERY_CALL_TREE_H
#define PERFLUA_BINDING_QUERY_CALL_TREE_H

#include <lua.h>
#include <stdbool.h>

#include "result/tree.h"

/* Raises an error unless a tree could be made. */
void pl_check_tree(lua_State *L, bool ok);

/*
 * Replaces the whole stack by the table that drawings of a node and those below it are made
 * from: see push_drawn(). The table at `options` has {max_depth, min_share}: nodes below that
 * part of the total, in percent, are left out. The tree must outlive the call.
 */
void pl_draw_below(lua_State *L, int options, const struct pr_tree *tree, uint32_t top);

#endif
