/*
 * Memory that is freed at once: many small pieces, of which none moves.
 */
#ifndef PERFLUA_BASE_ARENA_H
#define PERFLUA_BASE_ARENA_H

#include <stddef.h>

struct pb_chunk;

struct pb_arena {
	struct pb_chunk *chunks;
};

/* Aligned for pointers; NULL: no memory. */
void *pb_arena_get(struct pb_arena *arena, size_t size);

/* A copy of n bytes and a NUL after them; NULL: no memory. */
char *pb_arena_text(struct pb_arena *arena, const char *text, size_t n);

/* Frees all pieces, but keeps a chunk for the next ones. */
void pb_arena_clear(struct pb_arena *arena);

/* Frees all pieces. */
void pb_arena_deinit(struct pb_arena *arena);

#endif
