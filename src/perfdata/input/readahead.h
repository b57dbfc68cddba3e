/*
 * Reads a part of a file ahead by a thread, block after block, while the one before is looked
 * at.
 */
#ifndef PERFLUA_PERFDATA_READAHEAD_H
#define PERFLUA_PERFDATA_READAHEAD_H

#include "base/producer.h"
#include "input.h"

#define PD_AHEAD_ROOM (128 * 1024) /* bytes before a block that are the caller's to write */

struct pd_readahead;

/* From offset up to limit. NULL: it cannot. */
struct pd_readahead *pd_readahead_start(struct pd_input *input, uint64_t offset,
					uint64_t limit);
void pd_readahead_stop(struct pd_readahead *ahead);

/*
 * The next block and its size, which is less than usual at the end; it stays until the call
 * after the next. NULL: it could not be read, err says why, or there is none.
 */
uint8_t *pd_readahead_next(struct pd_readahead *ahead, size_t *size, struct pd_error *err);

#endif
