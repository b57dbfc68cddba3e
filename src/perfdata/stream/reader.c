#include "reader.h"

#include <string.h>

#include "reader_damage.h"
#include "resync.h"

#define HEADER_SIZE  8
#define KEPT_AT_ONCE ((size_t)64 << 10) /* bytes of a payload */
bool pd_reader_init(struct pd_reader *r, struct pd_stream *stream, struct pd_error *err)
{
	*r = (struct pd_reader){
		.stream = stream,
		.file = stream->file,
		.want = PD_ALL_TYPES,
		.swap = stream->file->swap,
	};
	pd_binder_init(&r->binder, stream->file);
	return pd_blocks_init(&r->blocks, stream->input, stream->data.offset,
			      stream->data.offset + stream->data.size, err);
}

void pd_reader_deinit(struct pd_reader *r)
{
	pd_blocks_deinit(&r->blocks);
	pd_decompress_destroy(r->decompress);
	r->decompress = NULL;
	r->in_compressed = false;
}

/*
 * Parses the header at `p` and sets the record's source and stream, but neither offset nor
 * bytes.
 */
static inline void parse_header(const struct pd_reader *r, const uint8_t *p,
				struct pd_record *rec)
{
	pd_record_header(rec, p, r->swap, r->file->simpleperf);
	rec->source = r->file->source;
	rec->stream = r->stream->number;
}

/*
 * Looks ahead from the reader's position and sets lead_at and lead_size. Returns false if too
 * few plain records follow.
 */
static bool look_ahead(struct pd_reader *r)
{
	const struct pd_blocks *b = &r->blocks;
	const uint8_t *front = b->pos;

	if (r->lead_at == b->offset)
		return true;
	if (b->offset < r->no_lead || b->end - b->pos < HEADER_SIZE)
		return false;
	for (unsigned i = 0; i < PD_CHAIN_LENGTH; i++) {
		uint32_t size = pd_reader_plain_size(r, front, b->end - HEADER_SIZE, r->swap);

		if (!size) {
			r->no_lead = b->offset + (uint64_t)(front - b->pos) + 1;
			return false;
		}
		front += size;
	}
	r->lead_at = b->offset;
	r->lead_size = (size_t)(front - b->pos);
	return true;
}

void pd_run_begin(struct pd_run *run, struct pd_reader *r)
{
	static const uint8_t nothing[HEADER_SIZE];
	const struct pd_blocks *b = &r->blocks;

	*run = (struct pd_run){ b->pos, nothing, nothing, 0, r };
	if (r->in_compressed || r->missing || !look_ahead(r))
		return;
	run->front = b->pos + r->lead_size;
	run->last = b->end - HEADER_SIZE;
}

static void tell_watches(struct pd_reader *r, const struct pd_record *first, size_t size)
{
	for (const struct pd_reader_watch *watch = r->watches; watch; watch = watch->next)
		watch->take(watch->arg, r, first, size);
}

void pd_run_end(const struct pd_run *run, struct pd_reader *r)
{
	size_t size = (size_t)(run->at - r->blocks.pos);

	if (!size)
		return;
	if (r->watches) {
		struct pd_record first = pd_reader_record(r);

		first.bytes = r->blocks.pos;
		pd_record_header(&first, first.bytes, r->swap, false);
		tell_watches(r, &first, size);
	}
	pd_blocks_skip(&r->blocks, size);
	r->lead_at = r->blocks.offset;
	r->lead_size = (size_t)(run->front - run->at);
}

void pd_run_pass(struct pd_reader *r)
{
	struct pd_run run;

	pd_run_begin(&run, r);
	while (pd_run_has(&run, r->swap))
		pd_run_skip(&run, pb_load16(run.at + 6, r->swap));
	pd_run_end(&run, r);
}

/*
 * Returns whether the record's own parts end at its size and a plausible header follows in the
 * block, which is proof enough unless it is a sample. If not, pd_record_believed() decides.
 */
static bool is_header_behind(const struct pd_reader *r, const struct pd_record *rec)
{
	const struct pd_blocks *b = &r->blocks;
	size_t have = (size_t)(b->end - b->pos);

	return have >= (size_t)rec->size + HEADER_SIZE && rec->size % 8 == 0 &&
	       rec->size <= PD_LARGE && pd_header_fits(b->pos + rec->size, r->swap) &&
	       rec->type != PD_RECORD_SAMPLE && !pd_has_payload(rec->type) &&
	       pd_record_ending(&r->binder, b->pos, rec->size, have) == PD_WHOLE;
}

