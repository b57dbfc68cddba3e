/*
 * The public header of export: writes samples, added up by event, thread and call chain, in the
 * formats of other programs. Nothing here knows Lua.
 *
 *	struct pe_profile *profile = pe_profile_create(groups, &asked);
 *
 *	if (!profile || !pe_write(profile, PE_PPROF, title, &out)) …
 */
#ifndef PERFLUA_EXPORT_EXPORT_H
#define PERFLUA_EXPORT_EXPORT_H

#include "perfdata/format/print.h"
#include "query/query.h"

/* Numbers of the keys of groups; SIZE_MAX: the groups have no such key. */
struct pe_keys {
	size_t event, pid, tid, comm;
	size_t chain; /* a field with is_mapped */
	size_t cpu;
};

/*
 * Describes a profile. The first measure of the groups is a count, the second, if there is one,
 * a sum of periods, which is what entries weigh. The last may keep times (PQ_M_TIMES), with
 * these periods: then entries are told apart by them, in ns.
 */
struct pe_asked {
	struct pe_keys keys;
	struct pm_system *system; /* has the binaries */
	bool sums;		  /* the groups have the sum */
	bool timed;		  /* the groups keep times */
	bool lines;		  /* look up source lines and inlined functions */
	bool folded;		  /* clean names as the field `stack` has them */
};

enum pe_format {
	PE_CALLGRIND,
	PE_FIREFOX, /* compressed by gzip; needs times */
	PE_FOLDED,
	PE_PERFETTO, /* needs times, and keeps all of them */
	PE_PPROF,    /* compressed by gzip */
	PE_SPEEDSCOPE,
	PE_FORMATS
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

/* An event of which there are samples. */
struct pe_event {
	uint32_t number; /* number in the session; UINT32_MAX: it is not known */
	uint32_t name;	 /* number among the profile's texts */
	bool is_time;	 /* weights are nanoseconds */
	bool is_tracepoint;
	uint64_t samples, weight;
};

/* Returns the events in their order, and sets *n to their number. */
const struct pe_event *pe_profile_events(const struct pe_profile *profile, size_t *n);

/*
 * Adds up entries of one event, thread and call chain whose times are close, until the profile
 * has at most `most` bytes of text in that format, before it is compressed. Sets *step to the
 * ns in which times are one, a power of two, or to 0 if all are kept, and *size to the bytes;
 * these may be more than `most`, if even without times it has more, and of PE_PERFETTO, where
 * each sample is a packet. Returns false without memory.
 */
bool pe_fit(struct pe_profile *profile, enum pe_format format, const char *title, uint64_t most,
	    uint64_t *step, uint64_t *size);

/*
 * Writes a profile to `out` and flushes that. PE_FOLDED adds up all events. Returns false
 * without memory; then a part may have been written.
 */
bool pe_write(const struct pe_profile *profile, enum pe_format format, const char *title,
	      struct pd_print *out);

#endif
