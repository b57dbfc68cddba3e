/*
 * Spans as evented profiles of speedscope, one for each thread. In a profile calls lie one in
 * another, so spans of a thread that overlap otherwise are put into further profiles.
 * https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources
 */
#include <stdlib.h>

#include "base/vector.h"
#include "perfdata/format/print_scalar.h"
#include "profile.h"

/* A span as it is kept; the order in which spans were added tells equal ones apart. */
struct kept_span {
	uint64_t start, stop, order;
	uint32_t thread, name;
	uint32_t lane; /* number of the profile among those of its thread */
};

struct span_thread {
	int32_t pid, tid; /* PE_NO_ID: not recorded */
	uint32_t comm;	  /* number of its name; PM_NO_STRING: not known */
};

/* The ends of the spans of a profile that are open, outermost first. */
struct lane {
	uint64_t *stops; /* [n] */
	size_t n, room;
};

struct speedscope_spans {
	const struct pe_span_options *options;
	struct pm_string_pool names; /* of spans, by number */
	struct pm_string_pool comms;
	struct pb_set tids;	     /* int32_t, -1 for none */
	struct span_thread *threads; /* [tids.n] */
	size_t threads_room;
	struct kept_span *spans; /* [n] */
	size_t n, room;
	struct lane *lanes; /* of one thread */
	size_t n_lanes, lanes_room;
	uint64_t first, last; /* times */
	struct pb_string name, scratch;
};

static void free_lanes(struct speedscope_spans *w)
{
	for (size_t i = 0; i < w->lanes_room; i++)
		free(w->lanes[i].stops);
	free(w->lanes);
}

static void destroy_speedscope_spans(void *state)
{
	struct speedscope_spans *w = state;

	pm_string_pool_deinit(&w->names);
	pm_string_pool_deinit(&w->comms);
	pb_set_deinit(&w->tids);
	free(w->threads);
	free(w->spans);
	free_lanes(w);
	pb_string_deinit(&w->name);
	pb_string_deinit(&w->scratch);
	free(w);
}

static void *create_speedscope_spans(const struct pe_span_options *options)
{
	struct speedscope_spans *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->options = options;
	w->first = UINT64_MAX;
	pb_set_init(&w->tids, sizeof(int32_t));
	return w;
}

/* Returns the number of the thread of a span; PE_NONE: no memory. */
static uint32_t find_span_thread(struct speedscope_spans *w, const struct pe_span *span)
{
	int32_t tid = span->tid == PE_NO_ID ? -1 : span->tid;
	size_t n = w->tids.n;
	uint32_t number = PE_NONE, comm = PM_NO_STRING;

	if (pb_reserve(w->threads, n, w->threads_room))
		number = pb_set_add(&w->tids, &tid);
	if (number != n)
		return number;
	if (span->comm.p) {
		comm = pm_string_pool_add(&w->comms, span->comm);
		if (comm == PM_NO_STRING)
			return PE_NONE;
	}
	w->threads[number] = (struct span_thread){ span->pid, span->tid, comm };
	return number;
}

static bool add_speedscope_span(void *state, const struct pe_span *span)
{
	struct speedscope_spans *w = state;
	struct kept_span *kept;

	if (!pb_reserve(w->spans, w->n, w->room))
		return false;
	kept = &w->spans[w->n];
	*kept = (struct kept_span){
		.start = span->start,
		.stop = span->stop,
		.order = w->n,
		.thread = find_span_thread(w, span),
		.name = pm_string_pool_add(&w->names, span->name),
	};
	if (kept->thread == PE_NONE || kept->name == PM_NO_STRING)
		return false;
	w->n++;
	w->first = span->start < w->first ? span->start : w->first;
	w->last = span->stop > w->last ? span->stop : w->last;
	return true;
}

#define BY(left, right, member) \
	(((left)->member > (right)->member) - ((left)->member < (right)->member))

