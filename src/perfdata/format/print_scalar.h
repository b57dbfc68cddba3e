/* Scalars for print.c: each appends to the buffer, flushing it when it is full. */
#ifndef PERFLUA_PERFDATA_PRINT_SCALAR_H
#define PERFLUA_PERFDATA_PRINT_SCALAR_H

#include <string.h>

#include "print.h"

/* "00" "01" … "99" */
extern const char pd_two_digits[201];

#define PD_PRINT_NAME 64 /* no name is longer */

/* Room for n bytes at once (n at most a few hundred); what is used of it is added to out->n. */
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

/* Of any length. */
void pd_print_long(struct pd_print *out, const char *p, size_t n);

static inline void pd_print_bytes(struct pd_print *out, const char *p, size_t n)
{
	if (n > sizeof(out->buffer) - out->n) {
		pd_print_long(out, p, n);
		return;
	}
	memcpy(out->buffer + out->n, p, n);
	out->n += n;
}

/* A constant, whose length the compiler knows. */
#define pd_print_const(out, s) pd_print_bytes(out, s, sizeof(s) - 1)

/* A name of a field or a fixed text: short, so that copying byte by byte beats two calls. */
static inline void pd_print_name(struct pd_print *out, const char *s)
{
	char *start = pd_print_room(out, PD_PRINT_NAME), *p = start;

	while (*s && p < start + PD_PRINT_NAME)
		*p++ = *s++;
	out->n += (size_t)(p - start);
}

/* Returns how many bytes the UTF-8 character at p has, of n bytes; 0: it is none. */
size_t pd_utf8_length(const char *p, size_t n);

/*
 * Returns true if a character of that length is one of U+0080 … U+009F: they drive terminals as
 * ESC does.
 */
bool pd_is_c1_control(const char *p, size_t length);

/*
 * Escapes what may drive a terminal, control characters and what is no UTF-8, as \x1b in
 * text[size], a string that is cut where it gets too long. Without memory it stays as it is.
 */
void pd_escape(char *text, size_t size);

void pd_print_uint(struct pd_print *out, uint64_t v);
void pd_print_int(struct pd_print *out, int64_t v);
void pd_print_hex(struct pd_print *out, uint64_t v); /* with 0x */
void pd_print_float(struct pd_print *out, double v, bool json);
void pd_print_digits(struct pd_print *out, const char *p,
		     size_t n); /* two hex digits per byte */
void pd_print_json_string(struct pd_print *out, const char *p, size_t n);
void pd_print_text(struct pd_print *out, const char *p, size_t n, bool in_view);
/* Escapes only what could drive a terminal or is no text. */
void pd_print_line(struct pd_print *out, const char *p, size_t n);

#endif
