/* Scalars for print.c: each appends to the buffer, flushing it when it is full. */
#ifndef PERFLUA_PERFDATA_PRINT_SCALAR_H
#define PERFLUA_PERFDATA_PRINT_SCALAR_H

#include <string.h>

#include "print.h"

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

void pd_print_bytes(struct pd_print *out, const char *p, size_t n);

static inline void pd_print_name(struct pd_print *out, const char *s)
{
	pd_print_bytes(out, s, strlen(s));
}

void pd_print_uint(struct pd_print *out, uint64_t v);
void pd_print_int(struct pd_print *out, int64_t v);
void pd_print_hex(struct pd_print *out, uint64_t v); /* with 0x */
void pd_print_float(struct pd_print *out, double v, bool json);
void pd_print_digits(struct pd_print *out, const char *p,
		     size_t n); /* two hex digits per byte */
void pd_print_json_string(struct pd_print *out, const char *p, size_t n);
void pd_print_text(struct pd_print *out, const char *p, size_t n, bool in_view);

#endif
