#include "resync.h"

#include <string.h>

#define HEADER_SIZE 8
#define SOUND_ROW   3 /* so many sound records in a row are no accident */

/* A chain of records to be checked, each of which must lead to the next. */
struct chain {
	struct pd_blocks *b;
	const struct pd_binder *binder;
	bool open_end; /* the last record may be cut off */
	/* no record leads to the first one, so its bytes must be evidence enough */
	bool strict;
	bool lone;	 /* a single record at the very end is enough */
	bool compressed; /* the first must be a compressed record or FINISHED_ROUND */
	/* it begins at an offset where hardly any record does, which needs more evidence */
	bool unaligned;
	bool all;      /* few sound records are not enough: PD_CHAIN_LENGTH must follow */
	bool tolerant; /* allow unknown types if the chain leads to sound records */
};

/*
 * Returns the size of the payload behind the record of `size` bytes at `p`, all of which are
 * there.
 */
static uint64_t get_payload_size(const struct chain *c, const uint8_t *p, uint32_t size)
{
	struct pd_layout layout = { .swap = c->binder->file->swap };
	struct pd_record rec = { .bytes = p, .layout = &layout, .chunk_offset = PD_NO_CHUNK };

	pd_record_header(&rec, p, layout.swap, false);
	rec.size = size;
	return pd_payload_size(&rec);
}

/*
 * Returns whether the record of `size` bytes at `p` is one though nothing is behind it: it is a
 * FINISHED_ROUND, all of whose bytes are known, or aligned and whole.
 */
static bool may_be_last(const struct chain *c, const uint8_t *p, uint32_t size)
{
	bool swap = c->binder->file->swap;

	if (pb_load32(p, swap) == PD_RECORD_FINISHED_ROUND)
		return size == HEADER_SIZE && !pb_load16(p + 4, swap);
	return !c->unaligned && pd_record_trust(c->binder, p, size) == PD_SOUND &&
	       pd_record_ending(c->binder, p, size, size) == PD_WHOLE;
}

/*
 * Returns whether the chain may end behind `i` records, the last of which has `size` bytes, at
 * offset `at` from the blocks' position with `left` bytes left, too few for the next.
 */
static bool may_end(const struct chain *c, unsigned i, uint32_t size, uint64_t at,
		    uint64_t left)
{
	if (left == 0)
		return !c->strict || i > (c->unaligned ? 2 : 1) || c->lone ||
		       (i && may_be_last(c, c->b->pos + at - size, size));
	return c->open_end && (!c->strict || i > 2);
}

/* Returns whether the record at `p`, of that trust, may be the first of the chain. */
static bool may_begin(const struct chain *c, const uint8_t *p, enum pd_trust trust)
{
	bool swap = c->binder->file->swap;

	if (!c->strict)
		return true;
	if (c->compressed && !pd_is_compressed(pb_load32(p, swap)) &&
	    pb_load32(p, swap) != PD_RECORD_FINISHED_ROUND)
		return false;
	if (c->unaligned && !c->compressed)
		return trust == PD_SOUND && pb_load32(p, swap) < PD_RECORD_TYPES;
	return trust >= PD_KNOWN;
}

/*
 * Reads the header at offset `at` from the blocks' position into *rec and makes the record's
 * bytes available. Returns 1; 0 if they are not there; -1 with *err.
 */
static int read_link(const struct chain *c, uint64_t at, struct pd_record *rec,
		     struct pd_error *err)
{
	struct pd_blocks *b = c->b;
	int got = pd_blocks_fill(b, (size_t)at + HEADER_SIZE, err);

	rec->size = 0;
	if (got <= 0)
		return got;
	pd_record_header(rec, b->pos + at, c->binder->file->swap, c->binder->file->simpleperf);
	/* the bytes of simpleperf's large records are not looked at */
	return pd_blocks_fill(b,
			      (size_t)at + (rec->size > UINT16_MAX ? HEADER_SIZE : rec->size),
			      err);
}

#define UNSEEN 2 /* on a stream: what lies behind a payload is not there yet */

/*
 * Returns 1 if a known record or the end of the recording is behind the payload at offset `at`
 * from the blocks' position, 0 if not, UNSEEN, or -1 with *err.
 */
