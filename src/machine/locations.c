#include "locations.h"

#include "base/hash.h"
#include "symbols/lines/lines.h"
#include "internal.h"
#include "resolver.h"

void pm_addr_context_of(const struct pm_system *sys, const struct pd_record *rec,
			struct pm_addr_context *context)
{
	const struct pm_source *source = pm_source_of(&sys->sources, rec);
	const struct pm_guest_cpu *cpu;
	int64_t pid;

	context->machine = source->machine;
	context->mode = rec->misc & PD_MISC_CPUMODE;
	context->pid = pm_integer(rec, sys->ids.pid, &pid) ? (int32_t)pid : -1;
	context->time = pm_time_of(&sys->sources, rec);
	context->machine_pid = 0;
	context->any_mode = false;
	if (pm_is_guest(context->mode)) {
		cpu = pm_guests_of(&sys->guests, rec);
		context->machine_pid = cpu ? cpu->machine_pid : context->pid;
	}
	/*
	 * A sample without a time may be of any. Records that perf synthesized are of the
	 * beginning.
	 */
	if (context->time == PM_NO_TIME && rec->type != PD_RECORD_SAMPLE)
		context->time = source->first_timestamp;
}

/*
 * The recorded mapping of a kernel ends with its code, but some of its symbols lie after: code
 * that runs once, and data. Returns the kernel's map if `address` is in a symbol of it. See
 * map__fixup_end in dso__load_kernel_sym, tools/perf/util/symbol.c.
 */
static const struct pm_map *find_kernel_beyond_map(const struct pm_system *sys,
						   const struct pm_addr_context *context,
						   uint64_t address)
{
	const struct pm_kernel *kernel = &sys->binaries.kernels[context->machine];

	if (!kernel->dso || !ps_dso_symbol(kernel->dso, address))
		return NULL;
	return pm_spaces_find(sys->spaces, context->machine, PM_KERNEL, kernel->start,
			      context->time);
}

static const struct pm_map *find_map_in_mode(const struct pm_system *sys,
					     const struct pm_addr_context *context,
					     enum pd_cpumode mode, uint64_t address)
{
	uint32_t machine = context->machine;
	int32_t pid = pm_is_kernel(mode) ? PM_KERNEL : context->pid;
	const struct pm_map *map;

	if (mode == PD_CPUMODE_UNKNOWN || mode == PD_CPUMODE_HYPERVISOR ||
	    mode > PD_CPUMODE_GUEST_USER || (pid < 0 && !pm_is_kernel(mode)))
		return NULL;
	if (pm_is_guest(mode)) {
		machine = pm_guests_machine(&sys->guests, machine, context->machine_pid);
		if (machine == PM_NO_MACHINE)
			return NULL;
	}
	map = pm_spaces_find(sys->spaces, machine, pid, address, context->time);
	if (!map && mode == PD_CPUMODE_KERNEL)
		map = find_kernel_beyond_map(sys, context, address);
	return map;
}

bool pm_mapping_version_of(const struct pm_system *sys, const struct pm_addr_context *context,
			   bool kernel, struct pm_mapping_version *version)
{
	pm_spaces_version(sys->spaces, context->machine, kernel ? PM_KERNEL : context->pid,
			  context->time, version);
	version->words[version->n++] = sys->binaries.build_ids.n;
	return sys->guests.n == 0;
}

enum pd_cpumode pm_implied_mode(const struct pm_system *sys,
				const struct pm_addr_context *context, uint64_t address)
{
	uint64_t border = sys->binaries.kernels[context->machine].border;
	bool kernel = address >= border;

	if (border == UINT64_MAX)
		return context->mode;
	switch (context->mode) {
	case PD_CPUMODE_KERNEL:
	case PD_CPUMODE_USER:
		return kernel ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
	case PD_CPUMODE_GUEST_KERNEL:
	case PD_CPUMODE_GUEST_USER:
		return kernel ? PD_CPUMODE_GUEST_KERNEL : PD_CPUMODE_GUEST_USER;
	default:
		return context->mode;
	}
}

const struct pm_map *pm_map_at(const struct pm_system *sys,
			       const struct pm_addr_context *context, uint64_t address)
{
	const struct pm_map *map = find_map_in_mode(sys, context, context->mode, address);
	enum pd_cpumode mode;

	if (map || !context->any_mode)
		return map;
	mode = pm_implied_mode(sys, context, address);
	return mode == context->mode ? NULL : find_map_in_mode(sys, context, mode, address);
}

#define REGION_BITS 18 /* addresses of a region share a memo of a range */

/* Returns what stands for the process or the kernel whose addresses a context is of. */
static int32_t space_of(const struct pm_addr_context *context)
{
	return pm_is_kernel(context->mode) ? PM_KERNEL : context->pid;
}

