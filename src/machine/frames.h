/*
 * The frames of a sample: its call chain as recorded, or rebuilt from other parts of the
 * sample.
 *
 * - User registers and a copy of the stack (--call-graph dwarf) are unwound; these frames
 *   follow those of the kernel.
 * - A call stack of branches (--call-graph lbr) replaces the user's frames.
 * - The user's frames that a CALLCHAIN_DEFERRED record brings later are found by their cookie.
 */
#ifndef PERFLUA_MACHINE_FRAMES_H
#define PERFLUA_MACHINE_FRAMES_H

#include "locations.h"

#define PM_MAX_FRAMES  1024 /* further ones are cut off */
#define PM_MAX_UNWOUND 127  /* PERF_MAX_STACK_DEPTH, perf's default */

/*
 * Returns true if pm_frames_of() may give other frames than the call chain in `rec`. It is
 * cheap. Branches that options add (pm_adds_branches) do not count.
 */
bool pm_frames_may_differ(const struct pd_record *rec);

/* Returns true if a sample's branches were recorded as a call stack, which is its chain. */
bool pm_has_lbr_stack(const struct pd_record *rec);

/*
 * Returns the frames of a sample, from the callee on, and sets *n to their number: at most
 * PM_MAX_FRAMES, 0 if it has no call chain. They are the resolver's until the next sample.
 */
const struct pd_frame *pm_frames_of(struct pm_resolver *resolver, const struct pd_record *rec,
				    size_t *n);

/*
 * Writes the user frames that a sample's copy of the stack leads to, from its ip on, to
 * ips[PM_MAX_UNWOUND], and returns their number. Sets *is_whole as pm_unwind() does.
 */
size_t pm_unwound_frames(struct pm_resolver *resolver, const struct pd_record *rec,
			 uint64_t *ips, bool *is_whole);

/*
 * Writes the user frames that were recorded later than the sample, under `cookie`, to
 * ips[PM_MAX_FRAMES], and sets *n to their number. Returns false if they are not known (yet).
 */
bool pm_deferred_frames(struct pm_resolver *resolver, const struct pd_record *rec,
			uint64_t cookie, uint64_t *ips, size_t *n);

/*
 * Call chains that begin with the branches of the sample's branch stack: perf report
 * --branch-history. See thread__resolve_callchain_sample, tools/perf/util/machine.c.
 */

/* An end of a branch, as a frame has it. No padding: equal ones have equal bytes. */
struct pm_branch {
	enum pm_branch_end {
		PM_BRANCH_NONE, /* the frame is of the recorded call chain */
		PM_BRANCH_TARGET,
		PM_BRANCH_SOURCE,
		PM_BRANCH_OWN /* the frame is the ip of the sample */
	} end;
	/* members of targets */
	uint8_t predicted, aborted, type, new_type;	    /* type: 0 if it was not recorded */
	uint8_t is_forward, crosses_2m, crosses_4k, unused; /* of one with a type */
	/* members of sources; iterations: loops left out before it, and their cycles */
	uint32_t cycles, iterations, iteration_cycles;
};

/* Returns true if options have branches added to the call chain of a sample. */
bool pm_adds_branches(const struct pm_resolver *resolver, const struct pd_record *rec);

/*
 * Writes the frames of such a sample, callee first, to frames[PM_MAX_FRAMES]. Returns their
 * number.
 */
size_t pm_branch_frames(struct pm_resolver *resolver, const struct pd_record *rec,
			struct pd_frame *frames);

#define PM_OWN_FRAME UINT32_MAX /* member `branch` of a frame that is the ip of a sample */

/* Returns what the member `branch` of a frame of the resolver's says. */
const struct pm_branch *pm_branch_of(const struct pm_resolver *resolver,
				     const struct pd_frame *frame);

#endif
