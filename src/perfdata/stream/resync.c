#include "resync.h"

#include <string.h>

/*
 * Returns whether records from the blocks' position on are aligned: in a file they lie at
 * multiples of 8 from the first one, unless an unaligned record came before. In a pipe they lie
 * anywhere.
 */
static bool are_records_aligned(const struct pd_blocks *b, const struct pd_binder *binder)
{
	return !binder->file->pipe && (b->offset - b->start) % 8 == 0;
}

/* Bits of offsets; those 64 KB apart share one, as no record leads so far. */
struct offsets {
	uint8_t bits[(UINT16_MAX + 1) / 8];
};

static bool has_offset(const struct offsets *set, uint64_t at)
{
	return set->bits[(at & UINT16_MAX) / 8] >> at % 8 & 1;
}

/*
 * Sets *set to the offsets in the first 64 KB of `bytes` from which the sizes of records lead
 * exactly to `end`: it is known for the offsets after one before it is asked for that.
 */
static void find_leading(struct offsets *set, const uint8_t *bytes, uint64_t end, bool swap)
{
	memset(set, 0, sizeof(*set));
	for (uint64_t at = end - PD_HEADER_SIZE; at >= PD_HEADER_SIZE; at--) {
		uint64_t next = at + pb_load16(bytes + at + 6, swap);
		uint8_t *bits = &set->bits[(at & UINT16_MAX) / 8];

		*bits &= (uint8_t) ~(1u << at % 8);
		if (next == end || (next >= at + PD_HEADER_SIZE &&
				    next <= end - PD_HEADER_SIZE && has_offset(set, next)))
			*bits |= (uint8_t)(1u << at % 8);
	}
}

/*
 * Returns 1 if records begin inside the record of `size` bytes at the blocks' position, 0 if
 * not, -1 with *err. `swallowed`: they must also lead to its end. A copy of a stack may hold
 * records that its program made, which do not.
 */
static int holds_records(struct pd_chain c, uint32_t size, bool swallowed, struct pd_error *err)
{
	bool aligned = are_records_aligned(c.b, c.binder);
	/* records inside a record of the kernel's are aligned as that is */
	bool swap = c.binder->file->swap, kernel = pb_load32(c.b->pos, swap) < PD_RECORD_USER;
	unsigned step = aligned && kernel ? 8 : 1;
	uint64_t end = size < UINT16_MAX ? size : UINT16_MAX;
	struct offsets leading;
	bool is_known = false; /* `leading` is set, which few records need */
	int got = 0;

	c.strict = true;
	for (uint64_t at = PD_HEADER_SIZE; got == 0 && at < end; at += step) {
		if (swallowed) {
			if (at + PD_HEADER_SIZE > size || !pd_header_fits(c.b->pos + at, swap))
				continue;
			if (!is_known)
				find_leading(&leading, c.b->pos, size, swap);
			is_known = true;
			if (!has_offset(&leading, at))
				continue;
		}
		got = pd_blocks_fill(c.b, (size_t)at + PD_HEADER_SIZE, err);
		if (got <= 0)
			return got;
		got = pd_chain_begins(&c, at, aligned, err);
	}
	return got;
}

/*
 * Returns 1 if a sound record is believed by the little that is visible after it, a header of
 * that trust, 0 if not, -1 with *err.
 */
static int is_followed(const struct pd_chain *c, uint32_t size, enum pd_trust trust,
		       struct pd_error *err)
{
	struct pd_blocks *b = c->b;
	int got;

	/* the next bytes of a live stream may not be there yet */
	if (b->input->stream && (size_t)(b->end - b->pos) < (size_t)size + PD_HEADER_SIZE)
		return 1;
	got = pd_blocks_fill(b, (size_t)size + PD_HEADER_SIZE, err);
	return got > 0 ? pd_record_trust(c->binder, b->pos + size, 0) >= trust : got;
}

/* Returns as pd_chain_continues() for a chain at offset `at` of which the first is known. */
static int continues_known(const struct pd_chain *c, uint64_t at, struct pd_error *err)
{
	int got = pd_blocks_fill(c->b, (size_t)at + PD_HEADER_SIZE, err);

	if (got <= 0)
		return got;
	if (pd_record_trust(c->binder, c->b->pos + at, 0) < PD_KNOWN)
		return 0;
	return pd_chain_continues(c, at, err);
}

/* Returns the bytes that are there, at most as many as a record can have; -1 with *err. */
static int32_t fill_record(struct pd_blocks *b, struct pd_error *err)
{
	uint64_t left = pd_blocks_left(b);
	size_t size = (size_t)(b->end - b->pos);

	/* of a live stream only what is there is looked at */
	if (!b->input->stream && size < UINT16_MAX) {
		size = left < UINT16_MAX ? (size_t)left : UINT16_MAX;
		if (pd_blocks_fill(b, size, err) < 0)
			return -1;
	}
	return size < UINT16_MAX ? (int32_t)size : UINT16_MAX;
}

