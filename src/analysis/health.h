/*
 * The health of a session's recordings, counted in one pass: records that were lost, cut, late
 * or throttled. Judging the counts is left to the caller.
 */
#ifndef PERFLUA_ANALYSIS_HEALTH_H
#define PERFLUA_ANALYSIS_HEALTH_H

#include "gaps.h"
#include "perfdata/order/walk.h"

#define PD_MAX_STACK	  127 /* frames; the default of kernel.perf_event_max_stack */
#define PD_HEALTH_CPUS	  4096
#define PD_HEALTH_UNKNOWN 16

/* The greatest length of its kind, and the number of samples with it. */
struct pd_longest {
	uint64_t length, samples;
};

struct pd_throttled {
	uint64_t count;
	uint64_t time; /* ns, of throttled times whose end was recorded */
};

struct pd_health_event {
	uint64_t samples;      /* records */
	uint64_t delivered;    /* samples as counters.h splits them; see pd_health.split */
	uint64_t untimed;      /* records without a time */
	uint64_t odd;	       /* records whose known parts do not add up to their size */
	uint64_t of_pid_zero;  /* records of user code whose pid is 0 */
	uint64_t lost_samples; /* sum of the event's LOST_SAMPLES records */
	/* the same for samples that a BPF filter dropped on request */
	uint64_t filtered;
	uint64_t chains;	  /* samples with a call chain */
	uint64_t chain_limit;	  /* frames: the attr's limit, or else PD_MAX_STACK */
	uint64_t chains_cut;	  /* chains of exactly so many frames */
	uint64_t deferred;	  /* chains whose user part comes later */
	uint64_t stacks;	  /* samples with a copy of the user stack */
	uint64_t stacks_full;	  /* copies that filled the requested size */
	uint64_t branches;	  /* samples with branches */
	struct pd_longest chain;  /* longest call chain, in frames */
	struct pd_longest branch; /* longest branch stack, in entries */
	struct pd_longest stack;  /* longest copy of a stack, in bytes */
	struct pd_throttled throttled;
};

/*
 * The records that perf counts as "out of order events".
 *
 * perf sorts records by time in a queue. The recorder writes a FINISHED_ROUND once it has read
 * all of its buffers; at that perf delivers the records that are not later than the latest one
 * of the rounds before. A record earlier than a delivered one comes too late. A few maxima of
 * the queue decide that, so no queue is built. See ordered_events__queue and
 * __ordered_events__flush, tools/perf/util/ordered-events.c.
 */
struct pd_rounds {
	uint64_t limit;	    /* ns: the next round delivers up to here; 0: nothing */
	uint64_t delivered; /* ns: the latest time that the last round delivered */
	uint64_t due;	    /* ns: the latest time in the queue up to the limit; 0: none */
	uint64_t latest;    /* ns: the latest time in the queue; 0: it is empty */
	uint64_t late;	    /* records that came too late */
	uint64_t worst;	    /* ns: the most that one came too late */
	uint64_t first;	    /* ns: the time of the first of them */
};

/*
 * Clocks that go back: many samples in a row of one ring buffer are earlier than a sample
 * before them. Only a few are if something delayed a writer between reading the clock and
 * writing.
 */
struct pd_clock_regressions {
	uint64_t n;
	uint64_t worst; /* ns; the largest step back */
	uint64_t first; /* ns; the time that the first step led to */
};

struct pd_health {
	uint64_t types[PD_RECORD_TYPES]; /* records */
	uint64_t kernel; /* records of types below 64, which the kernel writes */
	struct pd_health_type {
		uint32_t type;
		uint64_t records;
	} unknown[PD_HEALTH_UNKNOWN]; /* unknown types; the last counts all others, too */
	size_t n_unknown;
	/* [n_events + 1]; the last is for records of no known event */
	struct pd_health_event *events;
	size_t n_events;
	struct pd_throttled *cpus; /* [n_cpus], by number */
	size_t n_cpus;
	uint64_t lost_records; /* records that the kernel had no room for */
	uint64_t lost_samples, filtered;
	uint64_t unthrottled;
	uint64_t untimed; /* kernel records, except samples, with no room for a time */
	uint64_t aux_truncated, aux_partial, aux_collided; /* AUX records with these flags */
	/* MMAP2 records that end a list of mappings that took too long to read */
	uint64_t maps_cut;
	uint64_t maps_with_ids; /* MMAP2 with a build-id */
	uint64_t restated;	/* records that pd_record_restated() tells */
	bool ordered;		/* perf can sort the records: all have times */
	bool backward;		/* a ring buffer was written backwards (--overwrite) */
	/* some samples carry counter values, so `delivered` differs from `samples` */
	bool split;
	bool unfinished; /* some recorder was killed before it wrote data.size */
	/* the part of the session that was read, see pd_session_part(); 1: all */
	double part;
	struct pd_rounds rounds;
	struct pd_time_range times; /* times of the samples */
	struct pd_clock_regressions clock_regressions;
	struct pd_gaps_found gaps;
};

/*
 * Counts all records, or those before `progress` said no, by up to `threads` workers.
 *
 * Returns false with *err on failure, else true, with *health to be freed by
 * pd_health_deinit(). A one-shot stream that was interrupted counts up to there.
 */
bool pd_health_collect(struct pd_health *health, struct pd_session *session, unsigned threads,
		       const struct pb_progress *progress, struct pd_error *err);
void pd_health_deinit(struct pd_health *health);

#endif
