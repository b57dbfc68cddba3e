/*
 * The format of Perfetto: a sequence of trace packets. An event is a sequence of its own, whose
 * packets are its samples; the first that refers to a call chain has it and its frames, as
 * interned data. Numbers of fields are those of the definitions in
 * https://github.com/google/perfetto/tree/main/protos/perfetto, in files that are named below.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "perfdata/format/print_scalar.h"
#include "perfetto.h"
#include "profile.h"

/* TracePacket.SequenceFlags */
enum {
	STATE_CLEARED = 1,
	NEEDS_STATE = 2
};

/* TracePacketDefaults, trace/trace_packet_defaults.proto */
enum {
	SAMPLE_DEFAULTS = 12
};

/* PerfSampleDefaults and PerfSample, trace/profiling/profile_packet.proto */
enum {
	DEFAULTS_TIMEBASE = 1
};
enum {
	SAMPLE_CPU = 1,
	SAMPLE_PID,
	SAMPLE_TID,
	SAMPLE_CALLSTACK,
	SAMPLE_CPU_MODE,
	SAMPLE_TIMEBASE_COUNT,
};

/* PerfEvents.Timebase, common/perf_events.proto */
enum {
	TIMEBASE_COUNTER = 4,
	TIMEBASE_NAME = 10
};

/* ProcessTree and its messages, trace/ps/process_tree.proto */
enum {
	TREE_THREADS = 2
};
enum {
	THREAD_TID = 1,
	THREAD_NAME,
	THREAD_PID
};

/* ProcessDescriptor, trace/track_event/process_descriptor.proto */
enum {
	PROCESS_PID = 1,
	PROCESS_NAME = 6
};

/* InternedData, trace/interned_data/interned_data.proto */
enum interned_field {
	FUNCTION_NAMES = 5,
	FRAMES,
	CALLSTACKS,
	BUILD_IDS = 16,
	MAPPING_PATHS,
	SOURCE_PATHS,
	MAPPINGS,
};

/* InternedString, Mapping, Frame and Callstack, trace/profiling/profile_common.proto */
enum {
	IID = 1 /* of each of them */
};
enum {
	STRING_BYTES = 2
};
enum {
	MAPPING_BUILD_ID = 2,
	MAPPING_PATH = 7
};
enum {
	FRAME_NAME = 2,
	FRAME_MAPPING,
	FRAME_ADDRESS,
	FRAME_SOURCE,
	FRAME_LINE,
	FRAME_KIND,
};
enum {
	CALLSTACK_FRAMES = 2
};

/* Frame.Kind */
enum {
	NATIVE = 1,
	KERNEL = 2,
	JIT = 4
};

struct perfetto {
	const struct pe_profile *profile;
	struct pd_print *out;
	struct pb_string whole, packet, interned, item, part;
	/*
	 * Numbers, from 1 on, of the event that wrote an item last, as interned data belong to
	 * a sequence: by text, binary, line of a frame, call chain (the last: none).
	 */
	uint32_t *of_names, *of_files, *of_paths, *of_binaries, *of_rows, *of_chains;
	uint32_t *modes;   /* by call chain that was written: cpumode of the callee */
	uint32_t sequence; /* that of the event that is written */
	bool failed;
};

/* Writes w->whole, and clears it. */
static void put_whole_packet(struct perfetto *w)
{
	w->failed |= w->whole.failed;
	pd_print_bytes(w->out, w->whole.p, w->failed ? 0 : w->whole.n);
	pb_string_clear(&w->whole);
}

/* Writes w->packet, and clears it. */
static void put_packet(struct perfetto *w)
{
	pe_add_message(&w->whole, TRACE_PACKET, &w->packet);
	put_whole_packet(w);
}