/*
 * Returns the memo of the space that has the addresses of a context; NULL: its maps are not
 * known for a time range.
 */
static struct pm_space_memo *get_space_memo(struct pm_resolver *r,
					    const struct pm_addr_context *context)
{
	const struct pm_system *sys = r->system;
	uint64_t key = pm_key_of(context->machine, space_of(context));
	struct pm_space_memo *memo = &r->spaces[(key ^ key >> 32) & (PM_SPACE_MEMOS - 1)];
	struct pm_mapping_version version;

	if (context->time == PM_NO_TIME || context->any_mode ||
	    (context->mode != PD_CPUMODE_KERNEL &&
	     (context->mode != PD_CPUMODE_USER || context->pid < 0)))
		return NULL;
	if (memo->key == key && memo->revision == sys->revision + 1 &&
	    context->time >= memo->from && context->time <= memo->last)
		return memo;
	if (!pm_mapping_version_of(sys, context, context->mode == PD_CPUMODE_KERNEL, &version))
		return NULL;
	*memo = (struct pm_space_memo){
		.key = key,
		.revision = sys->revision + 1,
		.from = version.from,
		.last = version.last,
	};
	return memo;
}

/*
 * Returns what a space has at an address of a context; NULL: it has no memo, or the kernel
 * has nothing mapped there, but may have symbols.
 */
static const struct pm_range_memo *find_range_memo(struct pm_resolver *r,
						   const struct pm_addr_context *context,
						   uint64_t address)
{
	struct pm_space_memo *memo = get_space_memo(r, context);
	struct pm_range_memo *known;
	const struct pm_map *map;

	if (!memo)
		return NULL;
	known = &memo->ranges[pb_scatter(address >> REGION_BITS) >> 32 & (PM_RANGE_MEMOS - 1)];
	if ((!known->dso && !known->bias) ||
	    address - known->range.first > known->range.last - known->range.first) {
		map = pm_spaces_find_range(r->system->spaces, context->machine,
					   space_of(context), address, context->time,
					   &known->range);
		known->dso = map ? map->dso : NULL;
		known->bias = map ? map->bias : 1;
	}
	return known->dso || context->mode == PD_CPUMODE_USER ? known : NULL;
}

void pm_dso_at(struct pm_resolver *r, const struct pm_addr_context *context, uint64_t address,
	       struct pm_dso_address *at)
{
	const struct pm_range_memo *known = find_range_memo(r, context, address);
	const struct pm_map *map;

	at->time = context->time;
	if (known) {
		at->dso = known->dso;
		at->address = known->dso ? address + known->bias : address;
		return;
	}
	map = pm_map_at(r->system, context, address);
	at->dso = map ? map->dso : NULL;
	at->address = map ? pm_map_address(map, address) : address;
}

#define BLOCK_BITS 7 /* addresses of a block share a memo, as they are mostly of one symbol */

/*
 * Remembers symbols, as addresses of the same ones are often looked up again. Symbols of a
 * jitdump depend on the time, and are not remembered.
 */
const struct ps_symbol *pm_symbol_at(struct pm_resolver *r, struct ps_dso *dso,
				     uint64_t address, uint64_t time)
{
	uint64_t hash = pb_scatter(address >> BLOCK_BITS ^ (uintptr_t)dso);
	struct pm_symbol_memo *memo = &r->symbols[hash >> 32 & (PM_SYMBOL_MEMOS - 1)];

	if (memo->dso == dso &&
	    address - memo->range.first <= memo->range.last - memo->range.first)
		return memo->symbol;
	if (dso->id.kind == PS_JIT)
		return ps_dso_symbol_at(dso, address, time);
	memo->symbol = ps_dso_symbol_range(dso, address, &memo->range);
	memo->dso = dso;
	return memo->symbol;
}

size_t pm_inlined_at(struct pm_resolver *resolver, const struct pm_map *map, uint64_t address,
		     const struct ps_symbol **symbols, size_t room)
{
	if (!map)
		return 0;
	address = pm_map_address(map, address);
	return ps_dso_inlined(map->dso, address, pm_symbol_at(resolver, map->dso, address, 0),
			      symbols, room);
}

void pm_location_at(struct pm_resolver *r, const struct pm_addr_context *context,
		    uint64_t address, struct pm_location *location)
{
	const struct pm_map *map = pm_map_at(r->system, context, address);

	*location = (struct pm_location){ .map = map, .address = address };
	if (!map)
		return;
	location->address = pm_map_address(map, address);
	location->symbol = pm_symbol_at(r, map->dso, location->address, context->time);
}

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
