/*
 * Arrays that grow: an array, the number of its items and its capacity are variables of the
 * caller's.
 */
#ifndef PERFLUA_BASE_VECTOR_H
#define PERFLUA_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PB_HUGE_PAGE ((size_t)2 << 20) /* bytes; as large as most machines have them */

#define PB_MAX_ITEMS \
	(UINT32_MAX / 4) /* so that 32 bits number the items, and what is made of them */

/*
 * Makes room for one more item in an `array` of `n` items, which may move. Returns false, with
 * the array unchanged, without memory or if there are PB_MAX_ITEMS.
 */
#define pb_reserve(array, n, capacity) pb_reserve_more(array, n, 1, capacity)

/* Makes room for `more` items. */
#define pb_reserve_more(array, n, more, capacity) \
	pb_reserve_bytes(&(array), n, more, &(capacity), sizeof(*(array)))

/*
 * Extends an array of `n` items, a size_t, to `wanted` items, which is larger; the new ones are
 * zero. Returns false, with array and `n` unchanged, without memory.
 */
#define pb_extend(array, n, wanted) pb_extend_bytes(&(array), &(n), wanted, sizeof(*(array)))

/* Do the same for items of `each` bytes; `array` points to the array. */
bool pb_extend_bytes(void *array, size_t *n, size_t wanted, size_t each);
bool pb_reserve_bytes(void *array, size_t n, size_t more, size_t *capacity, size_t each);

/*
 * Gives back what an array has beyond `n` items, one or more: whole huge pages, if it is large,
 * as the kernel would make small ones of a huge page that is cut. The array may move.
 */
#define pb_shrink(array, n, capacity) \
	pb_shrink_bytes(&(array), n, &(capacity), sizeof(*(array)))
void pb_shrink_bytes(void *array, size_t n, size_t *capacity, size_t each);

/*
 * Returns an array of `before` items, or NULL, with room for `n` items, which are more; NULL,
 * with the array unchanged: no memory.
 */
void *pb_resized(void *items, size_t before, size_t n, size_t each);

/*
 * Return a new array of `n` items of `each` bytes, which may be many, for free(); the items of
 * pb_zeros() are zero. An array of PB_HUGE_PAGE bytes or more begins at a huge page. NULL: no
 * memory.
 */
void *pb_array(size_t n, size_t each);
void *pb_zeros(size_t n, size_t each);

#define PB_APART 128 /* bytes: what lies so far apart is in different cache lines */

/*
 * Returns a new array of `n` items of zeros, for free(), of which each begins in cache lines of
 * its own, as threads write to them; `each` is a multiple of PB_APART. NULL: no memory.
 */
void *pb_apart(size_t n, size_t each);

/*
 * Returns new memory of `size` bytes, for free(), that is used soon, and all of it: its pages
 * are there already, so that the kernel is entered once and not for each. NULL: no memory.
 */
void *pb_pages(size_t size);

#endif