/* Adds a string of interned data, unless the sequence has it. Returns its number. */
static uint64_t intern_text(struct perfetto *w, uint32_t *sequences, enum interned_field field,
			    uint32_t text)
{
	struct pd_text string;

	if (text == PE_NONE)
		return 0;
	if (sequences[text] != w->sequence) {
		string = pe_text(w->profile, text);
		/* components of paths are joined by slashes, with one in front */
		if (field == MAPPING_PATHS && string.n && string.p[0] == '/')
			string = (struct pd_text){ string.p + 1, string.n - 1 };
		pe_add_integer(&w->part, IID, text + UINT64_C(1));
		pe_add_bytes(&w->part, STRING_BYTES, string.p, string.n);
		pe_add_message(&w->interned, field, &w->part);
	}
	sequences[text] = w->sequence;
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
		pe_add_integer(&w->part, IID, number + UINT64_C(1));
		pe_add_varint(&w->part, STRING_BYTES << 3 | 2);
		pe_add_varint(&w->part, id.n / 2);
		for (size_t i = 0; i + 1 < id.n; i += 2)
			pb_string_fill(&w->part,
				       (char)(digit_of(id.p[i]) << 4 | digit_of(id.p[i + 1])),
				       1);
		pe_add_message(&w->interned, BUILD_IDS, &w->part);
	}
	pe_add_integer(&w->part, IID, number + UINT64_C(1));
	if (id.n)
		pe_add_integer(&w->part, MAPPING_BUILD_ID, number + UINT64_C(1));
	pe_add_number(&w->part, MAPPING_PATH, path);
	pe_add_message(&w->interned, MAPPINGS, &w->part);
	return number + UINT64_C(1);
}

static unsigned kind_of(const struct pe_frame *frame)
{
	switch (frame->kind) {
	case PD_CPUMODE_KERNEL:
	case PD_CPUMODE_GUEST_KERNEL:
	case PD_CPUMODE_HYPERVISOR:
		return KERNEL;
	case PQ_FRAME_JIT:
		return JIT;
	default:
		return NATIVE;
	}
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
	pe_add_integer(&w->part, IID, row + UINT64_C(1));
	pe_add_integer(&w->part, FRAME_NAME, name);
	pe_add_integer(&w->part, FRAME_MAPPING, binary);
	pe_add_number(&w->part, FRAME_ADDRESS, frame->address);
	pe_add_integer(&w->part, FRAME_SOURCE, file);
	pe_add_integer(&w->part, FRAME_LINE, line->line);
	pe_add_integer(&w->part, FRAME_KIND, kind_of(frame));
	pe_add_message(&w->interned, FRAMES, &w->part);
	return row + UINT64_C(1);
}

/* Adds a call chain, that of an entry, caller first. */
static void add_chain(struct perfetto *w, const struct pe_entry *entry, uint32_t chain)
{
	const struct pe_profile *p = w->profile;
	size_t n;
	const uint32_t *frames = pe_entry_frames(p, entry, &n);
	unsigned mode = p->frames[*frames].kind;

	/* enum CpuMode has the numbers of perf_event.h */
	w->modes[chain] = mode == PQ_FRAME_JIT ? PD_CPUMODE_USER : mode;
	pe_add_integer(&w->item, IID, chain + UINT64_C(1));
	while (n--) {
		const struct pe_frame *frame = &p->frames[frames[n]];

		for (uint32_t i = frame->n_lines; i--;)
			pe_add_integer(&w->item, CALLSTACK_FRAMES,
				       intern_row(w, frame, frame->lines_at + i));
	}
	pe_add_message(&w->interned, CALLSTACKS, &w->item);
}

/* Returns the number of the call chain of an entry, which the sequence has from now on. */
static uint32_t intern_chain(struct perfetto *w, const struct pe_entry *entry)
{
	const struct pq_chains *chains = w->profile->chains;
	uint32_t chain = entry->stack;

	if (chain == PE_NONE)
		chain = chains ? pq_chains_size(chains) : 0;
	if (w->of_chains[chain] != w->sequence) {
		w->of_chains[chain] = w->sequence;
		add_chain(w, entry, chain);
	}
	return chain;
}

