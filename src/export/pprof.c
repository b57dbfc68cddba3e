/*
 * The format of pprof: protocol buffers, with a sample type for each event.
 * https://github.com/google/pprof/blob/main/proto/profile.proto (numbers of fields)
 */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "perfdata/format/print_scalar.h"
#include "profile.h"
#include "protobuf.h"

enum profile_field {
	SAMPLE_TYPE = 1,
	SAMPLE,
	MAPPING,
	LOCATION,
	FUNCTION,
	STRING_TABLE,
	TIME_NANOS = 9,
	DURATION_NANOS,
	PERIOD_TYPE,
	PERIOD,
	DEFAULT_SAMPLE_TYPE = 14,
};

/* Strings that follow the texts of the profile; after them are the names of the threads. */
static const char *const fixed[] = { "nanoseconds", "count", "thread", "pid", "tid" };
enum {
	NANOSECONDS,
	COUNT,
	THREAD,
	PID,
	TID,
	N_FIXED
};

struct pprof {
	const struct pe_profile *profile;
	struct pd_print *out;
	struct pb_string message, part, whole;
	uint64_t *limits;   /* [binaries]: the address after the last in it */
	bool *have_lines;   /* [binaries] */
	uint32_t *mappings; /* [binaries]: the number of its mapping, from 1 on */
	uint32_t *by_stack; /* entries in the order of PE_BY_STACK */
	bool failed;
};

/* The number of a text in the string table, which begins with the empty one. */
static uint64_t string_of(uint32_t text)
{
	return text == PE_NONE ? 0 : text + UINT64_C(1);
}

static uint64_t fixed_string(const struct pprof *w, unsigned i)
{
	return w->profile->texts.n + 1 + i;
}

/* Writes w->whole, fields of the profile, and clears it. */
static void put_whole(struct pprof *w)
{
	w->failed |= w->whole.failed;
	pd_print_bytes(w->out, w->whole.p, w->failed ? 0 : w->whole.n);
	pb_string_clear(&w->whole);
}

/* Writes w->message as a field of the profile, and clears it. */
static void put_message(struct pprof *w, enum profile_field field)
{
	pe_add_message(&w->whole, field, &w->message);
	put_whole(w);
}

/* Adds an event and the unit of its values to w->message. */
static void add_value_type(struct pprof *w, const struct pe_event *event, bool is_time)
{
	pe_add_integer(&w->message, 1, string_of(event->name));
	pe_add_integer(&w->message, 2, fixed_string(w, is_time ? NANOSECONDS : COUNT));
}

static void put_sample_types(struct pprof *w)
{
	const struct pe_profile *p = w->profile;

	for (size_t i = 0; i < p->n_events; i++) {
		add_value_type(w, &p->events[i], p->events[i].is_time);
		put_message(w, SAMPLE_TYPE);
	}
}

static void add_label(struct pprof *w, unsigned key, unsigned field, uint64_t value)
{
	pe_add_integer(&w->part, 1, fixed_string(w, key));
	pe_add_integer(&w->part, field, value);
	pe_add_message(&w->message, 3, &w->part);
}

/*
 * Writes the entries from by_stack[at] on of one thread and stack as a sample, which has a
 * value for each event. Returns the position after them.
 */
static size_t put_sample(struct pprof *w, size_t at)
{
	const struct pe_profile *p = w->profile;
	const struct pe_entry *first = &p->entries[w->by_stack[at]], *entry = first;
	const struct pe_thread *thread = pe_thread_at(p, first->thread);
	size_t n;
	const uint32_t *frames = pe_entry_frames(p, first, &n);

	for (size_t i = 0; i < n; i++)
		pe_add_varint(&w->part, frames[i] + UINT64_C(1));
	pe_add_message(&w->message, 1, &w->part);
	for (uint32_t event = 0; event < p->n_events; event++) {
		bool has_entry = at < p->n_entries && entry->event == event &&
				 entry->thread == first->thread && entry->stack == first->stack;

		pe_add_varint(&w->part, has_entry ? entry->weight : 0);
		at += has_entry;
		if (has_entry && at < p->n_entries)
			entry = &p->entries[w->by_stack[at]];
	}
	pe_add_message(&w->message, 2, &w->part);
	add_label(w, THREAD, 2, fixed_string(w, N_FIXED) + first->thread);
	if (thread->pid != PE_NO_ID)
		add_label(w, PID, 3, (uint64_t)thread->pid);
	if (thread->tid != PE_NO_ID)
		add_label(w, TID, 3, (uint64_t)thread->tid);
	put_message(w, SAMPLE);
	return at;
}

