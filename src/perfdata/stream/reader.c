#include "reader.h"

#include <string.h>

#include "perfdata/container/prologue.h"

#include "resync.h"

#define HEADER 8
#define MAX_PAYLOAD \
	(UINT64_C(1) << 40) /* more is damage, also of a stream, whose end is not known */

void pd_types_add(struct pd_types *set, uint32_t type)
{
	if (type >= PD_RECORD_TYPES)
		set->unknown = true;
	else
		set->bits[type / 64] |= UINT64_C(1) << type % 64;
}

void pd_types_remove(struct pd_types *set, uint32_t type)
{
	if (type >= PD_RECORD_TYPES)
		set->unknown = false;
	else
		set->bits[type / 64] &= ~(UINT64_C(1) << type % 64);
}

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
	pd_decompress_destroy(r->inside);
	r->inside = NULL;
	r->is_inside = false;
}

/* Ends the walk of a speculative reader. */
static int bail_out(struct pd_reader *r)
{
	r->bailed_out = true;
	r->missing = 0;
	pd_blocks_skip(&r->blocks, pd_blocks_left(&r->blocks));
	return 0;
}

/*
 * Notes what is wrong with the compressed record at r->outer; the stream is lost up to a new
 * frame.
 */
static void lose_stream(struct pd_reader *r, const char *what)
{
	r->is_inside = false;
	if (r->speculative) {
		bail_out(r);
		return;
	}
	r->file->complete = false;
	if (!r->lost && !r->cut)
		pd_stream_damaged(r->stream, r->outer, 0,
				  "compressed record: %s; what follows in its stream is lost",
				  what);
	r->lost = true;
}

/* The header at p, and where the record lies. */
static inline void parse_header(const struct pd_reader *r, const uint8_t *p,
				struct pd_record *rec)
{
	pd_record_header(rec, p, r->swap, r->file->simpleperf);
	rec->source = r->file->source;
	rec->stream = r->stream->number;
}

/* Where the records end, notes what is missing there. */
static int finish(struct pd_reader *r)
{
	const struct pd_section *data = &r->stream->data;
	const struct pd_input *input = r->stream->input;
	const struct pd_decompress *d = r->inside;

	if (r->speculative) { /* whoever made it so knows how far it should have come */
		r->bailed_out = r->bailed_out || (d && d->pos < d->end);
		return 0;
	}
	if (d && d->pos < d->end && !r->cut) {
		r->file->complete = false;
		pd_stream_damaged(
			r->stream, r->outer, 0,
			"compressed record: found the end of the recording after %zu bytes of "
			"a record",
			(size_t)(d->end - d->pos));
	}
	if (input->stream && input->at < r->blocks.offset) {
		r->file->complete = false;
		pd_stream_damaged(r->stream, input->at, 0,
				  "found the end of the stream, expected %llu more bytes of what "
				  "follows a record",
				  (unsigned long long)(r->blocks.offset - input->at));
	}
	if (r->blocks.limit < data->offset + data->size && !input->stream) {
		r->file->complete = false;
		pd_stream_damaged(
			r->stream, r->blocks.limit, 0,
			"found the end of the file here, expected what was there when it was "
			"opened");
	}
	return 0;
}

/* What is wrong where a record should begin. */
enum problem {
	NOTHING,
	TOO_SMALL, /* its size is less than that of a header */
	TOO_LARGE, /* and more than what is left */
	TOO_LONG,  /* and more than any record's */
	NOT_FOLLOWED,
	WRONG_TYPE,
	DISGUISED, /* the upper half of its type hides what it is */
};

#define NEXT "the next record is behind what was skipped"
#define NONE "there is none behind it"

/*
 * Notes what is wrong with the record `rec` at `from`; `got`: whether records go on behind what
 * was skipped.
 */
