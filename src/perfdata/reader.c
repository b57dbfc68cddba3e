#include "reader.h"

#include <string.h>

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

/* Ends the walk of a careful reader. */
static int end_unusual(struct pd_reader *r)
{
	r->unusual = true;
	r->missing = 0;
	pd_blocks_skip(&r->blocks, pd_blocks_left(&r->blocks));
	return 0;
}

/* Ends the walk at something that cannot be a record. */
static int stop(struct pd_reader *r, const char *what, uint64_t found)
{
	uint64_t left = pd_blocks_left(&r->blocks);

	if (r->careful)
		return end_unusual(r);
	r->file->complete = false;
	pd_stream_damaged(
		r->stream, r->blocks.offset, left,
		"%s: found %llu, expected at least 8 and at most the %llu bytes that are left",
		what, (unsigned long long)found, (unsigned long long)left);
	pd_blocks_skip(&r->blocks, left);
	return 0;
}

/* Notes what is wrong with the compressed record at r->outer; the stream is lost up to a new frame. */
static void lose_stream(struct pd_reader *r, const char *what)
{
	r->is_inside = false;
	if (r->careful) {
		end_unusual(r);
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
	pd_record_header(rec, p, r->swap);
	rec->source = r->file->source;
	rec->stream = r->stream->number;
}

/* Where the records end, notes what is missing there. */
static int finish(struct pd_reader *r)
{
	const struct pd_section *data = &r->stream->data;
	const struct pd_input *input = r->stream->input;
	const struct pd_decompress *d = r->inside;

	if (r->careful) { /* whoever made it so knows how far it should have come */
		r->unusual = r->unusual || (d && d->pos < d->end);
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

/*
 * Steps over something that cannot be a record to where the records go on; notes what was skipped and
 * why. As pd_reader_next: 0 if they do not go on.
 */
static int recover(struct pd_reader *r, const char *what, uint64_t found, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	uint64_t from = b->offset, left = pd_blocks_left(b);
	int got;

	if (r->careful)
		return end_unusual(r);
	got = pd_resync(b, &r->binder, false, err);
	if (got < 0)
		return got;
	r->file->complete = false;
	pd_stream_damaged(
		r->stream, from, b->offset - from,
		"%s: found %llu, expected a record within the %llu bytes that are left; %s",
		what, (unsigned long long)found, (unsigned long long)left,
		got ? "the next one is behind what was skipped" : "there is none behind it");
	return got;
}

/*
 * Is its size right, so that the walk can go on behind it? Asked where the quick look of believed() does
 * not settle it. Large sizes are rare, and those that are no multiple of 8: there more is asked. If what
 * follows cannot be a record, the damage may yet begin behind one that can.
 */
static bool trusted(struct pd_reader *r, const struct pd_record *rec)
{
	struct pd_blocks *b = &r->blocks;
	size_t need = (size_t)rec->size + HEADER;
	bool follows;
	struct pd_error err;

	/* of a live stream what comes next may not be there yet */
	if ((size_t)(b->end - b->pos) < need && (b->input->stream || pd_blocks_left(b) < need ||
						 pd_blocks_fill(b, need, &err) <= 0))
		return rec->size <= PD_LARGE ||
		       pd_record_plausible(&r->binder, b->pos, rec->size);
	if (rec->size % 8 == 0 && rec->size <= PD_LARGE &&
	    pd_header_fits(b->pos + rec->size, r->swap))
		return true;
	if (pd_has_payload(rec->type)) /* no header follows it */
		return true;
	follows = pd_header_known(b->pos + rec->size, r->swap);
	if (rec->size <= PD_LARGE)
		return follows || pd_record_plausible(&r->binder, b->pos, rec->size);
	return (follows || rec->type == PD_RECORD_SAMPLE) &&
	       pd_record_plausible(&r->binder, b->pos, rec->size);
}

/* The same, settled at once for almost every record: in the block a header can follow it. */
static inline bool believed(struct pd_reader *r, const struct pd_record *rec)
{
	const struct pd_blocks *b = &r->blocks;

	return ((size_t)(b->end - b->pos) >= (size_t)rec->size + HEADER && rec->size % 8 == 0 &&
		rec->size <= PD_LARGE && pd_header_fits(b->pos + rec->size, r->swap)) ||
	       trusted(r, rec);
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
	if (n && at > HEADER && pd_load64(rec->bytes + HEADER, r->swap) < n)
		n = pd_load64(rec->bytes + HEADER, r->swap);
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
 * The recording was cut in a compressed record: what is there of it is decompressed, unless records go on
 * behind it, so that its size is damaged. As pd_reader_next: 0 if there is no record outside of it.
 */
static int end_inside(struct pd_reader *r, struct pd_record *rec, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	uint32_t size = rec->size;
	int got;

	rec->offset = b->offset;
	rec->size = (uint32_t)pd_blocks_left(b);
	got = pd_blocks_fill(b, rec->size, err);
	if (got <= 0)
		return got;
	rec->bytes = b->pos; /* they stay there: the block has all that is left */
	got = r->stream->open_end ? stop(r, "size of a record", size) :
				    recover(r, "size of a record", size, err);
	if (got)
		return got;
	r->cut = true;
	if (rec->size > HEADER + 8 && !enter(r, rec, err))
		return -1;
	return 0;
}

/* Steps over a payload of which not all is there: to where records go on, if the size is damaged. */
static int lose_payload(struct pd_reader *r, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	uint64_t from = b->offset, left = pd_blocks_left(b);
	int got;

	if (r->careful)
		return end_unusual(r);
	got = pd_resync(b, &r->binder, true, err);
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
		if ((got = pd_blocks_fill(b, HEADER, err)) < 0)
			return got;
		if (!got && pd_blocks_left(b))
			return stop(r, "bytes of a record header", pd_blocks_left(b));
		if (!got)
			return finish(r);
		parse_header(r, b->pos, rec);
		if (rec->size >= HEADER && (got = pd_blocks_fill(b, rec->size, err)) < 0)
			return got;
		if (rec->size >= HEADER && got && believed(r, rec))
			break;
		if (!got && pd_is_compressed(rec->type) && pd_header_known(b->pos, r->swap))
			got = end_inside(r, rec, err);
		else if (!got && r->stream->open_end && pd_header_known(b->pos, r->swap))
			return stop(r, "size of a record", rec->size); /* cut off in it */
		else
			got = recover(r, "size of a record", rec->size, err);
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
		/* else a new frame began, and what was begun before it is gone with its header */
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
	return type == PD_RECORD_AUXTRACE || type == PD_RECORD_TRACING_DATA;
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

/* Steps over what lies behind a record's own bytes; what cannot be there is left to the next step. */
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
	return type == PD_RECORD_HEADER_ATTR || type == PD_RECORD_HEADER_FEATURE ||
	       type == PD_RECORD_EVENT_UPDATE || type == PD_RECORD_BUILD_ID;
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

/* Can a careful reader go on behind a record of perf's? */
static bool is_usual(const struct pd_reader *r, const struct pd_record *rec)
{
	if (r->plain && pd_is_compressed(rec->type))
		return false;
	return r->learns || !describes(rec->type) || pd_prologue_knows(r->file, rec);
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
	if (got > 0 && rec->type < PD_RECORD_USER)
		return got;
	if (r->careful && (got < 0 || (got > 0 && !is_usual(r, rec))))
		return end_unusual(r);
	if (got <= 0)
		return got;
	if (pd_is_compressed(rec->type) && !enter(r, rec, err))
		return r->careful ? end_unusual(r) : -1;
	if (pd_has_payload(rec->type))
		skip_payload(r, rec);
	if ((!r->careful || r->learns) && describes(rec->type) && !learn(r, rec, err))
		return r->careful ? end_unusual(r) : -1;
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
