/*
 * Spans as Chrome's trace events, written as they come. Spans may overlap, so each is a track
 * of its own: an asynchronous event.
 * "Trace Event Format": https://chromium.googlesource.com/catapult, tracing/docs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vector.h"
#include "chrome.h"
#include "perfdata/format/print_scalar.h"
#include "profile.h"

enum kind {
	PLACE, /* of a process among others */
	PROCESS,
	THREAD,
};

/* A process or thread that has a place, or a name. */
struct named {
	int32_t kind, pid, tid;
};

struct chrome_spans {
	const struct pe_span_options *options;
	struct pm_string_pool names;
	struct pb_set named; /* of struct named */
	uint32_t *name_of;   /* [named.n]: number of the name that was written last */
	size_t room;
	struct pb_string scratch;
	uint64_t n_spans;
	bool has_events; /* one was written */
};

static void destroy_chrome_spans(void *state)
{
	struct chrome_spans *w = state;

	pm_string_pool_deinit(&w->names);
	pb_set_deinit(&w->named);
	free(w->name_of);
	pb_string_deinit(&w->scratch);
	free(w);
}

static void *create_chrome_spans(const struct pe_span_options *options)
{
	struct chrome_spans *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->options = options;
	pb_set_init(&w->named, sizeof(struct named));
	pd_print_const(options->out, "{\"traceEvents\":[\n");
	return w;
}

/*
 * Notes that something is called `name` from now on. Sets *is_new to whether it was not called
 * so before. Returns false without memory.
 */
static bool note_name(struct chrome_spans *w, const struct named *named, struct pd_text name,
		      bool *is_new)
{
	size_t n = w->named.n;
	uint32_t number = PE_NONE, text = pm_string_pool_add(&w->names, name);

	if (text != PM_NO_STRING && pb_reserve(w->name_of, n, w->room))
		number = pb_set_add(&w->named, named);
	if (number == PE_NONE)
		return false;
	*is_new = number == n || w->name_of[number] != text;
	w->name_of[number] = text;
	return true;
}

/* Begins an event: prints its phase. */
static void begin_event(struct chrome_spans *w, char phase)
{
	struct pd_print *out = w->options->out;

	pd_print_name(out, w->has_events ? ",\n{\"ph\":\"" : "{\"ph\":\"");
	pd_print_char(out, phase);
	w->has_events = true;
}

static void print_ids(struct chrome_spans *w, int32_t pid, int32_t tid)
{
	struct pd_print *out = w->options->out;

	pd_print_const(out, ",\"pid\":");
	pd_print_int(out, pid);
	pd_print_const(out, ",\"tid\":");
	pd_print_int(out, tid);
}

/* Names a process or thread, unless it is called so already. Returns false without memory. */
static bool write_name(struct chrome_spans *w, const struct named *named, struct pd_text name)
{
	struct pd_print *out = w->options->out;
	bool is_new;

	if (!note_name(w, named, name, &is_new))
		return false;
	if (!is_new)
		return true;
	begin_event(w, 'M');
	pd_print_name(out, named->kind == PROCESS ? "\",\"name\":\"process_name\"" :
						    "\",\"name\":\"thread_name\"");
	print_ids(w, named->pid, named->tid);
	pd_print_const(out, ",\"args\":{\"name\":");
	pe_span_print_text(out, &w->scratch, name);
	pd_print_const(out, "}}");
	return true;
}

/*
 * Shows a process above others; those whose start was not recorded, and so their name, come
 * last. Returns false without memory.
 */
static bool write_place(struct chrome_spans *w, int32_t pid, bool has_name)
{
	struct pd_print *out = w->options->out;
	bool is_new;

	if (!note_name(w, &(struct named){ PLACE, pid, pid }, (struct pd_text){ "", 0 },
		       &is_new))
		return false;
	if (!is_new)
		return true;
	begin_event(w, 'M');
	pd_print_const(out, "\",\"name\":\"process_sort_index\",\"pid\":");
	pd_print_int(out, pid);
	pd_print_name(out, has_name ? ",\"args\":{\"sort_index\":1}}" :
				      ",\"args\":{\"sort_index\":2}}");
	return true;
}

static struct pd_text name_or_unknown(struct pd_text name)
{
	return name.p ? name : (struct pd_text){ PM_UNKNOWN, sizeof(PM_UNKNOWN) - 1 };
}

/* Names the thread of a span and its process, as at its start. Returns false without memory. */
static bool write_thread(struct chrome_spans *w, const struct pe_span *span)
{
	struct pm_incarnation thread = { .pid = span->tid }, leader;
	struct pd_text comm = pe_span_process(w->options, span->tid, span->start, &thread);
	int32_t pid = thread.pid;
	struct pd_text process = comm;

	if (pid != span->tid)
		process = pe_span_process(w->options, pid, span->start, &leader);
	return write_place(w, pid, process.p) &&
	       write_name(w, &(struct named){ PROCESS, pid, pid }, name_or_unknown(process)) &&
	       write_name(w, &(struct named){ THREAD, pid, span->tid }, name_or_unknown(comm));
}

static void print_stamp(struct chrome_spans *w, uint64_t time)
{
	struct pd_print *out = w->options->out;
	uint64_t start = w->options->start;

	if (time < start)
		pd_print_char(out, '-');
	pe_chrome_time(out, time < start ? start - time : time - start);
}

static bool add_chrome_span(void *state, const struct pe_span *span)
{
	struct chrome_spans *w = state;
	struct pd_print *out = w->options->out;
	int32_t tid = span->tid == PE_NO_ID ? 0 : span->tid;

	if (tid && !write_thread(w, span))
		return false;
	w->n_spans++;
	for (int i = 0; i < 2; i++) {
		begin_event(w, i ? 'e' : 'b');
		pd_print_const(out, "\",\"cat\":\"span\",\"id\":");
		pd_print_uint(out, w->n_spans);
		pd_print_const(out, ",\"name\":");
		pe_span_print_text(out, &w->scratch, span->name);
		print_ids(w, span->pid == PE_NO_ID ? tid : span->pid, tid);
		pd_print_const(out, ",\"ts\":");
		print_stamp(w, i ? span->stop : span->start);
		pd_print_char(out, '}');
	}
	return true;
}

static bool finish_chrome_spans(void *state, uint64_t *size)
{
	struct chrome_spans *w = state;
	struct pd_print *out = w->options->out;
	uint64_t start = w->options->start;
	char seconds[40];

	(void)size;
	pd_print_const(out, PE_CHROME_FRAMES "},\"otherData\":{\"exporter\":\"perflua\","
					     "\"start\":\"");
	snprintf(seconds, sizeof(seconds), "%" PRIu64 ".%06" PRIu64 "\"}}\n",
		 start / 1000000000, start % 1000000000 / 1000);
	pd_print_name(out, seconds);
	pd_print_flush(out);
	return !w->scratch.failed;
}

const struct pe_span_writer pe_chrome_spans = {
	.format = "chrome",
	.span_bytes = 200,
	.names = 2,
	.create = create_chrome_spans,
	.add = add_chrome_span,
	.finish = finish_chrome_spans,
	.destroy = destroy_chrome_spans,
};
