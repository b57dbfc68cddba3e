/* The history of an address: what was mapped there over time. */
#ifndef PERFLUA_MACHINE_HISTORY_H
#define PERFLUA_MACHINE_HISTORY_H

#include "locations.h"

/* A time range in which an address had the same map and the same function. */
struct pm_history_range {
	struct pm_location location; /* location.map is NULL if nothing was mapped */
	uint64_t from, last; /* ns, both included; 0: the beginning; UINT64_MAX: the end */
};

/*
 * Finds what was at `address` at context->time, and until when, and stores it in *range, whose
 * `from` is context->time. The next range begins at range->last + 1. Opens the binary that was
 * mapped. Returns false without memory.
 */
bool pm_history_at(struct pm_resolver *resolver, const struct pm_addr_context *context,
		   uint64_t address, struct pm_history_range *range);

/*
 * Returns whose an address of `machine` is: PD_CPUMODE_KERNEL, PD_CPUMODE_USER, or
 * PD_CPUMODE_UNKNOWN where kernel and processes each have all addresses (s390, sparc).
 */
enum pd_cpumode pm_address_mode(const struct pm_system *system, uint32_t machine,
				uint64_t address);

#endif
