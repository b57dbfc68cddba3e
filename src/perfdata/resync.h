/*
 * Finding where the records go on after something that cannot be one.
 *
 * A place is believed when several records in a row could have been written there: their types, sizes and
 * flags, the ids of their events, and of samples that their parts fill them exactly.
 */
#ifndef PERFLUA_PERFDATA_RESYNC_H
#define PERFLUA_PERFDATA_RESYNC_H

#include "bind.h"
#include "blocks.h"

#define PD_LARGE 2048 /* bytes: few records have more, and few types */

/* Could a header begin at p? Asked of every record's successor, so it is quick and lenient. */
static inline bool pd_header_fits(const uint8_t *p, bool swap)
{
	uint32_t type = pd_load32(p, swap);

	return type - 1 < UINT16_MAX && pd_load16(p + 6, swap) >= 8;
}

/* The same, strictly: a type that somebody writes, flags that there are. */
bool pd_header_known(const uint8_t *p, bool swap);

/* Could the record of `size` bytes at `bytes` have been written so? All that can be known is looked at. */
bool pd_record_plausible(const struct pd_binder *binder, const uint8_t *bytes, uint32_t size);

/*
 * Steps on to the next place where records begin, at least one byte further. Within what may be `payload`
 * it may be right here, and a single record at the very end is believed, too: nothing there looks like
 * one. 1; 0: there is none, and the blocks are at their end; -1 on an error.
 */
int pd_resync(struct pd_blocks *b, const struct pd_binder *binder, bool payload,
	      struct pd_error *err);

#endif
