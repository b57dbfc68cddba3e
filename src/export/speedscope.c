/*
 * Speedscope's own format: sampled profiles for each event, of all threads and of the heaviest
 * ones. https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources
 */
#define _GNU_SOURCE /* qsort_r */

#include <stdlib.h>

#include "base/string_builder.h"
#include "base/vector.h"
#include "perfdata/format/print_scalar.h"
#include "profile.h"
#include "stack_order.h"

#define MOST_THREADS 200 /* speedscope takes 19 ms for each profile of a file */

/* The samples of a thread and event: entries[from … to - 1]. */
struct run {
	size_t from, to;
	uint32_t event, thread;
	uint64_t weight;
};

/* The runs of an event are neighbours, the heaviest first. */
struct event_runs {
	size_t from, to; /* runs */
	size_t n_shown;	 /* of them have a profile of their own */
};

struct speedscope {
	const struct pe_profile *profile;
	struct pd_print *out;
	struct run *runs; /* [n_runs], by event, the main one first */
	size_t n_runs;
	struct event_runs *events; /* [n_events] in this order */
	size_t n_events;
	/* [entries], in the order of PE_BY_EVENT, where times are kept; else NULL */
	uint32_t *by_time;
	bool *is_joined; /* [threads]: in the profile that is printed, if that has several */
	struct pe_stack_order *order; /* NULL where times are kept */
	struct pb_string name;
	bool has_profiles; /* one was printed */
};

/* The entries of a profile: entries[from … to - 1], or by[…] if that is not NULL. */
struct part {
	const struct pe_profile *profile;
	const uint32_t *by;
	const bool *is_joined; /* NULL: all entries are taken */
	size_t from, to;
	uint32_t event;
};

/* Returns the next entry of a part from *at on, which is moved after it; NULL: none. */
static const struct pe_entry *next_entry(const struct part *part, size_t *at)
{
	while (*at < part->to) {
		size_t i = (*at)++;
		const struct pe_entry *e = &part->profile->entries[part->by ? part->by[i] : i];

		if (!part->is_joined || part->is_joined[e->thread])
			return e;
	}
	return NULL;
}

static void print_text(const struct speedscope *w, uint32_t number)
{
	struct pd_text text = pe_text(w->profile, number);

	pd_print_json_string(w->out, text.p, text.n);
}

/* Each line of a function is a frame; without a source file it has its binary's name. */
static void print_frame(const struct speedscope *w, uint32_t number)
{
	const struct pe_profile *p = w->profile;
	const struct pe_line *line = pe_line_at(p, number);
	const struct pe_function *function = pe_function_at(p, line->function);

	pd_print_const(w->out, "{\"name\":");
	print_text(w, function->name);
	pd_print_const(w->out, ",\"file\":");
	print_text(w, function->file == PE_NONE ? pe_binary_at(p, function->binary)->name :
						  function->file);
	if (line->line) {
		pd_print_const(w->out, ",\"line\":");
		pd_print_uint(w->out, line->line);
	}
	pd_print_char(w->out, '}');
}

/* Prints the frames of an entry, caller first. */
static void print_stack(const struct speedscope *w, const struct pe_entry *entry)
{
	size_t n;
	const uint32_t *frames = pe_entry_frames(w->profile, entry, &n);
	char separator = '[';

	while (n--) {
		uint32_t n_lines;
		const uint32_t *lines = pe_frame_lines(w->profile, frames[n], &n_lines);

		while (n_lines--) {
			pd_print_char(w->out, separator);
			pd_print_uint(w->out, lines[n_lines]);
			separator = ',';
		}
	}
	pd_print_char(w->out, ']');
}

/* Prints the samples of a part in order of time, and weights. Returns the sum of these. */
static uint64_t print_timeline(const struct speedscope *w, const struct part *part)
{
	const struct pe_entry *entry;
	uint64_t total = 0;
	size_t n = 0;

	for (size_t at = part->from; (entry = next_entry(part, &at)); n++) {
		pd_print_name(w->out, n ? ",\n" : "");
		print_stack(w, entry);
	}
	pd_print_const(w->out, "\n],\"weights\":[");
	n = 0;
	for (size_t at = part->from; (entry = next_entry(part, &at)); n++) {
		pd_print_name(w->out, n ? "," : "");
		pd_print_uint(w->out, entry->weight);
		total += entry->weight;
	}
	return total;
}

