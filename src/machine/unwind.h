/*
 * Unwinding of a user's stack by its registers and a copy of its top, through libdw.
 */
#ifndef PERFLUA_MACHINE_UNWIND_H
#define PERFLUA_MACHINE_UNWIND_H

#include "places.h"

struct pm_unwinder;

/* NULL: no memory. What it opened is kept; one per thread. */
struct pm_unwinder *pm_unwinder_create(const struct pm_machine *machine);
void pm_unwinder_destroy(struct pm_unwinder *unwinder);

/*
 * Can a sample of this layout be unwound: has it registers and stack, of an architecture that
 * we know?
 */
bool pm_unwinder_knows(const struct pd_record *rec);

/*
 * The addresses of a sample's user frames, callee first, the sample's own ip among them, at
 * most n; their number. As perf shows them: callers' are return addresses, less one where perf
 * says so (see unwind__get_entries, tools/perf/util/unwind-libdw.c).
 */
size_t pm_unwind(struct pm_unwinder *unwinder, const struct pd_record *rec,
		 const struct pm_where *where, uint64_t *ips, size_t n);

/*
 * On arm64 a function that calls none keeps no frame, and its caller is only in the link
 * register, which perf records with call chains of frame pointers. See
 * get_leaf_frame_caller_aarch64, tools/perf/util/arm64-frame-pointer-unwind-support.c.
 */
bool pm_unwinder_knows_leaf(const struct pd_shape *shape);

/*
 * The caller of the function at ip, where the sample was in user code; false: it keeps a frame,
 * or it is not known.
 */
bool pm_unwind_leaf(struct pm_unwinder *unwinder, const struct pd_record *rec,
		    const struct pm_where *where, uint64_t ip, uint64_t *caller);

#endif