/*
 * Returns 1 if known records continue where the own parts of the record at the blocks' position
 * end, whatever its size says, and sets *at to the offset from there; 0 if not, -1 with *err.
 */
static int find_parts_end(const struct pd_chain *c, uint64_t *at, struct pd_error *err)
{
	struct pd_blocks *b = c->b;
	int32_t have = fill_record(b, err);
	struct pd_extents extents;
	uint64_t payload;
	int got = 0;

	if (have < PD_HEADER_SIZE || pd_record_trust(c->binder, b->pos, 0) < PD_KNOWN)
		return have < 0 ? -1 : 0;
	extents = pd_find_extents(c->binder, b->pos, (uint32_t)have);
	for (unsigned i = 0; got == 0 && i < 2 * extents.n; i++) {
		uint32_t extent = extents.sizes[i / 2];

		/* padded, as nearly all are, or not */
		extent = i % 2 == 0 ? (extent + 7) & ~7u : extent;
		if (extent > (uint32_t)have)
			continue;
		extent = pd_skip_padding(b->pos, extent, (uint32_t)have);
		payload = pd_chain_payload(c, b->pos, extent);
		*at = extent + payload;
		if (payload > pd_blocks_left(b) - extent)
			continue;
		/* the payload may be too long to read */
		got = payload ? pd_chain_payload_followed(c, extent, payload, err) :
				continues_known(c, extent, err);
	}
	return got == PD_UNSEEN ? 0 : got;
}

/*
 * Returns 1 if the record at the blocks' position, to which the record before leads, is
 * believed to be followed by its payload, 0 if not, -1 with *err.
 */
static int is_payload_believed(struct pd_chain c, uint32_t size, uint64_t payload,
			       struct pd_error *err)
{
	uint64_t at;
	int got;

	c.strict = true;
	got = pd_chain_has_payload(&c, 0, size, payload, err);
	if (got)
		return got;
	/* only its type may be damaged, or its size */
	got = continues_known(&c, size, err);
	if (got == 0) {
		c.strict = false;
		got = find_parts_end(&c, &at, err);
	}
	return got < 0 ? got : !got;
}

int pd_record_believed(struct pd_blocks *b, const struct pd_binder *binder, uint32_t size,
		       bool open_end, struct pd_error *err)
{
	bool swap = binder->file->swap;
	uint32_t type = pb_load32(b->pos, swap);
	enum pd_trust trust = pd_record_trust(binder, b->pos, size);
	struct pd_chain chain = {
		.b = b,
		.binder = binder,
		.open_end = open_end,
		.all = type == PD_RECORD_SAMPLE,
		/* inside its payload only records count that are never compressed */
		.compressed = pd_is_compressed(type),
	};
	enum pd_ending ending = PD_UNTOLD;
	uint64_t payload, at;
	bool is_odd;
	int got = 0;

	if (size <= UINT16_MAX)
		ending = pd_record_ending(binder, b->pos, size, (size_t)(b->end - b->pos));
	/*
	 * The part of a copy of a stack that a sample does not fill may hold old records of the
	 * ring buffer, of which the last one crosses the sample's end. The sample is believed
	 * if records continue at its own end.
	 */
	if (ending == PD_CROSSED) {
		got = pd_chain_continues(&chain, size, err);
		ending = got > 0 ? PD_OVERLONG : ending;
	}
	if (ending <= PD_CROSSED)
		return got < 0 ? got : 0;
	payload = pd_chain_payload(&chain, b->pos, size);
	/* records are searched after a payload that cannot be there */
	if (ending == PD_WHOLE && payload > pd_blocks_left(b) - size)
		return 1;
	if (payload)
		return is_payload_believed(chain, size, payload, err);
	if (trust == PD_SOUND && ending >= PD_UNTOLD)
		got = is_followed(&chain, size, ending == PD_WHOLE ? PD_FITS : PD_KNOWN, err);
	/* only the size tells where it ends, and that may lead to a record by accident */
	if (got > 0 && ending == PD_UNTOLD && pd_record_desc(type) && !chain.compressed) {
		got = holds_records(chain, size, true, err);
		return got < 0 ? got : !got;
	}
	/* the parts of a sample fill no other size */
	if (got || (trust == PD_SOUND && type == PD_RECORD_SAMPLE))
		return got ? got : 1;
	is_odd = type == PD_RECORD_SAMPLE && ending == PD_OVERLONG;
	got = pd_chain_continues(&chain, size, err);
	/*
	 * A sample's copy of a stack may hold old records after what was copied, up to the
	 * sample's end. A small plain record gets no closer look when the reader looks ahead in
	 * a block, either.
	 */
	if (got < 0 || (got > 0 && (ending == PD_WHOLE || is_odd ||
				    (size <= PD_LARGE && size % 8 == 0 && pd_is_plain(type)))))
		return got;
	if (got > 0) {
		got = holds_records(chain, size, true, err);
		return got < 0 ? got : !got;
	}
	/* only the next record may be damaged */
	if (trust >= PD_KNOWN && ending == PD_WHOLE)
		return 1;
	got = holds_records(chain, size, false, err);
	if (got == 0)
		got = find_parts_end(&chain, &at, err);
	if (got)
		return got < 0 ? got : 0;
	chain.tolerant = true;
	/* the next record may be damaged */
	return trust >= PD_KNOWN ? 1 : pd_chain_continues(&chain, size, err);
}

