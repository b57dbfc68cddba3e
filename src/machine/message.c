/* Texts of tracepoints: what their print formats need of a recording. */
#include <stdlib.h>

#include "perfdata/tracepoint/message.h"
#include "fields.h"
#include "resolver.h"

/* A function of the kernel, as the record saw it. */
static const char *find_function(void *arg, uint64_t address, uint64_t *start)
{
	struct pm_resolver *r = arg;
	struct pm_where where;
	struct pm_place place;

	pm_where_of(r->machine, r->messages.rec, &where);
	where.mode = PD_CPUMODE_KERNEL;
	pm_place_at(r, &where, address, &place);
	if (!place.symbol)
		return NULL;
	*start = address - pm_place_offset(&place);
	return place.symbol->name;
}

/* NULL: no memory. */
static struct pd_printer *printer_of(struct pm_resolver *r, uint32_t source,
				     const struct pd_tracing *tracing)
{
	struct pd_printer **printers = r->messages.printers;
	size_t n = r->messages.n;

	if (source >= n) {
		printers = realloc(printers, (source + 1) * sizeof(struct pd_printer *));
		if (!printers)
			return NULL;
		memset(printers + n, 0, (source + 1 - n) * sizeof(struct pd_printer *));
		r->messages.printers = printers;
		r->messages.n = source + 1;
	}
	if (!printers[source])
		printers[source] = pd_printer_create(tracing, r->messages.text, find_function,
						     r);
	return printers[source];
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
	printer = printer_of(r, rec->source, tracepoint->tracing);
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