/* Returns the size of the plain record at the end of the look-ahead; 0 if there is none. */
static uint32_t find_front_size(struct pd_reader *r, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	size_t have = (size_t)(b->end - b->pos), need = r->lead_size + PD_LARGE + HEADER_SIZE;

	/* fills the block for the look-ahead, but not from a stream, where that may block */
	if (have < need && !b->input->stream && pd_blocks_left(b) > need &&
	    pd_blocks_fill(b, need, err) <= 0)
		return 0;
	return pd_reader_plain_size(r, b->pos + r->lead_size, b->end - HEADER_SIZE, r->swap);
}

/*
 * Returns 1 if the record at the blocks' position, whose bytes are available, is believed; 0;
 * -1 with *err. Moves the look-ahead on.
 */
static inline int is_believed(struct pd_reader *r, const struct pd_record *rec,
			      struct pd_error *err)
{
	const struct pd_blocks *b = &r->blocks;
	uint32_t ahead = 0;

	if (r->lead_at == b->offset || look_ahead(r)) {
		ahead = pd_reader_plain_size(r, b->pos + r->lead_size, b->end - HEADER_SIZE,
					     r->swap);
		ahead = ahead ? ahead : find_front_size(r, err);
	}
	if (ahead) {
		r->lead_at += rec->size;
		r->lead_size = r->lead_size + ahead - rec->size;
		return 1;
	}
	if (is_header_behind(r, rec))
		return 1;
	return pd_record_believed(&r->blocks, &r->binder, rec->size, r->stream->open_end, err);
}

/*
 * Checks a simpleperf record of more than 64 KB before memory is allocated for it. Returns an
 * enum pd_problem, or -1 with *err.
 */
static int examine_large(struct pd_reader *r, const struct pd_record *rec, struct pd_error *err)
{
	int got = pd_type_damaged(&r->blocks, &r->binder, r->stream->open_end, err);

	if (got)
		return got < 0 ? got : PD_WRONG_TYPE;
	if (rec->size > PD_RECORD_MOST)
		return PD_TOO_LONG;
	got = pd_large_followed(&r->blocks, r->file, rec->size, err);
	return got < 0 ? got : got ? PD_NOTHING : PD_NOT_FOLLOWED;
}

/*
 * Makes the bytes of the record at the blocks' position available and checks it. Returns an
 * enum pd_problem, or -1 with *err.
 */
static inline int examine_record(struct pd_reader *r, const struct pd_record *rec,
				 struct pd_error *err)
{
	int got;

	if (rec->size < HEADER_SIZE)
		return PD_TOO_SMALL;
	if (rec->size > UINT16_MAX) {
		got = examine_large(r, rec, err);
		if (got != PD_NOTHING)
			return got;
	}
	got = pd_blocks_fill(&r->blocks, rec->size, err);
	if (got <= 0)
		return got < 0 ? got : PD_TOO_LARGE;
	if (rec->type >= PD_RECORD_SIMPLEPERF &&
	    pd_disguised_type(&r->binder, r->blocks.pos, rec->size))
		return PD_DISGUISED;
	got = is_believed(r, rec, err);
	return got < 0 ? got : got ? PD_NOTHING : PD_NOT_FOLLOWED;
}

/*
 * Starts to decompress the compressed record `rec`. Returns false without memory; a damaged
 * payload is noted.
 */
static bool enter_compressed(struct pd_reader *r, const struct pd_record *rec,
			     struct pd_error *err)
{
	uint32_t at = rec->type == PD_RECORD_COMPRESSED ? HEADER_SIZE : HEADER_SIZE + 8;
	uint64_t n = rec->size > at ? rec->size - at : 0;

