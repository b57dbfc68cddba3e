/* Shared by the files of trees: what their nodes and their leaves are made with. */
#ifndef PERFLUA_BINDING_QUERY_TREES_INTERNAL_H
#define PERFLUA_BINDING_QUERY_TREES_INTERNAL_H

#include "trees.h"

/* State of making a tree. */
struct pl_tree_maker {
	lua_State *L;
	int keep;
	const struct pl_file *file;
	unsigned nodes, depth;
};

/* Raises that the query is invalid, and why. */
int pl_no_tree(lua_State *L, const char *what);

/* Returns zeroed memory for n elements, owned by `keep`; n is at most a table's length. */
void *pl_keep_array(lua_State *L, int keep, size_t n, size_t size);

/*
 * Reads the value on top, and pops it. Text stays at Lua's address, and `keep` keeps its
 * string.
 */
struct pq_value pl_to_constant(lua_State *L, int keep);

/* Reads the kind that the table at `index` names. [-0, +0] */
enum pq_kind pl_to_kind(lua_State *L, int index);

/* Returns the view that the table at `index` names, whose items can be rows. [-0, +0] */
const struct pd_view_desc *pl_to_view(lua_State *L, int index);

/*
 * Returns the field of the table on top, and pops that. One table is one field, and is read
 * once.
 */
const struct pq_field *pl_to_field(struct pl_tree_maker *m);

#endif
