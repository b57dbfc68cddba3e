/* Text in columns, for steps: each function appends to the buffer of a pd_print. */
#ifndef PERFLUA_SCRIPT_TEXT_H
#define PERFLUA_SCRIPT_TEXT_H

#include "perfdata/format/print_scalar.h"

/*
 * Writes a text of the recording, escaped as script.h says, right-aligned in `width`
 * characters.
 */
void px_print_text(struct pd_print *out, const char *p, size_t n, size_t width);

static inline void px_print_name(struct pd_print *out, const char *s)
{
	px_print_text(out, s, strlen(s), 0);
}

/* Writes the size of a page, such as 4K; 0: N/A. */
void px_print_page_size(struct pd_print *out, uint64_t size);

#define PX_SPACES 64 /* written at once */

/* Writes any number of spaces: the width of a column depends on the recording. */
static inline void px_print_spaces(struct pd_print *out, size_t n)
{
	for (size_t now; n; n -= now) {
		now = n < PX_SPACES ? n : PX_SPACES;
		memset(pd_print_room(out, PX_SPACES), ' ', PX_SPACES);
		out->n += now;
	}
}

/* Copies n ≤ 32 bytes without a call. */
static inline void px_copy_short(char *to, const char *from, size_t n)
{
	if (n >= 16) {
		memcpy(to, from, 16);
		memcpy(to + n - 16, from + n - 16, 16);
	} else if (n >= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else {
		for (size_t i = 0; i < n; i++)
			to[i] = from[i];
	}
}

static inline void px_print_bytes(struct pd_print *out, const char *p, size_t n)
{
	if (n > 32) {
		pd_print_bytes(out, p, n);
		return;
	}
	px_copy_short(pd_print_room(out, 32), p, n);
	out->n += n;
}

#define PX_DIGITS 32 /* room that a number takes, and the widest column */

/* Writes the decimal digits of `v` in front of `end`. Returns where they begin. */
static inline char *px_digits(char *end, uint64_t v)
{
	for (; v >= 100; v /= 100)
		memcpy(end -= 2, pd_two_digits + 2 * (v % 100), 2);
	if (v < 10)
		*--end = (char)('0' + v);
	else
		memcpy(end -= 2, pd_two_digits + 2 * v, 2);
	return end;
}

/* Writes a decimal number, right-aligned in `width` characters. */
static inline void px_print_number(struct pd_print *out, uint64_t v, bool negative,
				   size_t width)
{
	/* PX_DIGITS bytes are copied at once, even if the number is shorter */
	char text[2 * PX_DIGITS], *end = text + PX_DIGITS, *p;

	memset(text, ' ', PX_DIGITS);
	p = px_digits(end, v);
	if (negative)
		*--p = '-';
	if (p > end - width)
		p = end - width;
	memcpy(pd_print_room(out, PX_DIGITS), p, PX_DIGITS);
	out->n += (size_t)(end - p);
}

/* Writes a number like printf("%*d"). */
static inline void px_print_int(struct pd_print *out, int64_t v, size_t width)
{
	px_print_number(out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0, width);
}

/* Writes a number like printf("%*u"). */
static inline void px_print_uint(struct pd_print *out, uint64_t v, size_t width)
{
	px_print_number(out, v, false, width);
}

/* Writes a number in hex without 0x, right-aligned in `width` ≤ 16 characters. */
static inline void px_print_hex(struct pd_print *out, uint64_t v, size_t width)
{
	size_t digits = v ? (size_t)(67 - __builtin_clzll(v)) / 4 : 1;
	size_t n = digits < width ? width : digits;
	char *p = pd_print_room(out, 16);

	memset(p, ' ', 16);
	for (size_t i = n; i-- > n - digits; v >>= 4)
		p[i] = "0123456789abcdef"[v & 15];
	out->n += n;
}

/* Writes v < 10^n with n digits. */
static inline void px_print_fixed(struct pd_print *out, uint32_t v, size_t n)
{
	char *p = pd_print_room(out, n);

	out->n += n;
	for (; n >= 2; n -= 2, v /= 100)
		memcpy(p + n - 2, pd_two_digits + 2 * (v % 100), 2);
	if (n)
		*p = (char)('0' + v % 10);
}

#endif