static void note_problem(struct pd_reader *r, const struct pd_record *rec, enum problem problem,
			 uint64_t from, uint64_t left, int got)
{
	const char *rest = got ? NEXT : NONE;
	uint64_t size = r->blocks.offset - from;

	r->file->complete = false;
	switch (problem) {
	case TOO_SMALL:
		pd_stream_damaged(r->stream, from, size,
				  "size of a record: found %u, expected at least 8; %s",
				  rec->size, rest);
		break;
	case TOO_LARGE:
		pd_stream_damaged(r->stream, from, size,
				  "size of a record: found %u, expected at most the %llu bytes "
				  "that are left; %s",
				  rec->size, (unsigned long long)left,
				  got || !r->stream->open_end ? rest : "it was cut off");
		break;
	case TOO_LONG:
		pd_stream_damaged(r->stream, from, size,
				  "size of a record: found %u (type %u), expected at most %u; "
				  "%s",
				  rec->size, rec->type, PD_RECORD_MOST, rest);
		break;
	case WRONG_TYPE:
		pd_stream_damaged(r->stream, from, size,
				  "type of a record: found %u and so a size of %u, expected one "
				  "whose size is %u; %s",
				  rec->type, rec->size, rec->size & UINT16_MAX, rest);
		break;
	case DISGUISED:
		pd_stream_damaged(r->stream, from, size,
				  "type of a record: found %u, expected %u, whose form it has; "
				  "%s",
				  rec->type, pd_low_type(r->file, rec->type), rest);
		break;
	default:
		pd_stream_damaged(
			r->stream, from, size,
			"size of a record: found %u (type %u), expected another record behind "
			"so many bytes; %s",
			rec->size, rec->type, rest);
	}
}

/* Steps over what cannot be a record to where records go on: as pd_resync. */
static int step_over(struct pd_reader *r, const struct pd_record *rec, enum problem problem,
		     struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	bool cut = problem == TOO_LARGE && r->stream->open_end;

	/* where only the type is damaged, the size says where */
	if ((problem == WRONG_TYPE || problem == DISGUISED) &&
	    pd_blocks_fill(b, (rec->size & UINT16_MAX) + HEADER, err) > 0 &&
	    pd_header_fits(b->pos + (rec->size & UINT16_MAX), r->swap)) {
		pd_blocks_skip(b, rec->size & UINT16_MAX);
		return 1;
	}
	return pd_resync(b, &r->binder,
			 cut && pd_is_compressed(rec->type) ? PD_IN_COMPRESSED : PD_IN_RECORD,
			 r->stream->open_end, err);
}

/*
 * Steps over something that cannot be a record to where the records go on; notes what was
 * skipped and why. As pd_reader_next: 0 if they do not go on.
 */
static int recover(struct pd_reader *r, const struct pd_record *rec, enum problem problem,
		   struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	uint64_t from = b->offset, left = pd_blocks_left(b);
	int got;

	if (r->speculative)
		return bail_out(r);
	got = step_over(r, rec, problem, err);
	if (got < 0)
		return got;
	note_problem(r, rec, problem, from, left, got);
	return got;
}

/* Ends the walk where fewer bytes are left than a header has. */
static int end_in_header(struct pd_reader *r)
{
	uint64_t left = pd_blocks_left(&r->blocks);

	if (r->speculative)
		return bail_out(r);
	r->file->complete = false;
	pd_stream_damaged(r->stream, r->blocks.offset, left,
			  "found %llu bytes behind the last record, expected none or a header "
			  "of 8",
			  (unsigned long long)left);
	pd_blocks_skip(&r->blocks, left);
	return 0;
}

/*
 * Looks ahead of the reader's position: lead_at and lead_size. Returns false if there are too
 * few plain records.
 */
