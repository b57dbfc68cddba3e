/*
 * The public header of export: writes samples, added up by event, thread and call chain, in the
 * formats of other programs. Nothing here knows Lua.
 *
 *	struct pe_profile *profile = pe_profile_create(groups, &asked);
 *
 *	if (!profile || !pe_write(profile, PE_PPROF, title, 0, &out, &written)) …
 */
#ifndef PERFLUA_EXPORT_EXPORT_H
#define PERFLUA_EXPORT_EXPORT_H

#include "base/string_builder.h"
#include "perfdata/format/print.h"
#include "query/query.h"
#include "result/tree.h"

/* Numbers of the keys of groups; SIZE_MAX: the groups have no such key. */
struct pe_keys {
	size_t event, pid, tid, comm;
	size_t chain; /* of PQ_CHAIN_MAPPED; without lines also of _STARTS or _STACK */
	size_t cpu;
};

/*
 * The description of a profile. The first measure of the groups is a count, the second, if
 * there is one, a sum of periods, which is what entries weigh. The last may keep times
 * (PQ_M_TIMES), with these periods: then entries are told apart by them, in ns.
 */
struct pe_asked {
	struct pe_keys keys;
	struct pm_system *system; /* has the binaries */
	bool sums;		  /* the groups have the sum */
	bool timed;		  /* the groups keep times */
	bool lines;		  /* look up source lines and inlined functions */
	bool stacks;		  /* PE_FIREFOX needs them */
	bool folded;		  /* clean names as the field `stack` has them */
	/* when the recording began, in ns since 1970 UTC; 0: not known; and what it took */
	uint64_t wall_time, duration;
	uint64_t start;	  /* the time that those of PE_CHROME count from, in ns */
	unsigned threads; /* that may work, the caller's included: at least 1 */
	enum pe_head {
		PE_HEAD_COMM, /* "comm" */
		PE_HEAD_PID,  /* "comm-7": with the key pid, also where it is not known */
		PE_HEAD_TID,  /* "comm-7/9" */
	} head;		      /* how threads are named */
};

/*
 * The formats: constant, name, and whether the text is compressed by gzip.
 *
 * PE_CHROME is only a part of a file, which the caller completes: events, each after a comma,
 * then the frames of their stacks. PE_CHROME, PE_FIREFOX and PE_PERFETTO need times; PE_FIREFOX
 * needs stacks, too.
 */
#define PE_FORMAT_LIST(X)                 \
	X(PE_CALLGRIND, callgrind, false) \
	X(PE_CHROME, chrome, false)       \
	X(PE_FIREFOX, firefox, true)      \
	X(PE_FOLDED, folded, false)       \
	X(PE_PERFETTO, perfetto, false)   \
	X(PE_PPROF, pprof, true)          \
	X(PE_SPEEDSCOPE, speedscope, false)

#define PE_FORMAT_CONSTANT(constant, name, is_compressed) constant,

enum pe_format {
	PE_FORMAT_LIST(PE_FORMAT_CONSTANT) PE_FORMATS
};

/* Returns the name of a format. */
const char *pe_format_name(enum pe_format format);

struct pe_profile;

/*
 * Makes a profile of groups, which must outlive it, as must the system. Returns NULL without
 * memory.
 */
struct pe_profile *pe_profile_create(struct pq_groups *groups, const struct pe_asked *asked);
void pe_profile_destroy(struct pe_profile *profile);

/* Returns true if the weights add up to more than 2^63 - 1: their sums are wrong. */
bool pe_profile_is_too_heavy(const struct pe_profile *profile);

/*
 * Returns how many threads have samples, and, where times are kept, sets last[…] to the time of
 * the last sample of each, unless `last` is NULL.
 */
size_t pe_profile_threads(const struct pe_profile *profile, uint64_t *last);

/* Returns the id of a thread, by its number; INT32_MIN: it was not recorded. */
int32_t pe_profile_tid(const struct pe_profile *profile, size_t number);

