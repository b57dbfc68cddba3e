/*
 * Walks the bytes of an input in blocks. Bytes at pos stay where they are until the next fill.
 *
 * One pass is fastest in blocks that fit the L2 cache: page faults of a mapping cost more than
 * decoding.
 */
#ifndef PERFLUA_PERFDATA_BLOCKS_H
#define PERFLUA_PERFDATA_BLOCKS_H

#include "input.h"

struct pd_readahead;

struct pd_blocks {
	struct pd_input *input;
	uint8_t *block;
	size_t capacity;
	const uint8_t *pos, *end;	/* the rest of the block */
	uint64_t offset;		/* offset of `pos` in the input */
	uint64_t start, limit;		/* offsets where the walk begins and ends */
	uint64_t readahead_at;		/* offset of the next block that `readahead` returns */
	struct pd_readahead *readahead; /* NULL: blocks are read when they are needed */
	struct pb_pass *pass;		/* that it belongs to; NULL: that of the thread */
};

/*
 * Prepares a walk over the bytes from `offset` up to `limit`. Returns false with *err; then
 * there is nothing to deinit.
 */
bool pd_blocks_init(struct pd_blocks *b, struct pd_input *input, uint64_t offset,
		    uint64_t limit, struct pd_error *err);
void pd_blocks_deinit(struct pd_blocks *b);

/*
 * Reads blocks ahead in a thread, if there are many. It pays when little is done with each
 * block. Call it before the first fill.
 */
void pd_blocks_read_ahead(struct pd_blocks *b);

/* Fills the block: the slow path of pd_blocks_fill(). */
int pd_blocks_refill(struct pd_blocks *b, size_t n, struct pd_error *err);

/*
 * Makes `n` bytes available at pos. Returns 1; 0 if there are fewer up to limit; -1 with *err.
 */
static inline int pd_blocks_fill(struct pd_blocks *b, size_t n, struct pd_error *err)
{
	return (size_t)(b->end - b->pos) >= n ? 1 : pd_blocks_refill(b, n, err);
}

/* Steps over `n` bytes, whether they are available or not. */
static inline void pd_blocks_skip(struct pd_blocks *b, uint64_t n)
{
	uint64_t have = (uint64_t)(b->end - b->pos);

	b->pos += n < have ? n : have;
	b->offset += n;
}

/* Returns the bytes from pos up to limit, available or not. */
static inline uint64_t pd_blocks_left(const struct pd_blocks *b)
{
	return b->limit - b->offset;
}

#endif
