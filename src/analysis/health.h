/*
 * How good a session's recordings are, counted in one pass: what was lost, throttled, cut, came
 * late, is of no use. What that means to somebody is not decided here.
 */
#ifndef PERFLUA_ANALYSIS_HEALTH_H
#define PERFLUA_ANALYSIS_HEALTH_H

#include "backsteps.h"
#include "gaps.h"
#include "rounds.h"
#include "perfdata/order/walk.h"

#define PD_MAX_STACK	  127 /* frames: kernel.perf_event_max_stack, unless somebody changed it */
#define PD_HEALTH_CPUS	  4096
#define PD_HEALTH_UNKNOWN 16

/* Longest of its kind, and how many samples have one as long. */
struct pd_longest {
	uint64_t length, samples;
};

struct pd_throttled {
	uint64_t count;
	uint64_t time; /* ns, of those that were seen to end */
};

struct pd_health_event {
	uint64_t samples;	  /* records */
	uint64_t delivered;	  /* samples, as counters.h splits them; see pd_health.split */
	uint64_t untimed;	  /* of them: without a time */
	uint64_t odd;		  /* of them: their known parts do not add up to their size */
	uint64_t lost_samples;	  /* of LOST_SAMPLES records of this event */
	uint64_t filtered;	  /* the same: what a BPF filter dropped, as was asked for */
	uint64_t chains;	  /* samples with a call chain */
	uint64_t chain_limit;	  /* frames: the attr's, else PD_MAX_STACK */
	uint64_t chains_cut;	  /* of so many frames */
	uint64_t deferred;	  /* whose user part is to follow */
	uint64_t stacks;	  /* samples with a copy of the user stack */
	uint64_t stacks_full;	  /* in which there was more stack than place */
	uint64_t branches;	  /* samples with branches */
	struct pd_longest chain;  /* in frames */
	struct pd_longest branch; /* in entries */
	struct pd_longest stack;  /* in bytes of place */
	struct pd_throttled throttled;
};

struct pd_health {
	uint64_t types[PD_RECORD_TYPES]; /* records */
	uint64_t kernel;		 /* of types below 64: the kernel's */
	struct pd_health_type {
		uint32_t type;
		uint64_t records;
	} unknown[PD_HEALTH_UNKNOWN]; /* types nobody here knows; the last: and all others */
	size_t n_unknown;
	struct pd_health_event *events; /* [n_events + 1]; the last: of no known event */
	size_t n_events;
	struct pd_throttled *cpus; /* [n_cpus] */
	size_t n_cpus;
	uint64_t lost_records; /* that the kernel had no place for */
	uint64_t lost_samples, filtered;
	uint64_t unthrottled;
	uint64_t untimed; /* the kernel's records but samples that have no place for a time */
	uint64_t aux_truncated, aux_partial, aux_collided; /* AUX records that say so */
	uint64_t maps_cut;	/* MMAP2 that end a list of maps that took too long */
	uint64_t maps_with_ids; /* MMAP2 with a build-id */
	bool ordered;		/* perf sorts it: all have times */
	bool backward;		/* some buffer was written newest first (--overwrite) */
	bool split;		/* some samples carry counter values: `delivered` is counted */
	bool unfinished;	/* some recorder never came to its end */
	double part;		/* of the session that was read, see pd_session_part; 1: all */
	struct pd_rounds rounds;
	struct pd_time_range times; /* of samples */
	struct pd_backsteps backsteps;
	struct pd_gaps_found gaps;
};

/* Counts all records, or those before `progress` said no; it is not told how far that is. */
bool pd_health_collect(struct pd_health *health, struct pd_session *session,
		       const struct pb_progress *progress, struct pd_error *err);
void pd_health_deinit(struct pd_health *health);

#endif
