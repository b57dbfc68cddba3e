/*
 * What a query in C looks at, from a table: types, container, events, event_nil, from, to as a
 * cursor has them (cursor.h), filter (a tree, see query.h), threads (at most; nil: as the file
 * was opened), order: "time", "file", or "any" where the answer does not depend on it; expand:
 * samples with counter values are split.
 */
#ifndef PERFLUA_BINDING_QUERY_SCOPE_H
#define PERFLUA_BINDING_QUERY_SCOPE_H

#include "query.h"

/* Shows on a terminal how far a pass is that takes long. */
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
/* Returns what shows it; `progress` must stay as long as that. */
struct pb_progress pl_progress_shown(struct pl_progress *progress);
/* Clears the line. */
void pl_progress_end(struct pl_progress *progress);

/*
 * The scope of the table at `options`, but for its system. The progress and what `keep` keeps
 * must stay as long. [-0, +0]
 */
void pl_to_scope(lua_State *L, int keep, const struct pl_file *file, int options,
		 struct pl_progress *progress, struct pq_scope *scope);

/*
 * Gives it the system, if its filter needs it, or `asks`: what else is read of its records
 * does. What passes once tells it to whoever asks later; who asks now must wait for what comes
 * late, in the order of time. Raises as pl_system.
 */
void pl_scope_machine(lua_State *L, struct pl_file *file, int options, bool asks,
		      struct pq_scope *scope);

#endif
