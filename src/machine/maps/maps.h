/*
 * The address spaces of the recorded system: what was mapped where, at any time.
 *
 * A space is that of a process, or of a machine's kernel. Its maps are kept as they were
 * recorded. A map holds from its time on until a later one covers it, byte by byte, so the map
 * at an address and a time is the last one that covers the address and is not later.
 *
 * An address that no map of a forked process covers has the map that its parent had there at
 * the fork. It is looked up in the parent and not copied. Ancestors without maps of their own
 * are skipped, so a chain of forks may have any length; at most 1024 ancestors with maps are
 * searched.
 */
#ifndef PERFLUA_MACHINE_MAPS_H
#define PERFLUA_MACHINE_MAPS_H

#include "symbols/symbols.h"

/* The time of a map or a record that has none, although others of its recording do. */
#define PM_NO_TIME UINT64_MAX

/* Returns the key by which maps find a process or thread of a machine. */
static inline uint64_t pm_key_of(uint32_t machine, int32_t pid)
{
	return (uint64_t)machine << 32 | (uint32_t)pid;
}

struct pm_map {
	uint64_t start, end; /* `end` is the first address after it */
	uint64_t pgoff;
	uint64_t time;	      /* ns; or what stands for it (machine/sources.h) */
	uint64_t bias;	      /* address + bias = address in `dso` */
	struct ps_dso *dso;   /* never NULL in a map that a lookup returns */
	const char *filename; /* as recorded */
	uint32_t prot, flags; /* PROT_…, MAP_…; 0 if not recorded */
	bool executable;      /* mapped executable, as far as is known */
	size_t sequence;      /* set by the spaces: orders maps of one time */
};

/* Returns the address in the map's dso that stands for `address`, which the map covers. */
static inline uint64_t pm_map_address(const struct pm_map *map, uint64_t address)
{
	return address + map->bias;
}

struct pm_spaces;

/* Creates spaces without maps. Returns NULL without memory. */
struct pm_spaces *pm_spaces_create(void);
void pm_spaces_destroy(struct pm_spaces *spaces);

/* Stands for a pid: the address space of a machine's kernel. */
#define PM_KERNEL (-1)

/*
 * Adds a copy of *map to the space of a process; maps may be added in any order of time. If
 * map->time is PM_NO_TIME, the map holds in the last incarnation of the process, wherever
 * nothing else is mapped. A map whose dso is NULL removes what is mapped there. Returns false
 * without memory.
 */
bool pm_spaces_add(struct pm_spaces *spaces, uint32_t machine, int32_t pid,
		   const struct pm_map *map);

/*
 * Adds that process `pid` began at `time`, with the maps that `parent` had then if `copy` is
 * true, else with none (PERF_RECORD_MISC_FORK_EXEC). Returns false without memory.
 */
bool pm_spaces_fork(struct pm_spaces *spaces, uint32_t machine, int32_t pid, int32_t parent,
		    uint64_t time, bool copy);

/*
 * Builds the indexes of all spaces. Until the next addition any number of workers may then call
 * pm_spaces_find() and pm_spaces_version(). Returns false without memory.
 */
bool pm_spaces_settle(struct pm_spaces *spaces);

/*
 * Returns the map that covers `address` at `time`; NULL: none. It is borrowed until the next
 * call with these spaces: they are indexed on demand. So without pm_spaces_settle() only one
 * worker at a time may ask.
 */
const struct pm_map *pm_spaces_find(struct pm_spaces *spaces, uint32_t machine, int32_t pid,
				    uint64_t address, uint64_t time);

/*
 * Does what pm_spaces_find() does, and sets *range to addresses around this one, and it, for
 * which the answer is the same as long as the version of the maps is.
 */
const struct pm_map *pm_spaces_find_range(struct pm_spaces *spaces, uint32_t machine,
					  int32_t pid, uint64_t address, uint64_t time,
					  struct ps_range *range);

/*
 * Tells which maps a process has at a time. Two versions with equal words stand for the same
 * maps, even if one was taken at another time or before more maps were added. The version holds
 * from `from` to `last`, both included, until the next addition.
 */
#define PM_MAPPING_VERSION_WORDS 5

struct pm_mapping_version {
	uint64_t from, last;
	uint64_t words[PM_MAPPING_VERSION_WORDS]; /* [n] */
	size_t n;
};
/* Sets *version to that of the maps of `pid`, which may be PM_KERNEL, at `time`. */
void pm_spaces_version(struct pm_spaces *spaces, uint32_t machine, int32_t pid, uint64_t time,
		       struct pm_mapping_version *version);

/*
 * Calls `fn` for each address range that the process has mapped at `time`, in ascending order,
 * with the map trimmed to what later maps leave of it. The map is valid during the call. `fn`
 * may leave by longjmp(). Calls nothing without memory.
 */
typedef void pm_map_fn(void *arg, const struct pm_map *map);
void pm_spaces_each(struct pm_spaces *spaces, uint32_t machine, int32_t pid, uint64_t time,
		    pm_map_fn *fn, void *arg);

#endif
