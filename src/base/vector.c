#include "vector.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	   ((uintptr_t)4096)
#define FIRST_SIZE 128 /* bytes: many arrays stay small */
/* bytes: larger arrays are moved by the kernel, as both copies would take much memory */
#define MOST_COPIED ((size_t)8 << 20)

/*
 * Asks for huge pages below memory of malloc(), if it is large: the kernel is entered once for
 * each page that is touched first. It is asked for the whole mapping, of which a part could no
 * longer be moved when it grows.
 */
static void use_huge_pages(void *memory, size_t size)
{
	uintptr_t first = (uintptr_t)memory & ~(PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + size + PAGE - 1) & ~(PAGE - 1);

	if (memory && size >= PB_HUGE_PAGE)
		madvise((void *)first, end - first, MADV_HUGEPAGE);
}

/* Returns memory that begins at a huge page, so that no small ones are needed before it. */
static void *take_huge_pages(size_t size)
{
	void *memory;

	if (posix_memalign(&memory, PB_HUGE_PAGE, size))
		return NULL;
	use_huge_pages(memory, size);
	return memory;
}

static bool is_large(size_t n, size_t each)
{
	size_t size;

	return !__builtin_mul_overflow(n, each, &size) && size >= PB_HUGE_PAGE &&
	       size <= SIZE_MAX / 2;
}

void *pb_array(size_t n, size_t each)
{
	return is_large(n, each) ? take_huge_pages(n * each) : reallocarray(NULL, n + !n, each);
}

void *pb_zeros(size_t n, size_t each)
{
	void *items;

	if (!is_large(n, each))
		return calloc(n + !n, each);
	items = take_huge_pages(n * each);
	return items ? memset(items, 0, n * each) : NULL;
}

void *pb_apart(size_t n, size_t each)
{
	void *items = aligned_alloc(PB_APART, n * each);

	return items ? memset(items, 0, n * each) : NULL;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14; before, pages come at their first use */
#endif

void *pb_pages(size_t size)
{
	char *memory = malloc(size);
	uintptr_t first = ((uintptr_t)memory + PAGE - 1) & ~(PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + size) & ~(PAGE - 1);

	if (memory && end > first)
		madvise((void *)first, end - first, MADV_POPULATE_WRITE);
	return memory;
}

void *pb_resized(void *items, size_t before, size_t n, size_t each)
{
	void *grown;

	/* an array that grows by little is not copied each time */
	if (!is_large(n, each) || n * each > MOST_COPIED || n - before < before / 2) {
		grown = reallocarray(items, n, each);
		use_huge_pages(grown, n * each);
		return grown;
	}
	grown = take_huge_pages(n * each);
	if (!grown)
		return NULL;
	if (before)
		memcpy(grown, items, before * each);
	free(items);
	return grown;
}

bool pb_extend_bytes(void *array, size_t *n, size_t wanted, size_t each)
{
	char *items;

	memcpy(&items, array, sizeof(items));
	items = pb_resized(items, *n, wanted, each);
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
	items = pb_resized(items, n, grown, each);
	if (!items)
		return false;
	memcpy(array, &items, sizeof(items));
	*capacity = grown;
	return true;
}

void pb_shrink_bytes(void *array, size_t n, size_t *capacity, size_t each)
{
	size_t kept = n;
	void *items;

	if (n * each >= PB_HUGE_PAGE)
		kept = (n * each / PB_HUGE_PAGE + 1) * PB_HUGE_PAGE / each;
	if (kept >= *capacity)
		return;
	memcpy(&items, array, sizeof(items));
	items = realloc(items, kept * each);
	if (!items)
		return;
	memcpy(array, &items, sizeof(items));
	*capacity = kept;
}
