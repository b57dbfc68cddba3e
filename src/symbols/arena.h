/*
 * Memory that is freed at once: many small pieces, of which none moves.
 */
#ifndef PERFLUA_SYMBOLS_ARENA_H
#define PERFLUA_SYMBOLS_ARENA_H

#include <stddef.h>

struct ps_chunk;

struct ps_arena {
	struct ps_chunk *chunks;
};

/* Aligned for pointers; NULL: no memory. */
void *ps_arena_get(struct ps_arena *arena, size_t size);

/* A copy of n bytes and a NUL behind them; NULL: no memory. */
char *ps_arena_text(struct ps_arena *arena, const char *text, size_t n);

void ps_arena_deinit(struct ps_arena *arena);

#endif
