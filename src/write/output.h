/*
 * The bytes of a recording that is being written: a buffer before a file descriptor. The first
 * write that fails is kept; what is added after it is dropped.
 */
#ifndef PERFLUA_WRITE_OUTPUT_H
#define PERFLUA_WRITE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pw_output {
	int fd;		 /* -1: bytes are only counted */
	bool swap;	 /* numbers are of the other byte order than this host's */
	int error;	 /* errno of the first write that failed; 0: none did */
	uint64_t at;	 /* offset of the next byte that is added */
	uint8_t *buffer; /* NULL: none yet */
	size_t n, capacity;
};

/* Prepares to write to `fd`, which stays the caller's. Returns false without memory. */
bool pw_output_init(struct pw_output *out, int fd, bool swap);
void pw_output_deinit(struct pw_output *out);

/* Writes the buffered bytes. Returns false after a failure. */
bool pw_output_flush(struct pw_output *out);

/* Adds more bytes than the buffer has room for: the slow path of pw_put(). */
void pw_put_large(struct pw_output *out, const void *bytes, size_t n);

/*
 * Has the kernel copy `n` bytes of the file `fd`, from `offset` on. Returns how many it copied:
 * fewer at the end of the file, after a failure, or if it cannot copy between these two files.
 * It sets no error: the caller reads and puts the rest, and so meets the failure.
 */
uint64_t pw_put_of_file(struct pw_output *out, int fd, uint64_t offset, uint64_t n);

/* Replaces `n` bytes at an offset of a regular file. Returns false after a failure. */
bool pw_output_replace(struct pw_output *out, uint64_t offset, const void *bytes, size_t n);

static inline void pw_put(struct pw_output *out, const void *bytes, size_t n)
{
	if (!n)
		return; /* there may be no bytes to point to */
	if (n > out->capacity - out->n) {
		pw_put_large(out, bytes, n);
		return;
	}
	memcpy(out->buffer + out->n, bytes, n);
	out->n += n;
	out->at += n;
}

static inline void pw_put16(struct pw_output *out, uint16_t value)
{
	value = out->swap ? __builtin_bswap16(value) : value;
	pw_put(out, &value, sizeof(value));
}

static inline void pw_put32(struct pw_output *out, uint32_t value)
{
	value = out->swap ? __builtin_bswap32(value) : value;
	pw_put(out, &value, sizeof(value));
}

static inline void pw_put64(struct pw_output *out, uint64_t value)
{
	value = out->swap ? __builtin_bswap64(value) : value;
	pw_put(out, &value, sizeof(value));
}

/* Adds the header of a record. */
static inline void pw_put_header(struct pw_output *out, uint32_t type, uint16_t misc,
				 uint16_t size)
{
	pw_put32(out, type);
	pw_put16(out, misc);
	pw_put16(out, size);
}

/* Adds `n` bytes of zero. */
void pw_put_zeros(struct pw_output *out, size_t n);

/*
 * Compresses records as perf record -z does: one zstd stream that is flushed at the end of each
 * block of records, in records of type COMPRESSED or COMPRESSED2. See
 * zstd_compress_stream_to_records, tools/perf/util/zstd.c.
 */

/* Bytes of records that are compressed together, and that a compressed record holds at most. */
#define PW_BLOCK ((size_t)256 << 10)

struct pw_compressor;

/*
 * Creates a compressor of a level, from 1 to pw_compress_most(), that writes to `out`, which
 * must outlive it. `padded`: in records of type COMPRESSED2. Returns NULL without memory.
 */
struct pw_compressor *pw_compressor_create(struct pw_output *out, int level, bool padded);
void pw_compressor_destroy(struct pw_compressor *c);

/* Returns how many bytes of records fit in the block that is filled. */
size_t pw_compress_room(const struct pw_compressor *c);

/* Returns the highest level of zstd. */
int pw_compress_most(void);

/* Both return false without memory, after which the stream is damaged. */
bool pw_compress(struct pw_compressor *c, const void *record, size_t n);
bool pw_compress_flush(struct pw_compressor *c); /* writes the records that wait */

#endif
