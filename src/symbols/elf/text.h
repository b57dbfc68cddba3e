/*
 * Text files of lines that begin with hexadecimal numbers: read whole, and taken apart.
 */
#ifndef PERFLUA_SYMBOLS_TEXT_H
#define PERFLUA_SYMBOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* What of a line was not read yet: up to its end, which is not of it. */
struct ps_line_text {
	const char *at, *end;
};

/*
 * Reads a file that perflua or its user chose. Returns its bytes, to be freed; or NULL, and
 * *reason says why.
 */
char *ps_text_read(const char *path, size_t *size, const char **reason);

/*
 * Reads a file that was opened, and closes it. A descriptor of -1 gives NULL and leaves
 * *reason.
 */
char *ps_text_take(int fd, const struct stat *status, size_t *size, const char **reason);

/* The next line of a text; false: there is none. */
bool ps_text_line(const char **at, const char *end, struct ps_line_text *line);

/* A hexadecimal number of up to 16 digits, "0x" before it or not; false: there is none. */
bool ps_text_hex(struct ps_line_text *line, uint64_t *value);

#endif
