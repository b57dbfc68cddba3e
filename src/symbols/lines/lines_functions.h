/* The functions of a compilation unit, inlined ones included, by address. */
#ifndef PERFLUA_SYMBOLS_LINES_FUNCTIONS_H
#define PERFLUA_SYMBOLS_LINES_FUNCTIONS_H

#include <elfutils/libdw.h>

#include "lines_spans.h"

struct ps_function {
	void *die;	 /* offset of its entry in the unit's Dwarf_CU */
	uint32_t caller; /* function that it is inlined into; PS_NO_OWNER: not inlined */
};

struct ps_functions {
	struct ps_function *functions; /* [n]; callers precede those inlined into them */
	size_t n, capacity;
	struct ps_spans spans; /* owned by numbers of functions */
};

/* Reads the functions of a unit, up to where it is damaged. */
void ps_functions_read(struct ps_functions *functions, Dwarf_Die *unit,
		       struct ps_budget *budget);
void ps_functions_deinit(struct ps_functions *functions);

/* Adds the address ranges of an entry. Returns false without memory or budget. */
bool ps_spans_add_die(struct ps_spans *spans, Dwarf_Die *die, uint32_t owner,
		      struct ps_budget *budget);

/*
 * Returns the name of a function, preferably its linkage name, which may be in an entry that
 * this one refers to. NULL: it has none.
 */
const char *ps_function_name(Dwarf_Die *die);

#endif
