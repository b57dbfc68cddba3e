/*
 * The format of Perfetto: a sequence of trace packets. An event is a sequence of its own, whose
 * packets are its samples; the first that refers to a call chain has it and its frames, as
 * interned data. Numbers of fields are those of the definitions in
 * https://github.com/google/perfetto/tree/main/protos/perfetto/trace: trace_packet.proto,
 * interned_data.proto, profile_common.proto, profile_packet.proto, process_tree.proto.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "perfdata/format/print_scalar.h"
#include "profile.h"
#include "protobuf.h"

#define TRACE_PACKET 1 /* of Trace */

enum packet_field {
	PROCESS_TREE = 2,
	TIMESTAMP = 8,
	SEQUENCE_ID = 10,
	INTERNED_DATA = 12,
	SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PERF_SAMPLE = 66,
	FIRST_PACKET = 87,
};

enum {
	STATE_CLEARED = 1,
	NEEDS_STATE = 2
}; /* flags of a sequence */

enum interned_field {
	FUNCTION_NAMES = 5,
	FRAMES,
	CALLSTACKS,
	BUILD_IDS = 16,
	MAPPING_PATHS,
	SOURCE_PATHS,
	MAPPINGS,
};

enum {
	NATIVE = 1,
	KERNEL = 2,
	JIT = 4
}; /* kinds of frames */

struct perfetto {
	const struct pe_profile *profile;
	struct pd_print *out;
	struct pb_string whole, packet, interned, item, part;
	/*
	 * The event, from 1 on, that last wrote it: interned data belong to a sequence. By
	 * text, binary, line of a frame, chain (the last: none).
	 */
	uint32_t *of_names, *of_files, *of_paths, *of_binaries, *of_rows, *of_chains;
	uint32_t sequence;  /* that of the event that is written */
	struct pe_set cpus; /* processors of the event's samples, uint32_t */
	uint64_t *counts;   /* [n_counts], by processor: sum of the event's weights so far */
	size_t n_counts;
	bool failed;
};

/* Writes w->packet, and clears it. */
static void put_packet(struct perfetto *w)
{
	pe_add_message(&w->whole, TRACE_PACKET, &w->packet);
	w->failed |= w->whole.failed;
	pd_print_bytes(w->out, w->whole.p, w->failed ? 0 : w->whole.n);
	pb_string_clear(&w->whole);
}

/* Adds a string of interned data, unless the sequence has it. Returns its number. */
static uint64_t intern_text(struct perfetto *w, uint32_t *of, enum interned_field field,
			    uint32_t text)
{
	struct pd_text is;

	if (text == PE_NONE)
		return 0;
	if (of[text] != w->sequence) {
		is = pe_text(w->profile, text);
		/* components of paths are joined by slashes, with one in front */
		if (field == MAPPING_PATHS && is.n && is.p[0] == '/')
			is = (struct pd_text){ is.p + 1, is.n - 1 };
		pe_add_integer(&w->part, 1, text + UINT64_C(1));
		pe_add_bytes(&w->part, 2, is.p, is.n);
		pe_add_message(&w->interned, field, &w->part);
	}
	of[text] = w->sequence;
	return text + UINT64_C(1);
}