int pd_step_over_parts(struct pd_blocks *b, const struct pd_binder *binder, bool open_end,
		       struct pd_error *err)
{
	struct pd_chain chain = { .b = b, .binder = binder, .open_end = open_end };
	uint64_t at;
	int got = find_parts_end(&chain, &at, err), nearer;
	uint16_t size;

	if (got <= 0)
		return got;
	/* if the type is damaged, the parts mean nothing, and the size is right */
	chain.all = true;
	size = pb_load16(b->pos + 6, binder->file->swap);
	nearer = size >= PD_HEADER_SIZE && size < at ? continues_known(&chain, size, err) : 0;
	if (nearer < 0)
		return nearer;
	pd_blocks_skip(b, nearer ? size : at);
	return got;
}

int pd_type_damaged(struct pd_blocks *b, const struct pd_binder *binder, bool open_end,
		    struct pd_error *err)
{
	struct pd_chain chain = {
		.b = b, .binder = binder, .open_end = open_end, .strict = true
	};
	uint16_t size = pb_load16(b->pos + 6, binder->file->swap);

	return size < PD_HEADER_SIZE ? 0 : pd_chain_continues(&chain, size, err);
}

int pd_large_followed(struct pd_blocks *b, const struct pd_file *file, uint32_t size,
		      struct pd_error *err)
{
	uint8_t next[PD_HEADER_SIZE];
	size_t got;

	if (pd_blocks_left(b) < (uint64_t)size + PD_HEADER_SIZE)
		return 1;
	if (!pd_input_read(b->input, b->offset + size, next, PD_HEADER_SIZE, PD_HEADER_SIZE,
			   &got, err))
		return -1;
	return got < PD_HEADER_SIZE || pd_header_fits(next, file->swap) ||
	       pd_is_simpleperf(file, pb_load32(next, file->swap));
}

#define ZEROS_AT_ONCE 64 /* bytes that are checked together */

/* Skips positions where only zeros follow, as in the holes of a file: no record has type 0. */
static void skip_zeros(struct pd_blocks *b)
{
	const uint8_t *p = b->pos;
	uint64_t words[ZEROS_AT_ONCE / 8], any = 0;

	while ((size_t)(b->end - p) >= ZEROS_AT_ONCE + PD_HEADER_SIZE) {
		memcpy(words, p, ZEROS_AT_ONCE);
		for (size_t i = 0; i < ZEROS_AT_ONCE / 8; i++)
			any |= words[i];
		if (any)
			break;
		p += ZEROS_AT_ONCE -
		     PD_HEADER_SIZE; /* after these only a part of the type was checked */
	}
	pd_blocks_skip(b, (uint64_t)(p - b->pos));
}

int pd_resync(struct pd_blocks *b, const struct pd_binder *binder, enum pd_searched searched,
	      bool open_end, struct pd_error *err)
{
	struct pd_chain chain = {
		.b = b,
		.binder = binder,
		.open_end = open_end,
		.strict = true,
		.lone = searched == PD_IN_PAYLOAD,
		.compressed = searched == PD_IN_COMPRESSED,
	};
	bool aligned = are_records_aligned(b, binder), first = searched == PD_IN_PAYLOAD;
	unsigned step = first && aligned ? 8 : 1; /* payload is padded */
	int got;

	do {
		pd_blocks_skip(b, first ? 0 : step);
		got = pd_blocks_fill(b, PD_HEADER_SIZE, err);
		if (got > 0) {
			skip_zeros(b);
			got = pd_chain_begins(&chain, 0, aligned, err);
		}
		first = false;
	} while (got == 0 && pd_blocks_left(b) > PD_HEADER_SIZE);
	if (got == 0)
		pd_blocks_skip(b, pd_blocks_left(b));
	return got;
}