/* Returns the last part of the path of a binary that is a file; NULL: it is none. */
static const char *file_name(const struct pe_profile *p, uint32_t binary)
{
	const char *path = pe_text(p, pe_binary_at(p, binary)->name).p;

	return *path == '/' ? strrchr(path, '/') + 1 : NULL;
}

#define COMM_SIZE 15 /* bytes of a thread's name, which the kernel cuts */

/* Returns what threads weigh that are named like a binary, where weights[] are by name. */
static uint64_t weigh_namesakes(const struct pe_profile *p, uint32_t binary,
				const uint64_t *weights)
{
	const char *name = file_name(p, binary);
	uint64_t sum = 0;

	for (uint32_t i = 0; name && i < p->texts.n; i++)
		if (weights[i] && strncmp(pe_text(p, i).p, name, COMM_SIZE) == 0)
			sum += weights[i];
	return sum;
}

/*
 * Returns the binary of the program that was recorded: the one that the threads with most
 * samples are named after; if there is none, the file, or else the binary, whose own code
 * weighs most, shared libraries last. PE_NONE: there are no binaries.
 */
static uint32_t find_program(struct pprof *w)
{
	const struct pe_profile *p = w->profile;
	uint32_t event = pe_main_event(p), program = PE_NONE;
	uint64_t *threads = calloc(p->texts.n + 1, sizeof(*threads)), most[3] = { 0 };
	uint64_t *own = calloc(p->binaries.n + 1, sizeof(*own));

	w->failed |= !threads || !own;
	for (size_t i = 0; !w->failed && i < p->n_entries; i++) {
		const struct pe_entry *entry = &p->entries[i];
		uint32_t comm = pe_thread_at(p, entry->thread)->comm;
		size_t n;

		if (entry->event != event)
			continue;
		own[p->frames[*pe_entry_frames(p, entry, &n)].binary] += entry->weight;
		if (comm != PE_NONE)
			threads[comm] += entry->weight;
	}
	for (uint32_t i = 0; !w->failed && i < p->binaries.n; i++) {
		const char *name = file_name(p, i);
		const uint64_t weights[3] = {
			weigh_namesakes(p, i, threads),
			name ? (strstr(name, ".so") ? 1 : 2) : 0,
			own[i],
		};
		size_t k = 0;

		while (k < 2 && weights[k] == most[k])
			k++;
		if (program != PE_NONE && weights[k] <= most[k])
			continue;
		program = i;
		memcpy(most, weights, sizeof(most));
	}
	free(threads);
	free(own);
	return program;
}

/* Writes a binary as the mapping of a number. */
static void put_mapping(struct pprof *w, uint32_t binary, uint32_t id)
{
	const struct pe_binary *entry = pe_binary_at(w->profile, binary);

	w->mappings[binary] = id;
	pe_add_integer(&w->message, 1, id);
	pe_add_integer(&w->message, 3, w->limits[binary]);
	pe_add_integer(&w->message, 5, string_of(entry->name));
	pe_add_integer(&w->message, 6, string_of(entry->build_id));
	pe_add_integer(&w->message, 7, 1);
	pe_add_integer(&w->message, 8, w->have_lines[binary]);
	pe_add_integer(&w->message, 9, w->have_lines[binary]);
	put_message(w, MAPPING);
}

/*
 * Writes binaries as mappings. Addresses in locations are those in the binary, so a mapping
 * begins at 0 and ends after the last of them. pprof takes the first mapping for the program.
 */
static void put_mappings(struct pprof *w)
{
	const struct pe_profile *p = w->profile;
	uint32_t program = find_program(w), id = 1;

	for (size_t i = 0; i < p->n_frames; i++) {
		const struct pe_frame *frame = &p->frames[i];
		const struct pe_line *line = pe_line_at(p, pe_frame_line(p, (uint32_t)i));

		if (frame->address >= w->limits[frame->binary])
			w->limits[frame->binary] = frame->address + 1;
		w->have_lines[frame->binary] |= line->line != 0;
	}
	if (program != PE_NONE)
		put_mapping(w, program, id);
	for (uint32_t i = 0; i < p->binaries.n; i++)
		if (i != program)
			put_mapping(w, i, ++id);
}