static unsigned digit_of(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

/* Adds a binary and its build-id as bytes, unless the sequence has them. */
static uint64_t intern_binary(struct perfetto *w, uint32_t number)
{
	const struct pe_binary *binary = pe_binary_at(w->profile, number);
	struct pd_text id = { 0 };
	uint64_t path;

	if (w->of_binaries[number] == w->sequence)
		return number + UINT64_C(1);
	w->of_binaries[number] = w->sequence;
	path = intern_text(w, w->of_paths, MAPPING_PATHS, binary->name);
	if (binary->build_id != PE_NONE) {
		id = pe_text(w->profile, binary->build_id);
		pe_add_integer(&w->part, 1, number + UINT64_C(1));
		pe_add_varint(&w->part, 2 << 3 | 2);
		pe_add_varint(&w->part, id.n / 2);
		for (size_t i = 0; i + 1 < id.n; i += 2)
			pb_string_fill(&w->part,
				       (char)(digit_of(id.p[i]) << 4 | digit_of(id.p[i + 1])),
				       1);
		pe_add_message(&w->interned, BUILD_IDS, &w->part);
	}
	pe_add_integer(&w->part, 1, number + UINT64_C(1));
	if (id.n)
		pe_add_integer(&w->part, 2, number + UINT64_C(1));
	pe_add_number(&w->part, 7, path);
	pe_add_message(&w->interned, MAPPINGS, &w->part);
	return number + UINT64_C(1);
}

static unsigned kind_of(const struct pe_frame *frame)
{
	if (frame->kind == PQ_FRAME_JIT)
		return JIT;
	return frame->kind == PD_CPUMODE_KERNEL || frame->kind == PD_CPUMODE_GUEST_KERNEL ?
		       KERNEL :
		       NATIVE;
}

/* Adds a line of a frame, unless the sequence has it. Returns its number. */
static uint64_t intern_row(struct perfetto *w, const struct pe_frame *frame, uint32_t row)
{
	const struct pe_profile *p = w->profile;
	const struct pe_line *line = pe_line_at(p, p->frame_lines[row]);
	const struct pe_function *function = pe_function_at(p, line->function);
	uint64_t name, file, binary;

	if (w->of_rows[row] == w->sequence)
		return row + UINT64_C(1);
	w->of_rows[row] = w->sequence;
	name = intern_text(w, w->of_names, FUNCTION_NAMES, function->name);
	file = intern_text(w, w->of_files, SOURCE_PATHS, function->file);
	binary = intern_binary(w, frame->binary);
	pe_add_integer(&w->part, 1, row + UINT64_C(1));
	pe_add_integer(&w->part, 2, name);
	pe_add_integer(&w->part, 3, binary);
	pe_add_number(&w->part, 4, frame->address);
	pe_add_integer(&w->part, 5, file);
	pe_add_integer(&w->part, 6, line->line);
	pe_add_integer(&w->part, 7, kind_of(frame));
	pe_add_message(&w->interned, FRAMES, &w->part);
	return row + UINT64_C(1);
}

/* Adds the call chain of an entry, caller first, unless the sequence has it. */
static uint64_t intern_chain(struct perfetto *w, const struct pe_entry *entry)
{
	const struct pe_profile *p = w->profile;
	uint32_t chain = entry->stack != PE_NONE ? entry->stack :
			 p->chains		 ? pq_chains_size(p->chains) :
						   0;
	size_t n;
	const uint32_t *frames = pe_entry_frames(p, entry, &n);

	if (w->of_chains[chain] == w->sequence)
		return chain + UINT64_C(1);
	w->of_chains[chain] = w->sequence;
	pe_add_integer(&w->item, 1, chain + UINT64_C(1));
	while (n--) {
		const struct pe_frame *frame = &p->frames[frames[n]];

		for (uint32_t i = frame->n_lines; i--;)
			pe_add_integer(&w->item, 2, intern_row(w, frame, frame->lines_at + i));
	}
	pe_add_message(&w->interned, CALLSTACKS, &w->item);
	return chain + UINT64_C(1);
}

/* Adds to the weights of the entry's processor. Returns their sum. */
static uint64_t count_weight(struct perfetto *w, uint32_t cpu, uint64_t weight)
{
	uint32_t number = pe_set_add(&w->cpus, &cpu);

	if (number == PE_NONE || (number >= w->n_counts &&
				  !pb_extend(w->counts, w->n_counts, 2 * (size_t)number + 8))) {
		w->failed = true;
		return 0;
	}
	return w->counts[number] += weight;
}

/* Writes the samples of an entry: several, if they have the same time. */
static void put_entry(struct perfetto *w, const struct pe_entry *entry)
{
	const struct pe_profile *p = w->profile;
	const struct pe_thread *thread = pe_thread_at(p, entry->thread);
	uint64_t count = count_weight(w, entry->cpu, entry->weight);
	size_t n;
	const uint32_t *frames = pe_entry_frames(p, entry, &n);
	unsigned mode = p->frames[frames[0]].kind;

	for (uint64_t i = 0; i < entry->count && !w->failed; i++) {
		uint64_t chain = intern_chain(w, entry);

		pe_add_number(&w->packet, TIMESTAMP, entry->time);
		pe_add_integer(&w->packet, SEQUENCE_ID, w->sequence);
		pe_add_integer(&w->packet, SEQUENCE_FLAGS, NEEDS_STATE);
		if (w->interned.n)
			pe_add_message(&w->packet, INTERNED_DATA, &w->interned);
		if (entry->cpu != PE_NONE)
			pe_add_number(&w->part, 1, entry->cpu);
		if (thread->pid != PE_NO_ID)
			pe_add_number(&w->part, 2, (uint32_t)thread->pid);
		if (thread->tid != PE_NO_ID)
			pe_add_number(&w->part, 3, (uint32_t)thread->tid);
		pe_add_integer(&w->part, 4, chain);
		/* enum CpuMode has the numbers of perf_event.h */
		pe_add_integer(&w->part, 5, mode == PQ_FRAME_JIT ? PD_CPUMODE_USER : mode);
		pe_add_integer(&w->part, 6, count);
		pe_add_message(&w->packet, PERF_SAMPLE, &w->part);
		put_packet(w);
	}
}

/* Begins the sequence of an event: its packets are samples of that name. */
static void begin_sequence(struct perfetto *w, uint32_t event)
{
	struct pd_text name = pe_text(w->profile, w->profile->events[event].name);

	w->sequence = event + 1;
	pe_set_deinit(&w->cpus);
	pe_set_init(&w->cpus, sizeof(uint32_t));
	if (w->n_counts)
		memset(w->counts, 0, w->n_counts * sizeof(*w->counts));
	pe_add_integer(&w->packet, SEQUENCE_ID, w->sequence);
	pe_add_integer(&w->packet, SEQUENCE_FLAGS, STATE_CLEARED);
	pe_add_integer(&w->packet, FIRST_PACKET, 1);
	pe_add_bytes(&w->part, 10, name.p, name.n); /* of Timebase */
	pe_add_message(&w->item, 1, &w->part);	    /* of PerfSampleDefaults */
	pe_add_message(&w->interned, 12, &w->item); /* of TracePacketDefaults */
	pe_add_message(&w->packet, PACKET_DEFAULTS, &w->interned);
	put_packet(w);
}

/*
 * Returns the number behind those threads from `i` on that are one, under different names, and
 * sets *named to the one of them that was met last.
 */
static uint32_t find_names(const struct pe_profile *p, const uint64_t *last, uint32_t i,
			   uint32_t *named)
{
	const struct pe_thread *thread = pe_thread_at(p, i);

	*named = i;
	while (++i < p->threads.n && pe_thread_at(p, i)->pid == thread->pid &&
	       pe_thread_at(p, i)->tid == thread->tid)
		if (last[i] > last[*named])
			*named = i;
	return i;
}

/* Writes the processes, and the last name of each thread. */
static void put_processes(struct perfetto *w, const uint64_t *last)
{
	const struct pe_profile *p = w->profile;

	for (uint32_t i = 0, named; i < p->threads.n;) {
		const struct pe_thread *thread = pe_thread_at(p, i);
		struct pd_text name = { "", 0 };

		i = find_names(p, last, i, &named);
		if (thread->pid == PE_NO_ID || thread->tid == PE_NO_ID)
			continue;
		if (pe_thread_at(p, named)->comm != PE_NONE)
			name = pe_text(p, pe_thread_at(p, named)->comm);
		if (thread->pid == thread->tid) {
			pe_add_number(&w->part, 1, (uint64_t)(int64_t)thread->pid);
			pe_add_bytes(&w->part, 3, name.p, name.n);
			pe_add_message(&w->item, 1, &w->part);
		}
		pe_add_number(&w->part, 1, (uint64_t)(int64_t)thread->tid);
		pe_add_bytes(&w->part, 2, name.p, name.n);
		pe_add_number(&w->part, 3, (uint64_t)(int64_t)thread->pid);
		pe_add_message(&w->item, 2, &w->part);
	}
	pe_add_message(&w->packet, PROCESS_TREE, &w->item);
	put_packet(w);
}

/* Writes all packets. `by` has room for a number of each entry, `last` for each thread. */
static void put_trace(struct perfetto *w, uint32_t *by, uint64_t *last)
{
	const struct pe_profile *p = w->profile;

	for (size_t i = 0; i < p->n_entries; i++) {
		const struct pe_entry *entry = &p->entries[i];

		if (entry->time > last[entry->thread])
			last[entry->thread] = entry->time;
	}
	put_processes(w, last);
	pe_sort_entries(p, PE_BY_EVENT, by);
	for (size_t i = 0; i < p->n_entries && !w->failed; i++) {
		const struct pe_entry *entry = &p->entries[by[i]];

		if (w->sequence != entry->event + 1)
			begin_sequence(w, entry->event);
		put_entry(w, entry);
	}
}

bool pe_write_perfetto(const struct pe_profile *p, const char *title, struct pd_print *out)
{
	struct perfetto w = { .profile = p, .out = out };
	size_t n_chains = p->chains ? pq_chains_size(p->chains) : 0;
	const size_t sizes[] = { p->texts.n,	   p->texts.n,	 p->texts.n,  p->binaries.n,
				 p->n_frame_lines, n_chains + 1, p->n_entries };
	uint32_t *lists[7];
	uint64_t *last = calloc(p->threads.n + 1, sizeof(*last));

	(void)title; /* the format has no room for it */
	w.failed = !last;
	for (size_t i = 0; i < 7; i++) {
		lists[i] = calloc(sizes[i] + 1, sizeof(*lists[i]));
		w.failed |= !lists[i];
	}
	w.of_names = lists[0];
	w.of_files = lists[1];
	w.of_paths = lists[2];
	w.of_binaries = lists[3];
	w.of_rows = lists[4];
	w.of_chains = lists[5];
	pe_set_init(&w.cpus, sizeof(uint32_t));
	if (!w.failed)
		put_trace(&w, lists[6], last);
	pe_set_deinit(&w.cpus);
	for (size_t i = 0; i < 7; i++)
		free(lists[i]);
	free(last);
	free(w.counts);
	pb_string_deinit(&w.whole);
	pb_string_deinit(&w.packet);
	pb_string_deinit(&w.interned);
	pb_string_deinit(&w.item);
	pb_string_deinit(&w.part);
	return !w.failed;
}
