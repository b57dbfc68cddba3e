/*
 * A thread that makes items before they are asked for, in order, while the caller uses earlier
 * ones.
 */
#ifndef PERFLUA_BASE_PRODUCER_H
#define PERFLUA_BASE_PRODUCER_H

#include <stddef.h>

#define PB_PRODUCER_MAX 32

struct pb_producing {
	/*
	 * Makes item number `i`, in the producer's thread. NULL: there are no more; what `make`
	 * wrote to *arg by then, as why, may be read once pb_producer_next() returned NULL.
	 */
	void *(*make)(void *arg, size_t i);
	void (*drop)(void *item); /* destroys an item that nobody asked for; NULL: no need */
	void *arg;
	size_t most; /* items that may wait to be asked for, at most PB_PRODUCER_MAX */
};

struct pb_producer;

/* Starts the thread, which gets no signals. NULL: there can be none. */
struct pb_producer *pb_producer_start(struct pb_producing producing);

/*
 * Ends the thread, after the item that it is making, and drops items that wait. NULL: nothing.
 */
void pb_producer_stop(struct pb_producer *producer);

/* Waits for the next item and returns it: it is the caller's. NULL: there are no more. */
void *pb_producer_next(struct pb_producer *producer);

#endif
