/*
 * Profiles in memory, shared by the files of export: what the formats have in common.
 *
 * Numbers are positions in the tables below. Texts are valid UTF-8, unless they are folded.
 */
#ifndef PERFLUA_EXPORT_PROFILE_H
#define PERFLUA_EXPORT_PROFILE_H

#include "base/map.h"
#include "base/string_builder.h"
#include "export.h"
#include "spans.h"

#define PE_NONE	 UINT32_MAX /* number of no item */
#define PE_NO_ID INT32_MIN

struct pe_resolved;

struct pe_thread {
	int32_t pid, tid; /* PE_NO_ID: not recorded */
	uint32_t comm;	  /* text; PE_NONE: not known */
};

struct pe_binary {
	uint32_t name;	   /* text, "[unknown]" where nothing was mapped */
	uint32_t build_id; /* text, in hex; PE_NONE: not known */
};

struct pe_function {
	uint32_t name;	 /* text; "[binary]" if it is not known */
	uint32_t binary; /* number */
	uint32_t file;	 /* text: the source file; PE_NONE: not known */
};

/* A line of a function, of itself or where another one is inlined. */
struct pe_line {
	uint32_t function;
	uint32_t line; /* 0: not known */
};

/* An address in a binary. */
struct pe_frame {
	uint64_t address;
	uint32_t binary;
	uint32_t lines_at, n_lines; /* in frame_lines: innermost first, the last not inlined */
	uint8_t kind;		    /* see pq_frame_kind() */
};

struct pe_entry {
	uint32_t event, thread;
	uint32_t stack; /* chain; PE_NONE: the one frame that is not known */
	uint32_t cpu;	/* PE_NONE: not kept, or not recorded */
	uint64_t time;	/* ns; 0 where times are not kept */
	uint64_t count, weight;
};

/*
 * A call chain, or the callers of one: those of its caller, and a frame more, with a row for
 * each line of a frame.
 */
struct pe_stack {
	uint32_t caller; /* PE_NONE: it has none */
	uint32_t row;	 /* a line of a frame: see rows_at */
};

struct pe_profile {
	const struct pe_asked *asked;
	struct pq_groups *groups;
	const struct pq_chains *chains; /* NULL: no sample has one */
	struct pm_resolver *resolver;	/* while the profile is made */
	/* [frames of the chains + 1], while the profile is made: see pe_frames_resolve() */
	struct pe_resolved *resolved;
	struct pm_string_pool texts;
	uint32_t *chain_numbers; /* of the groups' chains, while entries are made */
	struct pb_string scratch;
	struct pe_event *events; /* [n_events], in the order of the recording */
	size_t n_events, events_room;
	struct pb_set threads;	/* of pe_thread, by pid, tid and name */
	struct pb_set binaries; /* of pe_binary */
	struct pb_set functions;
	struct pb_set lines;
	struct pe_frame *frames; /* [n_frames]: those of the chains, then one that is unknown */
	size_t n_frames;
	uint32_t unknown;      /* number of the last */
	uint32_t *frame_lines; /* numbers of lines */
	size_t n_frame_lines, frame_lines_room;
	struct pe_entry *entries; /* [n_entries], by event, thread, time and stack */
	size_t n_entries;
	uint64_t weight; /* of all entries */
	bool is_too_heavy;
	bool is_coarse;		    /* times were made coarser */
	struct pq_call_nodes calls; /* from pe_stacks_find() to pe_stacks_fill() */
	/* made by the latter; else NULL */
	uint32_t *chain_stacks;	 /* [chains + 1]: stack of each chain; of entries without one */
	uint32_t *rows_at;	 /* [n_frames + 1]: rows of the frames before it, one a line */
	struct pe_stack *stacks; /* [n_stacks], a caller before what it calls */
	size_t n_stacks;
};

/* Returns the number of a text; PE_NONE: no memory. */
uint32_t pe_text_add(struct pe_profile *profile, struct pd_text text);

static inline struct pd_text pe_text(const struct pe_profile *profile, uint32_t number)
{
	return profile->texts.texts[number];
}

/*
 * Looks up the functions and lines of the chains' frames; touches nothing else of the profile.
 * Returns false without memory.
 */
bool pe_frames_resolve(struct pe_profile *profile);

/*
 * Fills frames, and what they consist of, from what pe_frames_resolve() found, which it frees.
 * Returns false without memory.
 */
bool pe_frames_fill(struct pe_profile *profile);

static inline const struct pe_thread *pe_thread_at(const struct pe_profile *profile, uint32_t i)
{
	return pb_set_at(&profile->threads, i);
}

static inline const struct pe_binary *pe_binary_at(const struct pe_profile *profile, uint32_t i)
{
	return pb_set_at(&profile->binaries, i);
}

static inline const struct pe_function *pe_function_at(const struct pe_profile *profile,
						       uint32_t i)
{
	return pb_set_at(&profile->functions, i);
}

static inline const struct pe_line *pe_line_at(const struct pe_profile *profile, uint32_t i)
{
	return pb_set_at(&profile->lines, i);
}

