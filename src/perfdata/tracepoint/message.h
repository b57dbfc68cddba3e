/*
 * The text of a tracepoint's sample: what perf prints of its raw data, by the tracepoint's
 * print format. That is what the kernel's printk would be given, "format", argument, …, as C,
 * with helpers such as __print_flags().
 *
 *	struct pd_printer *printer = pd_printer_create(tracing, text, find_function, arg);
 *
 *	if (pd_message(printer, tracepoint, raw, n, &text)) …
 *
 * A print format is compiled when the first sample of its tracepoint comes, to steps with small
 * trees of numbers. Texts are those of libtraceevent, also where it reads C in its own way:
 * operators are grouped by its rules, integers are not sign-extended, %p ignores its width.
 * Where a print format cannot be compiled, or a sample's data does not hold what it asks for,
 * the text is the fields, name=value.
 *
 * Nothing is believed: nesting, widths and texts have limits, indexes and lengths are checked
 * against the raw data.
 */
#ifndef PERFLUA_PERFDATA_MESSAGE_H
#define PERFLUA_PERFDATA_MESSAGE_H

#include "tracepoint.h"

/*
 * Returns the name of the function at a kernel's address, which ends with a NUL and lives until
 * the next call, and sets *start to where it starts. NULL: not known.
 */
typedef const char *pd_function_fn(void *arg, uint64_t address, uint64_t *start);

/*
 * Makes texts of one recording. Used by one thread at a time; several printers may work side by
 * side.
 */
struct pd_printer;

/*
 * Makes a printer of texts as the version of perf that `text` (enum pd_perf_text) is of has
 * them. Returns NULL without memory. `tracing` must outlive it.
 */
struct pd_printer *pd_printer_create(const struct pd_tracing *tracing, unsigned text,
				     pd_function_fn *function, void *arg);
void pd_printer_destroy(struct pd_printer *printer); /* NULL: nothing */

/*
 * Makes the text of a sample with n bytes of raw data. It ends with a NUL and is the printer's
 * until the next call. Returns false without memory.
 */
bool pd_message(struct pd_printer *printer, const struct pd_tracepoint *tracepoint,
		const uint8_t *raw, uint32_t n, struct pd_text *out);

/*
 * Returns true if a tracepoint's print format can be compiled. Otherwise says in `why`, of
 * `size` bytes, which tracepoint it is of, at which of its bytes, counted from 1, it is wrong,
 * and what is.
 */
bool pd_print_fmt_check(const struct pd_tracepoint *tracepoint, char *why, size_t size);

#endif
