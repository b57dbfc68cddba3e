/*
 * Walks the bytes of an input in blocks. What is at pos stays where it is until the next fill.
 *
 * One pass is fastest in blocks that stay in the L2 cache: page faults of a mapping cost more
 * than decoding does.
 */
#ifndef PERFLUA_PERFDATA_BLOCKS_H
#define PERFLUA_PERFDATA_BLOCKS_H

#include "readahead.h"

struct pd_blocks {
	struct pd_input *input;
	uint8_t *block;
	size_t capacity;
	const uint8_t *pos, *end;   /* what is left of the block */
	uint64_t offset;	    /* of pos in the input */
	uint64_t start, limit;	    /* where the walk begins and ends */
	uint64_t ahead_at;	    /* offset of the next block of: */
	struct pd_readahead *ahead; /* NULL: what is needed is read when it is */
};

/* Walks from offset up to limit. */
bool pd_blocks_init(struct pd_blocks *b, struct pd_input *input, uint64_t offset,
		    uint64_t limit, struct pd_error *err);
void pd_blocks_deinit(struct pd_blocks *b);

/*
 * Has blocks read ahead by a thread, if they are many. Worth it for whoever does little with
 * each of them.
 */
void pd_blocks_read_ahead(struct pd_blocks *b);

int pd_blocks_refill(struct pd_blocks *b, size_t n, struct pd_error *err);

/* Makes n bytes available at pos: 1; 0 if there are fewer up to limit; -1 on an error. */
static inline int pd_blocks_fill(struct pd_blocks *b, size_t n, struct pd_error *err)
{
	return (size_t)(b->end - b->pos) >= n ? 1 : pd_blocks_refill(b, n, err);
}

/* Steps over n bytes, available or not. */
static inline void pd_blocks_skip(struct pd_blocks *b, uint64_t n)
{
	uint64_t have = (uint64_t)(b->end - b->pos);

	b->pos += n < have ? n : have;
	b->offset += n;
}

static inline uint64_t pd_blocks_left(const struct pd_blocks *b)
{
	return b->limit - b->offset;
}

#endif
