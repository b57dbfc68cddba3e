/*
 * The history of an address: what was mapped there over time.
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
 * Finds what was at an address from where->time on, and stores it in *stay, whose `from` is
 * that time. The next one begins at stay->last + 1. Opens the binary that was mapped, as
 * pm_place_at() does. Returns false when there is no memory.
 */
bool pm_history_at(struct pm_resolver *resolver, const struct pm_where *where, uint64_t address,
		   struct pm_stay *stay);

/*
 * Returns whose address it is, in a system: PD_CPUMODE_KERNEL, PD_CPUMODE_USER, or
 * PD_CPUMODE_UNKNOWN on a machine where kernel and processes each have all addresses.
 */
enum pd_cpumode pm_address_mode(const struct pm_machine *machine, uint32_t system,
				uint64_t address);

#endif
