#include "compress.h"

#include <stdlib.h>
#include <zstd.h>

#include "perfdata/format/format.h"

#define HEADER 8
/* bytes after the header: the size of a record is a u16, and that of COMPRESSED2 is aligned */
#define MOST ((size_t)UINT16_MAX - 7 - HEADER - 8)

struct pw_compressor {
	struct pw_output *out;
	ZSTD_CStream *stream;
	bool padded;
	size_t n;		 /* bytes of records that wait */
	uint8_t block[PW_BLOCK]; /* the records */
	uint8_t compressed[MOST];
};

struct pw_compressor *pw_compressor_create(struct pw_output *out, int level, bool padded)
{
	struct pw_compressor *c = malloc(sizeof(*c));

	if (!c)
		return NULL;
	c->out = out;
	c->padded = padded;
	c->n = 0;
	c->stream = ZSTD_createCStream();
	if (c->stream && !ZSTD_isError(ZSTD_initCStream(c->stream, level)))
		return c;
	pw_compressor_destroy(c);
	return NULL;
}

void pw_compressor_destroy(struct pw_compressor *c)
{
	if (!c)
		return;
	ZSTD_freeCStream(c->stream);
	free(c);
}

int pw_compress_most(void)
{
	return ZSTD_maxCLevel();
}

static void put_record(struct pw_compressor *c, size_t n)
{
	size_t size = HEADER + n, padding = 0;

	if (c->padded) {
		padding = -n & 7;
		size += 8 + padding;
	}
	pw_put_header(c->out, c->padded ? PD_RECORD_COMPRESSED2 : PD_RECORD_COMPRESSED, 0,
		      (uint16_t)size);
	if (c->padded)
		pw_put64(c->out, n);
	pw_put(c->out, c->compressed, n);
	pw_put_zeros(c->out, padding);
}

/* Compresses bytes to the end of a block. */
static bool compress(struct pw_compressor *c, const void *bytes, size_t n)
{
	ZSTD_inBuffer in = { bytes, n, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { c->compressed, sizeof(c->compressed), 0 };

		left = ZSTD_compressStream2(c->stream, &out, &in, ZSTD_e_flush);
		if (ZSTD_isError(left))
			return false;
		if (out.pos)
			put_record(c, out.pos);
	} while (left);
	return true;
}

bool pw_compress_flush(struct pw_compressor *c)
{
	size_t n = c->n;

	c->n = 0;
	return !n || compress(c, c->block, n);
}

size_t pw_compress_room(const struct pw_compressor *c)
{
	return sizeof(c->block) - c->n;
}

bool pw_compress(struct pw_compressor *c, const void *record, size_t n)
{
	if (n > sizeof(c->block) - c->n && !pw_compress_flush(c))
		return false;
	memcpy(c->block + c->n, record, n);
	c->n += n;
	return true;
}
