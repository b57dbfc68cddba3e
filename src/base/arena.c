#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE (1024 - 64) /* many arenas stay small */
#define CHUNK_SIZE (64 * 1024 - 64)

struct pb_chunk {
	struct pb_chunk *next;
	size_t used, size;
	void *bytes[]; /* `size` bytes */
};

static void *take_bytes(struct pb_arena *arena, size_t n, size_t align)
{
	struct pb_chunk *chunk = arena->chunks;
	size_t at = chunk ? (chunk->used + align - 1) & ~(align - 1) : 0;

	if (!chunk || at > chunk->size || chunk->size - at < n) {
		size_t size = n > CHUNK_SIZE / 4	? n :
			      !chunk && n <= FIRST_SIZE ? FIRST_SIZE :
							  CHUNK_SIZE;

		if (n > SIZE_MAX / 2)
			return NULL;
		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk)
			return NULL;
		*chunk = (struct pb_chunk){ arena->chunks, 0, size };
		/* a large piece has its own, after the one that is being filled */
		if (arena->chunks && size != CHUNK_SIZE) {
			chunk->next = arena->chunks->next;
			arena->chunks->next = chunk;
		} else {
			arena->chunks = chunk;
		}
		at = 0;
	}
	chunk->used = at + n;
	return (char *)chunk->bytes + at;
}

void *pb_arena_get(struct pb_arena *arena, size_t size)
{
	return take_bytes(arena, size, sizeof(void *));
}

char *pb_arena_text(struct pb_arena *arena, const char *text, size_t n)
{
	char *copy = n < SIZE_MAX ? take_bytes(arena, n + 1, 1) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}

void pb_arena_clear(struct pb_arena *arena)
{
	struct pb_chunk *kept = arena->chunks;

	if (!kept)
		return;
	arena->chunks = kept->next;
	pb_arena_deinit(arena);
	kept->next = NULL;
	kept->used = 0;
	arena->chunks = kept;
}

void pb_arena_deinit(struct pb_arena *arena)
{
	while (arena->chunks) {
		struct pb_chunk *next = arena->chunks->next;

		free(arena->chunks);
		arena->chunks = next;
	}
}
