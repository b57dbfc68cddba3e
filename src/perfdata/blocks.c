#include "blocks.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK	  (256 * 1024) /* the largest record of perf's, 64 KB, always fits */
#define MIN_BLOCK 64

bool pd_blocks_init(struct pd_blocks *b, struct pd_input *input, uint64_t offset,
		    uint64_t limit, struct pd_error *err)
{
	*b = (struct pd_blocks){
		.input = input, .offset = offset, .start = offset, .limit = limit
	};
	b->capacity = limit - offset < BLOCK ? (size_t)(limit - offset) + MIN_BLOCK : BLOCK;
	b->block = malloc(b->capacity);
	b->pos = b->end = b->block;
	if (!b->block)
		return pd_error_set(err, "ENOMEM", input->path, PD_NO_OFFSET, "no memory");
	return true;
}

void pd_blocks_deinit(struct pd_blocks *b)
{
	free(b->block);
	b->block = NULL;
	b->pos = b->end = NULL;
	b->limit = b->offset;
}

/* Moves what is left of the block to the start of one that holds n bytes. */
static bool make_room(struct pd_blocks *b, size_t n)
{
	size_t have = (size_t)(b->end - b->pos);
	uint8_t *block = b->block;

	if (n > b->capacity) {
		block = malloc(n);
		if (!block)
			return false;
		memcpy(block, b->pos, have);
		free(b->block);
		b->block = block;
		b->capacity = n;
	} else {
		memmove(block, b->pos, have);
	}
	b->pos = block;
	b->end = block + have;
	return true;
}

int pd_blocks_refill(struct pd_blocks *b, size_t n, struct pd_error *err)
{
	size_t have = (size_t)(b->end - b->pos), got;
	uint64_t most = pd_blocks_left(b) - have;

	if (pd_blocks_left(b) < n)
		return 0;
	if (!make_room(b, n)) {
		pd_error_set(err, "ENOMEM", b->input->path, b->offset,
			     "no memory for a record of %zu bytes", n);
		return -1;
	}
	if (most > b->capacity - have)
		most = b->capacity - have;
	if (!pd_input_read(b->input, b->offset + have, b->block + have, n - have, (size_t)most,
			   &got, err))
		return -1;
	b->end += got;
	if (have + got < n) /* the stream's end; or the file became shorter under us */
		b->limit = b->offset + have + got;
	return have + got >= n;
}
