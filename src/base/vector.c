#include "vector.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	   ((uintptr_t)4096)
#define HUGE_PAGE  ((size_t)2 << 20)
#define FIRST_SIZE 128 /* bytes: many arrays stay small */

/*
 * Asks for huge pages below memory of malloc(), if it is large: the kernel is entered once for
 * each page that is touched first. It is asked for the whole mapping, of which a part could no
 * longer be moved when it grows.
 */
static void use_huge_pages(void *memory, size_t size)
{
	uintptr_t first = (uintptr_t)memory & ~(PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + size + PAGE - 1) & ~(PAGE - 1);

	if (memory && size >= HUGE_PAGE)
		madvise((void *)first, end - first, MADV_HUGEPAGE);
}

void *pb_array(size_t n, size_t each)
{
	void *items = reallocarray(NULL, n + !n, each);

	use_huge_pages(items, n * each);
	return items;
}

void *pb_zeros(size_t n, size_t each)
{
	void *items = calloc(n + !n, each);

	use_huge_pages(items, n * each);
	return items;
}

bool pb_extend_bytes(void *array, size_t *n, size_t wanted, size_t each)
{
	char *items;

	memcpy(&items, array, sizeof(items));
	items = reallocarray(items, wanted, each);
	if (!items)
		return false;
	use_huge_pages(items, wanted * each);
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
	use_huge_pages(items, grown * each);
	memcpy(array, &items, sizeof(items));
	*capacity = grown;
	return true;
}