static void put_locations(struct pprof *w)
{
	const struct pe_profile *p = w->profile;

	for (uint32_t i = 0; i < p->n_frames; i++) {
		uint32_t n;
		const uint32_t *lines = pe_frame_lines(p, i, &n);

		pe_add_integer(&w->message, 1, i + UINT64_C(1));
		pe_add_integer(&w->message, 2, w->mappings[p->frames[i].binary]);
		pe_add_integer(&w->message, 3, p->frames[i].address);
		for (uint32_t k = 0; k < n; k++) {
			const struct pe_line *line = pe_line_at(p, lines[k]);

			pe_add_integer(&w->part, 1, line->function + UINT64_C(1));
			pe_add_integer(&w->part, 2, line->line);
			pe_add_message(&w->message, 4, &w->part);
		}
		put_message(w, LOCATION);
	}
}

static void put_functions(struct pprof *w)
{
	const struct pe_profile *p = w->profile;

	for (uint32_t i = 0; i < p->functions.n; i++) {
		const struct pe_function *function = pe_function_at(p, i);

		pe_add_integer(&w->message, 1, i + UINT64_C(1));
		pe_add_integer(&w->message, 2, string_of(function->name));
		pe_add_integer(&w->message, 3, string_of(function->name));
		pe_add_integer(&w->message, 4, string_of(function->file));
		put_message(w, FUNCTION);
	}
}

static void put_strings(struct pprof *w)
{
	const struct pe_profile *p = w->profile;

	put_message(w, STRING_TABLE);
	for (uint32_t i = 0; i < p->texts.n; i++) {
		pb_string_add(&w->message, pe_text(p, i).p, pe_text(p, i).n);
		put_message(w, STRING_TABLE);
	}
	for (size_t i = 0; i < N_FIXED; i++) {
		pb_string_put(&w->message, fixed[i]);
		put_message(w, STRING_TABLE);
	}
	for (uint32_t i = 0; i < p->threads.n; i++) {
		w->failed |= !pe_thread_name(p, i, &w->message);
		put_message(w, STRING_TABLE);
	}
}

/* Writes what is true of the whole profile: its main event, and when it was recorded. */
static void put_facts(struct pprof *w)
{
	const struct pe_profile *p = w->profile;
	const struct pe_event *event = &p->events[pe_main_event(p)];

	if (p->asked->wall_time) {
		pe_add_integer(&w->whole, TIME_NANOS, p->asked->wall_time);
		pe_add_integer(&w->whole, DURATION_NANOS, p->asked->duration);
	}
	if (p->n_events) {
		add_value_type(w, event, event->is_clock);
		pe_add_message(&w->whole, PERIOD_TYPE, &w->message);
		pe_add_integer(&w->whole, PERIOD, event->period);
		pe_add_integer(&w->whole, DEFAULT_SAMPLE_TYPE, string_of(event->name));
	}
	put_whole(w);
}

/* Writes the samples and all that they refer to. */
static void put_profile(struct pprof *w)
{
	const struct pe_profile *p = w->profile;

	put_sample_types(w);
	pe_sort_entries(p, PE_BY_STACK, w->by_stack);
	for (size_t at = 0; at < p->n_entries && !w->failed;)
		at = put_sample(w, at);
	put_mappings(w);
	put_locations(w);
	put_functions(w);
	put_strings(w);
	put_facts(w);
}

bool pe_write_pprof(const struct pe_profile *p, const char *title, struct pd_print *out)
{
	struct pprof *w = calloc(1, sizeof(*w));
	bool ok;

	(void)title; /* the format has no room for it */
	if (!w)
		return false;
	w->profile = p;
	w->out = out;
	w->limits = calloc(p->binaries.n + 1, sizeof(*w->limits));
	w->have_lines = calloc(p->binaries.n + 1, sizeof(*w->have_lines));
	w->mappings = calloc(p->binaries.n + 1, sizeof(*w->mappings));
	w->by_stack = pb_zeros(p->n_entries + 1, sizeof(*w->by_stack));
	w->failed = !w->limits || !w->have_lines || !w->mappings || !w->by_stack;
	if (!w->failed)
		put_profile(w);
	ok = !w->failed;
	pb_string_deinit(&w->message);
	pb_string_deinit(&w->part);
	pb_string_deinit(&w->whole);
	free(w->limits);
	free(w->have_lines);
	free(w->mappings);
	free(w->by_stack);
	free(w);
	return ok;
}
