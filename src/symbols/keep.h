/*
 * A hash table of what was found once: values by two numbers.
 */
#ifndef PERFLUA_SYMBOLS_KEEP_H
#define PERFLUA_SYMBOLS_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_kept {
	uint64_t a, b;
	const void *value; /* NULL: the place is free */
};

struct ps_keep {
	struct ps_kept *kept; /* [size]: a power of two, or 0 */
	size_t n, size;
};

/* NULL: it was not put there. */
const void *ps_keep_get(const struct ps_keep *keep, uint64_t a, uint64_t b);
/* What is not there yet; value is not NULL. False: no memory. */
bool ps_keep_put(struct ps_keep *keep, uint64_t a, uint64_t b, const void *value);
void ps_keep_deinit(struct ps_keep *keep);

#endif
