/*
 * Arrays that grow.
 */
#ifndef PERFLUA_SYMBOLS_ARRAY_H
#define PERFLUA_SYMBOLS_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PS_MAX_ITEMS \
	(UINT32_MAX / 4) /* so that 32 bits number them, and what is made of them */

/* Room for one more item in an array of n. False: no memory, or too many. */
#define ps_reserve(array, n, capacity) \
	ps_reserve_bytes(&(array), n, &(capacity), sizeof(*(array)))

bool ps_reserve_bytes(void *array, size_t n, size_t *capacity, size_t each);

#endif
