/* Trees of folded stacks, for drawings. */
#ifndef PERFLUA_BINDING_QUERY_CALL_TREE_H
#define PERFLUA_BINDING_QUERY_CALL_TREE_H

#include <lua.h>
#include <stdbool.h>

#include "result/tree.h"

struct pl_drawn;

/* Raises an error unless a tree could be made. */
void pl_check_tree(lua_State *L, bool ok);

/*
 * Pushes an empty tree, and returns it. The table at `options` describes its shape: {reversed =
 * boolean, max_depth, max_nodes}. [-0, +1]
 */
struct pl_drawn *pl_push_folded(lua_State *L, int options, bool is_float);

/*
 * Adds a stack: `text` has its frames, separated by ';', and `kinds` one letter for each of
 * them, the first caller first. Returns false without memory.
 */
bool pl_add_folded(struct pl_drawn *drawn, const char *text, struct pd_text kinds,
		   uint64_t count, union pr_amount weight);

/*
 * Replaces the whole stack by the table that drawings of the tree are made from: see
 * push_drawn(). Nodes below `share` percent of the total are left out.
 */
void pl_draw_folded(lua_State *L, struct pl_drawn *drawn, double share);

#endif
