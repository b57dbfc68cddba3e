#include "history.h"

#include "internal.h"
#include "resolver.h"

enum pd_cpumode pm_address_mode(const struct pm_system *sys, uint32_t machine, uint64_t address)
{
	uint64_t border = sys->binaries.kernels[machine].border;

	if (border == UINT64_MAX)
		return PD_CPUMODE_UNKNOWN;
	return address >= border ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
}

/*
 * Returns the last time at which the maps that `address` is looked up in are still those of
 * context->time.
 */
static uint64_t find_maps_end(const struct pm_system *sys,
			      const struct pm_addr_context *context, uint64_t address)
{
	bool kernel = pm_is_kernel(context->mode), user = !kernel && context->pid >= 0;
	uint32_t machine = context->machine;
	uint64_t last = UINT64_MAX;
	struct pm_mapping_version version;

	kernel |= context->any_mode &&
		  pm_address_mode(sys, machine, address) == PD_CPUMODE_KERNEL;
	if (pm_is_guest(context->mode))
		machine = pm_guests_machine(&sys->guests, machine, context->machine_pid);
	if (machine == PM_NO_MACHINE)
		return last;
	if (kernel) {
		pm_spaces_version(sys->spaces, machine, PM_KERNEL, context->time, &version);
		last = version.last;
	}
	if (user) {
		pm_spaces_version(sys->spaces, machine, context->pid, context->time, &version);
		last = version.last < last ? version.last : last;
	}
	return last;
}

bool pm_history_at(struct pm_resolver *r, const struct pm_addr_context *context,
		   uint64_t address, struct pm_history_range *range)
{
	const struct pm_system *sys = r->system;
	struct pm_addr_context at = *context;
	const struct pm_map *map;
	uint64_t last;

	/* maps do not move any more after this, so their addresses can be compared */
	if (!pm_spaces_settle(sys->spaces))
		return false;
	map = pm_map_at(sys, &at, address);
	do {
		last = find_maps_end(sys, &at, address);
		at.time = last + 1;
	} while (last < PM_NO_TIME - 1 && pm_map_at(sys, &at, address) == map);
	pm_location_at(r, context, address, &range->location);
	if (map && map->dso->id.kind == PS_JIT) {
		uint64_t named = ps_dso_symbol_last(map->dso, range->location.address,
						    context->time);

		last = named < last ? named : last;
	}
	range->from = context->time;
	range->last = last < PM_NO_TIME - 1 ? last : UINT64_MAX;
	return true;
}
