/* A memo: values that were computed once, found by two numbers. */
#ifndef PERFLUA_SYMBOLS_MEMO_H
#define PERFLUA_SYMBOLS_MEMO_H

#include "base/hash.h"
#include "base/map.h"

/* All zero: empty. */
struct ps_memo {
	struct ps_memo_entry {
		uint64_t a, b;
		const void *value;
	} * entries; /* [n] */
	size_t n, capacity;
	struct pb_map map; /* numbers of `entries` */
	struct pb_secret secret;
};

/* Returns the value of `a` and `b`; NULL: none. */
const void *ps_memo_get(const struct ps_memo *memo, uint64_t a, uint64_t b);

/*
 * Stores a value, not NULL, for two numbers that have none. The memo does not own it. Returns
 * false without memory.
 */
bool ps_memo_put(struct ps_memo *memo, uint64_t a, uint64_t b, const void *value);

void ps_memo_deinit(struct ps_memo *memo);

#endif
