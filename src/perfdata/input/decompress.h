/*
 * Decompresses the records inside compressed records.
 *
 * perf writes a single zstd frame, which it flushes for each compressed record and never ends.
 * So payloads must be decompressed in order from the first one on, and a record may begin in
 * one payload and end in the next. See perf_session__process_compressed_event,
 * tools/perf/util/session.c.
 */
#ifndef PERFLUA_PERFDATA_DECOMPRESS_H
#define PERFLUA_PERFDATA_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/timing.h"

struct pd_decompress {
	void *stream; /* ZSTD_DStream */
	/* inside a frame; otherwise the next payload must begin with the start of one */
	bool running;
	/*
	 * the payload begins with the start of a frame although one is running: see
	 * pd_decompress_feed()
	 */
	bool restart;
	/*
	 * bytes up to the end of a zstd block or header: so the blocks before a damaged one are
	 * not lost
	 */
	size_t step;
	bool at_block; /* the header of a zstd block comes next */
	uint8_t *block;
	size_t capacity;	    /* capacity of `block`, in bytes */
	bool lent;		    /* `block` is the caller's: see pd_decompress_into() */
	const uint8_t *pos, *end;   /* decompressed bytes that are not taken yet */
	const uint8_t *in, *in_end; /* the rest of the payload, not decompressed yet */
	/* the last step filled the block, so more may come without further input */
	bool full;
	/* offset of pos in the decompressed payload; negative: in that of the payload before */
	int64_t at;
	const char *error;	  /* the reason after a failure */
	struct pb_timing *timing; /* NULL: nothing is measured */
	struct pb_pass *pass;	  /* that it belongs to; NULL: that of the thread */
};

/* Returns the version of the linked zstd, as "1.5.4". */
const char *pd_zstd_version(void);

/*
 * Creates a decompressor, whose work is a stage of `pass`: see pb_stage_enter(). Returns NULL
 * without memory.
 */
struct pd_decompress *pd_decompress_create(struct pb_timing *timing, struct pb_pass *pass);
void pd_decompress_destroy(struct pd_decompress *d);

/*
 * Continues with the next payload, whose bytes must stay valid until it is used up. Returns
 * false, with d->error, if the stream cannot be decompressed from here on. A payload may start
 * a new frame although one is running, because the recorder's compressor failed.
 */
bool pd_decompress_feed(struct pd_decompress *d, const uint8_t *payload, size_t n);

/* Decompresses: the slow path of pd_decompress_fill(). */
int pd_decompress_refill(struct pd_decompress *d, size_t n);

/*
 * Makes n ≤ 64 KB bytes available at pos. Returns 1; 0 if the payload is used up before, and
 * its rest continues in the next one; -1, with d->error, if it is damaged.
 */
static inline int pd_decompress_fill(struct pd_decompress *d, size_t n)
{
	return (size_t)(d->end - d->pos) >= n ? 1 : pd_decompress_refill(d, n);
}

/*
 * Makes the caller's `block`, of at least 128 KB, the memory to decompress into; available
 * bytes move there. It must stay valid until the next call, or until the decompressor is
 * destroyed.
 */
void pd_decompress_into(struct pd_decompress *d, uint8_t *block, size_t capacity);

/*
 * Decompresses more bytes after the available ones, which stay where they are. Returns as
 * pd_decompress_fill(), and 1 if the block is full. A new frame inside a running one is damage
 * here.
 */
int pd_decompress_append(struct pd_decompress *d);

/* Steps over `n` available bytes. */
static inline void pd_decompress_skip(struct pd_decompress *d, size_t n)
{
	d->pos += n;
	d->at += (int64_t)n;
}

/* Gives up the rest of the payload; the stream can continue at the start of a new frame. */
void pd_decompress_abandon(struct pd_decompress *d);

#endif