	if (!r->decompress &&
	    !(r->decompress = pd_decompress_create(r->stream->input->timing, r->blocks.pass)))
		return pd_error_set(err, "ENOMEM", r->stream->input->path, rec->offset,
				    "no memory to decompress");
	/* COMPRESSED2 is padded; its field data_size is the size of the payload */
	if (n && at > HEADER_SIZE && pb_load64(rec->bytes + HEADER_SIZE, r->swap) < n)
		n = pb_load64(rec->bytes + HEADER_SIZE, r->swap);
	if (r->decompress->at >=
	    0) { /* if negative the unfinished record began in an earlier one */
		r->began_offset = r->compressed_at;
		r->began_chunk_offset = (uint64_t)r->decompress->at;
	}
	r->compressed_at = rec->offset;
	r->in_compressed = pd_decompress_feed(r->decompress, rec->bytes + at, (size_t)n);
	if (r->in_compressed)
		r->lost = false;
	else
		pd_reader_lose_stream(r, r->decompress->error);
	return true;
}

/*
 * Handles a compressed record that the end of the recording cuts: decompresses the bytes that
 * are there, unless records continue after, which shows that its size is damaged. Returns 1 if
 * they do; 0 if not; -1 with *err.
 */
static int end_in_compressed(struct pd_reader *r, struct pd_record *rec, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	const struct pd_record whole = *rec;
	int got;

	rec->offset = b->offset;
	rec->size = (uint32_t)pd_blocks_left(b);
	got = pd_blocks_fill(b, rec->size, err);
	if (got <= 0)
		return got;
	rec->bytes =
		b->pos; /* the block holds all that is left, so the bytes stay where they are */
	got = pd_reader_recover(r, &whole, PD_TOO_LARGE, err);
	if (got)
		return got;
	r->cut = true;
	if (rec->size > HEADER_SIZE + 8 && !enter_compressed(r, rec, err))
		return -1;
	return 0;
}

/* Makes the next record outside of compressed ones available. Returns as pd_reader_next(). */
static inline int frame_record(struct pd_reader *r, struct pd_record *rec, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	int got;

	if (r->missing && pd_reader_lose_payload(r, err) < 0)
		return -1;
	for (;;) {
		int problem;

		if ((got = pd_blocks_fill(b, HEADER_SIZE, err)) < 0)
			return got;
		if (!got)
			return pd_blocks_left(b) ? pd_reader_end_in_header(r) :
						   pd_reader_end(r);
		parse_header(r, b->pos, rec);
		problem = examine_record(r, rec, err);
		if (problem == PD_NOTHING)
			break;
		if (problem < 0)
			return problem;
		if (problem == PD_TOO_LARGE && pd_is_compressed(rec->type) &&
		    pd_record_trust(&r->binder, b->pos, 0) == PD_KNOWN)
			got = end_in_compressed(r, rec, err);
		else
			got = pd_reader_recover(r, rec, (enum pd_problem)problem, err);
		if (got <= 0)
			return got;
	}
	rec->bytes = b->pos;
	rec->offset = b->offset;
	rec->chunk_offset = PD_NO_CHUNK;
	pd_blocks_skip(b, rec->size);
	return 1;
}

/*
 * Reads the next record inside the compressed record. Returns 1, or 0 if its payload is used
 * up.
 */
static inline int frame_decompressed(struct pd_reader *r, struct pd_record *rec)
{
	struct pd_decompress *d = r->decompress;
	int got;

	while ((got = pd_decompress_fill(d, HEADER_SIZE)) > 0) {
		int64_t at = d->at;

		parse_header(r, d->pos, rec);
		if (rec->size < HEADER_SIZE || rec->size > UINT16_MAX) {
			pd_decompress_abandon(d);
			pd_reader_lose_stream(r, "it holds something that cannot be a record");
			return 0;
		}
		got = pd_decompress_fill(d, rec->size);
		/*
		 * else a new frame began while filling, and the unfinished record before it is
		 * gone
		 */
		if (got <= 0 || d->at == at)
			break;
	}
	if (got < 0)
		pd_reader_lose_stream(r, d->error);
	if (got <= 0)
		return 0;
	rec->bytes = d->pos;
	rec->offset = d->at < 0 ? r->began_offset : r->compressed_at;
	rec->chunk_offset = d->at < 0 ? r->began_chunk_offset : (uint64_t)d->at;
	pd_decompress_skip(d, rec->size);
	return 1;
}

struct pd_section pd_record_payload(const struct pd_record *rec)
{
	return (struct pd_section){ rec->offset + rec->size, pd_payload_size(rec) };
}

