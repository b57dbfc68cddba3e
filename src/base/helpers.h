/*
 * Threads that help the caller with work on items. Items are handed over and come back in
 * order; while one has to be waited for, the caller works, too.
 */
#ifndef PERFLUA_BASE_HELPERS_H
#define PERFLUA_BASE_HELPERS_H

#include <stdbool.h>
#include <stddef.h>

#define PB_HELPERS_MAX 3 /* threads: more finish faster than items are made */
#define PB_ITEMS_MAX   8 /* items that were given and not taken, at most */

struct pb_helpers;

/*
 * Starts `n` threads, or as many as there can be, which get no signals; they, and the caller,
 * call work(item, worker) once for each item. `worker` is 0 for the caller, else the thread's
 * number from 1 on. Returns NULL without memory.
 */
struct pb_helpers *pb_helpers_start(unsigned n, void (*work)(void *item, unsigned worker));

/* Hands an item over. There must be fewer than PB_ITEMS_MAX. */
void pb_helpers_give(struct pb_helpers *helpers, void *item);

/* Returns true if pb_helpers_take() would return an item without waiting. */
bool pb_helpers_are_ready(struct pb_helpers *helpers);

/*
 * Waits for the work on the oldest item and returns it: it is the caller's. NULL: none is left.
 */
void *pb_helpers_take(struct pb_helpers *helpers);

/* Ends the threads, after the items that they work on. NULL: nothing. */
void pb_helpers_stop(struct pb_helpers *helpers);

#endif
