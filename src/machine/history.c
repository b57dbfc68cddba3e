#include "history.h"

#include "internal.h"
#include "resolver.h"

enum pd_cpumode pm_address_mode(const struct pm_machine *m, uint32_t system, uint64_t address)
{
	uint64_t border = m->binaries.kernels[system].border;

	if (border == UINT64_MAX)
		return PD_CPUMODE_UNKNOWN;
	return address >= border ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
}

/*
 * Returns the last time up to which the maps that an address is looked for in are those of
 * where->time.
 */
static uint64_t same_until(const struct pm_machine *m, const struct pm_where *where,
			   uint64_t address)
{
	bool kernel = pm_is_kernel(where->mode), user = !kernel && where->pid >= 0;
	uint32_t system = where->system;
	uint64_t last = UINT64_MAX;
	struct pm_epoch epoch;

	kernel |= where->any_mode && pm_address_mode(m, system, address) == PD_CPUMODE_KERNEL;
	if (pm_is_guest(where->mode))
		system = pm_guests_system(&m->guests, system, where->machine_pid);
	if (system == PM_NO_SYSTEM)
		return last;
	if (kernel) {
		pm_spaces_epoch(m->spaces, system, PM_KERNEL, where->time, &epoch);
		last = epoch.last;
	}
	if (user) {
		pm_spaces_epoch(m->spaces, system, where->pid, where->time, &epoch);
		last = epoch.last < last ? epoch.last : last;
	}
	return last;
}

bool pm_history_at(struct pm_resolver *r, const struct pm_where *where, uint64_t address,
		   struct pm_stay *stay)
{
	const struct pm_machine *m = r->machine;
	struct pm_where at = *where;
	const struct pm_map *map;
	uint64_t last;

	/* maps stay where they are from now on, so that they can be compared */
	if (!pm_spaces_settle(m->spaces))
		return false;
	map = pm_map_at(m, &at, address);
	do {
		last = same_until(m, &at, address);
		at.time = last + 1;
	} while (last < PM_NO_TIME - 1 && pm_map_at(m, &at, address) == map);
	pm_place_at(r, where, address, &stay->place);
	if (map && map->dso->id.kind == PS_JIT) {
		uint64_t named = ps_dso_symbol_last(map->dso, stay->place.address, where->time);

		last = named < last ? named : last;
	}
	stay->from = where->time;
	stay->last = last < PM_NO_TIME - 1 ? last : UINT64_MAX;
	return true;
}
