#include "vector.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 128 /* bytes: many arrays stay small */

bool pb_extend_bytes(void *array, size_t *n, size_t wanted, size_t each)
{
	char *items;

	memcpy(&items, array, sizeof(items));
	items = reallocarray(items, wanted, each);
	if (!items)
		return false;
	memset(items + *n * each, 0, (wanted - *n) * each);
	memcpy(array, &items, sizeof(items));
	*n = wanted;
	return true;
}

bool pb_reserve_bytes(void *array, size_t n, size_t more, size_t *capacity, size_t each)
{
	size_t grown = *capacity ? 2 * *capacity : (FIRST_SIZE + each - 1) / each;
	void *items;

	if (more <= *capacity - n)
		return true;
	if (n >= PB_MAX_ITEMS || more > PB_MAX_ITEMS - n)
		return false;
	while (grown - n < more)
		grown *= 2;
	memcpy(&items, array, sizeof(items));
	items = reallocarray(items, grown, each);
	if (!items)
		return false;
	memcpy(array, &items, sizeof(items));
	*capacity = grown;
	return true;
}
