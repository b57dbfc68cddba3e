/*
 * A tracepoint's fields as text: what is printed where its print fmt cannot be.
 */
#ifndef PERFLUA_TRACE_FIELDS_H
#define PERFLUA_TRACE_FIELDS_H

#include "text.h"
#include "perfdata/tracepoint/tracepoint.h"

/*
 * " name=value" for each field that is not common and lies in the raw data: text as it is, other arrays ARRAY[01, ff],
 * addresses and unsigned longs hex, other integers decimal. See print_field_raw, libtraceevent.
 */
void pt_fields_print(struct pt_text *out, const struct pd_tracepoint *tracepoint,
		     const uint8_t *raw, uint32_t n);

#endif
