/*
 * Text files of lines that begin with hexadecimal numbers: read whole, and taken apart.
 */
#ifndef PERFLUA_SYMBOLS_TEXT_H
#define PERFLUA_SYMBOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What of a line was not read yet: up to its end, which is not of it. */
struct ps_line_text {
	const char *at, *end;
};

/*
 * The bytes of a regular file, to be freed; NULL: *reason says why not. `owner` not -1: only if that user or root has
 * it.
 */
char *ps_text_read(const char *path, int64_t owner, size_t *size, const char **reason);

/* The next line of a text; false: there is none. */
bool ps_text_line(const char **at, const char *end, struct ps_line_text *line);

/* A hexadecimal number of up to 16 digits, "0x" before it or not; false: there is none. */
bool ps_text_hex(struct ps_line_text *line, uint64_t *value);

#endif
