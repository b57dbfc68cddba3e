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
 * cheap. Branches that options add (branches.h) do not count.
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

#endif
