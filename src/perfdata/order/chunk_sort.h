/*
 * Sorts the records of an unsorted chunk, which consists of short runs from the ring buffers of
 * several processors: the runs are found and merged.
 */
#ifndef PERFLUA_PERFDATA_CHUNK_SORT_H
#define PERFLUA_PERFDATA_CHUNK_SORT_H

#include <stddef.h>
#include <stdint.h>

/* A record's time (ns), its offset in the chunk and its size. */
struct pd_position {
	uint64_t time;
	uint32_t at, size;
};

/*
 * Sorts `n` positions by time; equal times keep the order of offsets. `spare` and `run` must
 * have room for n items each.
 */
void pd_positions_sort(struct pd_position *positions, size_t n, struct pd_position *spare,
		       uint8_t *run);

#endif
