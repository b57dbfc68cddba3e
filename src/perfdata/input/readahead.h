/*
 * Reads a part of a file block by block in a thread, ahead of the caller's use.
 */
#ifndef PERFLUA_PERFDATA_READAHEAD_H
#define PERFLUA_PERFDATA_READAHEAD_H

#include "base/producer.h"
#include "input.h"

#define PD_READAHEAD_ROOM (128 * 1024) /* bytes before a block that the caller may write */

struct pd_readahead;

/*
 * Starts to read from `offset` up to `limit`, as a stage of `pass` (NULL: the current one).
 * Returns NULL without memory or if there can be no thread.
 */
struct pd_readahead *pd_readahead_start(struct pd_input *input, struct pb_pass *pass,
					uint64_t offset, uint64_t limit);
void pd_readahead_stop(struct pd_readahead *readahead);

/*
 * Returns the next block and sets *size (bytes), which is less than usual at the end. The block
 * stays valid until the call after the next. Returns NULL at the end, or with *err if the block
 * could not be read.
 */
uint8_t *pd_readahead_next(struct pd_readahead *readahead, size_t *size, struct pd_error *err);

#endif
