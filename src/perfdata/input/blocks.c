#include "blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/producer.h"
#include "base/vector.h"
#include "input.h"

/*
 * Reads a part of a file block by block in a thread, ahead of the caller's use.
 */

#define PD_READAHEAD_ROOM (128 * 1024) /* bytes before a block that the caller may write */

struct pd_readahead;

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

/*
 * Starts to read from `offset` up to `limit`, as a stage of `pass` (NULL: the current one).
 * Returns NULL without memory or if there can be no thread.
 */
static struct pd_readahead *readahead_start(struct pd_input *input, struct pb_pass *pass,
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

static void readahead_stop(struct pd_readahead *r)
{
	if (!r)
		return;
	pb_producer_stop(r->producer);
	free(r);
}

/*
 * Returns the next block and sets *size (bytes), which is less than usual at the end. The block
 * stays valid until the call after the next. Returns NULL at the end, or with *err if the block
 * could not be read.
 */
static uint8_t *readahead_next(struct pd_readahead *r, size_t *size, struct pd_error *err)
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

#define BLOCK	  (256 * 1024) /* bytes; it always holds perf's largest record, of 64 KB */
#define MIN_BLOCK 64

bool pd_blocks_init(struct pd_blocks *b, struct pd_input *input, uint64_t offset,
		    uint64_t limit, struct pd_error *err)
{
	*b = (struct pd_blocks){
		.input = input, .offset = offset, .start = offset, .limit = limit
	};
	b->capacity = limit - offset < BLOCK ? (size_t)(limit - offset) + MIN_BLOCK : BLOCK;
	b->block = pb_pages(b->capacity);
	b->pos = b->end = b->block;
	if (!b->block)
		return pd_error_set(err, "ENOMEM", input->path, PD_NO_OFFSET, "no memory");
	return true;
}

#define READ_AHEAD_LEAST (16 * 1024 * 1024) /* bytes */

void pd_blocks_read_ahead(struct pd_blocks *b)
{
	if (!b->input->stream && !b->readahead && b->pos == b->end &&
	    pd_blocks_left(b) >= READ_AHEAD_LEAST)
		b->readahead = readahead_start(b->input, b->pass, b->offset, b->limit);
	b->readahead_at = b->offset;
}

void pd_blocks_deinit(struct pd_blocks *b)
{
	readahead_stop(b->readahead);
	b->readahead = NULL;
	free(b->block);
	b->block = NULL;
	b->pos = b->end = NULL;
	b->limit = b->offset;
}

/*
 * Moves the rest of the block to the front of a block of at least `n` bytes. A larger block
 * gets BLOCK bytes more, so that not each record of a look-ahead moves the bytes again.
 */
static bool reserve_block(struct pd_blocks *b, size_t n)
{
	size_t have = (size_t)(b->end - b->pos);
	uint8_t *block = b->block;

	if (n > b->capacity) {
		block = malloc(n + BLOCK);
		if (!block)
			return false;
		memcpy(block, b->pos, have);
		free(b->block);
		b->block = block;
		b->capacity = n + BLOCK;
	} else {
		memmove(block, b->pos, have);
	}
	b->pos = block;
	b->end = block + have;
	return true;
}

/*
 * Returns how many of `n` bytes to make room for. A stream may end before the bytes that a
 * record claims, so its block grows only as bytes come.
 */
static size_t compute_reserve(const struct pd_blocks *b, size_t n)
{
	size_t most = b->input->stream ? 2 * b->capacity : n;

	return n < most ? n : most;
}

/* Reads until `n` bytes are available, for which there is room. Returns as pd_blocks_fill(). */
static int read_more(struct pd_blocks *b, size_t n, struct pd_error *err)
{
	size_t have = (size_t)(b->end - b->pos), got;
	uint64_t most = pd_blocks_left(b) - have;

	if (most > b->capacity - have)
		most = b->capacity - have;
	if (!pd_input_read_timed(b->input, b->pass, b->offset + have, b->block + have, n - have,
				 (size_t)most, &got, err))
		return -1;
	b->end += got;
	if (have + got < n) /* the stream ended, or the file was truncated meanwhile */
		b->limit = b->offset + have + got;
	return have + got >= n;
}

/*
 * Continues in the next block that was read ahead, and copies the rest of the current one
 * before it. Returns false if bytes were skipped or the rest is too large: the caller stops
 * reading ahead.
 */
static bool take_readahead_block(struct pd_blocks *b, size_t n)
{
	size_t have = (size_t)(b->end - b->pos), size;
	uint8_t *bytes = NULL;
	struct pd_error err;

	if (b->readahead_at == b->offset + have && have <= PD_READAHEAD_ROOM)
		bytes = readahead_next(b->readahead, &size, &err);
	if (bytes && have + size >= n) {
		b->pos = memcpy(bytes - have, b->pos, have);
		b->end = bytes + size;
		b->readahead_at += size;
		return true;
	}
	return false;
}

int pd_blocks_refill(struct pd_blocks *b, size_t n, struct pd_error *err)
{
	int got;

	if (pd_blocks_left(b) < n)
		return 0;
	if (b->readahead && take_readahead_block(b, n))
		return 1;
	do {
		size_t room = compute_reserve(b, n);

		if (!reserve_block(b, room)) {
			pd_error_set(err, "ENOMEM", b->input->path, b->offset,
				     "no memory for a record of %zu bytes", n);
			return -1;
		}
		readahead_stop(b->readahead);
		b->readahead = NULL;
		got = read_more(b, room, err);
	} while (got > 0 && (size_t)(b->end - b->pos) < n);
	return got;
}
