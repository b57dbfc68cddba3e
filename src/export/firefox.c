/*
 * The processed format of the Firefox Profiler, version 60: threads with their samples and
 * markers, counters. A thread has a row for each event; samples of tracepoints are markers,
 * too. See firefox_tables.c.
 */
#include "firefox.h"

#include <stdlib.h>

#include "base/string_builder.h"
#include "base/vector.h"

/* The samples of a thread and event: a thread of the format. */
struct firefox_row {
	size_t from, to;	 /* entries by_thread[from … to - 1] */
	size_t all_from, all_to; /* those of the thread's rows together */
	uint32_t thread, event;
	uint32_t leader; /* thread that its process is named after */
	bool is_leading; /* of the thread's rows the one of the main event, else the first */
	bool is_main;	 /* of its process's rows the one that stands for the process */
	uint64_t weight;
};

/* Returns the entry with place `i` among those by thread. */
static const struct pe_entry *get_entry(const struct firefox *w, size_t i)
{
	return &w->profile->entries[w->by_thread[i]];
}

/*
 * Returns the thread that a process is named after: its main thread under its last name, or
 * thread `number` of the process, if no sample is of the main thread.
 */
static uint32_t find_leader(const struct firefox *w, uint32_t number)
{
	const struct pe_profile *p = w->profile;
	const struct pe_thread *thread = pe_thread_at(p, number);
	uint32_t from = 0, to = (uint32_t)p->threads.n;

	/* threads are in the order of pid and tid */
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		const struct pe_thread *at = pe_thread_at(p, middle);

		if (at->pid < thread->pid || (at->pid == thread->pid && at->tid < thread->pid))
			from = middle + 1;
		else
			to = middle;
	}
	if (from < p->threads.n && pe_thread_at(p, from)->pid == thread->pid &&
	    pe_thread_at(p, from)->tid == thread->pid)
		pe_find_names(p, w->last, from, &number);
	return number;
}

/* Sets *row to that whose entries begin at `at`. */
static void fill_row(const struct firefox *w, size_t at, struct firefox_row *row)
{
	const struct pe_entry *first = get_entry(w, at);

	*row = (struct firefox_row){
		.from = at,
		.to = at,
		.thread = first->thread,
		.event = first->event,
		.leader = find_leader(w, first->thread),
	};
	for (; row->to < w->profile->n_entries; row->to++) {
		const struct pe_entry *entry = get_entry(w, row->to);

		if (entry->thread != first->thread || entry->event != first->event)
			break;
		row->weight += entry->weight;
	}
}

/* Sets what the rows of one thread, rows[0 … n - 1], know of each other. */
static void mark_rows(const struct firefox *w, struct firefox_row *rows, size_t n)
{
	const struct pe_thread *thread = pe_thread_at(w->profile, rows->thread);
	uint32_t event = pe_main_event(w->profile);
	size_t leading = 0;

	for (size_t i = 0; i < n; i++) {
		rows[i].all_from = rows[0].from;
		rows[i].all_to = rows[n - 1].to;
		if (rows[i].event == event)
			leading = i;
	}
	rows[leading].is_leading = true;
	rows[leading].is_main = thread->pid == thread->tid && rows->leader == rows->thread;
}

/* Finds the rows. Returns false without memory. */
static bool find_rows(struct firefox *w)
{
	size_t room = 0, first = 0;

	for (size_t at = 0; at < w->profile->n_entries; at = w->rows[w->n_rows++].to) {
		if (!pb_reserve(w->rows, w->n_rows, room))
			return false;
		fill_row(w, at, &w->rows[w->n_rows]);
	}
	for (size_t i = 1; i <= w->n_rows; i++) {
		if (i < w->n_rows && w->rows[i].thread == w->rows[first].thread)
			continue;
		mark_rows(w, &w->rows[first], i - first);
		first = i;
	}
	return true;
}

#define MOST_SHOWN 15 /* rows that are seen at first; there may be thousands */

