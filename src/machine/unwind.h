/*
 * Unwinds the stack of a user process from recorded registers and a copy of the stack's top, by
 * the call frame information of its binaries.
 */
#ifndef PERFLUA_MACHINE_UNWIND_H
#define PERFLUA_MACHINE_UNWIND_H

#include "locations.h"

struct pm_unwinder;

/*
 * Creates an unwinder for one worker. It keeps binaries open. `system` must outlive it. Returns
 * NULL without memory.
 */
struct pm_unwinder *pm_unwinder_create(const struct pm_system *system);
void pm_unwinder_destroy(struct pm_unwinder *unwinder);

/*
 * Returns true if `rec` has the registers and the stack to be unwound, of a known architecture.
 */
bool pm_unwinder_knows(const struct pd_record *rec);

/*
 * Writes the addresses of a sample's user frames to `ips`, from its ip on, at most `n`, and
 * returns their number. As in perf, the address of a caller is its return address - 1, which
 * lies in the call, except after a signal frame: see unwind__get_entries,
 * tools/perf/util/unwind-libdw.c. Sets *is_whole to whether the last of them is the outermost
 * frame of the thread, and call frame information led to each.
 */
size_t pm_unwind(struct pm_unwinder *unwinder, const struct pd_record *rec,
		 const struct pm_addr_context *context, uint64_t *ips, size_t n,
		 bool *is_whole);

/*
 * Returns true if the samples of `shape` may lack the caller of a leaf function. On arm64 a
 * leaf function has no frame record, so its caller is only in the link register, which perf
 * records beside call chains of frame pointers. See get_leaf_frame_caller_aarch64,
 * tools/perf/util/arm64-frame-pointer-unwind-support.c.
 */
bool pm_unwinder_knows_leaf(const struct pd_shape *shape);

/*
 * Sets *caller to the caller of the function at `ip`, the first user address of the sample,
 * taken from the link register. Returns false if the function has a frame record, or the caller
 * is not known.
 */
bool pm_unwind_leaf(struct pm_unwinder *unwinder, const struct pd_record *rec,
		    const struct pm_addr_context *context, uint64_t ip, uint64_t *caller);

#endif
