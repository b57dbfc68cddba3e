/*
 * The processed format of the Firefox Profiler, version 60: threads with their samples and
 * markers, counters. A thread has a row for each event; samples of tracepoints are markers,
 * too. See firefox_tables.c.
 */
#include <stdlib.h>

#include "base/string_builder.h"
#include "firefox.h"

#define VERSION "60"

/* The order of enum in firefox_tables.c. Each needs a subcategory for all that is its own. */
static const char categories[] =
	"[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\"]}]";

static const char marker_schema[] =
	"[{\"name\":\"tracepoint\",\"display\":[\"marker-chart\",\"marker-table\"],"
	"\"tableLabel\":\"{marker.name}\",\"fields\":["
	"{\"key\":\"count\",\"label\":\"Samples\",\"format\":\"integer\"},"
	"{\"key\":\"weight\",\"label\":\"Weight\",\"format\":\"integer\"}]}]";

/* Entries by_thread[from … to - 1]. */
struct firefox_run {
	size_t from, to;
};

static const struct pe_entry *entry_at(const struct firefox *w, size_t i)
{
	return &w->profile->entries[w->by_thread[i]];
}

/* Returns the entries from `at` on of one thread and event. */
static struct firefox_run find_run(const struct firefox *w, size_t at)
{
	struct firefox_run run = { at, at };
	const struct pe_entry *first = entry_at(w, at);

	while (run.to < w->profile->n_entries && entry_at(w, run.to)->thread == first->thread &&
	       entry_at(w, run.to)->event == first->event)
		run.to++;
	return run;
}

enum sample_column {
	STACK,
	TIME,
	WEIGHT,
	USED, /* processor time, in ns */
};

static void print_samples(const struct firefox *w, const char *name, enum sample_column column,
			  struct firefox_run run, bool is_time)
{
	uint64_t before = w->start;

	pe_print_key(w->out, name);
	pd_print_char(w->out, '[');
	for (size_t i = run.from; i < run.to; i++) {
		const struct pe_entry *entry = entry_at(w, i);

		if (i > run.from)
			pd_print_char(w->out, ',');
		if (column == STACK)
			pd_print_uint(w->out, w->of_entries[w->by_thread[i]]);
		else if (column == TIME)
			pe_print_ms(w->out, entry->time - before);
		else if (is_time && column == WEIGHT)
			pe_print_ms(w->out, entry->weight);
		else
			pd_print_uint(w->out, entry->weight);
		before = entry->time;
	}
	pd_print_char(w->out, ']');
}

static void print_samples_table(const struct firefox *w, struct firefox_run run)
{
	bool is_time = w->profile->events[entry_at(w, run.from)->event].is_time;

	pd_print_const(w->out, ",\"samples\":{\"length\":");
	pd_print_uint(w->out, run.to - run.from);
	print_samples(w, "stack", STACK, run, false);
	print_samples(w, "timeDeltas", TIME, run, false);
	print_samples(w, "weight", WEIGHT, run, is_time);
	if (is_time)
		print_samples(w, "threadCPUDelta", USED, run, is_time);
	pe_print_key(w->out, "weightType");
	pd_print_name(w->out, is_time ? "\"tracing-ms\"}" : "\"samples\"}");
}

/* Prints the parts of the marker of entry `i`. */

static void print_marker_name(const struct firefox *w, size_t i)
{
	pd_print_uint(w->out, w->profile->events[entry_at(w, i)->event].name);
}

static void print_marker_time(const struct firefox *w, size_t i)
{
	pe_print_ms(w->out, entry_at(w, i)->time - w->start);
}

static void print_marker_end(const struct firefox *w, size_t i)
{
	(void)i;
	pd_print_const(w->out, "null");
}

/* The phase of an instant, and the first category. */
static void print_marker_zero(const struct firefox *w, size_t i)
{
	(void)i;
	pd_print_char(w->out, '0');
}

static void print_marker_data(const struct firefox *w, size_t i)
{
	const struct pe_entry *entry = entry_at(w, i);

	pd_print_const(w->out, "{\"type\":\"tracepoint\",\"count\":");
	pd_print_uint(w->out, entry->count);
	pe_print_key(w->out, "weight");
	pd_print_uint(w->out, entry->weight);
	pd_print_const(w->out, ",\"cause\":{\"time\":");
	print_marker_time(w, i);
	pe_print_key(w->out, "stack");
	pd_print_uint(w->out, w->of_entries[w->by_thread[i]]);
	pd_print_const(w->out, "}}");
}