/* Prints the stacks of a part, heavier ones to the left. Returns the sum of their weights. */
static uint64_t print_ordered(struct speedscope *w, const struct part *part)
{
	const struct pe_entry *entry;
	uint64_t total = 0;
	const uint32_t *stacks;
	size_t n;

	for (size_t at = part->from; (entry = next_entry(part, &at));)
		w->name.failed |= !pe_stack_order_add(w->order, entry);
	stacks = pe_stack_order_sort(w->order, &n);
	for (size_t i = 0; i < n; i++) {
		size_t depth;
		const uint32_t *lines = pe_stack_order_lines(w->order, stacks[i], &depth);

		pd_print_name(w->out, i ? ",\n[" : "[");
		while (depth--) {
			pd_print_uint(w->out, lines[depth]);
			pd_print_char(w->out, depth ? ',' : ']');
		}
	}
	pd_print_const(w->out, "\n],\"weights\":[");
	for (size_t i = 0; i < n; i++) {
		uint64_t weight = pe_stack_order_weight(w->order, stacks[i]);

		pd_print_name(w->out, i ? "," : "");
		pd_print_uint(w->out, weight);
		total += weight;
	}
	pe_stack_order_clear(w->order);
	return total;
}

/* Prints a profile of the entries of a part, of threads that are in w->name. */
static void print_profile(struct speedscope *w, const struct part *part)
{
	const struct pe_event *event = &w->profile->events[part->event];
	uint64_t total;

	pb_string_put(&w->name, ", ");
	pb_string_put(&w->name, pe_text(w->profile, event->name).p);
	if (w->order)
		pb_string_put(&w->name, " (not in order of time)");
	pd_print_name(w->out, w->has_profiles ? ",\n" : "");
	w->has_profiles = true;
	pd_print_const(w->out, "{\"type\":\"sampled\",\"name\":");
	pd_print_json_string(w->out, w->name.p, w->name.n);
	pd_print_name(w->out,
		      event->is_time ? ",\"unit\":\"nanoseconds\"" : ",\"unit\":\"none\"");
	pd_print_const(w->out, ",\"samples\":[\n");
	total = w->order ? print_ordered(w, part) : print_timeline(w, part);
	pd_print_const(w->out, "],\"startValue\":0,\"endValue\":");
	pd_print_uint(w->out, total);
	pd_print_char(w->out, '}');
}

/* Returns all entries of an event, in order of time where times are kept. */
static struct part all_of(const struct speedscope *w, const struct event_runs *event)
{
	struct part part = { .profile = w->profile, .by = w->by_time };

	part.event = w->runs[event->from].event;
	/* entries, and those in by_time, are in order of their events */
	part.from = w->profile->n_entries;
	for (size_t i = event->from; i < event->to; i++) {
		const struct run *run = &w->runs[i];

		part.from = run->from < part.from ? run->from : part.from;
		part.to = run->to > part.to ? run->to : part.to;
	}
	return part;
}

/* Prints the profile of all threads of an event, if there are several. */
static void print_all(struct speedscope *w, const struct event_runs *event)
{
	struct part part = all_of(w, event);

	if (event->to - event->from < 2)
		return;
	pb_string_clear(&w->name);
	pb_string_format(&w->name, "all %zu threads%s", event->to - event->from,
			 event->n_shown ? ", counted again" : "");
	print_profile(w, &part);
}

/* Prints the profiles of the threads of an event, and one of those that are too many. */
static void print_threads(struct speedscope *w, const struct event_runs *event)
{
	size_t n_joined = event->to - event->from - event->n_shown;
	struct part part = all_of(w, event);

	for (size_t i = event->from; i < event->from + event->n_shown; i++) {
		const struct run *run = &w->runs[i];
		struct part own = { .profile = w->profile,
				    .from = run->from,
				    .to = run->to,
				    .event = run->event };

		if (!pe_thread_name(w->profile, run->thread, &w->name))
			return;
		print_profile(w, &own);
	}
	if (!n_joined || !event->n_shown)
		return; /* none, or the profile of all threads has them */
	memset(w->is_joined, 0, w->profile->threads.n * sizeof(*w->is_joined));
	for (size_t i = event->from + event->n_shown; i < event->to; i++)
		w->is_joined[w->runs[i].thread] = true;
	part.is_joined = w->is_joined;
	pb_string_clear(&w->name);
	pb_string_format(&w->name, "%zu other thread%s", n_joined, n_joined > 1 ? "s" : "");
	print_profile(w, &part);
}