/* Compares spans by thread, then so that a span comes before those that lie in it. */
static int compare_starts(const void *left, const void *right)
{
	const struct kept_span *a = left, *b = right;
	int c = BY(a, b, thread);

	c = c ? c : BY(a, b, start);
	c = c ? c : BY(b, a, stop);
	return c ? c : BY(a, b, order);
}

static int compare_lanes(const void *left, const void *right)
{
	const struct kept_span *a = left, *b = right;
	int c = BY(a, b, thread);

	c = c ? c : BY(a, b, lane);
	return c ? c : compare_starts(left, right);
}

/* Adds a span to a lane if it fits. Returns false, and sets *failed without memory, if not. */
static bool add_to_lane(struct lane *lane, const struct kept_span *span, bool *failed)
{
	while (lane->n && lane->stops[lane->n - 1] <= span->start)
		lane->n--;
	if (lane->n && lane->stops[lane->n - 1] < span->stop)
		return false;
	if (!pb_reserve(lane->stops, lane->n, lane->room)) {
		*failed = true;
		return false;
	}
	lane->stops[lane->n++] = span->stop;
	return true;
}

/* Puts each span into the first lane of its thread that it fits. Returns false without memory.
 */
static bool find_lanes(struct speedscope_spans *w)
{
	bool failed = false;

	for (size_t i = 0; i < w->n && !failed; i++) {
		struct kept_span *span = &w->spans[i];

		if (!i || span->thread != span[-1].thread) {
			for (size_t k = 0; k < w->n_lanes; k++)
				w->lanes[k].n = 0;
			w->n_lanes = 0;
		}
		while (span->lane < w->n_lanes &&
		       !add_to_lane(&w->lanes[span->lane], span, &failed) && !failed)
			span->lane++;
		if (span->lane < w->n_lanes)
			continue;
		if (w->n_lanes == w->lanes_room &&
		    !pb_extend(w->lanes, w->lanes_room, 2 * w->n_lanes + 8))
			return false;
		w->n_lanes++;
		add_to_lane(&w->lanes[span->lane], span, &failed);
	}
	return !failed;
}

static void print_event(const struct speedscope_spans *w, char type,
			const struct kept_span *span, bool is_first)
{
	struct pd_print *out = w->options->out;

	pd_print_name(out, is_first ? "{\"type\":\"" : ",\n{\"type\":\"");
	pd_print_char(out, type);
	pd_print_const(out, "\",\"frame\":");
	pd_print_uint(out, span->name);
	pd_print_const(out, ",\"at\":");
	pd_print_uint(out, (type == 'O' ? span->start : span->stop) - w->first);
	pd_print_char(out, '}');
}

/*
 * Prints the events of a profile, whose spans are spans[from … to - 1]. `open` has room for
 * their numbers.
 */
static void print_events(const struct speedscope_spans *w, size_t from, size_t to, size_t *open)
{
	size_t n = 0;

	for (size_t i = from; i <= to; i++) {
		uint64_t until = i < to ? w->spans[i].start : UINT64_MAX;

		while (n && w->spans[open[n - 1]].stop <= until)
			print_event(w, 'C', &w->spans[open[--n]], false);
		if (i == to)
			return;
		print_event(w, 'O', &w->spans[i], i == from);
		open[n++] = i;
	}
}

/* Sets w->name to that of a profile. */
static void name_profile(struct speedscope_spans *w, const struct kept_span *span)
{
	const struct span_thread *thread = &w->threads[span->thread];

	pb_string_clear(&w->name);
	if (thread->tid == PE_NO_ID) {
		pb_string_put(&w->name, "spans");
	} else {
		struct pd_text comm = { PM_UNKNOWN, sizeof(PM_UNKNOWN) - 1 };

		if (thread->comm != PM_NO_STRING)
			comm = w->comms.texts[thread->comm];
		pb_string_add(&w->name, comm.p, comm.n);
		if (thread->pid == PE_NO_ID || thread->pid == thread->tid)
			pb_string_format(&w->name, " (pid %d)", thread->tid);
		else
			pb_string_format(&w->name, " (pid %d, tid %d)", thread->pid,
					 thread->tid);
	}
	if (span->lane)
		pb_string_format(&w->name, ", beside %u", span->lane);
}