/* Adds the message of a sample of an entry to w->whole. */
static void add_sample(struct perfetto *w, const struct pe_entry *entry, uint32_t chain,
		       uint64_t weight)
{
	const struct pe_thread *thread = pe_thread_at(w->profile, entry->thread);
	size_t from = pe_begin_message(&w->whole, PERF_SAMPLE);

	if (entry->cpu != PE_NONE)
		pe_add_number(&w->whole, SAMPLE_CPU, entry->cpu);
	if (thread->pid != PE_NO_ID)
		pe_add_number(&w->whole, SAMPLE_PID, (uint32_t)thread->pid);
	if (thread->tid != PE_NO_ID)
		pe_add_number(&w->whole, SAMPLE_TID, (uint32_t)thread->tid);
	pe_add_integer(&w->whole, SAMPLE_CALLSTACK, chain + UINT64_C(1));
	pe_add_integer(&w->whole, SAMPLE_CPU_MODE, w->modes[chain]);
	pe_add_integer(&w->whole, SAMPLE_TIMEBASE_COUNT, weight);
	pe_end_message(&w->whole, from);
}

/*
 * Writes the samples of an entry: several, if they have the same time, which share its weight;
 * but one for all of them where times were made coarser.
 * ui.perfetto.dev adds up values of counters where it draws flame graphs (its standard library,
 * linux/perf/counters.sql), so a sample's value is its own weight, not the count until then.
 */
static void put_entry(struct perfetto *w, const struct pe_entry *entry)
{
	uint64_t n = w->profile->is_coarse ? 1 : entry->count;

	for (uint64_t i = 0; i < n && !w->failed; i++) {
		uint32_t chain = intern_chain(w, entry);
		uint64_t weight = entry->weight / n + (i < entry->weight % n);
		size_t from = pe_begin_message(&w->whole, TRACE_PACKET);

		pe_add_number(&w->whole, TIMESTAMP, entry->time);
		pe_add_integer(&w->whole, SEQUENCE_ID, w->sequence);
		pe_add_integer(&w->whole, SEQUENCE_FLAGS, NEEDS_STATE);
		if (w->interned.n)
			pe_add_message(&w->whole, INTERNED_DATA, &w->interned);
		add_sample(w, entry, chain, weight);
		pe_end_message(&w->whole, from);
		put_whole_packet(w);
	}
}

/* Returns the PerfEvents.Counter of an event, from which its unit follows; 0: it has none. */
static unsigned counter_of(const struct pe_event *event)
{
	/* by type and config: enum perf_hw_id, enum perf_sw_ids in perf_event.h */
	static const uint8_t counters[2][10] = {
		{ 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 },
		{ 1, 3, 2, 4, 5, 6, 7, 8, 9, 20 },
	};

	return event->type < 2 && event->config < 10 ? counters[event->type][event->config] : 0;
}

/* Begins the sequence of an event: its packets are samples of that name. */
static void begin_sequence(struct perfetto *w, uint32_t number)
{
	const struct pe_event *event = &w->profile->events[number];
	struct pd_text name = pe_text(w->profile, event->name);

	w->sequence = number + 1;
	pe_add_integer(&w->packet, SEQUENCE_ID, w->sequence);
	pe_add_integer(&w->packet, SEQUENCE_FLAGS, STATE_CLEARED);
	pe_add_integer(&w->packet, FIRST_PACKET, 1);
	pe_add_bytes(&w->part, TIMEBASE_NAME, name.p, name.n);
	if (w->profile->asked->sums) /* else samples are counted */
		pe_add_integer(&w->part, TIMEBASE_COUNTER, counter_of(event));
	pe_add_message(&w->item, DEFAULTS_TIMEBASE, &w->part);
	pe_add_message(&w->interned, SAMPLE_DEFAULTS, &w->item);
	pe_add_message(&w->packet, PACKET_DEFAULTS, &w->interned);
	put_packet(w);
}

/*
 * A ProcessTree has command lines, of which Perfetto takes what is before the first space for
 * the name, so processes are named by their tracks.
 */
