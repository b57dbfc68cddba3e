/*
 * An index of maps in ascending order of time: which was the last that covered an address.
 *
 * The edges of all maps cut the addresses into cells. `top` knows the last map of each cell:
 * nearly always that is the answer, as most maps are made before the first sample. Where maps
 * overlap, a tree over the cells knows the earlier ones, too: each of its nodes has the maps
 * that cover all of its cells but not all of its parent's, so each map is in O(log n) of them,
 * and the maps of a cell are those of its O(log n) nodes.
 */
#ifndef PERFLUA_MACHINE_MAPINDEX_H
#define PERFLUA_MACHINE_MAPINDEX_H

#include "maps.h"

#define PM_NO_MAP UINT32_MAX

struct pm_mapindex {
	size_t n; /* so many maps are in it */
	size_t n_edges;
	/* ascending; cell i begins at edge i, and what the last one begins is empty */
	uint64_t *edges;
	uint32_t *top;	 /* of a cell: its last map; PM_NO_MAP: it has none */
	uint32_t leaves; /* of the tree: a power of two; 0: no maps overlap */
	uint32_t *nodes; /* [2 * leaves + 1]: where in `lists` that of a node begins */
	uint32_t *lists; /* ascending in each node */
};

/* Of n maps; what was indexed before is let go. False: no memory, it is empty then. */
bool pm_mapindex_build(struct pm_mapindex *index, const struct pm_map *maps, size_t n);
void pm_mapindex_deinit(struct pm_mapindex *index);

/* As pm_mapindex_find, where the last map is later. */
const struct pm_map *pm_mapindex_earlier(const struct pm_mapindex *index,
					 const struct pm_map *maps, size_t cell, uint64_t time);

/* The cell of an address; SIZE_MAX: it lies below all of them. */
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
 * The last map that covers an address and is not later than time; NULL: there is none in the
 * index.
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
