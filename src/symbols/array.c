#include "array.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 128 /* bytes: many arrays stay small */

bool ps_reserve_bytes(void *array, size_t n, size_t *capacity, size_t each)
{
	size_t grown = *capacity ? 2 * *capacity : (FIRST_SIZE + each - 1) / each;
	void *items;

	if (n < *capacity)
		return true;
	if (n >= PS_MAX_ITEMS)
		return false;
	memcpy(&items, array, sizeof(items));
	items = reallocarray(items, grown, each);
	if (!items)
		return false;
	memcpy(array, &items, sizeof(items));
	*capacity = grown;
	return true;
}
