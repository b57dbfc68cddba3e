/* The functions of a compilation unit, inlined ones included, by address. */
#ifndef PERFLUA_SYMBOLS_LINES_FUNCTIONS_H
#define PERFLUA_SYMBOLS_LINES_FUNCTIONS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/interrupt.h"

#define PS_NO_OWNER UINT32_MAX

struct ps_span {
	uint64_t low, high; /* `high` is the first address after it */
	uint32_t owner;
};

struct ps_spans {
	struct ps_span *spans; /* [n]; once finished, sorted and without overlap */
	size_t n, capacity;
};

/*
 * A limit of what reading a file's debug information may cost: it may claim that every function
 * lies everywhere. Honest files need a small part.
 */
struct ps_budget {
	size_t spans;			/* ranges that may still be added */
	uint64_t until;			/* CPU time of this thread, ns; set for each reading */
	uint64_t time;			/* ns that may still be spent */
	struct ps_interrupt *interrupt; /* ends reading; may be NULL */
};

void ps_budget_start(struct ps_budget *budget);
void ps_budget_stop(struct ps_budget *budget);
/*
 * Returns true if the time is used up, or reading was interrupted. Costs up to a system call.
 */
bool ps_budget_late(const struct ps_budget *budget);

/* Adds an address range; an empty one is ignored. Returns false without memory or budget. */
bool ps_spans_add(struct ps_spans *spans, uint64_t low, uint64_t high, uint32_t owner,
		  struct ps_budget *budget);

/* Resolves overlaps in favour of the greatest owner. Returns false without memory. */
bool ps_spans_finish(struct ps_spans *spans);

/* Returns the owner of an address; PS_NO_OWNER: none. */
uint32_t ps_spans_find(const struct ps_spans *spans, uint64_t address);

void ps_spans_deinit(struct ps_spans *spans);

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