/* Keeps the payload of a stream, as far as it is there. Returns false with *err. */
static bool keep_payload(struct pd_reader *r, uint64_t n, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	int got = 1;

	while (n && got > 0) {
		size_t part = n < KEPT_AT_ONCE ? (size_t)n : KEPT_AT_ONCE;

		got = pd_blocks_fill(b, part, err);
		if (got < 0)
			return false;
		if (!got)
			part = (size_t)(b->end - b->pos);
		if (part && !pd_input_keep(b->input, b->offset, b->pos, part, err))
			return false;
		pd_blocks_skip(b, got ? part : n);
		n -= part;
	}
	return true;
}

/*
 * Steps over the payload after a record. One that is too large is left to
 * pd_reader_lose_payload(). Returns false with *err if it cannot be kept.
 */
static bool skip_payload(struct pd_reader *r, struct pd_record *rec, struct pd_error *err)
{
	uint64_t left = pd_blocks_left(&r->blocks), payload;

	pd_bind(&r->binder, rec);
	payload = pd_record_payload(rec).size;
	if (payload > (left < PD_MAX_PAYLOAD ? left : PD_MAX_PAYLOAD)) {
		r->missing = payload;
	} else if (r->blocks.input->keeps_payloads && rec->size <= sizeof(r->before_payload)) {
		/* the block moves on */
		rec->bytes = memcpy(r->before_payload, rec->bytes, rec->size);
		return keep_payload(r, payload, err);
	} else {
		pd_blocks_skip(&r->blocks, payload);
	}
	return true;
}

static bool is_metadata(uint32_t type)
{
	const struct pd_record_desc *desc = pd_record_desc(type);

	return desc && desc->metadata;
}

/* Takes over a record that describes the recording. Returns false without memory. */
static bool learn_metadata(struct pd_reader *r, const struct pd_record *rec,
			   struct pd_error *err)
{
	if (!pd_prologue_late(r->file, rec))
		return pd_error_set(err, "ENOMEM", r->file->path, rec->offset, "no memory");
	if (!r->binder.first) /* it may have described the first event */
		pd_binder_init(&r->binder, r->file);
	r->proven = (struct pd_proven){ 0 };
	return true;
}

/* Returns whether a speculative reader may continue after this record. */
static bool can_speculate_on(const struct pd_reader *r, const struct pd_record *rec)
{
	if (r->uncompressed_only && pd_is_compressed(rec->type))
		return false;
	return r->accepts_metadata || !is_metadata(rec->type) ||
	       pd_prologue_knows(r->file, rec);
}

/* Does what pd_reader_advance() does, unwatched. */
static inline int advance_reader(struct pd_reader *r, struct pd_record *rec,
				 struct pd_error *err)
{
	int got;

	if (r->in_compressed && frame_decompressed(r, rec))
		return 1;
	r->in_compressed = false;
	got = frame_record(r, rec, err);
	if (got == 0 && r->in_compressed) /* the recording was cut in a compressed record */
		return frame_decompressed(r, rec);
	if (got > 0 && pd_is_plain(rec->type))
		return got;
	if (r->speculative && (got < 0 || (got > 0 && !can_speculate_on(r, rec))))
		return pd_reader_bail_out(r);
	if (got <= 0)
		return got;
	if (pd_is_compressed(rec->type) && !enter_compressed(r, rec, err))
		return r->speculative ? pd_reader_bail_out(r) : -1;
	if (pd_has_payload(rec->type) && !skip_payload(r, rec, err))
		return -1;
	if ((!r->speculative || r->accepts_metadata) && is_metadata(rec->type) &&
	    !learn_metadata(r, rec, err))
		return r->speculative ? pd_reader_bail_out(r) : -1;
	return got;
}

int pd_reader_advance(struct pd_reader *r, struct pd_record *rec, struct pd_error *err)
{
	int got = advance_reader(r, rec, err);

	if (got > 0)
		tell_watches(r, rec, rec->size);
	return got;
}

int pd_reader_next(struct pd_reader *r, struct pd_record *rec, struct pd_error *err)
{
	int got;

	while ((got = pd_reader_advance(r, rec, err)) > 0) {
		if (pd_types_has(&r->want, rec->type)) {
			pd_bind(&r->binder, rec);
			return 1;
		}
	}
	return got;
}
