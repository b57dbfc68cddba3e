/*
 * Makes the texts of tracepoints, and looks up what their print formats need of the recording.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "perfdata/tracepoint/message.h"
#include "fields.h"
#include "resolver.h"

/* Finds the kernel function at `address`, as of the record that is printed. */
static const char *find_kernel_function(void *arg, uint64_t address, uint64_t *start)
{
	struct pm_resolver *r = arg;
	struct pm_addr_context context;
	struct pm_location location;

	pm_addr_context_of(r->system, r->messages.rec, &context);
	context.mode = PD_CPUMODE_KERNEL;
	pm_location_at(r, &context, address, &location);
	if (!location.symbol)
		return NULL;
	*start = address - pm_location_offset(&location);
	return location.symbol->name;
}

/* Returns the printer of a recording; NULL: no memory. */
static struct pd_printer *get_printer(struct pm_resolver *r, uint32_t source,
				      const struct pd_tracing *tracing)
{
	struct pd_printer **printer;

	if (source >= r->messages.n &&
	    !pb_extend(r->messages.printers, r->messages.n, (size_t)source + 1))
		return NULL;
	printer = &r->messages.printers[source];
	if (!*printer)
		*printer = pd_printer_create(tracing, r->messages.text, find_kernel_function,
					     r);
	return *printer;
}

bool pm_message(struct pm_resolver *r, const struct pd_record *rec, unsigned text,
		struct pd_text *out)
{
	const struct pd_tracepoint *tracepoint = pd_tracepoint_of_record(rec);
	struct pd_printer *printer;
	const uint8_t *raw;
	uint32_t n;

	if (!tracepoint || !pd_args_raw(rec, &raw, &n))
		return false;
	if (text != r->messages.text) {
		pm_messages_destroy(r);
		r->messages.text = text;
	}
	printer = get_printer(r, rec->source, tracepoint->tracing);
	r->messages.rec = rec;
	return printer && pd_message(printer, tracepoint, raw, n, out);
}

void pm_messages_destroy(struct pm_resolver *r)
{
	for (size_t i = 0; i < r->messages.n; i++)
		pd_printer_destroy(r->messages.printers[i]);
	free(r->messages.printers);
	r->messages.printers = NULL;
	r->messages.n = 0;
}
