/*
 * Compresses records as perf record -z does: one zstd stream that is flushed at the end of each
 * block of records, in records of type COMPRESSED or COMPRESSED2. See
 * zstd_compress_stream_to_records, tools/perf/util/zstd.c.
 */
#ifndef PERFLUA_WRITE_COMPRESS_H
#define PERFLUA_WRITE_COMPRESS_H

#include "output.h"

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
