#include "resync.h"

#include <string.h>

#include "reader.h"

#define HEADER	  8
#define SOUND_ROW 3 /* sound records in a row begin nowhere else than where records do */

/* How a chain of records is looked at. */
struct chain {
	struct pd_blocks *b;
	const struct pd_binder *binder;
	bool open_end; /* the last record may be cut off */
	bool strict;   /* nothing leads to it, so its first records must speak for themselves */
	bool lone;     /* a single record at the very end will do */
	bool compressed; /* it must begin with a compressed record, or the end of a round */
	bool unaligned;	 /* it begins where hardly any record does: more is asked of it */
	bool all; /* few records in a row are not enough: all of PD_CHAIN_LENGTH must follow */
	bool tolerant; /* of types that nobody has if it leads to sound records */
};

/* Returns what lies behind the own bytes of a record, all of which are at `p`. */
static uint64_t payload_size(const struct chain *c, const uint8_t *p)
{
	struct pd_layout layout = { .swap = c->binder->file->swap };
	struct pd_record rec = { .bytes = p, .layout = &layout, .chunk_offset = PD_NO_CHUNK };

	pd_record_header(&rec, p, layout.swap, false);
	return pd_has_payload(rec.type) ? pd_record_payload(&rec).size : 0;
}

/*
 * Returns whether the chain may end behind i records where `left` bytes are left, too few for
 * the next.
 */
static bool may_end(const struct chain *c, unsigned i, uint64_t left)
{
	if (left == 0)
		return !c->strict || i > (c->unaligned ? 2 : 1) || c->lone;
	return c->open_end && (!c->strict || i > 2);
}

/* Returns whether the record at `p` may be the first of the chain. */
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

/* Makes the record at `at` available: 1; 0: it is not there, or no record; -1 on an error. */
static int take_link(const struct chain *c, uint64_t at, struct pd_record *rec,
		     struct pd_error *err)
{
	struct pd_blocks *b = c->b;
	int got = pd_blocks_fill(b, (size_t)at + HEADER, err);

	rec->size = 0;
	if (got <= 0)
		return got;
	pd_record_header(rec, b->pos + at, c->binder->file->swap, c->binder->file->simpleperf);
	/* the bytes of simpleperf's large records are not needed */
	return pd_blocks_fill(b, (size_t)at + (rec->size > UINT16_MAX ? HEADER : rec->size),
			      err);
}

/*
 * Returns 1 if a chain of records begins at `at`, counted from the blocks' position; 0; -1 on
 * an error.
 */
static int goes_on(const struct chain *c, uint64_t at, struct pd_error *err)
{
	bool swap = c->binder->file->swap, fits = true, leads = false;
	unsigned sound = 0;

	for (unsigned i = 0; i < PD_CHAIN_LENGTH; i++) {
		const uint8_t *p;
		struct pd_record rec;
		uint64_t left, payload;
		enum pd_trust trust;
		int got = take_link(c, at, &rec, err);

		if (got < 0 || at > pd_blocks_left(c->b)) /* a stream may have ended before */
			return got;
		p = c->b->pos + at;
		left = pd_blocks_left(c->b) - at;
		/* the bytes up to the next record may be more than are worth reading */
		if (rec.size > UINT16_MAX)
			return (!c->strict || i > 1) && (fits || leads) &&
			       rec.size <= PD_RECORD_MOST && rec.size <= left;
		if (!got)
			return may_end(c, i, left) && (fits || leads) &&
			       (!rec.size || (rec.size > left &&
					      pd_record_trust(c->binder, p, 0) == PD_KNOWN));
		fits = fits && pd_header_fits(p, swap);
		if (rec.size < HEADER || (!fits && !c->tolerant))
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
		payload = payload_size(c, p);
		if (payload) /* it may be longer than is worth reading */
			return payload <= left || c->open_end;
		at += rec.size;
	}
	return fits || leads;
}

/*
 * Returns 1 if records begin at `at`, counted from the blocks' position, where none leads to;
 * 0; -1 on an error.
 */
static int begins_at(struct chain *c, uint64_t at, bool aligned, struct pd_error *err)
{
	struct pd_blocks *b = c->b;

	if (!pd_header_fits(b->pos + at, c->binder->file->swap))
		return 0;
	c->unaligned = aligned && (b->offset + at - b->start) % 8;
	return goes_on(c, at, err);
}

/*
 * Returns whether records are found from the blocks' position on: a file's lie at multiples of
 * 8 from its first, unless one before was unaligned; those of a pipe anywhere.
 */
static bool is_aligned(const struct pd_blocks *b, const struct pd_binder *binder)
{
	return !binder->file->pipe && (b->offset - b->start) % 8 == 0;
}

/*
 * Returns whether the sizes of records lead from `at` to `end` just so: 1; 0; -1 on an error.
 */
static int leads_to(struct pd_blocks *b, uint64_t at, uint64_t end, bool swap,
		    struct pd_error *err)
{
	while (at < end) {
		int got = pd_blocks_fill(b, (size_t)at + HEADER, err);
		uint16_t size;

		if (got <= 0)
			return got;
		size = pb_load16(b->pos + at + 6, swap);
		if (size < HEADER)
			return 0;
		at += size;
	}
	return at == end;
}

