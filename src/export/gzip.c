#include "gzip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "perfdata/format/print_scalar.h"

#define LEVEL	1	  /* half the time of level 3, at 7 % more bytes */
#define MEMORY	8	  /* zlib's default */
#define BLOCK	(1 << 19) /* bytes: smaller blocks that know nothing of each other get longer */
#define FLUSHED 16	  /* bytes that flushing adds to deflateBound(), and some */

/* Text that is compressed alone, so that several threads can compress a file. */
struct gzip_block {
	z_stream stream;
	size_t n;
	uint32_t crc;
	bool is_last;
	unsigned char text[BLOCK];
	size_t n_packed; /* 0: it was not compressed as a whole */
	size_t room;
	unsigned char packed[]; /* [room] */
};

/* Returns NULL without memory. */
static struct gzip_block *create_block(void)
{
	size_t room = compressBound(BLOCK) + FLUSHED;
	struct gzip_block *block = malloc(sizeof(*block) + room);

	if (!block)
		return NULL;
	block->stream = (z_stream){ 0 };
	/* zlib writes neither header nor trailer: these are the file's */
	if (deflateInit2(&block->stream, LEVEL, Z_DEFLATED, -MAX_WBITS, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(block);
		return NULL;
	}
	block->n = 0;
	block->room = room;
	return block;
}

/* Compresses a block; it ends at a byte, so that the next one can follow. */
static void compress_block(void *item, unsigned worker)
{
	struct gzip_block *block = item;
	z_stream *stream = &block->stream;
	bool is_whole;
	int result;

	(void)worker;
	deflateReset(stream);
	stream->next_in = block->text;
	stream->avail_in = (uInt)block->n;
	stream->next_out = block->packed;
	stream->avail_out = (uInt)block->room;
	result = deflate(stream, block->is_last ? Z_FINISH : Z_SYNC_FLUSH);
	is_whole = block->is_last ? result == Z_STREAM_END : stream->avail_out > 0;
	block->n_packed = is_whole ? block->room - stream->avail_out : 0;
	block->crc = (uint32_t)crc32(0, block->text, (uInt)block->n);
}

/*
 * Writes the oldest block that was handed over; then it is the one to fill. Returns false if
 * there is none.
 */
static bool write_block(struct pe_gzip *gzip)
{
	struct gzip_block *block = pb_helpers_take(gzip->helpers);

	if (!block)
		return false;
	pd_print_bytes(gzip->out, (const char *)block->packed, block->n_packed);
	gzip->failed |= !block->n_packed;
	gzip->crc = (uint32_t)crc32_combine(gzip->crc, block->crc, (z_off_t)block->n);
	block->n = 0;
	gzip->block = block;
	return true;
}

/* Hands the block over that is filled. */
static void hand_block_over(struct pe_gzip *gzip, bool is_last)
{
	if (!gzip->helpers)
		gzip->helpers = pb_helpers_start(is_last ? 0 : gzip->threads - 1,
						 compress_block);
	gzip->failed |= !gzip->helpers;
	if (gzip->failed)
		return;
	gzip->block->is_last = is_last;
	pb_helpers_give(gzip->helpers, gzip->block);
	gzip->block = NULL;
}

/* Makes sure that there is a block to fill, unless the file has failed. */
static void begin_block(struct pe_gzip *gzip)
{
	size_t most = 2 * (size_t)gzip->threads;

	if (gzip->block && gzip->block->n == BLOCK)
		hand_block_over(gzip, false);
	if (gzip->failed || gzip->block || (gzip->n_blocks == most && write_block(gzip)))
		return;
	gzip->block = create_block();
	if (gzip->block)
		gzip->blocks[gzip->n_blocks++] = gzip->block;
	else
		gzip->failed = true;
}

static void flush_plain(void *arg, const char *p, size_t n)
{
	struct pe_gzip *gzip = arg;

	gzip->size += n;
	if (gzip->size > gzip->most)
		return;
	for (size_t part; n; p += part, n -= part) {
		begin_block(gzip);
		if (gzip->failed)
			return;
		part = BLOCK - gzip->block->n < n ? BLOCK - gzip->block->n : n;
		memcpy(gzip->block->text + gzip->block->n, p, part);
		gzip->block->n += part;
	}
}

void pe_gzip_init(struct pe_gzip *gzip, uint64_t most, unsigned threads, struct pd_print *out)
{
	/* RFC 1952: deflated, without a name or a time, by the fastest algorithm, on Unix */
	static const char header[] = "\x1f\x8b\b\0\0\0\0\0\4\3";

	memset(gzip, 0, sizeof(*gzip));
	gzip->most = most;
	gzip->threads = threads > PB_HELPERS_MAX ? PB_HELPERS_MAX + 1 : threads;
	gzip->out = out;
	pd_print_init(&gzip->in, flush_plain, gzip);
	pd_print_const(out, header);
}

/* Writes a number of the trailer. */
static void write_number(struct pe_gzip *gzip, uint32_t number)
{
	for (unsigned i = 0; i < 4; i++)
		pd_print_char(gzip->out, (char)(number >> 8 * i));
}

bool pe_gzip_finish(struct pe_gzip *gzip)
{
	pd_print_flush(&gzip->in);
	if (!gzip->block)
		begin_block(gzip);
	if (!gzip->failed)
		hand_block_over(gzip, true);
	while (!gzip->failed && write_block(gzip))
		;
	write_number(gzip, gzip->crc);
	write_number(gzip, (uint32_t)gzip->size);
	return !gzip->failed;
}

void pe_gzip_deinit(struct pe_gzip *gzip)
{
	pb_helpers_stop(gzip->helpers);
	gzip->helpers = NULL;
	for (size_t i = 0; i < gzip->n_blocks; i++) {
		deflateEnd(&gzip->blocks[i]->stream);
		free(gzip->blocks[i]);
	}
	gzip->n_blocks = 0;
}
