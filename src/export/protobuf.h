/*
 * Protocol buffers: fields of messages as bytes at the end of a string.
 * https://protobuf.dev/programming-guides/encoding/
 */
#ifndef PERFLUA_EXPORT_PROTOBUF_H
#define PERFLUA_EXPORT_PROTOBUF_H

#include "base/string_builder.h"
#include "perfdata/format/text.h"

static inline void pe_add_varint(struct pb_string *s, uint64_t x)
{
	char bytes[10];
	size_t n = 0;

	for (; x >= 0x80; x >>= 7)
		bytes[n++] = (char)(x | 0x80);
	bytes[n++] = (char)x;
	pb_string_add(s, bytes, n);
}

/* Adds a field of an integer, also of 0. */
static inline void pe_add_number(struct pb_string *s, unsigned field, uint64_t x)
{
	pe_add_varint(s, field << 3);
	pe_add_varint(s, x);
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

#endif
