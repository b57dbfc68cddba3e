/*
 * Call chains that begin with the branches of the sample's branch stack: perf report
 * --branch-history. See thread__resolve_callchain_sample, tools/perf/util/machine.c.
 */
#ifndef PERFLUA_MACHINE_BRANCHES_H
#define PERFLUA_MACHINE_BRANCHES_H

#include "base/set.h"
#include "locations.h"

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