static int is_payload_followed(const struct chain *c, uint64_t at, uint64_t payload,
			       struct pd_error *err)
{
	const struct pd_blocks *b = c->b;
	uint64_t left = pd_blocks_left(b) - at, end = at + payload;
	uint8_t next[HEADER_SIZE];
	size_t got;

	if (payload > left)
		return c->open_end;
	if (left - payload < HEADER_SIZE)
		return 1;
	if ((size_t)(b->end - b->pos) >= end + HEADER_SIZE)
		return pd_record_trust(c->binder, b->pos + end, 0) == PD_KNOWN;
	if (b->input->stream)
		return UNSEEN;
	if (!pd_input_read(b->input, b->offset + end, next, HEADER_SIZE, HEADER_SIZE, &got,
			   err))
		return -1;
	return got < HEADER_SIZE || pd_record_trust(c->binder, next, 0) == PD_KNOWN;
}

/*
 * Returns whether the payload at offset `at` from the blocks' position would be a second one of
 * tracing data, which no recording has.
 */
static bool is_second_tracing(const struct chain *c, uint32_t type, uint64_t at)
{
	const struct pd_feature_section *first = pd_file_feature(c->binder->file,
								 PD_FEATURE_TRACING_DATA);

	return type == PD_RECORD_TRACING_DATA && first && first->at.offset != c->b->offset + at;
}

/*
 * Returns 1 if the record of `size` bytes at offset `at` from the blocks' position, to which no
 * record leads, is followed by its payload, as far as can be seen; 0 if not, -1 with *err.
 */
static int has_payload(const struct chain *c, uint64_t at, uint32_t size, uint64_t payload,
		       struct pd_error *err)
{
	const uint8_t *p = c->b->pos + at;
	uint32_t type = pb_load32(p, c->binder->file->swap);
	int got;

	if (pd_record_ending(c->binder, p, size, size) != PD_WHOLE)
		return 0;
	got = is_payload_followed(c, at + size, payload, err);
	return got == UNSEEN ? !is_second_tracing(c, type, at + size) : got;
}

/*
 * Returns 1 if a chain of records begins at offset `at` from the blocks' position, 0 if not, -1
 * with *err.
 */
static int chain_continues(const struct chain *c, uint64_t at, struct pd_error *err)
{
	bool swap = c->binder->file->swap, fits = true, leads = false;
	unsigned sound = 0;
	uint32_t last = 0;

	for (unsigned i = 0; i < PD_CHAIN_LENGTH; i++) {
		const uint8_t *p;
		struct pd_record rec;
		uint64_t left, payload;
		enum pd_trust trust;
		int got = read_link(c, at, &rec, err);

		if (got < 0 ||
		    at > pd_blocks_left(c->b)) /* a stream may have ended meanwhile */
			return got;
		p = c->b->pos + at;
		left = pd_blocks_left(c->b) - at;
		/* the bytes up to the next record may be too many to read */
		if (rec.size > UINT16_MAX)
			return (!c->strict || i > 1) && (fits || leads) &&
			       rec.size <= PD_RECORD_MOST && rec.size <= left;
		if (!got)
			return may_end(c, i, last, at, left) && (fits || leads) &&
			       (!rec.size || (rec.size > left &&
					      pd_record_trust(c->binder, p, 0) == PD_KNOWN));
		fits = fits && pd_header_fits(p, swap);
		if (rec.size < HEADER_SIZE || (!fits && !c->tolerant))
			return 0;
		trust = pd_record_trust(c->binder, p, rec.size);
		if (i == 0 && !may_begin(c, p, trust))
			return 0;
		sound = trust == PD_SOUND ? sound + 1 : 0;
		leads = leads || sound == SOUND_ROW;
		if (sound == SOUND_ROW && !c->unaligned && !c->all &&
		    (!c->strict || i + 1 == SOUND_ROW))
			return 1;
		left -= rec.size < left ? rec.size : left;
		payload = get_payload_size(c, p, rec.size);
		if (payload && c->strict)
			return has_payload(c, at, rec.size, payload, err);
		if (payload) /* it may be too long to read */
			return payload <= left || c->open_end;
		last = rec.size;
		at += rec.size;
	}
	return fits || leads;
}

/*
 * Returns 1 if records begin at offset `at` from the blocks' position, to which no record
 * leads; 0 if not; -1 with *err.
 */
