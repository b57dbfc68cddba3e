/*
 * Addresses of records: what was mapped there, and which function it is.
 *
 * What was resolved once is kept in a resolver, which is of one thread. Of the resolvers of a
 * machine one at a time may be asked; after pm_machine_prepare all of them.
 */
#ifndef PERFLUA_MACHINE_PLACES_H
#define PERFLUA_MACHINE_PLACES_H

#include "maps.h"

struct pm_machine;
struct pm_resolver;

/* Whose addresses, and when: of a record, or asked for. */
struct pm_where {
	uint32_t system;
	int32_t pid;
	int32_t machine_pid; /* of the guest; 0: the host */
	uint64_t time;	     /* ns; or what stands for it (sources.h) */
	enum pd_cpumode mode;
	/*
	 * An address without a map in that mode is looked for in the mode that it implies: of
	 * data, and what was asked for. Not of code. See thread__find_map_fb,
	 * tools/perf/util/event.c.
	 */
	bool any_mode;
};

struct pm_place {
	const struct pm_map *map;	/* NULL: nothing was mapped there */
	const struct ps_symbol *symbol; /* NULL: it is not known */
	uint64_t address; /* in the map's dso; without a map as it was asked for */
};

/* Bytes from the start of the symbol. */
static inline uint64_t pm_place_offset(const struct pm_place *place)
{
	return place->address - place->symbol->start;
}

/*
 * What perf calls the binary of an address without a map, and the function of one without a
 * symbol.
 */
#define PM_UNKNOWN "[unknown]"

/* Of a record, mode as its header has it; a pid of -1: it has none. */
void pm_where_of(const struct pm_machine *machine, const struct pd_record *rec,
		 struct pm_where *where);

/* What was mapped at an address; NULL: nothing. */
const struct pm_map *pm_map_at(const struct pm_machine *machine, const struct pm_where *where,
			       uint64_t address);

/*
 * What says what is at the addresses of a record: of its process, and of the kernel. False: it
 * is not known from when to when that holds, as with guests.
 */
bool pm_epoch_of(const struct pm_machine *machine, const struct pm_where *where, bool kernel,
		 struct pm_epoch *epoch);

/*
 * And which function: opens its binary when that was not done. Place->map is NULL where nothing
 * was mapped.
 */
void pm_place_at(struct pm_resolver *resolver, const struct pm_where *where, uint64_t address,
		 struct pm_place *place);

/* The function at an address of a dso, at a time; NULL: it is not known. */
const struct ps_symbol *pm_symbol_at(struct pm_resolver *resolver, struct ps_dso *dso,
				     uint64_t address, uint64_t time);

#endif
