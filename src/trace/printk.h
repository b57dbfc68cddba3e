/*
 * The strings of the recorded kernel that tracepoints name by their address: the file printk_formats of tracefs.
 */
#ifndef PERFLUA_TRACE_PRINTK_H
#define PERFLUA_TRACE_PRINTK_H

#include "perfdata/tracepoint/tracing.h"

#ifdef PERFLUA_TRACEEVENT

#include <event-parse.h>

/* Registers all lines `0xADDRESS : "text"` of tracing->printk with the parser. */
void pt_printk_register(struct tep_handle *tep, const struct pd_tracing *tracing);

#endif
#endif
