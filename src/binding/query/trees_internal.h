/* The conversion of trees, for the files that convert nodes and leaves. */
#ifndef PERFLUA_BINDING_QUERY_TREES_INTERNAL_H
#define PERFLUA_BINDING_QUERY_TREES_INTERNAL_H

#include "trees.h"

/* The state of converting a tree. */
struct pl_tree_reader {
	lua_State *L;
	int keep;
	const struct pl_file *file;
	unsigned nodes, depth;
};

/* Raises that the query is invalid, and why. */
int pl_refuse_tree(lua_State *L, const char *what);

/* Returns zeroed memory for n elements, owned by `keep`; n is at most a table's length. */
void *pl_keep_array(lua_State *L, int keep, size_t n, size_t size);

/* Pops the value on top, and returns it. `keep` keeps a string alive, which is not copied. */
struct pq_value pl_to_constant(lua_State *L, int keep);

/* Reads the kind that a field of the table at `index` names. [-0, +0] */
enum pq_kind pl_to_kind(lua_State *L, int index, const char *field);

/* Returns the view, one whose items can be rows, that the table at `index` names. [-0, +0] */
const struct pd_view_desc *pl_to_view(lua_State *L, int index);

/* Pops the Ref on top, and returns its field: a table that was read before has the same. */
const struct pq_field *pl_to_field(struct pl_tree_reader *r);

#endif