/* Prints the markers of a thread, whose entries begin at `from`. */
static void print_markers(const struct firefox *w, size_t from, size_t to)
{
	static const struct {
		const char *name;
		void (*print)(const struct firefox *w, size_t i);
	} columns[] = {
		{ "name", print_marker_name },	   { "startTime", print_marker_time },
		{ "endTime", print_marker_end },   { "phase", print_marker_zero },
		{ "category", print_marker_zero }, { "data", print_marker_data },
	};
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += w->profile->events[entry_at(w, i)->event].is_tracepoint;
	pd_print_const(w->out, ",\"markers\":{\"length\":");
	pd_print_uint(w->out, n);
	for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
		char separator = '[';

		pe_print_key(w->out, columns[c].name);
		for (size_t i = from; i < to; i++) {
			if (!w->profile->events[entry_at(w, i)->event].is_tracepoint)
				continue;
			pd_print_char(w->out, separator);
			columns[c].print(w, i);
			separator = ',';
		}
		pd_print_name(w->out, separator == '[' ? "[]" : "]");
	}
	pd_print_char(w->out, '}');
}

static void print_comm(const struct firefox *w, const struct pe_thread *thread)
{
	if (thread->comm == PE_NONE)
		pd_print_const(w->out, "\"" PM_UNKNOWN "\"");
	else
		pe_print_text(w, thread->comm);
}

/* Returns the thread that a process is named after: its main thread, else this one. */
static const struct pe_thread *find_leader(const struct pe_profile *p, uint32_t number)
{
	const struct pe_thread *thread = pe_thread_at(p, number);

	/* threads are in the order of pid and tid */
	for (uint32_t i = number; i-- && pe_thread_at(p, i)->pid == thread->pid;)
		if (pe_thread_at(p, i)->tid == thread->pid)
			return pe_thread_at(p, i);
	return thread;
}

/* Prints what a thread is; `event` is NULL if all have one row. */
static void print_identity(const struct firefox *w, uint32_t number,
			   const struct pe_event *event, struct pb_string *name)
{
	const struct pe_profile *p = w->profile;
	const struct pe_thread *thread = pe_thread_at(p, number);
	struct pd_text comm = { PM_UNKNOWN, sizeof(PM_UNKNOWN) - 1 };
	int32_t tid = thread->tid == PE_NO_ID ? (int32_t)number : thread->tid;

	if (thread->comm != PE_NONE)
		comm = pe_text(p, thread->comm);
	pb_string_clear(name);
	pb_string_add(name, comm.p, comm.n);
	if (event) {
		pb_string_put(name, ", ");
		pb_string_put(name, pe_text(p, event->name).p);
	}
	pd_print_const(w->out, "{\"name\":");
	pd_print_json_string(w->out, name->p, name->n);
	pe_print_key(w->out, "isMainThread");
	pd_print_name(w->out, thread->pid == thread->tid ? "true" : "false");
	pe_print_key(w->out, "processName");
	print_comm(w, find_leader(p, number));
	pd_print_const(w->out, ",\"processType\":\"default\",\"processStartupTime\":0,"
			       "\"processShutdownTime\":null,\"registerTime\":0,"
			       "\"unregisterTime\":null,\"pausedRanges\":[],"
			       "\"showMarkersInTimeline\":true,\"pid\":\"");
	pd_print_int(w->out, thread->pid == PE_NO_ID ? 0 : thread->pid);
	pd_print_const(w->out, "\",\"tid\":");
	pd_print_int(w->out, tid);
}

/* Prints a row with the samples of `run`; its thread's markers are among those of `all`. */
static void print_thread(const struct firefox *w, struct firefox_run run,
			 struct firefox_run all, bool has_markers, struct pb_string *name)
{
	const struct pe_profile *p = w->profile;
	const struct pe_entry *first = entry_at(w, all.from);

	if (all.from || !has_markers)
		pd_print_const(w->out, ",\n");
	print_identity(w, first->thread,
		       p->n_events > 1 ? &p->events[entry_at(w, run.from)->event] : NULL, name);
	print_samples_table(w, run);
	print_markers(w, all.from, has_markers ? all.to : all.from);
	pd_print_char(w->out, '}');
}

/*
 * Prints the rows of the thread whose entries begin at `from`: one for each event, the first
 * with the markers. Returns the position behind its entries.
 */
static size_t print_rows(const struct firefox *w, size_t from, struct pb_string *name)
{
	struct firefox_run all = { from, from }, run;

	while (all.to < w->profile->n_entries &&
	       entry_at(w, all.to)->thread == entry_at(w, from)->thread)
		all.to++;
	for (size_t at = from; at < all.to; at = run.to) {
		run = find_run(w, at);
		print_thread(w, run, all, at == from, name);
	}
	return all.to;
}

