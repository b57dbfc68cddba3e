/*
 * The groups of a report, made of those of a query whose measures are a count and sums, the
 * first of them of periods: their keys are what is shown.
 *
 * Without callers, groups that are shown as one are added up. With callers the last key of the
 * query is a chain of PQ_CHAIN_CALLERS: its group adds to that of its first frame, and adds its
 * period once, as one more measure, to the group of each frame. Binaries have their short
 * names, as in perf report.
 *
 * Events that are shown together share a section, with a slot for each of them: a row has the
 * measures of the first slot, of the second one … and then with callers one measure of each,
 * and one more if another sum is asked for with callers.
 */
#ifndef PERFLUA_QUERY_REPORT_H
#define PERFLUA_QUERY_REPORT_H

#include "group.h"

#define PQ_REPORT_MEASURES 64 /* of the query, at most */

/* A key of a report's groups. */
struct pq_report_key {
	enum pq_report_from {
		PQ_FROM_KEY,	/* the key as it is */
		PQ_FROM_DSO,	/* the short name of a binary */
		PQ_FROM_SYMBOL, /* the name of a function, or its address in its binary */
		PQ_FROM_MODE,	/* the cpumode */
		/*
		 * with callers, of frames of PQ_CHAIN_EXACT: the source line, else the distance
		 * from the function's start, or the address in the binary
		 */
		PQ_FROM_SRCLINE
	} from;
	size_t key; /* number of the query's key: for PQ_FROM_KEY; without callers for all */
};

/* A stack of a row: that of a group of the query, or the part of it that the row is in. */
struct pq_report_stack {
	uint32_t next;	/* 1 + number of another stack of the row; 0: there is none */
	uint32_t group; /* of the query */
	uint32_t at;	/* the frame of the row, the callee being 0 */
};

/* Sums of the branches in the stacks of a row, which are its last measures. */
enum pq_branch_sum {
	PQ_BRANCH_ENDS, /* targets and sources */
	PQ_BRANCH_PREDICTED,
	PQ_BRANCH_ABORTED,
	PQ_BRANCH_CYCLES,
	PQ_BRANCH_SUMS
};

/* The stacks of rows; whoever has them made frees `list` and `of_row`. */
struct pq_report_stacks {
	/*
	 * A caller is the frame farthest from the callee that is the row's, and the row of the
	 * callee has the whole stack; else it is the nearest one.
	 */
	bool from_caller;
	double least; /* rows that have less than this share of their event have no stacks */
	struct pq_report_stack *list; /* [n] in the order of groups */
	size_t n, room;
	uint32_t *of_row; /* [n_rows]: 1 + number of a stack of each row; 0: it has none */
	size_t n_rows;
};

/* Frames of a stack, in a tree's direction. */
struct pq_report_frames {
	const uint32_t *all; /* of its chain, callee first */
	size_t first, n;     /* from_caller: those before `first`; else from it on */
};

/*
 * Returns the frames that a stack of a row has: at most `max` of them, counted from where trees
 * begin; 0: all.
 */
struct pq_report_frames pq_report_frames_of(const struct pq_groups *groups,
					    const struct pq_report_stack *stack,
					    bool from_caller, size_t max);

/* The place of an event among those that are shown together. */
struct pq_report_member {
	uint32_t section; /* number of the first one + 1 */
	uint32_t slot;
};

struct pq_report {
	const struct pq_report_key *keys; /* [n_keys] */
	size_t n_keys;
	size_t n_measures; /* of the query */
	size_t also;	   /* number of a sum that has callers beside periods; 0: none */
	size_t event_key;  /* number of the query's key; SIZE_MAX: none */
	/* by number of the event + 1; events from n_members on have a section of their own */
	const struct pq_report_member *members; /* [n_members] */
	size_t n_members, n_slots; /* n_slots: of the largest section, at least 1 */
	bool callers;
	bool is_own;	    /* with callers: but only callees have rows */
	bool sums_branches; /* rows have the measures of enum pq_branch_sum */
	/*
	 * Frames of a chain that count, beside the callee; 0: all. As in perf, they are those
	 * of the first callers, or with `from_callee` those next to the callee
	 */
	size_t max_frames;
	bool from_callee;
	bool grows; /* records are added to the query's groups after it */
	/*
	 * Those of first slots. They need a chain of PQ_CHAIN_CALLERS without callers, too;
	 * NULL: not asked for
	 */
	struct pq_report_stacks *stacks;
	const struct pm_system *system; /* has the binaries; NULL: no key shows them */
	uint32_t n_machines;		/* number of machines in the system */
};

/* The sums of an event. */
struct pq_report_section {
	uint64_t samples;
	uint64_t sums[PQ_REPORT_MEASURES]; /* [n_measures]; from 2^63 on without an answer */
	uint64_t unresolved;		   /* samples whose function has no name */
};

struct pq_report_sections {
	struct pq_report_section *list; /* [room]: by number of the event + 1; first: unknown */
	size_t n, room;
	size_t taken; /* groups of the query that were added */
};

/*
 * Adds the groups of a query to `to`, a bare table whose first key is the section, the number
 * of an event + 1 or 0, and whose further keys are those of the report. Nothing may be added to
 * it after that, nor to `from` unless it grows. The caller frees sections->list, also after a
 * failure.
 *
 * `interrupt`, which may be NULL, may end it: sections->taken says after how many groups.
 * Returns false without memory.
 */
bool pq_report_make(const struct pq_report *report, struct pq_groups *from,
		    struct pq_groups *to, struct pq_report_sections *sections,
		    struct ps_interrupt *interrupt);

#endif