/* An event of which there are samples. */
struct pe_event {
	uint32_t number;   /* number in the session; UINT32_MAX: it is not known */
	uint32_t name;	   /* number among the profile's texts; no two events have one name */
	bool is_time;	   /* weights are nanoseconds */
	bool is_clock;	   /* counts nanoseconds, also if weights are numbers of samples */
	bool samples_time; /* one of the clocks, or cycles of a processor */
	bool is_tracepoint;
	uint32_t type; /* of its attr; UINT32_MAX: it is not known */
	uint64_t config;
	uint64_t period; /* events from one sample to the next; 0: that is not fixed */
	uint64_t samples, weight;
};

/* Returns the events in their order, and sets *n to their number. */
const struct pe_event *pe_profile_events(const struct pe_profile *profile, size_t *n);

/* The result of pe_write(). */
struct pe_written {
	uint64_t size; /* bytes of text, before it is compressed; 0: not counted */
	/* ns in which times are one, a power of two; 0: all are kept */
	uint64_t step;
	size_t n_joined; /* threads of an event that share a profile with others */
};

/*
 * Writes a profile to `out` and flushes that. PE_FOLDED adds up all events.
 *
 * Unless `most` is 0, entries of one event, thread and call chain whose times are close are
 * added up first, until the profile has at most so many bytes of text. If it has more even
 * without times, nothing is written; *written tells. Returns false without memory; then a part
 * may have been written.
 */
bool pe_write(struct pe_profile *profile, enum pe_format format, const char *title,
	      uint64_t most, struct pd_print *out, struct pe_written *written);

/* The description of a tree of calls. */
struct pe_tree_asked {
	/* position among the profile's events; UINT32_MAX: all are added up */
	uint32_t event;
	bool has_head;	    /* stacks begin with the name of the thread */
	bool has_inlined;   /* stacks have inlined functions, if the profile has lines */
	bool is_reversed;   /* callees first */
	bool has_lines;	    /* frames have source lines, if the profile has lines */
	uint32_t max_depth; /* frames of a stack; what lies deeper is left out */
};

/*
 * Makes a tree of a profile that was asked for with `folded`, which must outlive it. Its names
 * are those of functions, its kinds n thread, k kernel, j made at run time, i inlined, u other,
 * its places lines: see pe_profile_line(). *unresolved becomes the weight of the stacks whose
 * callee is not a known function. It is not finished. Returns NULL without memory.
 */
struct pr_tree *pe_tree_create(const struct pe_profile *profile,
			       const struct pe_tree_asked *asked, uint64_t *unresolved);

/*
 * Returns for each text of a profile the number of the text of the binary that all functions of
 * that name are in, UINT32_MAX: none, or not one. The caller frees it. NULL: no memory.
 */
uint32_t *pe_profile_binaries(const struct pe_profile *profile);

/* Sets *file and *line to the source line of a place of a tree. */
void pe_profile_line(const struct pe_profile *profile, uint32_t number, struct pd_text *file,
		     uint32_t *line);

/* Returns the text of that number in a profile. */
struct pd_text pe_profile_text(const struct pe_profile *profile, uint32_t number);

/*
 * Writes the stacks of a finished tree that is not reversed, and flushes `out`: sorted lines
 * "comm;caller;callee weight". If `annotated`, _[k], _[j] and _[i] follow the names of such
 * frames. Returns false without memory; then a part may have been written.
 */
bool pe_tree_fold(const struct pr_tree *tree, bool annotated, struct pd_print *out);

#define PE_SCHED_FIELDS 4  /* of a row, before its arguments */
#define PE_SCHED_ARGS	12 /* arguments of all events of the scheduler, at most */

/*
 * Each writes one packet of Perfetto, which may follow those of a profile. `packet` is scratch
 * space; packet->failed is set without memory.
 *
 * pe_write_sched() writes a tracepoint of the scheduler as field `event` of an FtraceEvent. The
 * row has a time, a processor, a thread, its event and `n` arguments; numbers[i] is the field
 * of argument i; 0: the event does not have it. Without a time or a processor nothing is
 * written.
 *
 * pe_write_kernel() writes the kernel's release and, unless it is NULL, the architecture.
 */
void pe_write_sched(const struct pq_value *row, unsigned event, const uint8_t *numbers,
		    size_t n, struct pb_string *packet, struct pd_print *out);
void pe_write_kernel(const char *release, const char *arch, struct pb_string *packet,
		     struct pd_print *out);

#endif
