/*
 * Interprets the declared types of tracepoint fields. Offset and size come from the format
 * file, not from the type: the kernel writes an `int` of a system call as 8 bytes.
 */
#ifndef PERFLUA_PERFDATA_TRACEPOINT_TYPE_H
#define PERFLUA_PERFDATA_TRACEPOINT_TYPE_H

#include "tracepoint.h"

/* Returns whether a character can be part of a C name. */
static inline bool pd_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/*
 * Sets kind, storage, element, count and is_signed of a field from its declared type.
 * `long_size` is the recorded kernel's; `sign` is the format's, UINT64_MAX if it has none.
 */
void pd_tracepoint_type(struct pd_tracepoint_field *field, unsigned long_size, uint64_t sign);

/* Sets the kinds of arrays that the print format shows to be bitmasks or sockets' addresses. */
void pd_tracepoint_printed(struct pd_tracepoint_field *fields, uint32_t n,
			   const char *print_fmt, unsigned long_size);

#endif
