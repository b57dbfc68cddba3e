/* Text files whose lines begin with hexadecimal numbers: reads them whole, and parses them. */
#ifndef PERFLUA_SYMBOLS_TEXT_H
#define PERFLUA_SYMBOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* The unread rest of a line. */
struct ps_line_text {
	const char *at, *end;
};

/*
 * Reads a file that perflua or its user chose. Returns its bytes, which the caller frees, or
 * NULL with *reason set.
 */
char *ps_text_read(const char *path, size_t *size, const char **reason);

/*
 * Reads an open file, and closes it. For a descriptor of -1 it returns NULL and leaves *reason.
 */
char *ps_text_take(int fd, const struct stat *status, size_t *size, const char **reason);

/* Reads the next line of a text. Returns false at its end. */
bool ps_text_line(const char **at, const char *end, struct ps_line_text *line);

/*
 * Reads a hexadecimal number of up to 16 digits, with or without "0x". Returns false if there
 * is none.
 */
bool ps_text_hex(struct ps_line_text *line, uint64_t *value);

#endif
