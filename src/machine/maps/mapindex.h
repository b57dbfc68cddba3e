/*
 * An index of maps sorted by time: finds the last map that covers an address.
 *
 * The edges of all maps cut the addresses into cells. `top` has the last map of each cell,
 * which is nearly always the answer, since most maps are made before the first sample. If maps
 * overlap, a segment tree over the cells has the earlier maps, too: a node lists the maps that
 * cover all of its cells but not all of its parent's. Each map is so in O(log n) lists, and the
 * maps of a cell are in the lists of the O(log n) nodes above it.
 */
#ifndef PERFLUA_MACHINE_MAPINDEX_H
#define PERFLUA_MACHINE_MAPINDEX_H

#include "maps.h"

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

#endif
