/*
 * A thread that makes things before they are asked for, one after another: what is read and sorted while
 * others are looked at costs no time.
 */
#ifndef PERFLUA_PERFDATA_AHEAD_H
#define PERFLUA_PERFDATA_AHEAD_H

#include <stddef.h>

#include "perfdata/format/error.h"

struct pd_maker {
	/* Makes thing number i; NULL: see err, or there is none; then no more are made. */
	void *(*make)(void *arg, size_t i, struct pd_error *err);
	void (*drop)(void *thing); /* of what nobody asked for; NULL: nothing is to be done */
	void *arg;
	size_t most; /* things that may wait to be asked for, at most PD_AHEAD_MOST */
};

#define PD_AHEAD_MOST 32

struct pd_ahead;

/* NULL: there can be no thread. */
struct pd_ahead *pd_ahead_start(struct pd_maker maker);
void pd_ahead_stop(struct pd_ahead *ahead);

/* The next thing, which is the caller's; NULL: it could not be made, err says why. */
void *pd_ahead_next(struct pd_ahead *ahead, struct pd_error *err);

#endif
