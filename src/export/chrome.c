/*
 * Samples as instants of Chrome's trace events, with call chains as stack frames; names of
 * threads, and what is drawn of other samples, are written in Lua.
 * "Trace Event Format": https://chromium.googlesource.com/catapult, tracing/docs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vector.h"
#include "perfdata/format/print_scalar.h"
#include "profile.h"
#include "stack_order.h"

/* The text between events and frames of PE_CHROME. */
#define FRAMES_OF_CHROME "\n],\"displayTimeUnit\":\"ns\",\"stackFrames\":{"

struct chrome {
	const struct pe_profile *profile;
	struct pd_print *out;
	struct pe_stack_order *stacks;
};

static void print_text(const struct chrome *w, uint32_t number)
{
	struct pd_text text = pe_text(w->profile, number);

	pd_print_json_string(w->out, text.p, text.n);
}

/* Prints a time as microseconds with three digits after the point. */
static void print_microseconds(struct pd_print *out, uint64_t ns)
{
	char digits[] = { '.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10),
			  (char)('0' + ns % 10) };

	pd_print_uint(out, ns / 1000);
	pd_print_bytes(out, digits, sizeof(digits));
}

/* Returns true if a name stands for what is not known: it is a binary's in brackets. */
static bool is_unnamed(struct pd_text name)
{
	return name.n && name.p[0] == '[';
}

/*
 * Prints the callee of an entry, and what it weighs. Where events were too many, a function has
 * its binary in the frame only.
 */
static void print_args(const struct chrome *w, const struct pe_entry *entry)
{
	const struct pe_profile *p = w->profile;
	size_t n;
	const struct pe_frame *frame = &p->frames[*pe_entry_frames(p, entry, &n)];
	const struct pe_line *line = pe_line_at(p, p->frame_lines[frame->lines_at]);
	uint32_t function = pe_function_at(p, line->function)->name;
	uint32_t binary = pe_binary_at(p, frame->binary)->name;
	bool has_binary = (uint32_t)(frame - p->frames) != p->unknown;

	pd_print_const(w->out, "\"args\":{");
	if (!is_unnamed(pe_text(p, function))) {
		pd_print_const(w->out, "\"symbol\":");
		print_text(w, function);
		pd_print_char(w->out, ',');
		has_binary = has_binary && !p->is_coarse;
	}
	if (has_binary) {
		pd_print_const(w->out, "\"dso\":");
		print_text(w, binary);
		pd_print_char(w->out, ',');
	}
	if (entry->count != 1) {
		pd_print_const(w->out, "\"samples\":");
		pd_print_uint(w->out, entry->count);
		pd_print_char(w->out, ',');
	}
	pd_print_const(w->out, "\"period\":");
	pd_print_uint(w->out, entry->weight);
	pd_print_char(w->out, '}');
}

/* Prints an entry after other events. Returns false without memory. */
static bool print_instant(const struct chrome *w, const struct pe_entry *entry)
{
	const struct pe_profile *p = w->profile;
	const struct pe_thread *thread = pe_thread_at(p, entry->thread);
	int32_t pid = thread->pid == PE_NO_ID ? 0 : thread->pid;
	int32_t tid = thread->tid == PE_NO_ID ? 0 : thread->tid;
	uint32_t stack = pe_stack_order_find(w->stacks, entry);

	if (!tid) { /* what happens while a processor idles is its own */
		pid = 0;
		tid = entry->cpu == PE_NONE ? 0 : (int32_t)entry->cpu;
	}
	pd_print_const(w->out, ",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":");
	pd_print_int(w->out, pid);
	pd_print_const(w->out, ",\"tid\":");
	pd_print_int(w->out, tid);
	pd_print_const(w->out, ",\"ts\":");
	/* of a time that was made coarser the first one may be before the start */
	print_microseconds(w->out,
			   entry->time > p->asked->start ? entry->time - p->asked->start : 0);
	pd_print_const(w->out, ",\"name\":");
	print_text(w, p->events[entry->event].name);
	pd_print_char(w->out, ',');
	print_args(w, entry);
	pd_print_const(w->out, ",\"sf\":\"s");
	pd_print_uint(w->out, stack);
	pd_print_const(w->out, "\"}");
	return stack != PE_NONE;
}

static void print_frames(const struct chrome *w)
{
	const struct pe_profile *p = w->profile;
	size_t n;
	const struct pq_call_node *calls = pe_stack_order_calls(w->stacks, &n);

	for (size_t i = 0; i < n; i++) {
		const struct pe_line *line = pe_line_at(p, calls[i].frame);
		const struct pe_function *function = pe_function_at(p, line->function);

		pd_print_name(w->out, i ? ",\n\"s" : "\n\"s");
		pd_print_uint(w->out, i);
		pd_print_const(w->out, "\":{\"name\":");
		print_text(w, function->name);
		pd_print_const(w->out, ",\"category\":");
		print_text(w, pe_binary_at(p, function->binary)->name);
		if (calls[i].caller != PE_NONE) {
			pd_print_const(w->out, ",\"parent\":\"s");
			pd_print_uint(w->out, calls[i].caller);
			pd_print_char(w->out, '"');
		}
		pd_print_char(w->out, '}');
	}
}

bool pe_chrome_unify(struct pe_profile *p)
{
	struct pe_stack_order *stacks = pe_stack_order_create(p);
	/* [stacks]: the first call chain of those functions, plus 1; 0: none yet */
	uint32_t *chains = NULL;
	size_t n_chains = 0, n;
	bool ok = stacks;

	for (size_t i = 0; ok && i < p->n_entries; i++)
		ok = pe_stack_order_find(stacks, &p->entries[i]) != PE_NONE;
	if (ok) {
		pe_stack_order_calls(stacks, &n);
		ok = pb_extend(chains, n_chains, n + 1);
	}
	for (size_t i = 0; ok && i < p->n_entries; i++) {
		struct pe_entry *entry = &p->entries[i];
		uint32_t number = pe_stack_order_find(stacks, entry);
		int32_t tid;

		tid = pe_thread_at(p, entry->thread)->tid;
		if (tid && tid != PE_NO_ID)
			entry->cpu = PE_NONE;
		if (entry->stack == PE_NONE)
			continue;
		if (!chains[number])
			chains[number] = entry->stack + 1;
		entry->stack = chains[number] - 1;
	}
	free(chains);
	pe_stack_order_destroy(stacks);
	return ok;
}

bool pe_write_chrome(const struct pe_profile *p, const char *title, struct pd_print *out)
{
	struct chrome w = { .profile = p, .out = out, .stacks = pe_stack_order_create(p) };
	bool ok = w.stacks;

	(void)title; /* the format has no room for it */
	for (size_t i = 0; ok && i < p->n_entries; i++)
		ok = print_instant(&w, &p->entries[i]);
	if (ok) {
		pd_print_const(out, FRAMES_OF_CHROME);
		print_frames(&w);
	}
	pe_stack_order_destroy(w.stacks);
	return ok;
}

/*
 * Spans as Chrome's trace events, written as they come. Spans may overlap, so each is a track
 * of its own: an asynchronous event.
 * "Trace Event Format": https://chromium.googlesource.com/catapult, tracing/docs.
 */

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
	print_microseconds(out, time < start ? start - time : time - start);
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
	pd_print_const(out, FRAMES_OF_CHROME "},\"otherData\":{\"exporter\":\"perflua\","
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
