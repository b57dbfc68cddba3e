#define _GNU_SOURCE /* memfd_create */
#include "unpack.h"

#include <errno.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/*
 * Limit of what n bytes may become: good compressors shrink ELF files to a tenth, but a few
 * bytes can also stand for endless zeros.
 */
#define ROOM(n)	   ((UINT64_C(64) << 20) + 32 * (uint64_t)(n))
#define XZ_MEMORY  (UINT64_C(256) << 20)
#define CHUNK_SIZE 65536

struct unpacking {
	int from, to;
	uint64_t read, written;
	uint8_t in[CHUNK_SIZE], out[CHUNK_SIZE];
};

static bool write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		ssize_t written = write(fd, p, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		p += written;
		n -= (size_t)written;
	}
	return true;
}

int ps_memory_file(const void *bytes, size_t n)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	if (fd >= 0 && !write_all(fd, bytes, n)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Returns 0 at the end, and on an error, which is an end that comes too early. */
static size_t fill_input(struct unpacking *u)
{
	ssize_t n;

	do {
		n = read(u->from, u->in, sizeof(u->in));
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	u->read += (size_t)n;
	return (size_t)n;
}

static bool drain_input(struct unpacking *u, size_t n)
{
	u->written += n;
	return u->written <= ROOM(u->read) && write_all(u->to, u->out, n);
}

static bool unpack_xz(struct unpacking *u)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret result = lzma_stream_decoder(&stream, XZ_MEMORY, 0);

	while (result == LZMA_OK) {
		if (!stream.avail_in) {
			stream.next_in = u->in;
			stream.avail_in = fill_input(u);
			if (!stream.avail_in)
				break;
		}
		stream.next_out = u->out;
		stream.avail_out = sizeof(u->out);
		result = lzma_code(&stream, LZMA_RUN);
		if (!drain_input(u, sizeof(u->out) - stream.avail_out))
			break;
	}
	lzma_end(&stream);
	return result == LZMA_STREAM_END;
}

static bool unpack_gzip(struct unpacking *u)
{
	z_stream stream = { 0 };
	int result = inflateInit2(&stream, MAX_WBITS + 16);

	if (result != Z_OK)
		return false;
	while (result == Z_OK) {
		if (!stream.avail_in) {
			stream.next_in = u->in;
			stream.avail_in = (uInt)fill_input(u);
			if (!stream.avail_in)
				break;
		}
		stream.next_out = u->out;
		stream.avail_out = sizeof(u->out);
		result = inflate(&stream, Z_NO_FLUSH);
		if (!drain_input(u, sizeof(u->out) - stream.avail_out))
			break;
	}
	inflateEnd(&stream);
	return result == Z_STREAM_END;
}

static bool unpack_zstd(struct unpacking *u)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = { u->in, 0, 0 };
	size_t result = 1;

	if (!stream)
		return false;
	while (result && !ZSTD_isError(result)) {
		ZSTD_outBuffer out = { u->out, sizeof(u->out), 0 };

		if (in.pos == in.size) {
			in = (ZSTD_inBuffer){ u->in, fill_input(u), 0 };
			if (!in.size)
				break;
		}
		result = ZSTD_decompressStream(stream, &out, &in);
		if (!drain_input(u, out.pos)) {
			result = 1;
			break;
		}
	}
	ZSTD_freeDStream(stream);
	return result == 0;
}

struct format {
	const char *magic;
	size_t n;
	bool (*unpack_with)(struct unpacking *u);
};

static const struct format formats[] = {
	{ "\xfd"
	  "7zXZ",
	  6, unpack_xz },
	{ "\x1f\x8b", 2, unpack_gzip },
	{ "\x28\xb5\x2f\xfd", 4, unpack_zstd },
};

static bool unpack_with(struct unpacking *u)
{
	char magic[6] = { 0 };

	if (pread(u->from, magic, sizeof(magic), 0) < 0 || lseek(u->from, 0, SEEK_SET) < 0)
		return false;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (memcmp(magic, formats[i].magic, formats[i].n) == 0)
			return formats[i].unpack_with(u);
	return false;
}

int ps_unpack(int fd)
{
	struct unpacking *u = malloc(sizeof(*u));
	int to;

	if (!u)
		return -1;
	u->from = fd;
	u->to = memfd_create("elf", MFD_CLOEXEC);
	u->read = u->written = 0;
	to = u->to;
	if (to >= 0 && !unpack_with(u)) {
		close(to);
		to = -1;
	}
	free(u);
	return to;
}
