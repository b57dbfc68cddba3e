/*
 * The strings of the recorded kernel that tracepoints name by their address: the file printk_formats of tracefs.
 */
#ifndef PERFLUA_TRACE_PRINTK_H
#define PERFLUA_TRACE_PRINTK_H

#include "../perfdata/perfdata.h"

#ifdef PERFLUA_TRACEEVENT

#include <event-parse.h>

/* Tells it of all lines `0xADDRESS : "text"` that there are. */
void pt_printk_register(struct tep_handle *tep, struct pd_text lines);

#endif
#endif
