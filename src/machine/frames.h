/*
 * The call chain of a sample as the recorded system knows it: as recorded, or put together from
 * what was recorded beside it.
 *
 * - user registers and a piece of the stack (--call-graph dwarf) are unwound and follow the
 *   kernel's part;
 * - a call stack of branches (LBR) takes the place of the user's part;
 * - a deferred user part (CALLCHAIN_DEFERRED) is looked up by its cookie.
 */
#ifndef PERFLUA_MACHINE_FRAMES_H
#define PERFLUA_MACHINE_FRAMES_H

#include "places.h"

#define PM_MAX_FRAMES 1024 /* more are cut off */
#define PM_MAX_UNWOUND \
	127 /* of them unwound: PERF_MAX_STACK_DEPTH, which perf has by default */

/* Has the sample frames beside its call chain as recorded? Cheap. */
bool pm_frames_beside(const struct pd_record *rec);

/*
 * All frames of a sample, callee first, at most PM_MAX_FRAMES, and their number, 0 if it has no
 * call chain. The resolver's, until the next sample.
 */
const struct pd_frame *pm_frames_of(struct pm_resolver *resolver, const struct pd_record *rec,
				    size_t *n);

#endif
