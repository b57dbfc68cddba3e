/*
 * Call stacks of branches that are longer than the processor's buffer: their outer calls were
 * overwritten, but an earlier sample of the thread may have them. See has_stitched_lbr,
 * tools/perf/util/machine.c.
 */
#ifndef PERFLUA_MACHINE_STITCH_H
#define PERFLUA_MACHINE_STITCH_H

#include "base/map.h"
#include "locations.h"

/* The threads whose samples are stitched. Zero-initialised: none. */
struct pm_stitches {
	struct pb_secret secret;
	struct pb_map by_thread;
	struct pm_stitched_thread *threads; /* [n] */
	size_t n, room;
};

void pm_stitches_deinit(struct pm_stitches *stitches);

/*
 * Sets *callers to the sources of the calls that the branch stack of a sample has lost,
 * innermost first, and returns their number: 0 if the sample does not go on where the thread's
 * one before it ended, or without memory. Samples must come in time order. `depth` is the
 * number of branches that the processor's buffer holds. The array is valid until the next call.
 */
size_t pm_stitch(struct pm_stitches *stitches, const struct pm_system *system,
		 const struct pd_record *rec, uint32_t depth, const uint64_t **callers);

#endif
