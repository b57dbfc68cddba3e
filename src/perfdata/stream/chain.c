#include "resync.h"

#define SOUND_ROW 3 /* so many sound records in a row are not chance */

uint64_t pd_chain_payload(const struct pd_chain *c, const uint8_t *p, uint32_t size)
{
	struct pd_layout layout = { .swap = c->binder->file->swap };
	struct pd_record rec = { .bytes = p, .layout = &layout, .chunk_offset = PD_NO_CHUNK };

	pd_record_header(&rec, p, layout.swap, false);
	rec.size = size;
	return pd_payload_size(&rec);
}

/*
 * Returns whether the record of `size` bytes at `p` is one though nothing is after it: it is a
 * FINISHED_ROUND, all of whose bytes are known, or aligned and whole.
 */
static bool may_be_last(const struct pd_chain *c, const uint8_t *p, uint32_t size)
{
	bool swap = c->binder->file->swap;

	if (pb_load32(p, swap) == PD_RECORD_FINISHED_ROUND)
		return size == PD_HEADER_SIZE && !pb_load16(p + 4, swap);
	return !c->unaligned && pd_record_trust(c->binder, p, size) == PD_SOUND &&
	       pd_record_ending(c->binder, p, size, size) == PD_WHOLE;
}

/*
 * Returns whether the chain may end after `i` records, the last of which has `size` bytes, at
 * offset `at` from the blocks' position with `left` bytes left, too few for the next.
 */
static bool may_end(const struct pd_chain *c, unsigned i, uint32_t size, uint64_t at,
		    uint64_t left)
{
	if (left == 0)
		return !c->strict || i > (c->unaligned ? 2 : 1) || c->lone ||
		       (i && may_be_last(c, c->b->pos + at - size, size));
	return c->open_end && (!c->strict || i > 2);
}

/* Returns whether the record at `p`, of that trust, may be the first of the chain. */
static bool may_begin(const struct pd_chain *c, const uint8_t *p, enum pd_trust trust)
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
static int read_link(const struct pd_chain *c, uint64_t at, struct pd_record *rec,
		     struct pd_error *err)
{
	struct pd_blocks *b = c->b;
	int got = pd_blocks_fill(b, (size_t)at + PD_HEADER_SIZE, err);

	rec->size = 0;
	if (got <= 0)
		return got;
	pd_record_header(rec, b->pos + at, c->binder->file->swap, c->binder->file->simpleperf);
	/* the bytes of simpleperf's large records are not looked at */
	return pd_blocks_fill(b,
			      (size_t)at +
				      (rec->size > UINT16_MAX ? PD_HEADER_SIZE : rec->size),
			      err);
}

int pd_chain_payload_followed(const struct pd_chain *c, uint64_t at, uint64_t payload,
			      struct pd_error *err)
{
	const struct pd_blocks *b = c->b;
	uint64_t left = pd_blocks_left(b) - at, end = at + payload;
	uint8_t next[PD_HEADER_SIZE];
	size_t got;

	if (payload > left)
		return c->open_end;
	if (left - payload < PD_HEADER_SIZE)
		return 1;
	if ((size_t)(b->end - b->pos) >= end + PD_HEADER_SIZE)
		return pd_record_trust(c->binder, b->pos + end, 0) == PD_KNOWN;
	if (b->input->stream)
		return PD_UNSEEN;
	if (!pd_input_read(b->input, b->offset + end, next, PD_HEADER_SIZE, PD_HEADER_SIZE,
			   &got, err))
		return -1;
	return got < PD_HEADER_SIZE || pd_record_trust(c->binder, next, 0) == PD_KNOWN;
}

/*
 * Returns whether the payload at offset `at` from the blocks' position would be a second one of
 * tracing data, which no recording has.
 */
static bool is_second_tracing(const struct pd_chain *c, uint32_t type, uint64_t at)
{
	const struct pd_feature_section *first = pd_file_feature(c->binder->file,
								 PD_FEATURE_TRACING_DATA);

	return type == PD_RECORD_TRACING_DATA && first && first->at.offset != c->b->offset + at;
}

int pd_chain_has_payload(const struct pd_chain *c, uint64_t at, uint32_t size, uint64_t payload,
			 struct pd_error *err)
{
	const uint8_t *p = c->b->pos + at;
	uint32_t type = pb_load32(p, c->binder->file->swap);
	int got;

	if (pd_record_ending(c->binder, p, size, size) != PD_WHOLE)
		return 0;
	got = pd_chain_payload_followed(c, at + size, payload, err);
	return got == PD_UNSEEN ? !is_second_tracing(c, type, at + size) : got;
}

int pd_chain_continues(const struct pd_chain *c, uint64_t at, struct pd_error *err)
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
		if (rec.size < PD_HEADER_SIZE || (!fits && !c->tolerant))
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
		payload = pd_chain_payload(c, p, rec.size);
		if (payload && c->strict)
			return pd_chain_has_payload(c, at, rec.size, payload, err);
		if (payload) /* it may be too long to read */
			return payload <= left || c->open_end;
		last = rec.size;
		at += rec.size;
	}
	return fits || leads;
}

int pd_chain_begins(struct pd_chain *c, uint64_t at, bool aligned, struct pd_error *err)
{
	struct pd_blocks *b = c->b;

	if (!pd_header_fits(b->pos + at, c->binder->file->swap))
		return 0;
	c->unaligned = aligned && (b->offset + at - b->start) % 8;
	return pd_chain_continues(c, at, err);
}
