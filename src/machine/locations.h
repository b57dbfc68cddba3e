/*
 * Resolves addresses: what was mapped there, and which function it is.
 *
 * Resolvers of one system may be used by one worker at a time; after pm_system_prepare() each
 * resolver by a worker of its own.
 */
#ifndef PERFLUA_MACHINE_LOCATIONS_H
#define PERFLUA_MACHINE_LOCATIONS_H

#include "machine/maps/maps.h"
#include "sources.h"

struct pm_system;
struct pm_resolver;

/*
 * An address context: the machine, process, cpumode and time that an address is to be looked up
 * in.
 */
struct pm_addr_context {
	uint32_t machine;
	int32_t pid;
	int32_t machine_pid; /* pid of the guest; 0: the host */
	uint64_t time;	     /* ns; or what stands for it (sources.h) */
	enum pd_cpumode mode;
	/*
	 * If nothing is mapped there in `mode`, look in the mode that the address itself
	 * implies. perf does so for addresses of data, but not for those of code: see
	 * thread__find_map_fb, tools/perf/util/event.c.
	 */
	bool any_mode;
};

struct pm_location {
	const struct pm_map *map;	/* NULL: nothing was mapped there */
	const struct ps_symbol *symbol; /* NULL: not known */
	uint64_t address; /* in the map's dso; without a map the address looked up */
};

/* Returns the distance in bytes from the start of the symbol, which must be known. */
static inline uint64_t pm_location_offset(const struct pm_location *location)
{
	return location->address - location->symbol->start;
}

/*
 * perf's name for the binary of an address without a map, and for the function of one without a
 * symbol.
 */
#define PM_UNKNOWN "[unknown]"

/* Sets *context to that of the addresses in `rec`. Its pid is -1 if the record has none. */
void pm_addr_context_of(const struct pm_system *system, const struct pd_record *rec,
			struct pm_addr_context *context);

/*
 * Returns the mode that `address` implies for one of `context`: that of the kernel or of users,
 * as machine__addr_cpumode, tools/perf/util/machine.c, has it. It is context->mode where
 * addresses do not tell.
 */
enum pd_cpumode pm_implied_mode(const struct pm_system *system,
				const struct pm_addr_context *context, uint64_t address);

/*
 * Returns the map at `address`; NULL: nothing was mapped. Borrowed until the next lookup: see
 * pm_spaces_find().
 */
const struct pm_map *pm_map_at(const struct pm_system *system,
			       const struct pm_addr_context *context, uint64_t address);

/* An address within a binary. Unlike a pm_map it stays valid when more maps are added. */
struct pm_dso_address {
	struct ps_dso *dso; /* NULL: nothing was mapped there */
	uint64_t address;   /* in the binary */
	uint64_t time;	    /* that of the address context */
};

/*
 * Sets *at to the binary at an address of a context. If nothing was mapped there, its dso is
 * NULL.
 */
void pm_dso_at(struct pm_resolver *resolver, const struct pm_addr_context *context,
	       uint64_t address, struct pm_dso_address *at);

/*
 * Writes symbols of the functions inlined at the address in a map, which may be NULL, innermost
 * first: see ps_dso_inlined(). Returns their number.
 */
size_t pm_inlined_at(struct pm_resolver *resolver, const struct pm_map *map, uint64_t address,
		     const struct ps_symbol **symbols, size_t room);

/*
 * Sets *version to that of the maps at the addresses of a context: those of the kernel if
 * `kernel` is true, else of the process. Returns false if the version cannot be trusted, which
 * is so in recordings with guests.
 */
bool pm_mapping_version_of(const struct pm_system *system,
			   const struct pm_addr_context *context, bool kernel,
			   struct pm_mapping_version *version);

/*
 * Finds the map and the function at `address`. Opens the binary if that was not done yet. If
 * nothing was mapped there, location->map is NULL.
 */
void pm_location_at(struct pm_resolver *resolver, const struct pm_addr_context *context,
		    uint64_t address, struct pm_location *location);

/*
 * Returns the function at `address` in `dso`; NULL: not known. `time` matters for code made at
 * run time, which may replace other code.
 */
const struct ps_symbol *pm_symbol_at(struct pm_resolver *resolver, struct ps_dso *dso,
				     uint64_t address, uint64_t time);

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
