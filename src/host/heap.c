#include "heap.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)64 << 10)

struct heap_piece {
	struct heap_piece *next;
};

struct heap_block {
	struct heap_block *next;
	max_align_t bytes[];
};

#ifdef __SANITIZE_ADDRESS__
#define SMALL 0 /* each piece by itself, so that wrong uses are found */
#else
#define SMALL HEAP_LARGE
#endif

static size_t steps(size_t size)
{
	return (size + HEAP_STEP - 1) / HEAP_STEP;
}

static void give(struct heap *heap, void *p, size_t n)
{
	struct heap_piece *piece = p;

	piece->next = heap->free[n];
	heap->free[n] = piece;
}

/* A piece of n steps of a new block. What is left of the one before is not lost. */
static void *take_new(struct heap *heap, size_t n)
{
	struct heap_block *block;
	size_t left = (size_t)(heap->end - heap->next) / HEAP_STEP;
	char *piece;

	if (left < n) {
		block = malloc(sizeof(*block) + BLOCK);
		if (!block)
			return NULL;
		if (left)
			give(heap, heap->next, left);
		block->next = heap->blocks;
		heap->blocks = block;
		heap->next = (char *)block->bytes;
		heap->end = heap->next + BLOCK;
	}
	piece = heap->next;
	heap->next += n * HEAP_STEP;
	return piece;
}

static void *take(struct heap *heap, size_t n)
{
	struct heap_piece *piece = heap->free[n];

	if (!piece)
		return take_new(heap, n);
	heap->free[n] = piece->next;
	return piece;
}

/* Between a piece and memory of malloc's, or pieces of different sizes. */
static void *move(struct heap *heap, void *p, size_t old_size, size_t size)
{
	void *moved = size <= SMALL ? take(heap, steps(size)) : malloc(size);

	if (!moved)
		return NULL;
	memcpy(moved, p, old_size < size ? old_size : size);
	if (old_size <= SMALL)
		give(heap, p, steps(old_size));
	else
		free(p);
	return moved;
}

void *heap_alloc(void *ud, void *p, size_t old_size, size_t size)
{
	struct heap *heap = ud;

	if (!p)
		return !size ? NULL : size <= SMALL ? take(heap, steps(size)) : malloc(size);
	if (size) {
		if (old_size > SMALL && size > SMALL)
			return realloc(p, size);
		if (old_size <= SMALL && size <= SMALL && steps(old_size) == steps(size))
			return p;
		return move(heap, p, old_size, size);
	}
	if (old_size > SMALL)
		free(p);
	else if (!heap->is_closing)
		give(heap, p, steps(old_size));
	return NULL;
}

void heap_deinit(struct heap *heap)
{
	for (struct heap_block *block = heap->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	*heap = (struct heap){ 0 };
}
