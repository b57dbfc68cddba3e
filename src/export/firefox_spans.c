/*
 * Spans as markers of the Firefox Profiler, in the profile that firefox.c writes of samples: a
 * thread for each that has spans.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "firefox.h"
#include "gzip.h"

struct span_marker {
	uint64_t start, stop;
	uint32_t name;
};

struct span_thread {
	int32_t pid, tid;	     /* tid: -1 where it was not recorded */
	uint32_t comm;		     /* text of the thread; PE_NONE: not known */
	uint32_t process;	     /* likewise, of its process; set at the end */
	struct span_marker *markers; /* [n] */
	size_t n, room;
};

struct firefox_spans {
	const struct pe_span_options *options;
	struct pe_profile profile;   /* has nothing but texts */
	uint32_t no_rows;	     /* the rows of its frames: 0 */
	struct pb_set tids;	     /* int32_t */
	struct span_thread *threads; /* [tids.n … n_threads - 1] have no spans */
	size_t n_threads;
	uint64_t start;
};

static void destroy_firefox_spans(void *state)
{
	struct firefox_spans *spans = state;

	for (size_t i = 0; i < spans->n_threads; i++)
		free(spans->threads[i].markers);
	free(spans->threads);
	pb_set_deinit(&spans->tids);
	pm_string_pool_deinit(&spans->profile.texts);
	pb_string_deinit(&spans->profile.scratch);
	free(spans);
}

static void *create_firefox_spans(const struct pe_span_options *options)
{
	static const struct pe_asked asked;
	struct firefox_spans *spans = calloc(1, sizeof(*spans));

	if (!spans)
		return NULL;
	spans->options = options;
	spans->start = UINT64_MAX;
	spans->profile.asked = &asked;
	spans->profile.rows_at = &spans->no_rows;
	pb_secret_make(&spans->profile.texts.secret);
	pb_set_init(&spans->tids, sizeof(int32_t));
	return spans;
}

static bool add_firefox_span(void *state, const struct pe_span *span)
{
	struct firefox_spans *spans = state;
	int32_t tid = span->tid == PE_NO_ID ? -1 : span->tid;
	uint32_t n = (uint32_t)spans->tids.n, number = pb_set_add(&spans->tids, &tid);
	struct span_thread *thread;
	uint32_t name;

	if (number == PE_NONE || (number >= spans->n_threads &&
				  !pb_extend(spans->threads, spans->n_threads, 2 * number + 8)))
		return false;
	thread = &spans->threads[number];
	if (number == n) {
		thread->pid = span->pid;
		thread->tid = tid;
		thread->comm = PE_NONE;
		if (span->comm.p)
			thread->comm = pe_text_add(&spans->profile, span->comm);
		if (span->comm.p && thread->comm == PE_NONE)
			return false;
	}
	name = pe_text_add(&spans->profile, span->name);
	if (name == PE_NONE || !pb_reserve(thread->markers, thread->n, thread->room))
		return false;
	thread->markers[thread->n++] = (struct span_marker){ span->start, span->stop, name };
	spans->start = span->start < spans->start ? span->start : spans->start;
	return true;
}

static void print_span_markers(const struct firefox_spans *spans,
			       const struct span_thread *thread, struct pd_print *out)
{
	static const char *const names[] = { "name",  "startTime", "endTime",
					     "phase", "category",  "data" };
	/* the phase of a marker that has a start and an end; the first category */
	static const char *const constants[] = { "1", "0", "{\"type\":\"span\"}" };

	pd_print_const(out, ",\"markers\":{\"length\":");
	pd_print_uint(out, thread->n);
	for (size_t c = 0; c < sizeof(names) / sizeof(names[0]); c++) {
		pe_print_key(out, names[c]);
		pd_print_char(out, '[');
		for (size_t i = 0; i < thread->n; i++) {
			const struct span_marker *marker = &thread->markers[i];

			if (i)
				pd_print_char(out, ',');
			if (c == 0)
				pd_print_uint(out, marker->name);
			else if (c < 3)
				pe_print_ms(out, (c == 1 ? marker->start : marker->stop) -
							 spans->start);
			else
				pd_print_name(out, constants[c - 3]);
		}
		pd_print_char(out, ']');
	}
	pd_print_char(out, '}');
}

static struct pd_text span_name_text(const struct firefox_spans *spans, uint32_t text)
{
	return text == PE_NONE ? (struct pd_text){ PM_UNKNOWN, sizeof(PM_UNKNOWN) - 1 } :
				 pe_text(&spans->profile, text);
}

static void print_span_thread(const struct firefox_spans *spans,
			      const struct span_thread *thread, struct pd_print *out)
{
	pe_firefox_identity(out, &(struct firefox_identity){
					 .name = span_name_text(spans, thread->comm),
					 .process = span_name_text(spans, thread->process),
					 .pid = thread->pid,
					 .tid = thread->tid,
					 .is_main = thread->pid == thread->tid,
				 });
	pd_print_const(out, ",\"samples\":{\"length\":0,\"weightType\":\"samples\","
			    "\"stack\":[],\"timeDeltas\":[],\"weight\":[]}");
	print_span_markers(spans, thread, out);
	pd_print_char(out, '}');
}

static int compare_span_threads(const void *left, const void *right)
{
	const struct span_thread *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* Puts the threads in order, and finds the names of their processes. */
static bool complete_span_threads(struct firefox_spans *spans)
{
	if (spans->tids.n)
		qsort(spans->threads, spans->tids.n, sizeof(*spans->threads),
		      compare_span_threads);
	for (size_t i = 0; i < spans->tids.n; i++) {
		struct span_thread *thread = &spans->threads[i];
		struct pm_incarnation main_thread;
		struct pd_text name = { NULL, 0 };

		thread->process = thread->comm;
		if (thread->pid != PE_NO_ID)
			name = pe_span_process(spans->options, thread->pid,
					       thread->markers[0].start, &main_thread);
		if (name.p) {
			thread->process = pe_text_add(&spans->profile, name);
			if (thread->process == PE_NONE)
				return false;
		}
	}
	return true;
}

static void print_span_profile(const struct firefox_spans *spans, struct pd_print *out)
{
	struct firefox w = {
		.profile = &spans->profile,
		.out = out,
		.start = spans->tids.n ? spans->start : 0,
	};

	pe_firefox_meta(&w, spans->options->title, false);
	pd_print_char(out, '}');
	pe_firefox_tables(&w);
	pd_print_const(out, ",\"counters\":[],\"threads\":[\n");
	for (size_t i = 0; i < spans->tids.n; i++) {
		pd_print_name(out, i ? ",\n" : "");
		print_span_thread(spans, &spans->threads[i], out);
	}
	pd_print_const(out, "\n]}\n");
	pd_print_flush(out);
}

static bool finish_firefox_spans(void *state, uint64_t *size)
{
	struct firefox_spans *spans = state;
	const struct pe_span_options *options = spans->options;
	struct pe_gzip *gzip = malloc(sizeof(*gzip));
	bool ok = gzip && complete_span_threads(spans);

	if (ok) {
		pe_gzip_init(gzip, options->most, options->threads, options->out);
		print_span_profile(spans, &gzip->in);
		ok = pe_gzip_finish(gzip);
		*size = gzip->size;
		pe_gzip_deinit(gzip);
		pd_print_flush(options->out);
	}
	free(gzip);
	return ok;
}

const struct pe_span_writer pe_firefox_spans = {
	.format = "firefox",
	.span_bytes = 64,
	.create = create_firefox_spans,
	.add = add_firefox_span,
	.finish = finish_firefox_spans,
	.destroy = destroy_firefox_spans,
};
