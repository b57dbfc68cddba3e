/*
 * Columns that UTF-8 text takes on a terminal: two for a letter of double width, none for a
 * mark that combines with the letter before it, one for any other character. The text has no
 * control characters.
 */
#ifndef PERFLUA_BASE_COLUMNS_H
#define PERFLUA_BASE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

size_t pb_count_columns(const char *text, size_t n);

/*
 * Finds what is left of a text in `columns` columns: *head bytes of its beginning, … and *tail
 * bytes of its end. Returns false if the whole text has room, or if `columns` is 0.
 */
bool pb_shorten(const char *text, size_t n, size_t columns, size_t *head, size_t *tail);

#endif
