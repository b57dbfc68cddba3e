/*
 * Protocol buffers: fields of messages as bytes at the end of a string.
 * https://protobuf.dev/programming-guides/encoding/
 */
#ifndef PERFLUA_EXPORT_PROTOBUF_H
#define PERFLUA_EXPORT_PROTOBUF_H

#include "base/string_builder.h"

#define PE_MAX_VARINT 10 /* bytes */

/* Writes an integer to `to`, which has room for PE_MAX_VARINT bytes. Returns its end. */
static inline char *pe_put_varint(char *to, uint64_t x)
{
	for (; x >= 0x80; x >>= 7)
		*to++ = (char)(x | 0x80);
	*to++ = (char)x;
	return to;
}

static inline void pe_add_varint(struct pb_string *s, uint64_t x)
{
	if (pb_string_reserve(s, PE_MAX_VARINT))
		s->n = (size_t)(pe_put_varint(s->p + s->n, x) - s->p);
}

/* Adds a field of an integer, also of 0. */
static inline void pe_add_number(struct pb_string *s, unsigned field, uint64_t x)
{
	char *at;

	if (!pb_string_reserve(s, 2 * PE_MAX_VARINT))
		return;
	at = pe_put_varint(s->p + s->n, field << 3);
	s->n = (size_t)(pe_put_varint(at, x) - s->p);
}

/* Adds a field of an integer, unless it is 0, which is the default. */
static inline void pe_add_integer(struct pb_string *s, unsigned field, uint64_t x)
{
	if (x)
		pe_add_number(s, field, x);
}

/* Adds a field of bytes: a text, a message, packed integers. */
static inline void pe_add_bytes(struct pb_string *s, unsigned field, const char *p, size_t n)
{
	pe_add_varint(s, field << 3 | 2);
	pe_add_varint(s, n);
	if (n)
		pb_string_add(s, p, n);
}

/* Adds a field of a message, and clears the message; fails if that has failed. */
static inline void pe_add_message(struct pb_string *s, unsigned field,
				  struct pb_string *message)
{
	pe_add_bytes(s, field, message->p, message->n);
	s->failed |= message->failed;
	pb_string_clear(message);
}

/*
 * Begins a field of a message, whose fields are what is added until pe_end_message(), which
 * takes the result. The message is made in place, so it is copied only if it has more than 127
 * bytes.
 */
static inline size_t pe_begin_message(struct pb_string *s, unsigned field)
{
	pe_add_varint(s, field << 3 | 2);
	pe_add_varint(s, 0);
	return s->n;
}

static inline void pe_end_message(struct pb_string *s, size_t from)
{
	char size[PE_MAX_VARINT];
	size_t n = s->n - from, more;

	if (s->failed || !pb_string_reserve(s, PE_MAX_VARINT))
		return;
	more = (size_t)(pe_put_varint(size, n) - size) - 1;
	if (more)
		memmove(s->p + from + more, s->p + from, n);
	memcpy(s->p + from - 1, size, more + 1);
	s->n += more;
}

#endif
