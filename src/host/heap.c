#include "heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

#define BLOCK ((size_t)64 << 10)

struct heap_piece {
	struct heap_piece *next;
};

#ifdef __SANITIZE_ADDRESS__
#define SMALL 0 /* each piece is malloc's, so that AddressSanitizer finds wrong uses */
#else
#define SMALL HEAP_LARGE
#endif

static size_t count_steps(size_t size)
{
	return (size + HEAP_STEP - 1) / HEAP_STEP;
}

static void free_heap_piece(struct heap *heap, void *p, size_t n)
{
	struct heap_piece *piece = p;

	piece->next = heap->free[n];
	heap->free[n] = piece;
}

/*
 * Cuts a piece of n steps off the last block, or off a new one; the rest of the old block
 * becomes a free piece. Returns NULL without memory.
 */
static void *cut_heap_piece(struct heap *heap, size_t n)
{
	size_t left = (size_t)(heap->end - heap->next) / HEAP_STEP;
	char *piece;

	if (left < n) {
		char *block = pb_pages(BLOCK);

		if (!block)
			return NULL;
		if (left)
			free_heap_piece(heap, heap->next, left);
		heap->next = block;
		heap->end = heap->next + BLOCK;
	}
	piece = heap->next;
	heap->next += n * HEAP_STEP;
	return piece;
}

static void *take_heap_piece(struct heap *heap, size_t n)
{
	struct heap_piece *piece = heap->free[n];

	if (!piece)
		return cut_heap_piece(heap, n);
	heap->free[n] = piece->next;
	return piece;
}

/* Moves the contents of a piece to one of another size, or from or to memory of malloc's. */
static void *move_heap_piece(struct heap *heap, void *p, size_t old_size, size_t size)
{
	void *moved = size <= SMALL ? take_heap_piece(heap, count_steps(size)) : malloc(size);

	if (!moved)
		return NULL;
	memcpy(moved, p, old_size < size ? old_size : size);
	if (old_size <= SMALL)
		free_heap_piece(heap, p, count_steps(old_size));
	else
		free(p);
	return moved;
}

void *heap_alloc(void *ud, void *p, size_t old_size, size_t size)
{
	struct heap *heap = ud;

	if (!p)
		return !size	     ? NULL :
		       size <= SMALL ? take_heap_piece(heap, count_steps(size)) :
				       malloc(size);
	if (size) {
		if (old_size > SMALL && size > SMALL)
			return realloc(p, size);
		if (old_size <= SMALL && size <= SMALL &&
		    count_steps(old_size) == count_steps(size))
			return p;
		return move_heap_piece(heap, p, old_size, size);
	}
	if (old_size > SMALL)
		free(p);
	else
		free_heap_piece(heap, p, count_steps(old_size));
	return NULL;
}
