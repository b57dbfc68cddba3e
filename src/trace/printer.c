#include <stdlib.h>

#include "event.h"
#include "fields.h"
#include "format.h"
#include "printk.h"
#include "trace.h"

const char *pt_version(void)
{
#ifdef PERFLUA_TRACEEVENT
	return PERFLUA_TRACEEVENT;
#else
	return NULL;
#endif
}

#ifdef PERFLUA_TRACEEVENT

#define PADDING	 64 /* zeros behind the data: a text without an end has it there */
#define MAX_KEPT (UINT32_C(1) << 20) /* bytes of a text whose memory is kept */

struct pt_printer {
	struct tep_handle *tep;
	pt_function_fn *function;
	void *arg;
	struct pt_event **events; /* [n_events]: by id; NULL: not met yet */
	size_t n_events;
	struct trace_seq made; /* by libtraceevent */
	struct pt_text text;   /* by us */
	uint8_t raw[PT_MAX_RAW + PADDING];
};

/* What libtraceevent asks. It gives what it is given to nobody, and does not write to it. */
static char *resolve(void *priv, unsigned long long *address, char **module)
{
	struct pt_printer *printer = priv;
	uint64_t start = *address;
	const char *name = printer->function(printer->arg, start, &start);

	(void)module;
	*address = start;
	return (char *)(uintptr_t)name;
}

struct pt_printer *pt_printer_create(const struct pd_tracing *tracing, pt_function_fn *function,
				     void *arg)
{
	struct pt_printer *printer = calloc(1, sizeof(*printer));

	if (!printer)
		return NULL;
	trace_seq_init(&printer->made);
	printer->tep = tep_alloc();
	if (!printer->tep || !printer->made.buffer) {
		pt_printer_destroy(printer);
		return NULL;
	}
	printer->function = function;
	printer->arg = arg;
	tep_set_file_bigendian(printer->tep, tracing->big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(printer->tep, tracing->long_size);
	tep_set_function_resolver(printer->tep, resolve, printer);
	pt_printk_register(printer->tep, tracing);
	return printer;
}

void pt_printer_destroy(struct pt_printer *printer)
{
	if (!printer)
		return;
	for (size_t i = 0; i < printer->n_events; i++)
		pt_event_destroy(printer->events[i]);
	free(printer->events);
	if (printer->made.buffer)
		trace_seq_destroy(&printer->made);
	if (printer->tep)
		tep_free(printer->tep);
	pt_text_deinit(&printer->text);
	free(printer);
}

/* Ids without a place of their own cannot be printed, and need none. */
static bool make_room(struct pt_printer *printer, size_t id)
{
	struct pt_event **events;

	if (id < printer->n_events)
		return true;
	events = realloc(printer->events, (id + 1) * sizeof(struct pt_event *));
	if (!events)
		return false;
	memset(events + printer->n_events, 0, (id + 1 - printer->n_events) * sizeof(*events));
	printer->events = events;
	printer->n_events = id + 1;
	return true;
}

/* NULL: no memory. */
static const struct pt_event *find_event(struct pt_printer *printer,
					 const struct pd_tracepoint *tracepoint)
{
	static const struct pt_event none = { .printable = false };
	struct pt_event **event;

	if (tracepoint->id > UINT16_MAX)
		return &none;
	if (!make_room(printer, (size_t)tracepoint->id))
		return NULL;
	event = &printer->events[tracepoint->id];
	if (!*event)
		*event = pt_event_create(printer->tep, tracepoint);
	return *event && (*event)->tracepoint != tracepoint ? &none : *event;
}

/* As libtraceevent prints it; false: no memory. */
static bool print(struct pt_printer *printer, const uint8_t *raw, uint32_t n,
		  struct pd_text *out)
{
	struct tep_record record = { .data = printer->raw, .size = (int)n };

	memcpy(printer->raw, raw, n);
	memset(printer->raw + n, 0, PADDING);
	if (printer->made.buffer_size > MAX_KEPT) {
		trace_seq_destroy(&printer->made);
		trace_seq_init(&printer->made);
	}
	trace_seq_reset(&printer->made);
	tep_print_event(printer->tep, &printer->made, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&printer->made);
	if (printer->made.state != TRACE_SEQ__GOOD)
		return false;
	*out = (struct pd_text){ printer->made.buffer, printer->made.len };
	return true;
}

bool pt_message(struct pt_printer *printer, const struct pd_tracepoint *tracepoint,
		const uint8_t *raw, uint32_t n, struct pd_text *out)
{
	const struct pt_event *event = find_event(printer, tracepoint);

	if (!event)
		return false;
	if (pt_event_allows(event, raw, n))
		return print(printer, raw, n, out);
	pt_text_clear(&printer->text);
	/* as perf has it, where the print fmt is the reason */
	pt_text_put(&printer->text, event->printable ? "" : "[FAILED TO PARSE]");
	pt_fields_print(&printer->text, tracepoint, raw, n);
	*out = (struct pd_text){ printer->text.p, printer->text.n };
	return !printer->text.failed;
}

#else

struct pt_printer {
	struct pt_text text;
};

struct pt_printer *pt_printer_create(const struct pd_tracing *tracing, pt_function_fn *function,
				     void *arg)
{
	(void)tracing;
	(void)function;
	(void)arg;
	return calloc(1, sizeof(struct pt_printer));
}

void pt_printer_destroy(struct pt_printer *printer)
{
	if (printer)
		pt_text_deinit(&printer->text);
	free(printer);
}

bool pt_message(struct pt_printer *printer, const struct pd_tracepoint *tracepoint,
		const uint8_t *raw, uint32_t n, struct pd_text *out)
{
	pt_text_clear(&printer->text);
	pt_text_put(&printer->text, "");
	pt_fields_print(&printer->text, tracepoint, raw, n);
	*out = (struct pd_text){ printer->text.p, printer->text.n };
	return !printer->text.failed;
}

#endif
