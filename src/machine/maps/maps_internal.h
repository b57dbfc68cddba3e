/*
 * Shared by the files of maps: the spaces, each with the maps and the incarnations of a
 * process.
 */
#ifndef PERFLUA_MACHINE_MAPS_INTERNAL_H
#define PERFLUA_MACHINE_MAPS_INTERNAL_H

#include "base/map.h"
#include "maps.h"

/*
 * An index of maps sorted by time: finds the last map that covers an address.
 *
 * The edges of all maps cut the addresses into cells. `top` has the last map of each cell,
 * which is nearly always the answer, since most maps are made before the first sample. If maps
 * overlap, a segment tree over the cells has the earlier maps, too: a node lists the maps that
 * cover all of its cells but not all of its parent's. Each map is so in O(log n) lists, and the
 * maps of a cell are in the lists of the O(log n) nodes above it.
 */

#define PM_NO_MAP UINT32_MAX

struct pm_mapindex {
	size_t n; /* number of maps in the index */
	size_t n_edges;
	/* [n_edges]: ascending; cell i begins at edge i, and the last cell is empty */
	uint64_t *edges;
	uint32_t *top;	 /* [n_edges + 1]: last map of each cell; PM_NO_MAP: none */
	uint32_t leaves; /* leaves of the tree, a power of two; 0: no maps overlap */
	uint32_t *nodes; /* [2 * leaves + 1]: where the list of each node begins in `lists` */
	uint32_t *lists; /* numbers of maps, ascending within a node */
};

/*
 * Indexes `n` maps, sorted by time, in place of those indexed before. Returns false without
 * memory: the index is empty then.
 */
bool pm_mapindex_build(struct pm_mapindex *index, const struct pm_map *maps, size_t n);
void pm_mapindex_deinit(struct pm_mapindex *index);

/*
 * Finds the last map of `cell` that is not later than `time`, in the tree; NULL: none.
 * pm_mapindex_find() calls it if the cell's last map is later.
 */
const struct pm_map *pm_mapindex_earlier(const struct pm_mapindex *index,
					 const struct pm_map *maps, size_t cell, uint64_t time);

/* Returns the cell that `address` lies in; SIZE_MAX: it lies below all of them. */
static inline size_t pm_mapindex_cell(const struct pm_mapindex *index, uint64_t address)
{
	const uint64_t *base = index->edges;
	size_t n = index->n_edges;

	if (!n || address < base[0])
		return SIZE_MAX;
	while (n > 1) {
		size_t half = n / 2;

		base = base[half] <= address ? base + half : base;
		n -= half;
	}
	return (size_t)(base - index->edges);
}

/*
 * Returns the last map that covers `address` and is not later than `time`; NULL: none. `maps`
 * are those that the index was built from.
 */
static inline const struct pm_map *pm_mapindex_find(const struct pm_mapindex *index,
						    const struct pm_map *maps, uint64_t address,
						    uint64_t time)
{
	size_t cell = pm_mapindex_cell(index, address);

	if (cell == SIZE_MAX || index->top[cell] == PM_NO_MAP)
		return NULL;
	if (maps[index->top[cell]].time <= time)
		return &maps[index->top[cell]];
	return pm_mapindex_earlier(index, maps, cell, time);
}

#define PM_NO_SPACE UINT32_MAX

/* The space of an ancestor as it was at a time. */
struct pm_origin {
	uint64_t time;
	uint32_t space; /* number in pm_spaces.list; PM_NO_SPACE: none */
};

/* A process after a fork, until the next fork of its pid. */
struct pm_incarnation {
	uint64_t time;
	int32_t parent;
	bool copy;
	struct pm_origin origin;   /* nearest ancestor with maps of its own */
	uint64_t ancestry_version; /* for which `origin` holds; 0: not known */
};

struct pm_space {
	uint32_t machine;
	/*
	 * [n]: those in the index, ascending by time; after them those added since, unsorted
	 */
	struct pm_map *maps;
	size_t n, capacity;
	/*
	 * [n_incarnations]: ascending by time; before the first one the process was there
	 * already
	 */
	struct pm_incarnation *incarnations;
	size_t n_incarnations, incarnations_capacity;
	struct pm_mapindex index;
	size_t scanned;	 /* maps after the index that were searched since it was built */
	uint64_t forked; /* an addition before this time may change what was inherited */
};

/* The maps of a space from one time to another, as a part of what a process has mapped. */
struct pm_layer {
	uint32_t space;
	uint64_t from, to;
};

struct pm_spaces {
	struct pb_id_map by_pid;
	struct pm_space *list; /* [n] */
	size_t n, capacity;
	bool has_synthesized; /* there are spaces with maps that perf synthesized at the end */
	uint64_t ancestry_version; /* from 1 on; grows when inherited maps may have changed */
	size_t credit;		   /* steps that long walks may take: see pm_origin_find() */
	/* State of pm_spaces_each(). It is kept here, since the callback may not return. */
	struct pm_mapindex index;
	struct pm_map *layers;
	size_t n_layers, layers_capacity;
	struct pm_layer *inherited; /* [n_inherited] */
	size_t n_inherited, inherited_capacity;
};

/*
 * Marks, in the number of a machine, the spaces of maps that perf synthesized when it ended. It
 * is not known when those maps were made.
 */
#define PM_SYNTHESIZED (UINT32_C(1) << 31)

/* Returns the space of a process; NULL: nothing is known of it. */
static inline struct pm_space *pm_space_find(const struct pm_spaces *s, uint32_t machine,
					     int32_t pid)
{
	uint32_t i = pb_id_map_find(&s->by_pid, pm_key_of(machine, pid));

	return i == UINT32_MAX ? NULL : &s->list[i];
}

/* Returns the last incarnation that began by `time`; NULL: the process was there already. */
static inline struct pm_incarnation *pm_incarnation_at(const struct pm_space *space,
						       uint64_t time)
{
	size_t low = 0, high = space->n_incarnations;

	if (!high || space->incarnations[high - 1].time <= time)
		return high ? &space->incarnations[high - 1] : NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->incarnations[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &space->incarnations[low - 1] : NULL;
}

/* Returns the number of indexed maps of a space that are not later than `time`. */
static inline size_t pm_space_count_until(const struct pm_space *space, uint64_t time)
{
	size_t low = 0, high = space->index.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->maps[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Finds the nearest ancestor with maps of its own for incarnation `first`, and remembers it for
 * all incarnations on the way.
 */
void pm_origin_find(struct pm_spaces *s, uint32_t machine, struct pm_incarnation *first);

/*
 * Returns the space of the nearest ancestor with maps of its own, and sets *time to the time of
 * the fork from it. NULL: none.
 */
static inline struct pm_space *pm_origin_of(struct pm_spaces *s, uint32_t machine,
					    struct pm_incarnation *incarnation, uint64_t *time)
{
	if (!incarnation || !incarnation->copy)
		return NULL;
	if (incarnation->ancestry_version != s->ancestry_version)
		pm_origin_find(s, machine, incarnation);
	*time = incarnation->origin.time;
	return incarnation->origin.space == PM_NO_SPACE ? NULL :
							  &s->list[incarnation->origin.space];
}

/* ancestors with maps of their own that are searched: only damaged input has more */
#define PM_GENERATIONS 1024

#endif