static void print_meta(const struct firefox *w, const char *title)
{
	pd_print_const(w->out, "{\"meta\":{\"preprocessedProfileVersion\":" VERSION
			       ",\"version\":31,\"product\":");
	pd_print_json_string(w->out, title, strlen(title));
	pd_print_const(w->out,
		       ",\"importedFrom\":\"perflua\",\"processType\":0,\"stackwalk\":1,"
		       "\"interval\":");
	/* as far apart as entries of one thread are at least, as far as that is known */
	pe_print_ms(w->out,
		    w->profile->n_entries ? w->spent / w->profile->n_entries + 1000 : 1000000);
	pd_print_const(w->out, ",\"startTime\":");
	pe_print_ms(w->out, w->start);
	pd_print_const(w->out, ",\"symbolicated\":true,\"debug\":false,"
			       "\"usesOnlyOneStackType\":true,"
			       "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
			       "\"threadCPUDelta\":\"ns\"},"
			       "\"sourceCodeIsNotOnSearchfox\":true,"
			       "\"extensions\":{\"length\":0,\"id\":[],\"name\":[],"
			       "\"baseURL\":[]},\"categories\":");
	pd_print_bytes(w->out, categories, sizeof(categories) - 1);
	pe_print_key(w->out, "markerSchema");
	pd_print_bytes(w->out, marker_schema, sizeof(marker_schema) - 1);
	pd_print_char(w->out, '}');
}

#define N_BUCKETS 512 /* equal parts of the time, of which a counter has sums */

/*
 * Prints what an event weighs over time, in all processes together. Counters belong to a
 * process: here the first one.
 */
static void print_counter(const struct firefox *w, uint32_t event, const uint64_t *sums)
{
	const struct pe_profile *p = w->profile;
	const struct pe_thread *thread = pe_thread_at(p, entry_at(w, 0)->thread);
	uint64_t width = w->spent / N_BUCKETS + 1;

	pd_print_const(w->out, "{\"name\":");
	pe_print_text(w, p->events[event].name);
	pd_print_const(w->out, ",\"category\":\"perf\",\"description\":\"of all processes\","
			       "\"mainThreadIndex\":0,\"pid\":\"");
	pd_print_int(w->out, thread->pid == PE_NO_ID ? 0 : thread->pid);
	pd_print_const(w->out, "\",\"samples\":{\"length\":");
	pd_print_uint(w->out, N_BUCKETS);
	for (int is_time = 1; is_time >= 0; is_time--) {
		pe_print_key(w->out, is_time ? "time" : "count");
		for (uint64_t i = 0; i < N_BUCKETS; i++) {
			pd_print_char(w->out, i ? ',' : '[');
			if (is_time)
				pe_print_ms(w->out, i * width);
			else
				pd_print_uint(w->out, sums[i]);
		}
		pd_print_char(w->out, ']');
	}
	pd_print_const(w->out, "}}");
}

/* Prints a counter for each event, of whose entries those with one number are neighbours. */
static void print_counters(const struct firefox *w)
{
	const struct pe_profile *p = w->profile;
	uint64_t width = w->spent / N_BUCKETS + 1;

	pd_print_const(w->out, ",\"counters\":[");
	for (size_t from = 0, at = 0; at < p->n_entries; from = at) {
		uint64_t sums[N_BUCKETS] = { 0 };
		uint32_t event = p->entries[from].event;

		for (; at < p->n_entries && p->entries[at].event == event; at++)
			sums[(p->entries[at].time - w->start) / width] += p->entries[at].weight;
		pd_print_name(w->out, from ? ",\n" : "\n");
		print_counter(w, event, sums);
	}
	pd_print_char(w->out, ']');
}

static void find_times(struct firefox *w)
{
	const struct pe_profile *p = w->profile;
	uint64_t last = 0;

	w->start = p->n_entries ? UINT64_MAX : 0;
	for (size_t i = 0; i < p->n_entries; i++) {
		uint64_t time = p->entries[i].time;

		w->start = time < w->start ? time : w->start;
		last = time > last ? time : last;
	}
	w->spent = last - w->start;
}

bool pe_write_firefox(const struct pe_profile *p, const char *title, struct pd_print *out)
{
	struct firefox w = { .profile = p, .out = out };
	struct pb_string name = { 0 };
	bool ok;

	pe_set_init(&w.stacks, sizeof(struct firefox_stack));
	w.rows_at = calloc(p->n_frames + 1, sizeof(*w.rows_at));
	w.of_entries = calloc(p->n_entries + 1, sizeof(*w.of_entries));
	w.by_thread = calloc(p->n_entries + 1, sizeof(*w.by_thread));
	ok = w.rows_at && w.of_entries && w.by_thread && pe_firefox_stacks(&w);
	if (ok) {
		find_times(&w);
		pe_sort_entries(p, PE_BY_THREAD, w.by_thread);
		print_meta(&w, title);
		pe_firefox_tables(&w);
		print_counters(&w);
		pd_print_const(out, ",\"threads\":[\n");
		for (size_t at = 0; at < p->n_entries && !name.failed;)
			at = print_rows(&w, at, &name);
		pd_print_const(out, "\n]}\n");
	}
	ok = ok && !name.failed;
	pb_string_deinit(&name);
	pe_set_deinit(&w.stacks);
	free(w.rows_at);
	free(w.of_entries);
	free(w.by_thread);
	return ok;
}
