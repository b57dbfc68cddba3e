#include "decompress.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define BLOCK	    (256 * 1024)
#define FRAME_START "\x28\xb5\x2f\xfd"

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
				"found no start of a zstd frame, expected 28 b5 2f fd: the stream "
				"begins in the file that was recorded before this one";
		return false;
	}
	if (!d->running) {
		ZSTD_initDStream(d->stream);
		d->running = true;
		d->error = NULL;
	}
	d->at = -(int64_t)(d->end - d->pos);
	d->in = payload;
	d->in_end = payload + n;
	return true;
}

int pd_decompress_fill(struct pd_decompress *d, size_t n)
{
	while ((size_t)(d->end - d->pos) < n) {
		size_t have = (size_t)(d->end - d->pos), result;
		ZSTD_outBuffer out = { d->block, BLOCK, have };
		ZSTD_inBuffer in = { d->in, (size_t)(d->in_end - d->in), 0 };

		if (d->in == d->in_end && !d->full)
			return 0;
		memmove(d->block, d->pos, have);
		result = ZSTD_decompressStream(d->stream, &out, &in);
		d->pos = d->block;
		d->end = d->block + out.pos;
		d->in += in.pos;
		d->full = out.pos == out.size;
		if (ZSTD_isError(result)) {
			d->error = ZSTD_getErrorName(result);
			pd_decompress_abandon(d);
			return -1;
		}
	}
	return 1;
}

void pd_decompress_skip(struct pd_decompress *d, size_t n)
{
	d->pos += n;
	d->at += (int64_t)n;
}