/* Fills shown[MOST_SHOWN] with the rows to see at first. Returns how many they are. */
static size_t list_shown(const struct firefox *w, size_t *shown)
{
	uint32_t event = pe_main_event(w->profile);
	size_t n = 0;

	for (size_t i = 0; i < w->n_rows; i++) {
		size_t at = n;

		if (w->rows[i].event != event)
			continue;
		/* heaviest first */
		while (at && w->rows[shown[at - 1]].weight < w->rows[i].weight)
			at--;
		if (at == MOST_SHOWN)
			continue;
		n += n < MOST_SHOWN;
		memmove(&shown[at + 1], &shown[at], (n - at - 1) * sizeof(*shown));
		shown[at] = i;
	}
	return n;
}

#define VERSION "60"

/* The order of enum in firefox_tables.c. Each needs a subcategory for all that is its own. */
#define OTHER_CATEGORY "[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}"

static const char categories[] = OTHER_CATEGORY
	",{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\"]}]";

#define SPAN_SCHEMA                                                            \
	"[{\"name\":\"span\",\"display\":[\"marker-chart\",\"marker-table\"]," \
	"\"tableLabel\":\"{marker.name}\",\"fields\":[]}]"

static const char marker_schema[] =
	"[{\"name\":\"tracepoint\",\"display\":[\"marker-chart\",\"marker-table\"],"
	"\"tableLabel\":\"{marker.name}\",\"fields\":["
	"{\"key\":\"count\",\"label\":\"Samples\",\"format\":\"integer\"},"
	"{\"key\":\"weight\",\"label\":\"Weight\",\"format\":\"integer\"}]}]";

enum sample_column {
	STACK,
	TIME,
	WEIGHT,
	USED, /* processor time, in ns */
};