/* Returns the numbers of the lines of a frame, innermost first, and sets *n, at least 1. */
static inline const uint32_t *pe_frame_lines(const struct pe_profile *profile, uint32_t frame,
					     uint32_t *n)
{
	*n = profile->frames[frame].n_lines;
	return profile->frame_lines + profile->frames[frame].lines_at;
}

/* Returns the number of the line of a frame's own function, which is not inlined. */
static inline uint32_t pe_frame_line(const struct pe_profile *profile, uint32_t frame)
{
	uint32_t n;
	const uint32_t *lines = pe_frame_lines(profile, frame, &n);

	return lines[n - 1];
}

/* Returns the numbers of the frames of an entry, callee first, and sets *n, at least 1. */
const uint32_t *pe_entry_frames(const struct pe_profile *profile, const struct pe_entry *entry,
				size_t *n);

/*
 * Finds the calls of which all chains consist; touches nothing else of the profile. Returns
 * false without memory.
 */
bool pe_stacks_find(struct pe_profile *profile);

/*
 * Makes the stacks of all chains and entries from what pe_stacks_find() found, which it frees.
 * Returns false without memory.
 */
bool pe_stacks_fill(struct pe_profile *profile);
void pe_stacks_free(struct pe_profile *profile);

/* Returns the number of the stack of an entry. */
static inline uint32_t pe_entry_stack(const struct pe_profile *profile,
				      const struct pe_entry *entry)
{
	size_t none = profile->chains ? pq_chains_size(profile->chains) : 0;

	return profile->chain_stacks[entry->stack == PE_NONE ? none : entry->stack];
}

/*
 * Compares events, by their numbers, in the order in which viewers show them: those that sample
 * time first, tracepoints last; of one kind first that with most samples.
 */
int pe_event_compare(const struct pe_profile *profile, uint32_t left, uint32_t right);

/* Returns the number of the first event in this order; 0: there are none. */
uint32_t pe_main_event(const struct pe_profile *profile);

/* Writes "comm (pid 7, tid 9)" to `out`, which is cleared. Returns false without memory. */
bool pe_thread_name(const struct pe_profile *profile, uint32_t thread, struct pb_string *out);

enum pe_order {
	PE_BY_CHAIN,  /* stack */
	PE_BY_STACK,  /* thread, stack, event */
	PE_BY_THREAD, /* thread, event, time, stack */
	PE_BY_EVENT,  /* event, time, thread */
	PE_BY_RUN,    /* event, thread */
};

/* Sets by[i] to the position of the i-th entry in an order, where `by` has room for all. */
void pe_sort_entries(const struct pe_profile *profile, enum pe_order order, uint32_t *by);

/* Puts the entries in their own order. */
void pe_sort_profile(struct pe_profile *profile);

/*
 * Puts the entries in their own order, where those of an event and thread are neighbours and
 * these are in order, and adds up equal ones. If `same_time`, they are in order of time, too.
 */
void pe_sort_neighbours(struct pe_profile *profile, bool same_time);

/* Adds up entries whose times agree in all but the bits below `step`, a power of two. */
void pe_coarsen_times(struct pe_profile *profile, uint64_t step);

/*
 * Replaces the entries, which are the groups, by those of the groups' times, in order. Frees
 * groups and times. Returns false without memory.
 */
bool pe_times_fill(struct pe_profile *profile);

/*
 * Returns the time of the last entry of each thread, in an array that the caller frees; NULL:
 * no memory.
 */
uint64_t *pe_thread_times(const struct pe_profile *profile);

/*
 * Threads that differ only in their names are neighbours: one thread that was renamed. Returns
 * the number after those from `i` on, and sets *named to the one with the last entry, where
 * `last` is what pe_thread_times() returned.
 */
uint32_t pe_find_names(const struct pe_profile *profile, const uint64_t *last, uint32_t i,
		       uint32_t *named);

/*
 * Declares the function of each format, pe_write_NAME(), which writes a profile. It returns
 * false without memory.
 */
#define PE_DECLARE_FORMAT(constant, name, is_compressed)                          \
	bool pe_write_##name(const struct pe_profile *profile, const char *title, \
			     struct pd_print *out);

PE_FORMAT_LIST(PE_DECLARE_FORMAT)

/*
 * Makes entries of the same functions, which PE_CHROME cannot tell apart, ones of one call
 * chain, and leaves out processors, but for idle threads. Returns false without memory; then
 * some entries may be changed.
 */
bool pe_chrome_unify(struct pe_profile *profile);

/*
 * Returns how many threads of an event have no profile of their own in the format of
 * speedscope; also 0 without memory.
 */
size_t pe_speedscope_joined(const struct pe_profile *profile);

/* Begins a file of speedscope's, up to its title. */
void pe_speedscope_head(struct pd_print *out, const char *title);

/* The formats of spans. */
extern const struct pe_span_writer pe_chrome_spans, pe_firefox_spans, pe_perfetto_spans,
	pe_speedscope_spans;

/*
 * Looks up a process at a time. Returns its name, which may lie in *process; .p is NULL if it
 * is not known.
 */
struct pd_text pe_span_process(const struct pe_span_options *options, int32_t pid,
			       uint64_t time, struct pm_incarnation *process);

#endif