static int records_begin_at(struct chain *c, uint64_t at, bool aligned, struct pd_error *err)
{
	struct pd_blocks *b = c->b;

	if (!pd_header_fits(b->pos + at, c->binder->file->swap))
		return 0;
	c->unaligned = aligned && (b->offset + at - b->start) % 8;
	return chain_continues(c, at, err);
}

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
 * exactly to `end`: it is known for the offsets behind one before it is asked for that.
 */
static void find_leading(struct offsets *set, const uint8_t *bytes, uint64_t end, bool swap)
{
	memset(set, 0, sizeof(*set));
	for (uint64_t at = end - HEADER_SIZE; at >= HEADER_SIZE; at--) {
		uint64_t next = at + pb_load16(bytes + at + 6, swap);
		uint8_t *bits = &set->bits[(at & UINT16_MAX) / 8];

		*bits &= (uint8_t) ~(1u << at % 8);
		if (next == end || (next >= at + HEADER_SIZE && next <= end - HEADER_SIZE &&
				    has_offset(set, next)))
			*bits |= (uint8_t)(1u << at % 8);
	}
}

/*
 * Returns 1 if records begin inside the record of `size` bytes at the blocks' position, 0 if
 * not, -1 with *err. `swallowed`: they must also lead to its end. A copy of a stack may hold
 * records that its program made, which do not.
 */
static int holds_records(struct chain c, uint32_t size, bool swallowed, struct pd_error *err)
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
	for (uint64_t at = HEADER_SIZE; got == 0 && at < end; at += step) {
		if (swallowed) {
			if (at + HEADER_SIZE > size || !pd_header_fits(c.b->pos + at, swap))
				continue;
			if (!is_known)
				find_leading(&leading, c.b->pos, size, swap);
			is_known = true;
			if (!has_offset(&leading, at))
				continue;
		}
		got = pd_blocks_fill(c.b, (size_t)at + HEADER_SIZE, err);
		if (got <= 0)
			return got;
		got = records_begin_at(&c, at, aligned, err);
	}
	return got;
}

/*
 * Returns 1 if a sound record is believed by the little that is visible behind it, a header of
 * that trust, 0 if not, -1 with *err.
 */
static int is_followed(const struct chain *c, uint32_t size, enum pd_trust trust,
		       struct pd_error *err)
{
	struct pd_blocks *b = c->b;
	int got;

	/* the next bytes of a live stream may not be there yet */
	if (b->input->stream && (size_t)(b->end - b->pos) < (size_t)size + HEADER_SIZE)
		return 1;
	got = pd_blocks_fill(b, (size_t)size + HEADER_SIZE, err);
	return got > 0 ? pd_record_trust(c->binder, b->pos + size, 0) >= trust : got;
}

