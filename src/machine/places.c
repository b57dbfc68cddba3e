#include "places.h"

#include <stdlib.h>

#include "internal.h"
#include "resolver.h"

void pm_where_of(const struct pm_machine *m, const struct pd_record *rec,
		 struct pm_where *where)
{
	const struct pm_source *source = pm_source_of(&m->sources, rec);
	const struct pm_guest_cpu *cpu;
	int64_t pid;

	where->system = source->system;
	where->mode = rec->misc & PD_MISC_CPUMODE;
	where->pid = pm_integer(rec, m->ids.pid, &pid) ? (int32_t)pid : -1;
	where->time = pm_time_of(&m->sources, rec);
	where->machine_pid = 0;
	where->any_mode = false;
	if (pm_is_guest(where->mode)) {
		cpu = pm_guests_of(&m->guests, rec);
		where->machine_pid = cpu ? cpu->machine_pid : where->pid;
	}
	/*
	 * a sample without a time may be of any; what perf wrote itself it wrote at the
	 * beginning
	 */
	if (where->time == PM_NO_TIME && rec->type != PD_RECORD_SAMPLE)
		where->time = source->floor;
}

/*
 * What is recorded of the kernel ends with its code, but its symbols may go on: of what runs
 * once, of data. They say how far it goes. See map__fixup_end in dso__load_kernel_sym,
 * tools/perf/util/symbol.c.
 */
static const struct pm_map *kernel_beyond(const struct pm_machine *m,
					  const struct pm_where *where, uint64_t address)
{
	const struct pm_kernel *kernel = &m->binaries.kernels[where->system];

	if (!kernel->dso || !ps_dso_symbol(kernel->dso, address))
		return NULL;
	return pm_spaces_find(m->spaces, where->system, PM_KERNEL, kernel->start, where->time);
}

static const struct pm_map *map_in(const struct pm_machine *m, const struct pm_where *where,
				   enum pd_cpumode mode, uint64_t address)
{
	uint32_t system = where->system;
	int32_t pid = pm_is_kernel(mode) ? PM_KERNEL : where->pid;
	const struct pm_map *map;

	if (mode == PD_CPUMODE_UNKNOWN || mode == PD_CPUMODE_HYPERVISOR ||
	    mode > PD_CPUMODE_GUEST_USER || (pid < 0 && !pm_is_kernel(mode)))
		return NULL;
	if (pm_is_guest(mode)) {
		system = pm_guests_system(&m->guests, system, where->machine_pid);
		if (system == PM_NO_SYSTEM)
			return NULL;
	}
	map = pm_spaces_find(m->spaces, system, pid, address, where->time);
	if (!map && mode == PD_CPUMODE_KERNEL)
		map = kernel_beyond(m, where, address);
	return map;
}

bool pm_epoch_of(const struct pm_machine *m, const struct pm_where *where, bool kernel,
		 struct pm_epoch *epoch)
{
	pm_spaces_epoch(m->spaces, where->system, kernel ? PM_KERNEL : where->pid, where->time,
			epoch);
	epoch->words[epoch->n++] = m->binaries.build_ids.n;
	return m->guests.n == 0;
}

/* The mode that an address is of by itself. */
static enum pd_cpumode mode_of(enum pd_cpumode mode, bool kernel)
{
	switch (mode) {
	case PD_CPUMODE_KERNEL:
	case PD_CPUMODE_USER:
		return kernel ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
	case PD_CPUMODE_GUEST_KERNEL:
	case PD_CPUMODE_GUEST_USER:
		return kernel ? PD_CPUMODE_GUEST_KERNEL : PD_CPUMODE_GUEST_USER;
	default:
		return mode;
	}
}

const struct pm_map *pm_map_at(const struct pm_machine *m, const struct pm_where *where,
			       uint64_t address)
{
	const struct pm_map *map = map_in(m, where, where->mode, address);
	uint64_t border = m->binaries.kernels[where->system].border;
	enum pd_cpumode mode;

	if (map || !where->any_mode || border == UINT64_MAX)
		return map;
	mode = mode_of(where->mode, address >= border);
	return mode == where->mode ? NULL : map_in(m, where, mode, address);
}

/* The same address is often looked for again. What jitdumps say depends on the time. */
const struct ps_symbol *pm_symbol_at(struct pm_resolver *r, struct ps_dso *dso,
				     uint64_t address, uint64_t time)
{
	uint64_t hash = (address ^ (uintptr_t)dso) * UINT64_C(0x9e3779b97f4a7c15);
	struct pm_known *known = &r->known[hash >> 32 & (PM_KNOWN - 1)];

	if (known->dso == dso && known->address == address)
		return known->symbol;
	if (dso->id.kind == PS_JIT)
		return ps_dso_symbol_at(dso, address, time);
	*known = (struct pm_known){ dso, address, ps_dso_symbol(dso, address) };
	return known->symbol;
}

void pm_place_at(struct pm_resolver *r, const struct pm_where *where, uint64_t address,
		 struct pm_place *place)
{
	const struct pm_map *map = pm_map_at(r->machine, where, address);

	*place = (struct pm_place){ .map = map, .address = address };
	if (!map)
		return;
	place->address = pm_map_address(map, address);
	place->symbol = pm_symbol_at(r, map->dso, place->address, where->time);
}
