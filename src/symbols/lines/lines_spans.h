/*
 * Which of many ranges of addresses is the innermost at an address: of units, and of functions
 * in each other.
 */
#ifndef PERFLUA_SYMBOLS_LINES_SPANS_H
#define PERFLUA_SYMBOLS_LINES_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/interrupt.h"

#define PS_NO_OWNER UINT32_MAX

struct ps_span {
	uint64_t low, high; /* high is not of it */
	uint32_t owner;
};

struct ps_spans {
	struct ps_span *spans; /* [n]; once finished in order, none over another */
	size_t n, capacity;
};

/*
 * What reading the debug information of a file may cost: it may say that every function lies
 * everywhere. Honest files need a small part.
 */
struct ps_budget {
	size_t spans;			/* that may still be added */
	uint64_t until;			/* CPU time of this thread, ns; set for each reading */
	uint64_t time;			/* that may still be spent, ns */
	struct ps_interrupt *interrupt; /* ends the reading; NULL: nobody does */
};

void ps_budget_start(struct ps_budget *budget);
void ps_budget_stop(struct ps_budget *budget);
/*
 * Is the time used up, or the reading interrupted? Costs a call of the system, or little less.
 */
bool ps_budget_late(const struct ps_budget *budget);

/* An empty one is left out. False: no memory, or the budget does not allow it. */
bool ps_spans_add(struct ps_spans *spans, uint64_t low, uint64_t high, uint32_t owner,
		  struct ps_budget *budget);

/* Where several lie over each other, the greatest owner has the place. False: no memory. */
bool ps_spans_finish(struct ps_spans *spans);

/* PS_NO_OWNER: none is there. */
uint32_t ps_spans_find(const struct ps_spans *spans, uint64_t address);

void ps_spans_deinit(struct ps_spans *spans);

#endif
