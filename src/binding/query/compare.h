/* Comparisons of results (src/compare) as Lua values, for lua/perflua/diff. */
#ifndef PERFLUA_BINDING_COMPARE_H
#define PERFLUA_BINDING_COMPARE_H

#include "compare/compare.h"
#include "result.h"

#define PL_COMPARISON "perflua.comparison"
#define PL_BINARIES   "perflua.binaries"

/* User values: the stacks that are shown; the function that matches texts. */
enum {
	PL_SHOWN_STACKS = 1,
	PL_MATCH
};

struct pl_comparison {
	struct pc_comparison *made; /* NULL: not created yet */
	size_t n_keys;
};

extern const char *const pl_side_names[]; /* ends with NULL */

/* Returns the comparison at index 1. Raises if the value is not one. */
struct pl_comparison *pl_check_comparison(lua_State *L);

/* Returns the place in field `name` of the table at `index`, counted from 0; PR_NONE: none. */
size_t pl_get_place(lua_State *L, int index, const char *name);

/* Returns the number in field `name` of the table at `index`; `none` if there is none. */
double pl_get_double(lua_State *L, int index, const char *name, double none);

/* Returns the index in names[] of the string in field `name` of the table at `index`. */
int pl_get_option(lua_State *L, int index, const char *name, const char *const names[]);

struct pl_binaries {
	struct pc_binaries *made; /* NULL: they were not made, or are gone */
	size_t n_files;
	struct pl_file *files[]; /* [n_files]: their systems are held; user values */
};

/* Returns the binaries at an index; NULL: there are none. */
const struct pc_binaries *pl_test_binaries(lua_State *L, int index);

int pl_binaries_gc(lua_State *L); /* __gc of PL_BINARIES */

#endif
