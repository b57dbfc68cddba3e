#include "event.h"

#ifdef PERFLUA_TRACEEVENT

#include <pthread.h>
#include <stdlib.h>

#include "format.h"

/* Its parser keeps in global variables where it is. */
static pthread_mutex_t parsing = PTHREAD_MUTEX_INITIALIZER;

/* It finds the event of a sample by this field, of which it looks up the place but once. */
static bool has_type(const struct pd_tracepoint *tracepoint)
{
	uint32_t i = pd_tracepoint_find(tracepoint, "common_type", 11);
	const struct pd_tracepoint_field *field = &tracepoint->fields[i];

	return i != PD_NO_ARG && field->common && field->offset == 0 && field->size == 2 &&
	       tracepoint->id <= UINT16_MAX;
}

/* The system is not what it is: that of the tracer itself, ftrace, has formats with a meaning of their own. */
static bool parse(struct tep_handle *tep, const struct pt_text *format)
{
	int failure;

	pthread_mutex_lock(&parsing);
	tep_set_loglevel(TEP_LOG_NONE);
	failure = tep_parse_event(tep, format->p, format->n, "trace");
	pthread_mutex_unlock(&parsing);
	return !failure;
}

/* False: there is no memory. */
static bool prepare(struct pt_event *event, struct tep_handle *tep)
{
	const struct pd_tracepoint *tracepoint = event->tracepoint;
	const struct tep_event *parsed = NULL;
	struct pt_fmt fmt = { 0 };
	struct pt_text format = { 0 };
	bool memory;

	if (has_type(tracepoint) && pt_fmt_read(&fmt, tracepoint) &&
	    pt_format_write(&format, tracepoint, &fmt.text) && parse(tep, &format))
		parsed = tep_find_event(tep, (int)tracepoint->id);
	event->tree.tracepoint = tracepoint;
	event->printable = parsed && pt_tree_check(&event->tree, &fmt, parsed);
	memory = !fmt.text.failed && !format.failed;
	pt_fmt_deinit(&fmt);
	pt_text_deinit(&format);
	return memory;
}

struct pt_event *pt_event_create(struct tep_handle *tep, const struct pd_tracepoint *tracepoint)
{
	struct pt_event *event = calloc(1, sizeof(*event));

	if (!event)
		return NULL;
	event->tracepoint = tracepoint;
	if (!prepare(event, tep)) {
		pt_event_destroy(event);
		return NULL;
	}
	for (uint32_t i = 0; event->printable && i < tracepoint->n_fields; i++) {
		const struct pd_tracepoint_field *field = &tracepoint->fields[i];

		if (field->offset + field->size > event->extent)
			event->extent = field->offset + field->size;
	}
	return event;
}

void pt_event_destroy(struct pt_event *event)
{
	if (!event)
		return;
	pt_tree_deinit(&event->tree);
	free(event);
}

bool pt_event_allows(const struct pt_event *event, const uint8_t *raw, uint32_t n)
{
	const struct pd_tracepoint *tracepoint = event->tracepoint;
	uint32_t at, size;

	if (!event->printable || n < event->extent || n < 2 || n > PT_MAX_RAW ||
	    pd_load16(raw, tracepoint->swap) != tracepoint->id)
		return false;
	for (uint32_t i = tracepoint->n_common; i < tracepoint->n_fields; i++)
		if (!pd_args_place(tracepoint, &tracepoint->fields[i], raw, n, &at, &size))
			return false;
	return pt_tree_allows(&event->tree, &(struct pt_sample){ .tracepoint = tracepoint,
								 .raw = raw,
								 .n = n });
}

#endif
