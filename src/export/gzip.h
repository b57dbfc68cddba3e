/* Compressed output. */
#ifndef PERFLUA_EXPORT_GZIP_H
#define PERFLUA_EXPORT_GZIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/helpers.h"
#include "perfdata/format/print.h"

struct gzip_block;

/*
 * Compresses text that is printed to `in`: it becomes a gzip file in `out`, whose bytes do not
 * depend on the number of threads. Must not move.
 */
struct pe_gzip {
	struct pd_print in;
	struct pd_print *out;
	unsigned threads; /* at most; 1: only the caller's */
	struct gzip_block *blocks[PB_ITEMS_MAX];
	size_t n_blocks;
	struct gzip_block *block;   /* that is filled; NULL: there is no text yet */
	struct pb_helpers *helpers; /* that compress the others; NULL: there are none yet */
	uint32_t crc;
	uint64_t size; /* bytes of text, even if dropped */
	uint64_t most; /* text after so many bytes is dropped, and the file is not whole */
	bool failed;   /* no memory: further text is dropped */
};

/*
 * Begins a file of at most `most` bytes of text; up to `threads` threads compress it, the
 * caller's included.
 */
void pe_gzip_init(struct pe_gzip *gzip, uint64_t most, unsigned threads, struct pd_print *out);

/* Writes what is left. Returns false if there was no memory: the file is not whole. */
bool pe_gzip_finish(struct pe_gzip *gzip);

/* Frees what it took. */
void pe_gzip_deinit(struct pe_gzip *gzip);

#endif
