/*
 * Prints scalars for print.c. Each function appends to the buffer and flushes it when it is
 * full.
 */
#ifndef PERFLUA_PERFDATA_PRINT_SCALAR_H
#define PERFLUA_PERFDATA_PRINT_SCALAR_H

#include <string.h>

#include "base/string_builder.h"
#include "print.h"
#include "text.h"

/* "00" "01" … "99" */
extern const char pd_two_digits[201];

#define PD_PRINT_NAME 64 /* bytes; no name is longer */

/*
 * Returns room for `n` bytes at once, at most a few hundred. The caller adds to out->n what it
 * used.
 */
static inline char *pd_print_room(struct pd_print *out, size_t n)
{
	if (sizeof(out->buffer) - out->n < n)
		pd_print_flush(out);
	return out->buffer + out->n;
}

static inline void pd_print_char(struct pd_print *out, char c)
{
	*pd_print_room(out, 1) = c;
	out->n++;
}

/* Prints any number of bytes. */
void pd_print_long(struct pd_print *out, const char *p, size_t n);

/* Prints `n` bytes, mostly fewer than the buffer holds. */
static inline void pd_print_bytes(struct pd_print *out, const char *p, size_t n)
{
	if (n > sizeof(out->buffer) - out->n) {
		pd_print_long(out, p, n);
		return;
	}
	memcpy(out->buffer + out->n, p, n);
	out->n += n;
}

/* Prints a constant, whose length the compiler knows. */
#define pd_print_const(out, s) pd_print_bytes(out, s, sizeof(s) - 1)

/*
 * Prints a field's name or a fixed text. These are short, so copying byte by byte beats two
 * calls.
 */
static inline void pd_print_name(struct pd_print *out, const char *s)
{
	char *start = pd_print_room(out, PD_PRINT_NAME), *p = start;

	while (*s && p < start + PD_PRINT_NAME)
		*p++ = *s++;
	out->n += (size_t)(p - start);
}

/*
 * Returns the bytes of the UTF-8 character at `p`, of which there are at most `n`; 0: it is
 * none.
 */
size_t pd_utf8_length(const char *p, size_t n);

/*
 * Returns the text with U+FFFD in place of bytes that are not UTF-8: itself, or the content of
 * `copy`, which is cleared. Its p is NULL without memory.
 */
struct pd_text pd_valid_text(struct pb_string *copy, struct pd_text text);

/*
 * Returns the code of the character of `length` bytes at `p` if it is a control that drives
 * terminals as ESC does (U+0080 … U+009F), has no width, turns the direction of text or
 * separates lines; else 0.
 */
uint32_t pd_hidden_character(const char *p, size_t length);

/*
 * Replaces characters that may drive a terminal or hide text, and bytes that are not UTF-8, by
 * escapes as
 * \x1b in the string text[size], which is cut if it gets too long. Without memory it stays as
 * it is.
 */
void pd_escape(char *text, size_t size);

/*
 * Print a number in decimal or hex. A float has as few digits as tell it from others. JSON has
 * no infinity and no NaN: they become null.
 */
void pd_print_uint(struct pd_print *out, uint64_t v);
void pd_print_int(struct pd_print *out, int64_t v);
void pd_print_hex(struct pd_print *out, uint64_t v); /* with 0x */
void pd_print_float(struct pd_print *out, double v, bool json);
/* Prints `n` bytes as two hex digits each. */
void pd_print_digits(struct pd_print *out, const char *p, size_t n);

/* Print a string, escaped for JSON or for a text line; `in_view`: inside of a view. */
void pd_print_json_string(struct pd_print *out, const char *p, size_t n);
void pd_print_text(struct pd_print *out, const char *p, size_t n, bool in_view);
/*
 * Prints a cell of CSV (RFC 4180), in quotes if it needs them. U+FFFD stands for each byte that
 * is not UTF-8.
 */
void pd_print_cell(struct pd_print *out, const char *p, size_t n);
/* Prints a cell with a ' before its text, so that a spreadsheet does not evaluate it. */
void pd_print_formula(struct pd_print *out, const char *p, size_t n);
/* Prints a line and escapes only what could drive a terminal or is not text. */
void pd_print_line(struct pd_print *out, const char *p, size_t n);

#endif
