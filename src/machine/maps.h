/*
 * What was mapped where, at any time: the address spaces of the recorded system.
 *
 * A space is that of a process, or of the kernel of a system. Its maps are kept as they were
 * made, and stay what they are; a map holds from its time on until a later one covers it, byte
 * by byte. So the map at an address and a time is the last one not later than that which covers
 * it. A process that was forked has, where its own maps cover nothing, those that its parent
 * had then: they are not copied but looked up there. Ancestors without maps of their own are
 * stepped over, so a chain of forks may have any length; of ancestors with maps 1024 are asked.
 */
#ifndef PERFLUA_MACHINE_MAPS_H
#define PERFLUA_MACHINE_MAPS_H

#include "symbols/symbols.h"
#include "sources.h"

struct pm_map {
	uint64_t start, end; /* end is not of it */
	uint64_t pgoff;
	uint64_t time;	      /* ns; or what stands for it (sources.h) */
	uint64_t bias;	      /* added to an address gives that in the dso */
	struct ps_dso *dso;   /* never NULL of a map that a lookup returns */
	const char *filename; /* as it was recorded */
	uint32_t prot, flags; /* PROT_…, MAP_…; 0 where they were not recorded */
	bool executable;      /* as far as it is known */
	size_t order;	      /* of those of one time: the spaces' */
};

/* The address in the map's dso of an address that it covers. */
static inline uint64_t pm_map_address(const struct pm_map *map, uint64_t address)
{
	return address + map->bias;
}

struct pm_spaces;

/* NULL: no memory. */
struct pm_spaces *pm_spaces_create(void);
void pm_spaces_destroy(struct pm_spaces *spaces);

/* Instead of a pid: the kernel. A guest is a system of its own: see guests.h. */
#define PM_KERNEL (-1)

/*
 * Adds a map to the space of a process of a system, in any order of time. A map of PM_NO_TIME
 * holds from the last known beginning of the process, where nothing else is mapped. A map
 * without a dso removes what is mapped there. Returns false when there is no memory.
 */
bool pm_spaces_add(struct pm_spaces *spaces, uint32_t system, int32_t pid,
		   const struct pm_map *map);

/*
 * At a time a process began with the maps of another; `copy` false: with none (FORK_EXEC).
 * False: no memory.
 */
bool pm_spaces_fork(struct pm_spaces *spaces, uint32_t system, int32_t pid, int32_t parent,
		    uint64_t time, bool copy);

/*
 * Makes all that makes lookups fast: until something is added, any number of threads may then
 * look up at a time (pm_spaces_find, pm_spaces_epoch). False: no memory.
 */
bool pm_spaces_settle(struct pm_spaces *spaces);

/*
 * Returns the map that covers an address then, which has a dso; NULL: there is none. It is the
 * spaces' until they are asked again: what makes this fast is made when it is needed, so
 * without pm_spaces_settle only one thread at a time may ask.
 */
const struct pm_map *pm_spaces_find(struct pm_spaces *spaces, uint32_t system, int32_t pid,
				    uint64_t address, uint64_t time);

/*
 * What says which maps a process has at a time: words that are the same only where the maps
 * are, at any other time and after any more were added. They hold from `from` to `last`, as
 * long as nothing is added. Of a system's kernel likewise.
 */
#define PM_EPOCH_WORDS 5

struct pm_epoch {
	uint64_t from, last;
	uint64_t words[PM_EPOCH_WORDS]; /* [n] */
	size_t n;
};
void pm_spaces_epoch(struct pm_spaces *spaces, uint32_t system, int32_t pid, uint64_t time,
		     struct pm_epoch *epoch);

/*
 * Calls back with each map of a process that holds somewhere at a time, by address, as trimmed
 * by later ones. The callback may leave by longjmp.
 */
typedef void pm_map_fn(void *arg, const struct pm_map *map);
void pm_spaces_each(struct pm_spaces *spaces, uint32_t system, int32_t pid, uint64_t time,
		    pm_map_fn *fn, void *arg);

#endif
