/*
 * Comparisons (src/compare) as Lua values: what lua/perflua/diff makes of results.
 */
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
	struct pc_comparison *made; /* NULL: it was not made */
	size_t n_keys;
	bool has_beginnings;   /* rows are beginnings of stacks */
	struct pb_string path; /* of one of them */
};

extern const char *const pl_side_names[]; /* ends with NULL */

/* Returns what a row weighs on both sides together. */
static inline double pl_row_weight(const struct pc_row *row)
{
	double weight = 0;

	for (size_t side = 0; side < PC_SIDES; side++) {
		const struct pq_value *value = &row->parts[side].value;

		weight += value->type == PQ_FLOAT ? value->f :
			  value->type == PQ_INT	  ? (double)value->i :
						    0;
	}
	return weight;
}

/* Returns the comparison at index 1. Raises if it is none. */
struct pl_comparison *pl_check_comparison(lua_State *L);

/* Returns the place in field `name` of the table at `index`, from 0 on; PR_NONE: none. */
size_t pl_get_place(lua_State *L, int index, const char *name);

/* Returns the number in field `name` of the table at `index`; `none` without one. */
double pl_get_double(lua_State *L, int index, const char *name, double none);

/* Returns the place of field `name` of the table at `index` among names. */
int pl_get_option(lua_State *L, int index, const char *name, const char *const names[]);

/* Returns true if the keys from `first` on tell where an address is. */
bool pl_has_places(const struct pr_result *result, size_t first);

int pl_binaries_gc(lua_State *L); /* __gc of PL_BINARIES */

#endif