void pe_add_process_track(struct pb_string *packet, uint32_t uuid, int32_t pid,
			  struct pd_text name)
{
	size_t track = pe_begin_message(packet, TRACK_DESCRIPTOR), process;

	pe_add_number(packet, TRACK_UUID, uuid);
	process = pe_begin_message(packet, TRACK_PROCESS);
	pe_add_number(packet, PROCESS_PID, (uint64_t)(int64_t)pid);
	if (name.p)
		pe_add_bytes(packet, PROCESS_NAME, name.p, name.n);
	pe_end_message(packet, process);
	pe_end_message(packet, track);
}

/* Writes the processes, and the last name of each thread. */
static void put_processes(struct perfetto *w, const uint64_t *last)
{
	const struct pe_profile *p = w->profile;

	for (uint32_t i = 0, named; i < p->threads.n;) {
		const struct pe_thread *thread = pe_thread_at(p, i);
		struct pd_text name = { "", 0 };

		i = pe_find_names(p, last, i, &named);
		if (thread->pid == PE_NO_ID || thread->tid == PE_NO_ID)
			continue;
		if (pe_thread_at(p, named)->comm != PE_NONE)
			name = pe_text(p, pe_thread_at(p, named)->comm);
		if (thread->pid == thread->tid) {
			pe_add_process_track(&w->packet, i, thread->pid, name); /* i > 0 */
			put_packet(w);
		}
		pe_add_number(&w->part, THREAD_TID, (uint64_t)(int64_t)thread->tid);
		pe_add_bytes(&w->part, THREAD_NAME, name.p, name.n);
		pe_add_number(&w->part, THREAD_PID, (uint64_t)(int64_t)thread->pid);
		pe_add_message(&w->item, TREE_THREADS, &w->part);
	}
	pe_add_message(&w->packet, PROCESS_TREE, &w->item);
	put_packet(w);
}

#define AHEAD 16 /* entries: they lie in another order in memory, so they are fetched ahead */

/* Writes all packets. `by` has room for a number of each entry. */
static void put_trace(struct perfetto *w, uint32_t *by, const uint64_t *last)
{
	const struct pe_profile *p = w->profile;

	put_processes(w, last);
	pe_sort_entries(p, PE_BY_EVENT, by);
	for (size_t i = 0; i < p->n_entries && !w->failed; i++) {
		const struct pe_entry *entry = &p->entries[by[i]];

		if (i + AHEAD < p->n_entries)
			__builtin_prefetch(&p->entries[by[i + AHEAD]]);
		if (w->sequence != entry->event + 1)
			begin_sequence(w, entry->event);
		put_entry(w, entry);
	}
}

bool pe_write_perfetto(const struct pe_profile *p, const char *title, struct pd_print *out)
{
	struct perfetto w = { .profile = p, .out = out };
	size_t n_chains = p->chains ? pq_chains_size(p->chains) : 0;
	const size_t sizes[] = { p->texts.n,	   p->texts.n,	 p->texts.n,   p->binaries.n,
				 p->n_frame_lines, n_chains + 1, n_chains + 1, p->n_entries };
	uint32_t *lists[8];
	uint64_t *last = pe_thread_times(p);

	(void)title; /* the format has no room for it */
	w.failed = !last;
	for (size_t i = 0; i < 8; i++) {
		lists[i] = pb_zeros(sizes[i] + 1, sizeof(*lists[i]));
		w.failed |= !lists[i];
	}
	w.of_names = lists[0];
	w.of_files = lists[1];
	w.of_paths = lists[2];
	w.of_binaries = lists[3];
	w.of_rows = lists[4];
	w.of_chains = lists[5];
	w.modes = lists[6];
	if (!w.failed)
		put_trace(&w, lists[7], last);
	for (size_t i = 0; i < 8; i++)
		free(lists[i]);
	free(last);
	pb_string_deinit(&w.whole);
	pb_string_deinit(&w.packet);
	pb_string_deinit(&w.interned);
	pb_string_deinit(&w.item);
	pb_string_deinit(&w.part);
	return !w.failed;
}
