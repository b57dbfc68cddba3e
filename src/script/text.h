/* Text in columns, for steps: each function appends to the buffer of a pd_print. */
#ifndef PERFLUA_SCRIPT_TEXT_H
#define PERFLUA_SCRIPT_TEXT_H

#include <endian.h>

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

/* Returns the number of decimal digits of `v`. */
static inline size_t px_count_digits(uint64_t v)
{
	static const uint64_t powers[] = {
		0, /* 0 has a digit, too */
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		1000000000000000000,
		UINT64_C(10000000000000000000),
	};
	/* 1233 / 4096 is just above the logarithm of 2: at most one too many */
	size_t n = (size_t)(64 - __builtin_clzll(v | 1)) * 1233 / 4096;

	return n + (v >= powers[n]);
}

/* Writes the decimal digits of `v` in front of `end`. */
static inline void px_write_digits(char *end, uint64_t v)
{
	for (; v >= 100; v /= 100)
		memcpy(end -= 2, pd_two_digits + 2 * (v % 100), 2);
	if (v < 10)
		end[-1] = (char)('0' + v);
	else
		memcpy(end - 2, pd_two_digits + 2 * v, 2);
}

/*
 * Writes a decimal number, right-aligned in `width` characters. The digits are written where
 * they stay: to copy what was just written byte by byte makes the processor wait.
 */
static inline void px_print_number(struct pd_print *out, uint64_t v, bool negative,
				   size_t width)
{
	size_t digits = px_count_digits(v), n = digits + negative;
	char *p = pd_print_room(out, PX_DIGITS);

	if (n < width)
		n = width;
	memset(p, ' ', PX_DIGITS);
	px_write_digits(p + n, v);
	if (negative)
		p[n - digits - 1] = '-';
	out->n += n;
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

/* Returns the eight hex digits of `v`, each in its byte, the first one in the highest. */
static inline uint64_t px_hex_digits(uint32_t v)
{
	uint64_t x = v, letters;

	x = (x << 16 | x) & 0x0000ffff0000ffff;
	x = (x << 8 | x) & 0x00ff00ff00ff00ff;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0f;
	letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	return x + 0x3030303030303030 + letters * ('a' - '0' - 10);
}

/* Writes a number in hex without 0x, right-aligned in `width` ≤ 16 characters. */
static inline void px_print_hex(struct pd_print *out, uint64_t v, size_t width)
{
	size_t digits = (size_t)(67 - __builtin_clzll(v | 1)) / 4;
	size_t n = digits < width ? width : digits;
	char *p = pd_print_room(out, 32);
	uint64_t text[2];

	/* its digits come first; what is written after them does not count */
	v <<= 4 * (16 - digits);
	text[0] = htobe64(px_hex_digits((uint32_t)(v >> 32)));
	text[1] = htobe64(px_hex_digits((uint32_t)v));
	memset(p, ' ', 16);
	memcpy(p + n - digits, text, 16);
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
