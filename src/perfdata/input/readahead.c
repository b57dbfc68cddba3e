#include "readahead.h"

#include <stdlib.h>

#define BLOCK	       (256 * 1024)
#define BLOCKS_WAITING 2 /* blocks that wait to be taken */
/* besides: the block in use and the end of the one before it */
#define BLOCKS (BLOCKS_WAITING + 2)

struct block {
	size_t size;
	uint8_t room[PD_READAHEAD_ROOM], bytes[BLOCK];
};

struct pd_readahead {
	struct pb_producer *producer;
	struct pd_error error; /* written in the producer's thread */
	struct pd_input *input;
	struct pb_pass *pass;	/* that the reading belongs to */
	uint64_t offset, limit; /* the rest, in the producer's thread */
	struct block blocks[BLOCKS];
};

static void *read_block(void *arg, size_t i)
{
	struct pd_readahead *r = arg;
	struct block *block = &r->blocks[i % BLOCKS];
	uint64_t left = r->limit - r->offset;
	size_t n = left < BLOCK ? (size_t)left : BLOCK;

	if (!pd_input_read_timed(r->input, r->pass, r->offset, block->bytes, n, n, &block->size,
				 &r->error))
		return NULL;
	r->offset += block->size;
	return block->size ? block : NULL;
}

struct pd_readahead *pd_readahead_start(struct pd_input *input, struct pb_pass *pass,
					uint64_t offset, uint64_t limit)
{
	struct pd_readahead *r = malloc(sizeof(*r));

	if (!r)
		return NULL;
	r->input = input;
	r->pass = pass ? pass : pb_pass_current(input->timing);
	r->offset = offset;
	r->limit = limit;
	r->error.code = "";
	r->producer = pb_producer_start(
		(struct pb_producing){ read_block, NULL, r, BLOCKS_WAITING });
	if (r->producer)
		return r;
	free(r);
	return NULL;
}

void pd_readahead_stop(struct pd_readahead *r)
{
	if (!r)
		return;
	pb_producer_stop(r->producer);
	free(r);
}

uint8_t *pd_readahead_next(struct pd_readahead *r, size_t *size, struct pd_error *err)
{
	struct block *block = pb_producer_next(r->producer);

	if (!block) {
		if (err)
			*err = r->error;
		return NULL;
	}
	*size = block->size;
	return block->bytes;
}
