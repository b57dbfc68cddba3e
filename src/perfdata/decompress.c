#include "decompress.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define BLOCK	    (256 * 1024)
#define FRAME_START "\x28\xb5\x2f\xfd"
#define HEADER	    3 /* of a block */

const char *pd_zstd_version(void)
{
	return ZSTD_versionString();
}

struct pd_decompress *pd_decompress_create(void)
{
	struct pd_decompress *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->stream = ZSTD_createDStream();
	d->block = malloc(BLOCK);
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
	free(d->block);
	free(d);
}

void pd_decompress_abandon(struct pd_decompress *d)
{
	d->running = d->full = false;
	d->pos = d->end = d->block;
	d->in = d->in_end;
}

bool pd_decompress_feed(struct pd_decompress *d, const uint8_t *payload, size_t n)
{
	bool start = n >= 4 && memcmp(payload, FRAME_START, 4) == 0;

	if (!d->running && !start) {
		d->error =
			d->error ?
				d->error :
				"found no start of a zstd frame, expected 28 b5 2f fd: it begins "
				"in the file recorded before this one";
		return false;
	}
	d->restart = d->running && start;
	if (!d->running) {
		d->step = ZSTD_initDStream(d->stream);
		d->running = true;
		d->error = NULL;
	}
	d->at = -(int64_t)(d->end - d->pos);
	d->in = payload;
	d->in_end = payload + n;
	return true;
}

/* A recorder whose compressor failed began a new frame, which is an error in the one it was in. */
static bool begin_again(struct pd_decompress *d)
{
	if (!d->restart)
		return false;
	d->restart = false;
	d->step = ZSTD_initDStream(d->stream);
	d->pos = d->end = d->block;
	d->at = 0;
	return true;
}

int pd_decompress_refill(struct pd_decompress *d, size_t n)
{
	while ((size_t)(d->end - d->pos) < n) {
		size_t have = (size_t)(d->end - d->pos), left = (size_t)(d->in_end - d->in);
		ZSTD_inBuffer in = { d->in, d->step < left ? d->step : left, 0 };
		ZSTD_outBuffer out = { d->block, BLOCK, have };
		size_t result;

		if (d->in == d->in_end && !d->full)
			return 0;
		memmove(d->block, d->pos, have);
		result = ZSTD_decompressStream(d->stream, &out, &in);
		d->pos = d->block;
		d->end = d->block + out.pos;
		d->in += in.pos;
		d->full = out.pos == out.size;
		if (ZSTD_isError(result) && begin_again(d))
			continue;
		if (ZSTD_isError(result)) {
			d->error = ZSTD_getErrorName(result);
			pd_decompress_abandon(d);
			return -1;
		}
		d->restart = false;
		/* 0: a frame ended; a block's size counts the header of the next one, too */
		d->step = !result ? SIZE_MAX : result > HEADER ? result - HEADER : result;
	}
	return 1;
}
