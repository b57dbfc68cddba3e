/*
 * A tracepoint's fields as text: what is printed where its print fmt cannot be.
 */
#ifndef PERFLUA_PERFDATA_FIELDS_TEXT_H
#define PERFLUA_PERFDATA_FIELDS_TEXT_H

#include "line.h"
#include "tracepoint.h"

/*
 * " name=value" for each field that is not common and lies in the raw data: text as it is,
 * other arrays ARRAY[01, ff], addresses and unsigned longs hex, other integers decimal. See
 * print_field_raw, libtraceevent.
 */
void pd_fields_print(struct pd_line *out, const struct pd_tracepoint *tracepoint,
		     const uint8_t *raw, uint32_t n);

#endif
