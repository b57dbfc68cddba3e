/*
 * The functions of a compilation unit, also those that were inlined, by their addresses.
 */
#ifndef PERFLUA_SYMBOLS_LINES_FUNCTIONS_H
#define PERFLUA_SYMBOLS_LINES_FUNCTIONS_H

#include <elfutils/libdw.h>

#include "lines_spans.h"

struct ps_function {
	void *die;	 /* where its entry is, of the unit's Dwarf_CU */
	uint32_t caller; /* that it was inlined into; PS_NO_OWNER: it has code of its own */
};

struct ps_functions {
	struct ps_function *functions; /* [n]; callers before those inlined into them */
	size_t n, capacity;
	struct ps_spans spans; /* owned by functions */
};

/* All that can be read of the unit: what is damaged ends it. */
void ps_functions_read(struct ps_functions *functions, Dwarf_Die *unit,
		       struct ps_budget *budget);
void ps_functions_deinit(struct ps_functions *functions);

/* Adds what an entry says of its addresses; false: no memory or no budget. */
bool ps_spans_add_die(struct ps_spans *spans, Dwarf_Die *die, uint32_t owner,
		      struct ps_budget *budget);

/*
 * The name of a function, its linkage name if it has one, also when its entry only refers to
 * the one that has it. NULL: it has none.
 */
const char *ps_function_name(Dwarf_Die *die);

#endif
