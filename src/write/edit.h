/*
 * Changes of a record's bytes that keep its layout, except for an id that is added: times, ids
 * of events. See perf_output_sample and __perf_event__output_id_sample, kernel/events/core.c.
 */
#ifndef PERFLUA_WRITE_EDIT_H
#define PERFLUA_WRITE_EDIT_H

#include "base/map.h"
#include "perfdata/format/record.h"

/* Bytes of a record that has an id added, at most. */
#define PW_EDITED_MOST (UINT16_MAX + 8u)

struct pw_edits {
	uint64_t shift; /* ns that are added to all times */
	uint64_t begin; /* ns: time of records that perf made itself without one; 0: none */
	/* of ids that change: index of the new one in new_ids */
	struct pb_id_map renumbered;
	uint64_t *new_ids;
	/*
	 * samples get an IDENTIFIER, as do the trailers of others: their ID, or `id` if they
	 * have none
	 */
	bool adds_id;
	uint64_t id;
};

/*
 * Copies `rec` to `bytes`, which has room for PW_EDITED_MOST, and changes the copy. Returns its
 * size; 0 if it is more than a record's size can say.
 */
uint32_t pw_edit(const struct pw_edits *edits, const struct pd_record *rec, uint8_t *bytes);

/* Store a number in the byte order of a recording. */
static inline void pw_store64(uint8_t *p, uint64_t value, bool swap)
{
	value = swap ? __builtin_bswap64(value) : value;
	memcpy(p, &value, sizeof(value));
}

static inline void pw_store16(uint8_t *p, uint16_t value, bool swap)
{
	value = swap ? __builtin_bswap16(value) : value;
	memcpy(p, &value, sizeof(value));
}

#endif
