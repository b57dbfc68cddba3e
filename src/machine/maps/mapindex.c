#include "maps_internal.h"

#include <stdlib.h>

static int compare_edges(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool find_edges(struct pm_mapindex *index, const struct pm_map *maps, size_t n)
{
	size_t n_edges = 0;

	index->edges = malloc((2 * n + 1) * sizeof(*index->edges));
	if (!index->edges)
		return false;
	for (size_t i = 0; i < n; i++) {
		index->edges[2 * i] = maps[i].start;
		index->edges[2 * i + 1] = maps[i].end;
	}
	qsort(index->edges, 2 * n, sizeof(*index->edges), compare_edges);
	for (size_t i = 0; i < 2 * n; i++)
		if (!i || index->edges[i] != index->edges[n_edges - 1])
			index->edges[n_edges++] = index->edges[i];
	index->n_edges = n_edges;
	return true;
}

/*
 * Returns the first cell from `i` on that has no map yet. `next` links covered cells to later
 * ones; the path is shortened on the way, as in union-find.
 */
static size_t find_free_cell(uint32_t *next, size_t i)
{
	size_t end = i, step;

	while (next[end] != end)
		end = next[end];
	for (; next[i] != i; i = step) {
		step = next[i];
		next[i] = (uint32_t)end;
	}
	return end;
}

/*
 * Finds the last map of each cell, by painting from the last map down. Sets *overlap to true if
 * a cell has several.
 */
static bool find_top_maps(struct pm_mapindex *index, const struct pm_map *maps, size_t n,
			  bool *overlap)
{
	uint32_t *next = malloc((index->n_edges + 1) * sizeof(*next));

	index->top = malloc((index->n_edges + 1) * sizeof(*index->top));
	if (!next || !index->top) {
		free(next);
		return false;
	}
	for (size_t i = 0; i <= index->n_edges; i++) {
		next[i] = (uint32_t)i;
		index->top[i] = PM_NO_MAP;
	}
	for (size_t m = n; m--;) {
		size_t from = pm_mapindex_cell(index, maps[m].start);
		size_t to = pm_mapindex_cell(index, maps[m].end), painted = 0;

		for (size_t c = find_free_cell(next, from); c < to;
		     c = find_free_cell(next, c)) {
			index->top[c] = (uint32_t)m;
			next[c] = (uint32_t)c + 1;
			painted++;
		}
		*overlap |= painted < to - from;
	}
	free(next);
	return true;
}

/* Counts a map in each node that lists it; if index->lists exists, adds it there. */
static void enter_map(struct pm_mapindex *index, const struct pm_map *map, uint32_t number)
{
	size_t low = pm_mapindex_cell(index, map->start) + index->leaves;
	size_t high = pm_mapindex_cell(index, map->end) + index->leaves;

	for (; low < high; low /= 2, high /= 2) {
		if (low & 1) {
			if (index->lists)
				index->lists[index->nodes[low]] = number;
			index->nodes[low++]++;
		}
		if (high & 1) {
			high--;
			if (index->lists)
				index->lists[index->nodes[high]] = number;
			index->nodes[high]++;
		}
	}
}

static bool build_tree(struct pm_mapindex *index, const struct pm_map *maps, size_t n)
{
	size_t leaves = 1, total = 0;

	while (leaves < index->n_edges)
		leaves *= 2;
	index->leaves = (uint32_t)leaves;
	index->nodes = calloc(2 * leaves + 1, sizeof(*index->nodes));
	if (!index->nodes)
		return false;
	for (size_t m = 0; m < n; m++)
		enter_map(index, &maps[m], 0);
	for (size_t i = 0; i <= 2 * leaves; i++) {
		size_t count = index->nodes[i];

		index->nodes[i] = (uint32_t)total;
		total += count;
	}
	if (total >= UINT32_MAX)
		return false;
	index->lists = malloc((total + 1) * sizeof(*index->lists));
	if (!index->lists)
		return false;
	for (size_t m = 0; m < n; m++)
		enter_map(index, &maps[m], (uint32_t)m);
	/* enter_map() advanced each node's start to its end, where the next one begins */
	for (size_t i = 2 * leaves; i; i--)
		index->nodes[i] = index->nodes[i - 1];
	index->nodes[0] = 0;
	return true;
}

/* edges are twice as many, and nodes four times: both are numbered in 32 bits */
#define MAX_MAPS (UINT32_MAX / 4)

bool pm_mapindex_build(struct pm_mapindex *index, const struct pm_map *maps, size_t n)
{
	bool overlap = false;

	pm_mapindex_deinit(index);
	if (n < MAX_MAPS && find_edges(index, maps, n) &&
	    find_top_maps(index, maps, n, &overlap) &&
	    (!overlap || build_tree(index, maps, n))) {
		index->n = n;
		return true;
	}
	pm_mapindex_deinit(index);
	return false;
}

void pm_mapindex_deinit(struct pm_mapindex *index)
{
	free(index->edges);
	free(index->top);
	free(index->nodes);
	free(index->lists);
	*index = (struct pm_mapindex){ 0 };
}

/* Returns how many of `n` maps are not later than `time`. */
static size_t count_until(const struct pm_map *maps, size_t n, uint64_t time)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (maps[middle].time <= time)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

const struct pm_map *pm_mapindex_earlier(const struct pm_mapindex *index,
					 const struct pm_map *maps, size_t cell, uint64_t time)
{
	size_t bound = count_until(maps, index->n, time), best = 0; /* number + 1 */

	if (!index->leaves)
		return NULL;
	for (size_t node = cell + index->leaves; node; node /= 2) {
		size_t low = index->nodes[node], high = index->nodes[node + 1];

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (index->lists[middle] < bound)
				low = middle + 1;
			else
				high = middle;
		}
		if (low > index->nodes[node] && index->lists[low - 1] + 1u > best)
			best = index->lists[low - 1] + 1u;
	}
	return best ? &maps[best - 1] : NULL;
}
