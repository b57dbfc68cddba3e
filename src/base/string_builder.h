/*
 * A string that grows while text is added. Zero-initialised: empty.
 *
 * Failure stays: text that does not fit is dropped, `failed` is set, and the caller asks once,
 * at the end.
 */
#ifndef PERFLUA_BASE_STRING_BUILDER_H
#define PERFLUA_BASE_STRING_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pb_string {
	char *p; /* [capacity]; NULL: no text yet */
	size_t n, capacity;
	size_t limit; /* bytes at most, set by the caller; 0: no limit */
	bool failed;  /* no memory, or too long: further text is dropped */
};

/*
 * Makes room for `n` further bytes and a NUL. Returns false, and sets `failed`, if it cannot.
 */
bool pb_string_grow(struct pb_string *s, size_t n);

/* Makes room as pb_string_grow(), if there is not enough. */
static inline bool pb_string_reserve(struct pb_string *s, size_t n)
{
	return s->capacity - s->n > n || pb_string_grow(s, n);
}

/* Add text: `n` bytes, or a C string. */
static inline void pb_string_add(struct pb_string *s, const char *p, size_t n)
{
	if (!pb_string_reserve(s, n))
		return;
	memcpy(s->p + s->n, p, n);
	s->n += n;
}

static inline void pb_string_put(struct pb_string *s, const char *text)
{
	pb_string_add(s, text, strlen(text));
}

/* Adds `n` times the character `c`. */
static inline void pb_string_fill(struct pb_string *s, char c, size_t n)
{
	if (!n || !pb_string_reserve(s, n))
		return;
	memset(s->p + s->n, c, n);
	s->n += n;
}

/* Adds text as printf() formats it, at most 63 bytes. */
void pb_string_format(struct pb_string *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Puts a NUL after the text, and returns the text, which the string still owns. NULL: the
 * string has failed.
 */
static inline char *pb_string_end(struct pb_string *s)
{
	if (s->failed || !pb_string_reserve(s, 0))
		return NULL;
	s->p[s->n] = '\0';
	return s->p;
}

/* Empties the string and keeps its memory; pb_string_deinit() frees that. */
static inline void pb_string_clear(struct pb_string *s)
{
	s->n = 0;
	s->failed = false;
}

void pb_string_deinit(struct pb_string *s);

#endif
