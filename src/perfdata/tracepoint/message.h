/*
 * The text of a tracepoint's sample: perf's text of its raw data, by the tracepoint's print
 * format. A print format is the arguments of the kernel's printk as C source, "format",
 * argument, …, with helpers such as __print_flags().
 *
 *	struct pd_printer *printer = pd_printer_create(tracing, text, find_function, arg);
 *
 *	if (pd_message(printer, tracepoint, raw, n, &text)) …
 *
 * A print format is compiled to steps, with small trees of numbers, when the first sample of
 * its tracepoint is printed. Texts are those of libtraceevent, also where it differs from C:
 * operators are grouped by its rules, integers are not sign-extended, %p ignores its width. If
 * a print format cannot be compiled, or the raw data does not hold what it needs, the text is
 * the fields, name=value.
 *
 * Input is not trusted: nesting, widths and texts have limits, and indexes and lengths are
 * checked against the raw data.
 */
#ifndef PERFLUA_PERFDATA_MESSAGE_H
#define PERFLUA_PERFDATA_MESSAGE_H

#include "tracepoint.h"

/*
 * Returns the name of the kernel function at `address`, and sets *start to the function's
 * address. The name ends with a NUL and is valid until the next call. Returns NULL if it is not
 * known.
 */
typedef const char *pd_function_fn(void *arg, uint64_t address, uint64_t *start);

/*
 * A printer of the texts of one recording. One thread uses it at a time; several printers may
 * work side by side.
 */
struct pd_printer;

/*
 * Creates a printer that prints as the version of perf with the differences `text` (enum
 * pd_perf_text) does. `function` is called with `arg`. `tracing` must outlive the printer.
 * Returns NULL without memory.
 */
struct pd_printer *pd_printer_create(const struct pd_tracing *tracing, unsigned text,
				     pd_function_fn *function, void *arg);
void pd_printer_destroy(struct pd_printer *printer); /* NULL is ignored */

/*
 * Sets *out to the text of a sample with `n` bytes of raw data. The text ends with a NUL and is
 * valid until the next call. Returns false without memory.
 */
bool pd_message(struct pd_printer *printer, const struct pd_tracepoint *tracepoint,
		const uint8_t *raw, uint32_t n, struct pd_text *out);

/*
 * Returns whether a tracepoint's print format can be compiled. If not, writes into why[size]
 * which tracepoint it is, at which byte of the print format, from 1 on, the error is, and what
 * it is.
 */
bool pd_print_fmt_check(const struct pd_tracepoint *tracepoint, char *why, size_t size);

#endif