static void print_lane(struct speedscope_spans *w, size_t from, size_t to, size_t *open)
{
	struct pd_print *out = w->options->out;

	name_profile(w, &w->spans[from]);
	pd_print_name(out, from ? ",\n" : "");
	pd_print_const(out, "{\"type\":\"evented\",\"name\":");
	pe_span_print_text(out, &w->scratch, (struct pd_text){ w->name.p, w->name.n });
	pd_print_const(out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":");
	pd_print_uint(out, w->last - w->first);
	pd_print_const(out, ",\"events\":[\n");
	print_events(w, from, to, open);
	pd_print_const(out, "\n]}");
}

static void print_all(struct speedscope_spans *w, size_t *open)
{
	struct pd_print *out = w->options->out;

	pe_speedscope_head(out, w->options->title);
	pd_print_const(out, ",\n\"shared\":{\"frames\":[");
	for (size_t i = 0; i < w->names.n; i++) {
		pd_print_name(out, i ? ",{\"name\":" : "{\"name\":");
		pe_span_print_text(out, &w->scratch, w->names.texts[i]);
		pd_print_char(out, '}');
	}
	pd_print_const(out, "]},\n\"profiles\":[\n");
	for (size_t from = 0, to = 0; from < w->n; from = to) {
		while (to < w->n && w->spans[to].thread == w->spans[from].thread &&
		       w->spans[to].lane == w->spans[from].lane)
			to++;
		print_lane(w, from, to, open);
	}
	pd_print_const(out, "\n]}\n");
	pd_print_flush(out);
}

/* Threads are sorted by their ids: numbers[i] becomes the place of thread i. */
struct numbered_tid {
	int32_t tid;
	uint32_t number;
};

static int compare_tids(const void *left, const void *right)
{
	const struct numbered_tid *a = left, *b = right;

	return BY(a, b, tid);
}

/* Renumbers threads in the order of their ids. Returns false without memory. */
static bool sort_threads(struct speedscope_spans *w)
{
	size_t n = w->tids.n;
	struct numbered_tid *tids = malloc((n + 1) * sizeof(*tids));
	struct span_thread *threads = malloc((n + 1) * sizeof(*threads));
	uint32_t *places = malloc((n + 1) * sizeof(*places));
	bool ok = tids && threads && places;

	for (uint32_t i = 0; ok && i < n; i++)
		tids[i] = (struct numbered_tid){ *(const int32_t *)pb_set_at(&w->tids, i), i };
	if (ok)
		qsort(tids, n, sizeof(*tids), compare_tids);
	for (uint32_t i = 0; ok && i < n; i++) {
		threads[i] = w->threads[tids[i].number];
		places[tids[i].number] = i;
	}
	for (size_t i = 0; ok && i < w->n; i++)
		w->spans[i].thread = places[w->spans[i].thread];
	free(tids);
	free(places);
	if (!ok) {
		free(threads);
		return false;
	}
	free(w->threads);
	w->threads = threads;
	return true;
}

static bool finish_speedscope_spans(void *state, uint64_t *size)
{
	struct speedscope_spans *w = state;
	size_t *open = malloc((w->n + 1) * sizeof(*open));
	bool ok = open && sort_threads(w);

	(void)size;
	if (ok && w->n)
		qsort(w->spans, w->n, sizeof(*w->spans), compare_starts);
	ok = ok && find_lanes(w);
	if (ok && w->n)
		qsort(w->spans, w->n, sizeof(*w->spans), compare_lanes);
	if (ok)
		print_all(w, open);
	free(open);
	return ok && !w->name.failed && !w->scratch.failed;
}

const struct pe_span_writer pe_speedscope_spans = {
	.format = "speedscope",
	.span_bytes = 100,
	.create = create_speedscope_spans,
	.add = add_speedscope_span,
	.finish = finish_speedscope_spans,
	.destroy = destroy_speedscope_spans,
};
