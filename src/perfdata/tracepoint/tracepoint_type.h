/*
 * What the type that a tracepoint's field is declared with says of its values. Offset and size
 * are what the format file says, not the type: the kernel writes an `int` of a system call as 8
 * bytes.
 */
#ifndef PERFLUA_PERFDATA_TRACEPOINT_TYPE_H
#define PERFLUA_PERFDATA_TRACEPOINT_TYPE_H

#include "tracepoint.h"

static inline bool pd_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/*
 * Fills in kind, place, element and count, and whether it is signed: `sign` is the format's,
 * UINT64_MAX if it says none.
 */
void pd_tracepoint_type(struct pd_tracepoint_field *field, unsigned long_size, uint64_t sign);

/* What the print fmt makes of arrays among n fields: bitmasks, sockets' addresses. */
void pd_tracepoint_printed(struct pd_tracepoint_field *fields, uint32_t n,
			   const char *print_fmt, unsigned long_size);

#endif
