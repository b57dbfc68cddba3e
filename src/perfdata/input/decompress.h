/*
 * The records inside compressed records: one zstd frame that is flushed for each of them and
 * never ended, so a stream is decompressed from its first payload on, in order, and a record
 * may begin in one payload and end in the next. See perf_session__process_compressed_event,
 * tools/perf/util/session.c.
 */
#ifndef PERFLUA_PERFDATA_DECOMPRESS_H
#define PERFLUA_PERFDATA_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pd_decompress {
	void *stream; /* ZSTD_DStream */
	bool running; /* within a frame; else only the start of one can be fed */
	bool restart; /* the payload begins with the start of a frame, within one: see below */
	/* up to the end of a block or header: what is before a damaged one is not lost */
	size_t step;
	uint8_t *block;
	size_t capacity;	    /* of the block */
	bool lent;		    /* it is the caller's: see pd_decompress_into */
	const uint8_t *pos, *end;   /* decompressed and not taken yet */
	const uint8_t *in, *in_end; /* of the payload: not decompressed yet */
	bool full;		    /* the block was, so there may be more without more input */
	/* of pos in what the payload holds; negative: in what the one before held */
	int64_t at;
	const char *error; /* what is wrong, after a failure */
};

/* The version of the zstd that was linked: "1.5.4". */
const char *pd_zstd_version(void);

/* NULL without memory. */
struct pd_decompress *pd_decompress_create(void);
void pd_decompress_destroy(struct pd_decompress *d);

/*
 * Goes on with the next payload, whose bytes must stay until it is used up. False if the stream
 * cannot be decompressed from here: error says why.
 */
bool pd_decompress_feed(struct pd_decompress *d, const uint8_t *payload, size_t n);

int pd_decompress_refill(struct pd_decompress *d, size_t n);

/*
 * Makes n ≤ 64 KB bytes available at pos: 1; 0 if the payload is used up before (what there is
 * goes on in the next); -1 if it is damaged: error says how.
 */
static inline int pd_decompress_fill(struct pd_decompress *d, size_t n)
{
	return (size_t)(d->end - d->pos) >= n ? 1 : pd_decompress_refill(d, n);
}

/*
 * For whoever takes many records at once: decompresses into memory of his, of at least 128 KB,
 * what is available first. It must stay until this is called again, or all is at its end.
 */
void pd_decompress_into(struct pd_decompress *d, uint8_t *block, size_t capacity);

/*
 * Decompresses some more behind what is available, which stays where it is: as
 * pd_decompress_fill; 1, too, when the block is full. A frame that begins anew within one is
 * damage here.
 */
int pd_decompress_append(struct pd_decompress *d);

/* Steps over n bytes that are available. */
static inline void pd_decompress_skip(struct pd_decompress *d, size_t n)
{
	d->pos += n;
	d->at += (int64_t)n;
}

/* Gives up what is left of the payload; the stream goes on where a new frame begins. */
void pd_decompress_abandon(struct pd_decompress *d);

#endif
