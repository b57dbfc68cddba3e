/*
 * Profiles in memory, shared by the files of export: what the formats have in common.
 *
 * Numbers are positions in the tables below. Texts are valid UTF-8, unless they are folded.
 */
#ifndef PERFLUA_EXPORT_PROFILE_H
#define PERFLUA_EXPORT_PROFILE_H

#include "base/string_builder.h"
#include "export.h"
#include "set.h"

#define PE_NO_ID INT32_MIN

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

struct pe_profile {
	const struct pe_asked *asked;
	struct pq_groups *groups;
	const struct pq_chains *chains; /* NULL: no sample has one */
	struct pm_resolver *resolver;	/* while the profile is made */
	struct pm_string_pool texts;
	struct pb_string scratch;
	struct pe_event *events; /* [n_events], in the order of the recording */
	size_t n_events, events_room;
	struct pe_set threads;	/* of pe_thread, by pid, tid and name */
	struct pe_set binaries; /* of pe_binary */
	struct pe_set functions;
	struct pe_set lines;
	struct pe_frame *frames; /* [n_frames]: those of the chains, then one that is unknown */
	size_t n_frames;
	uint32_t unknown;      /* number of the last */
	uint32_t *frame_lines; /* numbers of lines */
	size_t n_frame_lines, frame_lines_room;
	struct pe_entry *entries; /* [n_entries], by event, thread, time and stack */
	size_t n_entries;
};

/* Returns the number of a text; PE_NONE: no memory. */
uint32_t pe_text_add(struct pe_profile *profile, struct pd_text text);

static inline struct pd_text pe_text(const struct pe_profile *profile, uint32_t number)
{
	return profile->texts.texts[number];
}

/* Fills frames, and what they consist of. Returns false without memory. */
bool pe_frames_fill(struct pe_profile *profile);

static inline const struct pe_thread *pe_thread_at(const struct pe_profile *profile, uint32_t i)
{
	return pe_set_at(&profile->threads, i);
}

static inline const struct pe_binary *pe_binary_at(const struct pe_profile *profile, uint32_t i)
{
	return pe_set_at(&profile->binaries, i);
}

static inline const struct pe_function *pe_function_at(const struct pe_profile *profile,
						       uint32_t i)
{
	return pe_set_at(&profile->functions, i);
}

static inline const struct pe_line *pe_line_at(const struct pe_profile *profile, uint32_t i)
{
	return pe_set_at(&profile->lines, i);
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

/*
 * Replaces the entries, which are the groups, by those of the groups' times, in order. Frees
 * groups and times. Returns false without memory.
 */
bool pe_times_fill(struct pe_profile *profile);

/*
 * Does what pe_write() does, but does not compress: for measuring.
 */
bool pe_write_plain(const struct pe_profile *profile, enum pe_format format, const char *title,
		    struct pd_print *out);

/* Write a profile as their formats have it. Return false without memory. */
bool pe_write_callgrind(const struct pe_profile *profile, const char *title,
			struct pd_print *out);
bool pe_write_firefox(const struct pe_profile *profile, const char *title,
		      struct pd_print *out);
bool pe_write_folded(const struct pe_profile *profile, const char *title, struct pd_print *out);
bool pe_write_perfetto(const struct pe_profile *profile, const char *title,
		       struct pd_print *out);
bool pe_write_pprof(const struct pe_profile *profile, const char *title, struct pd_print *out);
bool pe_write_speedscope(const struct pe_profile *profile, const char *title,
			 struct pd_print *out);

#endif
