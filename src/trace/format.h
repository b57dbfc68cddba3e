/*
 * The format file of a tracepoint, as libtraceevent is given it.
 */
#ifndef PERFLUA_TRACE_FORMAT_H
#define PERFLUA_TRACE_FORMAT_H

#include "text.h"
#include "perfdata/tracepoint/tracepoint.h"

#define PT_MAX_RAW 65536 /* bytes of raw data: a record has no more */

/*
 * Writes it, with that print fmt. False: it has a field that cannot be said so that it is understood, or there is no
 * memory. Fields lie within PT_MAX_RAW.
 */
bool pt_format_write(struct pt_text *out, const struct pd_tracepoint *tracepoint,
		     const struct pt_text *print_fmt);

#endif
