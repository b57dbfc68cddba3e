#include "decompress.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#ifndef BLOCK
#define BLOCK (256 * 1024)
#endif
#define FRAME_START  "\x28\xb5\x2f\xfd"
#define BLOCK_HEADER 3 /* bytes of a zstd block's header */
#define BLOCK_RLE    1 /* type of a block of one byte, repeated: RFC 8878, 3.1.1.2.2 */

const char *pd_zstd_version(void)
{
	return ZSTD_versionString();
}

struct pd_decompress *pd_decompress_create(struct pb_timing *timing, struct pb_pass *pass)
{
	struct pd_decompress *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->stream = ZSTD_createDStream();
	d->block = malloc(BLOCK);
	d->capacity = BLOCK;
	d->timing = timing;
	d->pass = pass;
	d->pos = d->end = d->block;
	if (d->stream && d->block)
		return d;
	pd_decompress_destroy(d);
	return NULL;
}

void pd_decompress_destroy(struct pd_decompress *d)
{
	if (!d)
		return;
	ZSTD_freeDStream(d->stream);
	if (!d->lent)
		free(d->block);
	free(d);
}

void pd_decompress_abandon(struct pd_decompress *d)
{
	d->running = d->full = false;
	d->pos = d->end = d->block;
	d->in = d->in_end;
}

static void begin_frame(struct pd_decompress *d)
{
	d->step = ZSTD_initDStream(d->stream);
	d->at_block = false;
}

bool pd_decompress_feed(struct pd_decompress *d, const uint8_t *payload, size_t n)
{
	bool start = n >= 4 && memcmp(payload, FRAME_START, 4) == 0;

	if (!d->running && !start) {
		d->error = d->error ?
				   d->error :
				   "found no start of a zstd frame, expected 28 b5 2f fd: it "
				   "begins in the file recorded before this one";
		return false;
	}
	d->restart = d->running && start;
	if (!d->running) {
		begin_frame(d);
		d->running = true;
		d->error = NULL;
	}
	d->at = -(int64_t)(d->end - d->pos);
	d->in = payload;
	d->in_end = payload + n;
	return true;
}

/*
 * Starts a new frame after an error at its first bytes: a recorder whose compressor failed
 * begins one inside the old frame.
 */
static bool restart_frame(struct pd_decompress *d)
{
	if (!d->restart)
		return false;
	d->restart = false;
	d->error = NULL;
	begin_frame(d);
	d->pos = d->end = d->block;
	d->at = 0;
	return true;
}

/*
 * Returns the bytes of a zstd block with its header, if that comes next and is there; otherwise
 * those to the end of the block or header.
 */
static size_t step_size(const struct pd_decompress *d)
{
	size_t left = (size_t)(d->in_end - d->in), size;
	uint32_t header;

	if (!d->at_block || left < BLOCK_HEADER)
		return d->step < left ? d->step : left;
	header = d->in[0] | (uint32_t)d->in[1] << 8 | (uint32_t)d->in[2] << 16;
	size = BLOCK_HEADER + ((header >> 1 & 3) == BLOCK_RLE ? 1 : header >> 3);
	return size < left ? size : left;
}

/*
 * Decompresses up to the end of a zstd block, after the available bytes. Returns as
 * pd_decompress_append().
 */
static int decompress_step(struct pd_decompress *d)
{
	size_t have = (size_t)(d->end - d->block);
	ZSTD_inBuffer in = { d->in, step_size(d), 0 };
	ZSTD_outBuffer out = { d->block, d->capacity, have };
	struct pb_lap lap = pb_stage_enter(d->timing, d->pass, PB_STAGE_DECOMPRESS);
	size_t result = ZSTD_decompressStream(d->stream, &out, &in);

	pb_stage_leave(&lap);
	if (d->timing)
		pb_stage_count(d->timing, d->pass, PB_STAGE_DECOMPRESS, 0, out.pos - have);
	d->end = d->block + out.pos;
	d->in += in.pos;
	d->full = out.pos == out.size;
	if (ZSTD_isError(result)) {
		d->error = ZSTD_getErrorName(result);
		return -1;
	}
	d->restart = false;
	d->at_block = result == BLOCK_HEADER;
	/* 0: a frame ended; zstd's hint for a block includes the next block's header */
	d->step = !result ? SIZE_MAX : result > BLOCK_HEADER ? result - BLOCK_HEADER : result;
	return 1;
}

static void move_available_to(struct pd_decompress *d, uint8_t *block)
{
	size_t have = (size_t)(d->end - d->pos);

	memmove(block, d->pos, have);
	d->pos = block;
	d->end = block + have;
}

int pd_decompress_refill(struct pd_decompress *d, size_t n)
{
	while ((size_t)(d->end - d->pos) < n) {
		if (d->in == d->in_end && !d->full)
			return 0;
		move_available_to(d, d->block);
		if (decompress_step(d) > 0 || restart_frame(d))
			continue;
		pd_decompress_abandon(d);
		return -1;
	}
	return 1;
}

void pd_decompress_into(struct pd_decompress *d, uint8_t *block, size_t capacity)
{
	uint8_t *before = d->lent ? NULL : d->block;

	move_available_to(d, block);
	free(before);
	d->block = block;
	d->capacity = capacity;
	d->lent = true;
}

int pd_decompress_append(struct pd_decompress *d)
{
	if (d->in == d->in_end && !d->full)
		return 0;
	return (size_t)(d->end - d->block) == d->capacity ? 1 : decompress_step(d);
}
