/* The line on a terminal that says how far a long pass has come. */
#ifndef PERFLUA_BINDING_PASS_PROGRESS_H
#define PERFLUA_BINDING_PASS_PROGRESS_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/progress.h"

/* Shows on a terminal how far a long pass has come. */
struct pl_progress {
	void *interrupt; /* see pl_interrupt */
	bool shows;
	uint64_t begun, next; /* ns: when the pass began, when to show it again */
	unsigned width;	      /* of the line that is shown */
	bool ended;	      /* an interrupt ended it, when that part of all had been read: */
	double part;	      /* negative: not known */
};

/* Begins a pass. */
void pl_progress_init(lua_State *L, struct pl_progress *progress);
/*
 * Begins a pass between whose steps text may be written to standard output: nothing is shown if
 * that is a terminal, too.
 */
void pl_progress_init_beside_output(lua_State *L, struct pl_progress *progress);
/* Returns the pb_progress that shows it; `progress` must live as long as that. */
struct pb_progress pl_progress_shown(struct pl_progress *progress);
/* Shows the line if it is time to: `done` of `size` bytes were read; 0: it is not known. */
void pl_progress_at(struct pl_progress *progress, uint64_t done, uint64_t size);
/* Clears the line. */
void pl_progress_end(struct pl_progress *progress);

#endif