static int compare_runs(const void *left, const void *right, void *arg)
{
	const struct pe_profile *p = arg;
	const struct run *a = left, *b = right;

	if (a->event != b->event)
		return pe_event_compare(p, a->event, b->event);
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Fills the runs, which the caller frees. Returns false without memory. */
static bool find_runs(struct speedscope *w)
{
	const struct pe_profile *p = w->profile;
	size_t room = 0;

	for (size_t i = 0; i < p->n_entries; i++) {
		const struct pe_entry *entry = &p->entries[i];
		struct run *run = w->n_runs ? &w->runs[w->n_runs - 1] : NULL;

		if (!run || run->event != entry->event || run->thread != entry->thread) {
			if (!pb_reserve(w->runs, w->n_runs, room))
				return false;
			run = &w->runs[w->n_runs++];
			*run = (struct run){ i, i, entry->event, entry->thread, 0 };
		}
		run->to = i + 1;
		run->weight += entry->weight;
	}
	if (w->n_runs)
		qsort_r(w->runs, w->n_runs, sizeof(*w->runs), compare_runs, (void *)p);
	return true;
}

/*
 * Fills the events, which the caller frees: those with fewest threads have their profiles, and
 * the main one what is left of MOST_THREADS. Returns false without memory.
 */
static bool find_events(struct speedscope *w)
{
	size_t left = MOST_THREADS;

	w->events = calloc(w->profile->n_events + 1, sizeof(*w->events));
	if (!w->events)
		return false;
	for (size_t i = 0; i < w->n_runs; i++) {
		if (!i || w->runs[i].event != w->runs[i - 1].event)
			w->events[w->n_events++].from = i;
		w->events[w->n_events - 1].to = i + 1;
	}
	for (size_t i = w->n_events; i--;) {
		struct event_runs *event = &w->events[i];
		size_t n = event->to - event->from, share = left / (i + 1);

		event->n_shown = n < share || n == 1 ? n : share;
		left -= event->n_shown < left ? event->n_shown : left;
	}
	return true;
}

/* Makes what the profiles are printed from. Returns false without memory. */
static bool begin(struct speedscope *w)
{
	const struct pe_profile *p = w->profile;

	if (!find_runs(w) || !find_events(w))
		return false;
	w->is_joined = calloc(p->threads.n + 1, sizeof(*w->is_joined));
	if (!p->asked->timed) {
		w->order = pe_stack_order_create(p);
		return w->is_joined && w->order;
	}
	w->by_time = pb_array(p->n_entries + 1, sizeof(*w->by_time));
	if (!w->is_joined || !w->by_time)
		return false;
	pe_sort_entries(p, PE_BY_EVENT, w->by_time);
	return true;
}

static void end(struct speedscope *w)
{
	pe_stack_order_destroy(w->order);
	pb_string_deinit(&w->name);
	free(w->runs);
	free(w->events);
	free(w->by_time);
	free(w->is_joined);
}

void pe_speedscope_head(struct pd_print *out, const char *title)
{
	pd_print_const(out,
		       "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		       "\"exporter\":\"perflua\",\"name\":");
	pd_print_json_string(out, title, strlen(title));
}

static void print_file(struct speedscope *w, const char *title)
{
	pe_speedscope_head(w->out, title);
	pd_print_const(w->out, ",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[\n");
	for (uint32_t i = 0; i < w->profile->lines.n; i++) {
		pd_print_name(w->out, i ? ",\n" : "");
		print_frame(w, i);
	}
	pd_print_const(w->out, "\n]},\n\"profiles\":[\n");
	for (size_t i = 0; i < w->n_events && !w->name.failed; i++)
		print_all(w, &w->events[i]);
	for (size_t i = 0; i < w->n_events && !w->name.failed; i++)
		print_threads(w, &w->events[i]);
	pd_print_const(w->out, "\n]}\n");
}

bool pe_write_speedscope(const struct pe_profile *p, const char *title, struct pd_print *out)
{
	struct speedscope w = { .profile = p, .out = out };
	bool ok = begin(&w);

	if (ok)
		print_file(&w, title);
	ok = ok && !w.name.failed;
	end(&w);
	return ok;
}

size_t pe_speedscope_joined(const struct pe_profile *p)
{
	struct speedscope w = { .profile = p };
	size_t n = 0;

	if (find_runs(&w) && find_events(&w))
		for (size_t i = 0; i < w.n_events; i++)
			n += w.events[i].to - w.events[i].from - w.events[i].n_shown;
	end(&w);
	return n;
}