static bool look_ahead(struct pd_reader *r)
{
	const struct pd_blocks *b = &r->blocks;
	const uint8_t *front = b->pos;

	if (r->lead_at == b->offset)
		return true;
	if (b->offset < r->no_lead || b->end - b->pos < HEADER)
		return false;
	for (unsigned i = 0; i < PD_CHAIN_LENGTH; i++) {
		uint32_t size = pd_plain_size(front, b->end - HEADER, r->swap);

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
	static const uint8_t nothing[HEADER];
	const struct pd_blocks *b = &r->blocks;

	*run = (struct pd_run){ b->pos, nothing, nothing, 0 };
	if (r->is_inside || r->missing || !look_ahead(r))
		return;
	run->front = b->pos + r->lead_size;
	run->last = b->end - HEADER;
}

void pd_run_end(const struct pd_run *run, struct pd_reader *r)
{
	if (run->at == r->blocks.pos)
		return;
	pd_blocks_skip(&r->blocks, (uint64_t)(run->at - r->blocks.pos));
	r->lead_at = r->blocks.offset;
	r->lead_size = (size_t)(run->front - run->at);
}

/*
 * Returns whether a header can follow the record, which is in the block: for what is no sample
 * that is enough. What it says no to, pd_record_believed() looks at.
 */
static inline bool is_followed(const struct pd_reader *r, const struct pd_record *rec)
{
	const struct pd_blocks *b = &r->blocks;

	return (size_t)(b->end - b->pos) >= (size_t)rec->size + HEADER && rec->size % 8 == 0 &&
	       rec->size <= PD_LARGE && pd_header_fits(b->pos + rec->size, r->swap);
}

/*
 * Returns the size of the plain record at the front of those that were seen ahead; 0: there is
 * none.
 */
static uint32_t front_size(struct pd_reader *r, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	size_t have = (size_t)(b->end - b->pos), need = r->lead_size + PD_LARGE + HEADER;

	/*
	 * the rest of a block goes on in the next one, unless who waits for that may wait for
	 * long
	 */
	if (have < need && !b->input->stream && pd_blocks_left(b) > need &&
	    pd_blocks_fill(b, need, err) <= 0)
		return 0;
	return pd_plain_size(b->pos + r->lead_size, b->end - HEADER, r->swap);
}

/*
 * Returns whether the record at the blocks' position, whose bytes are there, is believed; -1 on
 * an error.
 */
static inline int is_believed(struct pd_reader *r, const struct pd_record *rec,
			      struct pd_error *err)
{
	const struct pd_blocks *b = &r->blocks;
	uint32_t ahead = 0;

	if (r->lead_at == b->offset || look_ahead(r)) {
		ahead = pd_plain_size(b->pos + r->lead_size, b->end - HEADER, r->swap);
		ahead = ahead ? ahead : front_size(r, err);
	}
	if (ahead) {
		r->lead_at += rec->size;
		r->lead_size = r->lead_size + ahead - rec->size;
		return 1;
	}
	if (rec->type != PD_RECORD_SAMPLE && is_followed(r, rec))
		return 1;
	return pd_record_believed(&r->blocks, &r->binder, rec->size, r->stream->open_end, err);
}

/*
 * Says what is wrong with a record of simpleperf's of more than 64 KB, before room is made for
 * it; -1 on an error.
 */
static int examine_large(struct pd_reader *r, const struct pd_record *rec, struct pd_error *err)
{
	int got = pd_type_damaged(&r->blocks, &r->binder, r->stream->open_end, err);

	if (got)
		return got < 0 ? got : WRONG_TYPE;
	if (rec->size > PD_RECORD_MOST)
		return TOO_LONG;
	got = pd_large_followed(&r->blocks, r->file, rec->size, err);
	return got < 0 ? got : got ? NOTHING : NOT_FOLLOWED;
}

/*
 * Makes the record at the blocks' position available, and says what is wrong with it; -1 on an
 * error.
 */
static inline int examine(struct pd_reader *r, const struct pd_record *rec,
			  struct pd_error *err)
{
	int got;

	if (rec->size < HEADER)
		return TOO_SMALL;
	if (rec->size > UINT16_MAX) {
		got = examine_large(r, rec, err);
		if (got != NOTHING)
			return got;
	}
	got = pd_blocks_fill(&r->blocks, rec->size, err);
	if (got <= 0)
		return got < 0 ? got : TOO_LARGE;
	if (rec->type >= PD_RECORD_SIMPLEPERF &&
	    pd_disguised_type(&r->binder, r->blocks.pos, rec->size))
		return DISGUISED;
	got = is_believed(r, rec, err);
	return got < 0 ? got : got ? NOTHING : NOT_FOLLOWED;
}

/* Goes into a compressed record; false: no memory. */
static bool enter(struct pd_reader *r, const struct pd_record *rec, struct pd_error *err)
{
	uint32_t at = rec->type == PD_RECORD_COMPRESSED ? HEADER : HEADER + 8;
	uint64_t n = rec->size > at ? rec->size - at : 0;

	if (!r->inside && !(r->inside = pd_decompress_create()))
		return pd_error_set(err, "ENOMEM", r->stream->input->path, rec->offset,
				    "no memory to decompress");
	/* COMPRESSED2 is padded: it says how much of it is payload */
	if (n && at > HEADER && pb_load64(rec->bytes + HEADER, r->swap) < n)
		n = pb_load64(rec->bytes + HEADER, r->swap);
	if (r->inside->at >= 0) { /* else it began before that one already */
		r->carried = r->outer;
		r->carried_at = (uint64_t)r->inside->at;
	}
	r->outer = rec->offset;
	r->is_inside = pd_decompress_feed(r->inside, rec->bytes + at, (size_t)n);
	if (r->is_inside)
		r->lost = false;
	else
		lose_stream(r, r->inside->error);
	return true;
}

/*
 * The recording was cut in a compressed record: what is there of it is decompressed, unless
 * records go on behind it, so that its size is damaged. As pd_reader_next: 0 if there is no
 * record outside of it.
 */
static int end_inside(struct pd_reader *r, struct pd_record *rec, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	const struct pd_record whole = *rec;
	int got;

	rec->offset = b->offset;
	rec->size = (uint32_t)pd_blocks_left(b);
	got = pd_blocks_fill(b, rec->size, err);
	if (got <= 0)
		return got;
	rec->bytes = b->pos; /* they stay there: the block has all that is left */
	got = recover(r, &whole, TOO_LARGE, err);
	if (got)
		return got;
	r->cut = true;
	if (rec->size > HEADER + 8 && !enter(r, rec, err))
		return -1;
	return 0;
}

/*
 * Steps over a payload of which not all is there: to where records go on, if the size is
 * damaged.
 */
static int lose_payload(struct pd_reader *r, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	uint64_t from = b->offset, left = pd_blocks_left(b);
	int got;

	if (r->speculative)
		return bail_out(r);
	got = pd_resync(b, &r->binder, PD_IN_PAYLOAD, r->stream->open_end, err);
	if (got < 0)
		return got;
	r->file->complete = false;
	if (got)
		pd_stream_damaged(r->stream, from, b->offset - from,
				  "payload of a record: found a size of %llu, expected at most "
				  "%llu; records go on behind what was skipped",
				  (unsigned long long)r->missing,
				  (unsigned long long)(left < MAX_PAYLOAD ? left :
									    MAX_PAYLOAD));
	else
		pd_stream_damaged(r->stream, from, b->offset - from,
				  "payload of a record: found %llu bytes up to the end of the "
				  "recording, expected %llu",
				  (unsigned long long)(b->offset - from),
				  (unsigned long long)r->missing);
	r->missing = 0;
	return 0;
}

/* Makes the next record's header and bytes available: as pd_reader_next. */
static inline int frame(struct pd_reader *r, struct pd_record *rec, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	int got;

	if (r->missing && lose_payload(r, err) < 0)
		return -1;
	for (;;) {
		int problem;

		if ((got = pd_blocks_fill(b, HEADER, err)) < 0)
			return got;
		if (!got)
			return pd_blocks_left(b) ? end_in_header(r) : finish(r);
		parse_header(r, b->pos, rec);
		problem = examine(r, rec, err);
		if (problem == NOTHING)
			break;
		if (problem < 0)
			return problem;
		if (problem == TOO_LARGE && pd_is_compressed(rec->type) &&
		    pd_record_trust(&r->binder, b->pos, 0) == PD_KNOWN)
			got = end_inside(r, rec, err);
		else
			got = recover(r, rec, (enum problem)problem, err);
		if (got <= 0)
			return got;
	}
	rec->bytes = b->pos;
	rec->offset = b->offset;
	rec->chunk_offset = PD_NO_CHUNK;
	pd_blocks_skip(b, rec->size);
	return 1;
}

/* The same within a compressed record: 0 where its payload is used up. */
static inline int frame_inside(struct pd_reader *r, struct pd_record *rec)
{
	struct pd_decompress *d = r->inside;
	int got;

	while ((got = pd_decompress_fill(d, HEADER)) > 0) {
		int64_t at = d->at;

		parse_header(r, d->pos, rec);
		if (rec->size < HEADER || rec->size > UINT16_MAX) {
			pd_decompress_abandon(d);
			lose_stream(r, "it holds something that cannot be a record");
			return 0;
		}
		got = pd_decompress_fill(d, rec->size);
		/*
		 * else a new frame began, and what was begun before it is gone with its header
		 */
		if (got <= 0 || d->at == at)
			break;
	}
	if (got < 0)
		lose_stream(r, d->error);
	if (got <= 0)
		return 0;
	rec->bytes = d->pos;
	rec->offset = d->at < 0 ? r->carried : r->outer;
	rec->chunk_offset = d->at < 0 ? r->carried_at : (uint64_t)d->at;
	pd_decompress_skip(d, rec->size);
	return 1;
}

bool pd_has_payload(uint32_t type)
{
	const struct pd_record_desc *desc = pd_record_desc(type);

	return desc && desc->payload;
}

struct pd_section pd_record_payload(const struct pd_record *rec)
{
	struct pd_section none = { rec->offset + rec->size, 0 };

	if (rec->chunk_offset != PD_NO_CHUNK) /* nobody writes that */
		return none;
	if (rec->type == PD_RECORD_AUXTRACE && rec->size >= 16)
		none.size = pd_rec64(rec, 8);
	else if (rec->type == PD_RECORD_TRACING_DATA && rec->size >= 12 &&
		 rec->size - 12 < pd_rec32(rec, 8)) /* simpleperf keeps it inside the record */
		none.size = pd_rec32(rec, 8);
	return none;
}

/*
 * Steps over what lies behind a record's own bytes; what cannot be there is left to the next
 * step.
 */
static void skip_payload(struct pd_reader *r, struct pd_record *rec)
{
	uint64_t left = pd_blocks_left(&r->blocks), payload;

	pd_bind(&r->binder, rec);
	payload = pd_record_payload(rec).size;
	if (payload > (left < MAX_PAYLOAD ? left : MAX_PAYLOAD))
		r->missing = payload;
	else
		pd_blocks_skip(&r->blocks, payload);
}

static bool describes(uint32_t type)
{
	const struct pd_record_desc *desc = pd_record_desc(type);

	return desc && desc->metadata;
}

/* Takes what describes the recording; false: no memory. */
static bool learn(struct pd_reader *r, const struct pd_record *rec, struct pd_error *err)
{
	if (!pd_prologue_late(r->file, rec))
		return pd_error_set(err, "ENOMEM", r->file->path, rec->offset, "no memory");
	if (!r->binder.first) /* it may have been the first of all events */
		pd_binder_init(&r->binder, r->file);
	return true;
}

/* Can a speculative reader go on behind a record of perf's? */
static bool can_speculate_on(const struct pd_reader *r, const struct pd_record *rec)
{
	if (r->uncompressed_only && pd_is_compressed(rec->type))
		return false;
	return r->accepts_metadata || !describes(rec->type) || pd_prologue_knows(r->file, rec);
}

int pd_reader_advance(struct pd_reader *r, struct pd_record *rec, struct pd_error *err)
{
	int got;

	if (r->is_inside && frame_inside(r, rec))
		return 1;
	r->is_inside = false;
	got = frame(r, rec, err);
	if (got == 0 && r->is_inside) /* the recording was cut in a compressed record */
		return frame_inside(r, rec);
	if (got > 0 && pd_is_plain(rec->type))
		return got;
	if (r->speculative && (got < 0 || (got > 0 && !can_speculate_on(r, rec))))
		return bail_out(r);
	if (got <= 0)
		return got;
	if (pd_is_compressed(rec->type) && !enter(r, rec, err))
		return r->speculative ? bail_out(r) : -1;
	if (pd_has_payload(rec->type))
		skip_payload(r, rec);
	if ((!r->speculative || r->accepts_metadata) && describes(rec->type) &&
	    !learn(r, rec, err))
		return r->speculative ? bail_out(r) : -1;
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
