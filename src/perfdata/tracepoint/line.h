/*
 * A line of text that grows up to PD_MAX_LINE bytes. Zero-initialised: empty.
 */
#ifndef PERFLUA_PERFDATA_LINE_H
#define PERFLUA_PERFDATA_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PD_MAX_LINE (1u << 20) /* bytes */

struct pd_line {
	char *p; /* [capacity]; NULL: no text yet */
	size_t n, capacity;
	bool failed; /* no memory, or too long: further text is dropped */
};

/*
 * Makes room for `n` further bytes and a NUL. Returns false, and sets `failed`, if it cannot.
 */
bool pd_line_grow(struct pd_line *line, size_t n);

/* Makes room as pd_line_grow(), if there is not enough. */
static inline bool pd_line_reserve(struct pd_line *line, size_t n)
{
	return line->capacity - line->n > n || pd_line_grow(line, n);
}

/* Add text: `n` bytes, or a string. If there is no room the text is dropped. */
static inline void pd_line_add(struct pd_line *line, const char *p, size_t n)
{
	if (!pd_line_reserve(line, n))
		return;
	memcpy(line->p + line->n, p, n);
	line->n += n;
}

static inline void pd_line_put(struct pd_line *line, const char *s)
{
	pd_line_add(line, s, strlen(s));
}

/* Adds `n` times the character `c`. */
static inline void pd_line_fill(struct pd_line *line, char c, size_t n)
{
	if (!n || !pd_line_reserve(line, n))
		return;
	memset(line->p + line->n, c, n);
	line->n += n;
}

/* Adds text as printf() formats it, at most 63 bytes. */
void pd_line_format(struct pd_line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Empties the line and keeps its memory; pd_line_deinit() frees that. */
static inline void pd_line_clear(struct pd_line *line)
{
	line->n = 0;
	line->failed = false;
}

void pd_line_deinit(struct pd_line *line);

#endif
