/*
 * Call chains that the processor recorded as a stack of branches (--call-graph lbr).
 */
#ifndef PERFLUA_MACHINE_LBR_H
#define PERFLUA_MACHINE_LBR_H

#include "perfdata/format/layout.h"

/* Were the branches of a sample of that shape recorded as a call stack? */
static inline bool pm_lbr_recorded(const struct pd_shape *shape)
{
	return shape->branch_sample_type & UINT64_C(1)
						   << 11; /* PERF_SAMPLE_BRANCH_CALL_STACK */
}

/*
 * The frames of a sample, at most n: the kernel's of its call chain, then where the latest call
 * went to and where each came from. False: the chain has no user part, which they would
 * replace, or there are no branches. See resolve_lbr_callchain_sample,
 * tools/perf/util/machine.c; as there by default, samples are not stitched.
 */
bool pm_lbr_frames(const struct pd_view *chain, struct pd_frame *frames, size_t n, size_t *got);

#endif