/*
 * Returns 1 if records begin within the record of `size` bytes at the blocks' position; 0; -1
 * on an error. `swallowed`: and they lead to its end. A copy of a stack may hold records that
 * its program made, which do not.
 */
static int has_inside(struct chain c, uint32_t size, bool swallowed, struct pd_error *err)
{
	bool aligned = is_aligned(c.b, c.binder);
	/* a kernel's record is as aligned as those within it can be */
	bool kernel = pb_load32(c.b->pos, c.binder->file->swap) < PD_RECORD_USER;
	unsigned step = aligned && kernel ? 8 : 1;
	uint64_t end = size < UINT16_MAX ? size : UINT16_MAX;
	int got = 0;

	c.strict = true;
	for (uint64_t at = HEADER; got == 0 && at < end; at += step) {
		got = pd_blocks_fill(c.b, (size_t)at + HEADER, err);
		if (got <= 0)
			return got;
		got = begins_at(&c, at, aligned, err);
		if (got > 0 && swallowed)
			got = leads_to(c.b, at, size, c.binder->file->swap, err);
	}
	return got;
}

/*
 * Returns whether a record that is sound is believed, too, by what little can be seen behind
 * it: 1; 0; -1 on an error.
 */
static int is_followed(struct pd_blocks *b, uint32_t size, bool swap, struct pd_error *err)
{
	int got;

	/* of a live stream what comes next may not be there yet */
	if (b->input->stream && (size_t)(b->end - b->pos) < (size_t)size + HEADER)
		return 1;
	got = pd_blocks_fill(b, (size_t)size + HEADER, err);
	return got > 0 ? pd_header_fits(b->pos + size, swap) : got;
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
		.compressed = pd_is_compressed(type), /* what could not be may be within it */
	};
	int got = 0;

	if (pd_has_payload(type)) /* no header follows it */
		return 1;
	if (trust == PD_SOUND)
		got = is_followed(b, size, swap, err);
	/* the parts of a sample fill no other size */
	if (got || (trust == PD_SOUND && type == PD_RECORD_SAMPLE))
		return got ? got : 1;
	got = goes_on(&chain, size, err);
	/* of what is small no more is seen by whoever looks ahead in a block */
	if (got < 0 || (got > 0 && size <= PD_LARGE && size % 8 == 0 && pd_is_plain(type)))
		return got;
	if (got > 0) {
		got = has_inside(chain, size, true, err);
		return got < 0 ? got : !got;
	}
	got = has_inside(chain, size, false, err);
	if (got)
		return got < 0 ? got : 0;
	chain.tolerant = true;
	/* what comes next may be damaged */
	return trust >= PD_KNOWN ? 1 : goes_on(&chain, size, err);
}

int pd_type_damaged(struct pd_blocks *b, const struct pd_binder *binder, bool open_end,
		    struct pd_error *err)
{
	struct chain chain = { .b = b, .binder = binder, .open_end = open_end, .strict = true };
	uint16_t size = pb_load16(b->pos + 6, binder->file->swap);

	return size < HEADER ? 0 : goes_on(&chain, size, err);
}

int pd_large_followed(struct pd_blocks *b, const struct pd_file *file, uint32_t size,
		      struct pd_error *err)
{
	uint8_t next[HEADER];
	size_t got;

	if (pd_blocks_left(b) < (uint64_t)size + HEADER)
		return 1;
	if (!pd_input_read(b->input, b->offset + size, next, HEADER, HEADER, &got, err))
		return -1;
	return got < HEADER || pd_header_fits(next, file->swap) ||
	       pd_is_simpleperf(file, pb_load32(next, file->swap));
}

#define ZEROS 64 /* bytes that are looked at together */

/*
 * Steps over positions where only zeros can be seen, as in the holes of a file: no type is 0.
 */
static void skip_zeros(struct pd_blocks *b)
{
	const uint8_t *p = b->pos;
	uint64_t words[ZEROS / 8], any = 0;

	while ((size_t)(b->end - p) >= ZEROS + HEADER) {
		memcpy(words, p, ZEROS);
		for (size_t i = 0; i < ZEROS / 8; i++)
			any |= words[i];
		if (any)
			break;
		p += ZEROS - HEADER; /* of those behind not all of the type was seen */
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
	bool aligned = is_aligned(b, binder), first = searched == PD_IN_PAYLOAD;
	unsigned step = first && aligned ? 8 : 1; /* payload is padded */
	int got;

	do {
		pd_blocks_skip(b, first ? 0 : step);
		got = pd_blocks_fill(b, HEADER, err);
		if (got > 0) {
			skip_zeros(b);
			got = begins_at(&chain, 0, aligned, err);
		}
		first = false;
	} while (got == 0 && pd_blocks_left(b) > HEADER);
	if (got == 0)
		pd_blocks_skip(b, pd_blocks_left(b));
	return got;
}
