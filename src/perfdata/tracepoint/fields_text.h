/*
 * A tracepoint's fields as text, for samples whose print format cannot be printed.
 */
#ifndef PERFLUA_PERFDATA_FIELDS_TEXT_H
#define PERFLUA_PERFDATA_FIELDS_TEXT_H

#include "base/string_builder.h"
#include "tracepoint.h"

/*
 * Appends " name=value" for each field that is not common and lies in the `n` bytes of raw
 * data: text as it is, other arrays as ARRAY[01, ff], addresses and unsigned longs in hex,
 * other integers in decimal. See print_field_raw, libtraceevent.
 */
void pd_fields_print(struct pb_string *out, const struct pd_tracepoint *tracepoint,
		     const uint8_t *raw, uint32_t n);

#endif