static void print_samples(const struct firefox *w, const char *name, enum sample_column column,
			  const struct firefox_row *row, bool is_time)
{
	uint64_t before = w->start;

	pe_print_key(w->out, name);
	pd_print_char(w->out, '[');
	for (size_t i = row->from; i < row->to; i++) {
		const struct pe_entry *entry = get_entry(w, i);

		if (i > row->from)
			pd_print_char(w->out, ',');
		if (column == STACK)
			pd_print_uint(w->out, pe_entry_stack(w->profile, entry));
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

static void print_samples_table(const struct firefox *w, const struct firefox_row *row)
{
	bool is_time = w->profile->events[row->event].is_time;

	pd_print_const(w->out, ",\"samples\":{\"length\":");
	pd_print_uint(w->out, row->to - row->from);
	print_samples(w, "stack", STACK, row, false);
	print_samples(w, "timeDeltas", TIME, row, false);
	print_samples(w, "weight", WEIGHT, row, is_time);
	if (row->event == w->clock)
		print_samples(w, "threadCPUDelta", USED, row, is_time);
	pe_print_key(w->out, "weightType");
	pd_print_name(w->out, is_time ? "\"tracing-ms\"}" : "\"samples\"}");
}

/* The parts of a marker. */
enum marker_part {
	NAME,
	START_TIME,
	END_TIME,
	PHASE,
	CATEGORY,
	DATA,
	MARKER_PARTS
};

static const char *const marker_parts[] = {
	"name", "startTime", "endTime", "phase", "category", "data",
};

static void print_marker_data(const struct firefox *w, const struct pe_entry *entry)
{
	pd_print_const(w->out, "{\"type\":\"tracepoint\",\"count\":");
	pd_print_uint(w->out, entry->count);
	pe_print_key(w->out, "weight");
	pd_print_uint(w->out, entry->weight);
	pd_print_const(w->out, ",\"cause\":{\"time\":");
	pe_print_ms(w->out, entry->time - w->start);
	pe_print_key(w->out, "stack");
	pd_print_uint(w->out, pe_entry_stack(w->profile, entry));
	pd_print_const(w->out, "}}");
}

static void print_marker_part(const struct firefox *w, const struct pe_entry *entry, int part)
{
	if (part == NAME)
		pd_print_uint(w->out, w->profile->events[entry->event].name);
	else if (part == START_TIME)
		pe_print_ms(w->out, entry->time - w->start);
	else if (part == END_TIME)
		pd_print_const(w->out, "null");
	else if (part == DATA)
		print_marker_data(w, entry);
	else /* the phase of an instant, and the first category */
		pd_print_char(w->out, '0');
}

/* Prints the markers of a thread, whose entries begin at `from`. */
static void print_markers(const struct firefox *w, size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += w->profile->events[get_entry(w, i)->event].is_tracepoint;
	pd_print_const(w->out, ",\"markers\":{\"length\":");
	pd_print_uint(w->out, n);
	for (int part = 0; part < MARKER_PARTS; part++) {
		char separator = '[';

		pe_print_key(w->out, marker_parts[part]);
		for (size_t i = from; i < to; i++) {
			if (!w->profile->events[get_entry(w, i)->event].is_tracepoint)
				continue;
			pd_print_char(w->out, separator);
			print_marker_part(w, get_entry(w, i), part);
			separator = ',';
		}
		pd_print_name(w->out, separator == '[' ? "[]" : "]");
	}
	pd_print_char(w->out, '}');
}

void pe_firefox_identity(struct pd_print *out, const struct firefox_identity *identity)
{
	pd_print_const(out, "{\"name\":");
	pd_print_json_string(out, identity->name.p, identity->name.n);
	pe_print_key(out, "isMainThread");
	pd_print_name(out, identity->is_main ? "true" : "false");
	pe_print_key(out, "processName");
	pd_print_json_string(out, identity->process.p, identity->process.n);
	pd_print_const(out, ",\"processType\":\"default\",\"processStartupTime\":0,"
			    "\"processShutdownTime\":null,\"registerTime\":0,"
			    "\"unregisterTime\":null,\"pausedRanges\":[],"
			    "\"showMarkersInTimeline\":true,\"pid\":\"");
	pd_print_int(out, identity->pid == PE_NO_ID ? 0 : identity->pid);
	pd_print_const(out, "\",\"tid\":");
	pd_print_int(out, identity->tid);
}

static struct pd_text comm_of(const struct pe_profile *p, uint32_t thread)
{
	uint32_t comm = pe_thread_at(p, thread)->comm;

	return comm == PE_NONE ? (struct pd_text){ PM_UNKNOWN, sizeof(PM_UNKNOWN) - 1 } :
				 pe_text(p, comm);
}

/* Prints what the thread of a row is. */
static void print_identity(const struct firefox *w, const struct firefox_row *row,
			   struct pb_string *name)
{
	const struct pe_profile *p = w->profile;
	const struct pe_thread *thread = pe_thread_at(p, row->thread);
	struct pd_text comm = comm_of(p, row->thread);

	pb_string_clear(name);
	pb_string_add(name, comm.p, comm.n);
	if (p->n_events > 1) {
		pb_string_put(name, ", ");
		pb_string_put(name, pe_text(p, p->events[row->event].name).p);
	}
	pe_firefox_identity(w->out,
			    &(struct firefox_identity){
				    .name = { name->p, name->n },
				    .process = comm_of(p, row->leader),
				    .pid = thread->pid,
				    .tid = thread->tid == PE_NO_ID ? (int32_t)row->thread :
								     thread->tid,
				    .is_main = row->is_main,
			    });
}

/* Prints a row, with the markers of its thread if it leads the thread's rows. */
static void print_row(const struct firefox *w, size_t i, struct pb_string *name)
{
	const struct firefox_row *row = &w->rows[i];

	if (i)
		pd_print_const(w->out, ",\n");
	print_identity(w, row, name);
	print_samples_table(w, row);
	print_markers(w, row->all_from, row->is_leading ? row->all_to : row->all_from);
	pd_print_char(w->out, '}');
}

/* Prints which rows are seen at first, and which of them is selected: numbers of them. */
static void print_visible(const struct firefox *w)
{
	size_t shown[MOST_SHOWN], n = list_shown(w, shown);

	pe_print_key(w->out, "initialVisibleThreads");
	for (size_t i = 0; i < n; i++) {
		pd_print_char(w->out, i ? ',' : '[');
		pd_print_uint(w->out, shown[i]);
	}
	pd_print_name(w->out, n ? "]" : "[]");
	pe_print_key(w->out, "initialSelectedThreads");
	pd_print_char(w->out, '[');
	if (n)
		pd_print_uint(w->out, shown[0]);
	pd_print_char(w->out, ']');
}

void pe_firefox_meta(const struct firefox *w, const char *title, bool has_samples)
{
	pd_print_const(w->out, "{\"meta\":{\"preprocessedProfileVersion\":" VERSION
			       ",\"version\":31,\"product\":");
	pd_print_json_string(w->out, title, strlen(title));
	pd_print_const(w->out,
		       ",\"importedFrom\":\"perflua\",\"processType\":0,\"stackwalk\":");
	pd_print_char(w->out, has_samples ? '1' : '0');
	pe_print_key(w->out, "interval");
	/* as far apart as entries of one thread are at least, as far as that is known */
	pe_print_ms(w->out,
		    w->profile->n_entries ? w->spent / w->profile->n_entries + 1000 : 1000000);
	pd_print_const(w->out, ",\"startTime\":");
	pe_print_ms(w->out, w->start);
	pd_print_const(w->out, ",\"symbolicated\":true,\"debug\":false,"
			       "\"usesOnlyOneStackType\":true");
	if (has_samples)
		pd_print_const(w->out, ",\"sampleUnits\":{\"time\":\"ms\","
				       "\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}");
	pd_print_const(w->out, ",\"sourceCodeIsNotOnSearchfox\":true,"
			       "\"extensions\":{\"length\":0,\"id\":[],\"name\":[],"
			       "\"baseURL\":[]},\"categories\":");
	if (has_samples)
		pd_print_bytes(w->out, categories, sizeof(categories) - 1);
	else
		pd_print_const(w->out, OTHER_CATEGORY "]");
	pe_print_key(w->out, "markerSchema");
	if (has_samples)
		pd_print_bytes(w->out, marker_schema, sizeof(marker_schema) - 1);
	else
		pd_print_const(w->out, SPAN_SCHEMA);
}

#define N_BUCKETS 512 /* equal parts of the time, of which a counter has sums */

/*
 * Prints what an event weighs over time, in all processes together. Counters belong to a
 * process: here the first one.
 */
static void print_counter(const struct firefox *w, uint32_t event, const uint64_t *sums)
{
	const struct pe_profile *p = w->profile;
	const struct pe_thread *thread = pe_thread_at(p, get_entry(w, 0)->thread);
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

static void find_clock(struct firefox *w)
{
	const struct pe_profile *p = w->profile;

	w->clock = PE_NONE;
	for (uint32_t i = 0; i < p->n_events; i++)
		if (p->events[i].is_time &&
		    (w->clock == PE_NONE || pe_event_compare(p, i, w->clock) < 0))
			w->clock = i;
}

bool pe_write_firefox(const struct pe_profile *p, const char *title, struct pd_print *out)
{
	struct firefox w = { .profile = p, .out = out };
	struct pb_string name = { 0 };
	bool ok;

	w.by_thread = pb_zeros(p->n_entries + 1, sizeof(*w.by_thread));
	w.last = pe_thread_times(p);
	ok = w.by_thread && w.last;
	if (ok) {
		find_times(&w);
		find_clock(&w);
		pe_sort_entries(p, PE_BY_THREAD, w.by_thread);
		ok = find_rows(&w);
	}
	if (ok) {
		pe_firefox_meta(&w, title, true);
		print_visible(&w);
		pd_print_char(out, '}');
		pe_firefox_tables(&w);
		print_counters(&w);
		pd_print_const(out, ",\"threads\":[\n");
		for (size_t i = 0; i < w.n_rows && !name.failed; i++)
			print_row(&w, i, &name);
		pd_print_const(out, "\n]}\n");
	}
	ok = ok && !name.failed;
	pb_string_deinit(&name);
	free(w.by_thread);
	free(w.last);
	free(w.rows);
	return ok;
}
