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

#define MANY (16 * 1024 * 1024) /* bytes */

void pd_blocks_read_ahead(struct pd_blocks *b)
{
	if (!b->input->stream && !b->ahead && b->pos == b->end && pd_blocks_left(b) >= MANY)
		b->ahead = pd_readahead_start(b->input, b->offset, b->limit);
	b->ahead_at = b->offset;
}

void pd_blocks_deinit(struct pd_blocks *b)
{
	pd_readahead_stop(b->ahead);
	b->ahead = NULL;
	free(b->block);
	b->block = NULL;
	b->pos = b->end = NULL;
	b->limit = b->offset;
}

/*
 * Moves what is left of the block to the start of one that holds n bytes. It has room for more
 * than that: whoever looks far ahead of every record must not move all of it for each.
 */
static bool make_room(struct pd_blocks *b, size_t n)
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

/* Room for n bytes; but what a stream claims may never come: there it grows as bytes do. */
static size_t room_for(const struct pd_blocks *b, size_t n)
{
	size_t most = b->input->stream ? 2 * b->capacity : n;

	return n < most ? n : most;
}

/* Reads until n bytes are there, which there is room for: as pd_blocks_fill. */
static int read_more(struct pd_blocks *b, size_t n, struct pd_error *err)
{
	size_t have = (size_t)(b->end - b->pos), got;
	uint64_t most = pd_blocks_left(b) - have;

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

static void stop_ahead(struct pd_blocks *b)
{
	pd_readahead_stop(b->ahead);
	b->ahead = NULL;
}

/*
 * Goes on in the block that was read ahead, with what is left of this one before it. False if
 * that does not do, as something was skipped, or is too large: then nothing more is read ahead.
 */
static bool take_ahead(struct pd_blocks *b, size_t n)
{
	size_t have = (size_t)(b->end - b->pos), size;
	uint8_t *bytes = NULL;
	struct pd_error err;

	if (b->ahead_at == b->offset + have && have <= PD_AHEAD_ROOM)
		bytes = pd_readahead_next(b->ahead, &size, &err);
	if (bytes && have + size >= n) {
		b->pos = memcpy(bytes - have, b->pos, have);
		b->end = bytes + size;
		b->ahead_at += size;
		return true;
	}
	return false;
}

int pd_blocks_refill(struct pd_blocks *b, size_t n, struct pd_error *err)
{
	int got;

	if (pd_blocks_left(b) < n)
		return 0;
	if (b->ahead && take_ahead(b, n))
		return 1;
	do {
		size_t room = room_for(b, n);

		if (!make_room(b, room)) {
			pd_error_set(err, "ENOMEM", b->input->path, b->offset,
				     "no memory for a record of %zu bytes", n);
			return -1;
		}
		stop_ahead(b);
		got = read_more(b, room, err);
	} while (got > 0 && (size_t)(b->end - b->pos) < n);
	return got;
}