/* Returns as chain_continues() whether records continue at offset `at`, the first one known. */
static int continues_known(const struct chain *c, uint64_t at, struct pd_error *err)
{
	int got = pd_blocks_fill(c->b, (size_t)at + HEADER_SIZE, err);

	if (got <= 0)
		return got;
	if (pd_record_trust(c->binder, c->b->pos + at, 0) < PD_KNOWN)
		return 0;
	return chain_continues(c, at, err);
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
static int find_parts_end(const struct chain *c, uint64_t *at, struct pd_error *err)
{
	struct pd_blocks *b = c->b;
	int32_t have = fill_record(b, err);
	struct pd_extents extents;
	uint64_t payload;
	int got = 0;

	if (have < HEADER_SIZE || pd_record_trust(c->binder, b->pos, 0) < PD_KNOWN)
		return have < 0 ? -1 : 0;
	extents = pd_find_extents(c->binder, b->pos, (uint32_t)have);
	for (unsigned i = 0; got == 0 && i < 2 * extents.n; i++) {
		uint32_t extent = extents.sizes[i / 2];

		/* padded, as nearly all are, or not */
		extent = i % 2 == 0 ? (extent + 7) & ~7u : extent;
		if (extent > (uint32_t)have)
			continue;
		extent = pd_skip_padding(b->pos, extent, (uint32_t)have);
		payload = get_payload_size(c, b->pos, extent);
		*at = extent + payload;
		if (payload > pd_blocks_left(b) - extent)
			continue;
		/* the payload may be too long to read */
		got = payload ? is_payload_followed(c, extent, payload, err) :
				continues_known(c, extent, err);
	}
	return got == UNSEEN ? 0 : got;
}

/*
 * Returns 1 if the record at the blocks' position, to which the record before leads, is
 * believed to be followed by its payload, 0 if not, -1 with *err.
 */
static int is_payload_believed(struct chain c, uint32_t size, uint64_t payload,
			       struct pd_error *err)
{
	uint64_t at;
	int got;

	c.strict = true;
	got = has_payload(&c, 0, size, payload, err);
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
	struct chain chain = {
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
	 * Old records, which a ring buffer leaves in what a sample does not fill of its copy of
	 * a stack, may by chance lead out of it. Then others go on at its end.
	 */
	if (ending == PD_CROSSED) {
		got = chain_continues(&chain, size, err);
		ending = got > 0 ? PD_OVERLONG : ending;
	}
	if (ending <= PD_CROSSED)
		return got < 0 ? got : 0;
	payload = get_payload_size(&chain, b->pos, size);
	/* records are searched behind a payload that cannot be there */
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
	got = chain_continues(&chain, size, err);
	/*
	 * A sample's copy of a stack may hold old records behind what was copied, up to the
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
	return trust >= PD_KNOWN ? 1 : chain_continues(&chain, size, err);
}

int pd_step_over_parts(struct pd_blocks *b, const struct pd_binder *binder, bool open_end,
		       struct pd_error *err)
{
	struct chain chain = { .b = b, .binder = binder, .open_end = open_end };
	uint64_t at;
	int got = find_parts_end(&chain, &at, err), nearer;
	uint16_t size;

	if (got <= 0)
		return got;
	/* if the type is damaged, the parts mean nothing, and the size is right */
	chain.all = true;
	size = pb_load16(b->pos + 6, binder->file->swap);
	nearer = size >= HEADER_SIZE && size < at ? continues_known(&chain, size, err) : 0;
	if (nearer < 0)
		return nearer;
	pd_blocks_skip(b, nearer ? size : at);
	return got;
}

int pd_type_damaged(struct pd_blocks *b, const struct pd_binder *binder, bool open_end,
		    struct pd_error *err)
{
	struct chain chain = { .b = b, .binder = binder, .open_end = open_end, .strict = true };
	uint16_t size = pb_load16(b->pos + 6, binder->file->swap);

	return size < HEADER_SIZE ? 0 : chain_continues(&chain, size, err);
}

int pd_large_followed(struct pd_blocks *b, const struct pd_file *file, uint32_t size,
		      struct pd_error *err)
{
	uint8_t next[HEADER_SIZE];
	size_t got;

	if (pd_blocks_left(b) < (uint64_t)size + HEADER_SIZE)
		return 1;
	if (!pd_input_read(b->input, b->offset + size, next, HEADER_SIZE, HEADER_SIZE, &got,
			   err))
		return -1;
	return got < HEADER_SIZE || pd_header_fits(next, file->swap) ||
	       pd_is_simpleperf(file, pb_load32(next, file->swap));
}

#define ZEROS_AT_ONCE 64 /* bytes that are checked together */

/* Skips positions where only zeros follow, as in the holes of a file: no record has type 0. */
static void skip_zeros(struct pd_blocks *b)
{
	const uint8_t *p = b->pos;
	uint64_t words[ZEROS_AT_ONCE / 8], any = 0;

	while ((size_t)(b->end - p) >= ZEROS_AT_ONCE + HEADER_SIZE) {
		memcpy(words, p, ZEROS_AT_ONCE);
		for (size_t i = 0; i < ZEROS_AT_ONCE / 8; i++)
			any |= words[i];
		if (any)
			break;
		p += ZEROS_AT_ONCE -
		     HEADER_SIZE; /* behind these only a part of the type was checked */
	}
	pd_blocks_skip(b, (uint64_t)(p - b->pos));
}

int pd_resync(struct pd_blocks *b, const struct pd_binder *binder, enum pd_searched searched,
	      bool open_end, struct pd_error *err)
{
	struct chain chain = {
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
		got = pd_blocks_fill(b, HEADER_SIZE, err);
		if (got > 0) {
			skip_zeros(b);
			got = records_begin_at(&chain, 0, aligned, err);
		}
		first = false;
	} while (got == 0 && pd_blocks_left(b) > HEADER_SIZE);
	if (got == 0)
		pd_blocks_skip(b, pd_blocks_left(b));
	return got;
}
