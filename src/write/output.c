#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <unistd.h>
#include <zstd.h>

#include "perfdata/format/format.h"

/* runs of records that are larger are written from where they were read */
#define CAPACITY ((size_t)128 << 10)
#define SENT	 ((size_t)1 << 30) /* bytes that the kernel copies in one call */

bool pw_output_init(struct pw_output *out, int fd, bool swap)
{
	*out = (struct pw_output){ .fd = fd, .swap = swap, .buffer = malloc(CAPACITY) };
	out->capacity = out->buffer ? CAPACITY : 0;
	return out->buffer != NULL;
}

void pw_output_deinit(struct pw_output *out)
{
	free(out->buffer);
	out->buffer = NULL;
	out->n = out->capacity = 0;
}

static void write_all(struct pw_output *out, const uint8_t *p, size_t n)
{
	while (n && !out->error && out->fd >= 0) {
		ssize_t done = write(out->fd, p, n);

		if (done < 0 && errno != EINTR)
			out->error = errno;
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		}
	}
}

bool pw_output_flush(struct pw_output *out)
{
	write_all(out, out->buffer, out->n);
	out->n = 0;
	return !out->error;
}

void pw_put_large(struct pw_output *out, const void *bytes, size_t n)
{
	pw_output_flush(out);
	if (n >= out->capacity) {
		write_all(out, bytes, n);
	} else {
		memcpy(out->buffer, bytes, n);
		out->n = n;
	}
	out->at += n;
}

uint64_t pw_put_of_file(struct pw_output *out, int fd, uint64_t offset, uint64_t n)
{
	off_t from = (off_t)offset;
	uint64_t left = out->fd < 0 ? 0 : n;

	pw_output_flush(out);
	while (left && !out->error) {
		ssize_t done = sendfile(out->fd, fd, &from, left < SENT ? (size_t)left : SENT);

		if (done == 0 || (done < 0 && errno != EINTR))
			break;
		left -= done > 0 ? (uint64_t)done : 0;
	}
	out->at += n - left;
	return n - left;
}

bool pw_output_replace(struct pw_output *out, uint64_t offset, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	pw_output_flush(out);
	while (n && !out->error && out->fd >= 0) {
		ssize_t done = pwrite(out->fd, p, n, (off_t)offset);

		if (done < 0 && errno != EINTR)
			out->error = errno;
		if (done > 0) {
			p += done;
			offset += (uint64_t)done;
			n -= (size_t)done;
		}
	}
	return !out->error;
}

void pw_put_zeros(struct pw_output *out, size_t n)
{
	static const uint8_t zeros[64];

	for (; n > sizeof(zeros); n -= sizeof(zeros))
		pw_put(out, zeros, sizeof(zeros));
	pw_put(out, zeros, n);
}

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
