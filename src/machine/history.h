/*
 * What was at an address over time, step by step.
 */
#ifndef PERFLUA_MACHINE_HISTORY_H
#define PERFLUA_MACHINE_HISTORY_H

#include "places.h"

/* A time range in which an address was the same: its map, and the function there. */
struct pm_stay {
	struct pm_place place; /* its map is NULL where nothing was mapped */
	uint64_t from, last;   /* ns; 0: from the beginning; UINT64_MAX: to the end */
};

/*
 * Finds what was at an address from where->time on, and stores it in *stay, whose `from` is that
 * time. The next one begins at stay->last + 1. Opens the binary that was mapped, as pm_place_at()
 * does. Returns false when there is no memory.
 */
bool pm_history_at(struct pm_resolver *resolver, const struct pm_where *where, uint64_t address,
		   struct pm_stay *stay);

/* Returns whether an address of a system is the kernel's rather than a process's. */
bool pm_is_kernel_address(const struct pm_machine *machine, uint32_t system, uint64_t address);

#endif
