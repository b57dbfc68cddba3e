/* The line on a terminal that says how far the work is. */
#ifndef PERFLUA_BINDING_PASS_PROGRESS_H
#define PERFLUA_BINDING_PASS_PROGRESS_H

#include <lua.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/progress.h"
#include "machine/machine.h"

/*
 * The work of all passes of a Lua state, for one estimate over all of them. Work is counted in
 * bytes that are read; a phase before or after the reading counts for a part of its bytes.
 * The expected work grows when more comes than was known.
 */
struct pl_work {
	double expected, done;
	double shown;	  /* the largest part that was shown: the line never goes back */
	uint64_t begun;	  /* ns; 0: no pass has begun */
	unsigned n_parts; /* how often all that was expected was done, and more came */
};

/* A long pass, which is shown on a terminal. */
struct pl_progress {
	lua_State *L;
	void *interrupt; /* see pl_interrupt */
	bool is_open;	 /* the pass is counted there */
	bool shows;
	bool is_told; /* to the function that is PL_PROGRESS, in place of a line */
	struct pl_work *work;
	uint64_t begun, next; /* ns: when the phase began, when to show the line again */
	uint64_t done, size;  /* of the phase, as reported last; size is 0 before */
	unsigned width;	      /* of the text that is shown; 0: none */
	pthread_t thread;     /* in which the pass began, and the line is shown */
	/* the loading of symbols that tells it that time passes; NULL: none */
	struct ps_interrupt *watched;
	const char *phase; /* the phase before or after the reading; NULL: it is read */
	const char *stage; /* what is done with what was read; NULL: that is not done yet */
	bool was_read;	   /* what it reads for, which phases before it prepare */
	bool ended;	   /* an interrupt ended it, when that part of all had been read: */
	double part;	   /* negative: not known */
};

/* Begins a pass. Raises after an interrupt. */
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
