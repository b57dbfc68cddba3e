/*
 * The public header of trace: the raw data of a tracepoint's sample → the text that its print fmt makes of it, as perf script
 * prints it, through libtraceevent.
 *
 *	struct pt_printer *printer = pt_printer_create(tracing, find_function, arg);
 *
 *	if (pt_message(printer, tracepoint, raw, n, &text)) …
 *
 * That library takes its input for the kernel's. What comes from a recording is checked here before it sees it: the format
 * file that it gets is written anew from the fields that perfdata read, with a print fmt whose grammar is known and whose
 * names exist (fmt.h); of what it makes of that, each node is looked at (tree.h); and of each sample, that the data is as
 * long as the fields, that what lies elsewhere in it does so, that no index, length or width leaves it. What fails is
 * not printed by it but by us: the fields, name=value (fields.h). Kernels do not write what is refused, but for what it
 * cannot do itself.
 */
#ifndef PERFLUA_TRACE_TRACE_H
#define PERFLUA_TRACE_TRACE_H

#include "perfdata/tracepoint/tracepoint.h"

/* The version of libtraceevent that this was built with; NULL: with none. */
const char *pt_version(void);

/*
 * What is at a kernel's address: the function's name, which ends with a NUL and lives until this is asked again, and where
 * it starts. NULL: not known.
 */
typedef const char *pt_function_fn(void *arg, uint64_t address, uint64_t *start);

/* Of one recording and one thread of ours; several may work at the same time. */
struct pt_printer;

/* NULL: no memory. tracing must outlive it. */
struct pt_printer *pt_printer_create(const struct pd_tracing *tracing, pt_function_fn *function,
				     void *arg);
void pt_printer_destroy(struct pt_printer *printer); /* NULL: nothing */

/*
 * The text of a sample with n bytes of raw data. It ends with a NUL and is the printer's until it is asked again. False: no
 * memory.
 */
bool pt_message(struct pt_printer *printer, const struct pd_tracepoint *tracepoint,
		const uint8_t *raw, uint32_t n, struct pd_text *out);

#endif
