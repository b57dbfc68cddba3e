/* The line on a terminal that says how far a long pass has come. */
#ifndef PERFLUA_BINDING_PASS_PROGRESS_H
#define PERFLUA_BINDING_PASS_PROGRESS_H

#include <lua.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/progress.h"
#include "machine/machine.h"

/* Shows on a terminal how far a long pass has come. */
struct pl_progress {
	void *interrupt; /* see pl_interrupt */
	bool shows;
	uint64_t begun, next; /* ns: when the pass began, when to show it again */
	uint64_t done, size;  /* as reported last */
	unsigned width;	      /* of the line that is shown */
	pthread_t thread;     /* in which the pass began, and the line is shown */
	/* the loading of symbols that tells it that time passes; NULL: none */
	struct ps_interrupt *watched;
	const char *stage; /* what is done after the reading; NULL: it is read */
	bool ended;	   /* an interrupt ended it, when that part of all had been read: */
	double part;	   /* negative: not known */
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
/* Shows the line also while symbols are loaded, until the pass ends. */
void pl_progress_watch(struct pl_progress *progress, struct ps_interrupt *interrupt);
/* The reading is done: from here on the line says `stage`, and for how long it has lasted. */
void pl_progress_begin_stage(struct pl_progress *progress, const char *stage);
/* Ends the pass: clears the line. */
void pl_progress_end(struct pl_progress *progress);

#endif
