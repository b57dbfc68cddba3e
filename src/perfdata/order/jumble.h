/*
 * Sorting the records of a chunk that is in no order: it is short runs of the buffers of
 * several processors.
 */
#ifndef PERFLUA_PERFDATA_JUMBLE_H
#define PERFLUA_PERFDATA_JUMBLE_H

#include <stddef.h>
#include <stdint.h>

/* A record: its time, and where it lies in its chunk. */
struct pd_place {
	uint64_t time;
	uint32_t at, size;
};

/*
 * Sorts n places by time; of equal times what lies first comes first. They are given as they
 * lie; `spare` and `lane` have room for n, too.
 */
void pd_places_sort(struct pd_place *places, size_t n, struct pd_place *spare, uint8_t *lane);

#endif
