#include "reader_damage.h"

#include "resync.h"

#define HEADER_SIZE 8

int pd_reader_bail_out(struct pd_reader *r)
{
	r->bailed_out = true;
	r->missing = 0;
	pd_blocks_skip(&r->blocks, pd_blocks_left(&r->blocks));
	return 0;
}

void pd_reader_lose_stream(struct pd_reader *r, const char *what)
{
	r->in_compressed = false;
	if (r->speculative) {
		pd_reader_bail_out(r);
		return;
	}
	r->file->complete = false;
	if (!r->lost && !r->cut)
		pd_stream_damaged(r->stream, r->compressed_at, 0,
				  "compressed record: %s; the rest of its stream is lost",
				  what);
	r->lost = true;
}

int pd_reader_end(struct pd_reader *r)
{
	const struct pd_section *data = &r->stream->data;
	const struct pd_input *input = r->stream->input;
	const struct pd_decompress *d = r->decompress;

	/* the code that made the reader speculative compares where it ended */
	if (r->speculative) {
		r->bailed_out = r->bailed_out || (d && d->pos < d->end);
		return 0;
	}
	if (d && d->pos < d->end && !r->cut) {
		r->file->complete = false;
		pd_stream_damaged(
			r->stream, r->compressed_at, 0,
			"compressed record: found the end of the recording after %zu bytes of "
			"a record",
			(size_t)(d->end - d->pos));
	}
	if (input->stream && input->at < r->blocks.offset) {
		r->file->complete = false;
		pd_stream_damaged(r->stream, input->at, 0,
				  "found the end of the stream, expected %llu more bytes of "
				  "the payload of a record",
				  (unsigned long long)(r->blocks.offset - input->at));
	}
	if (r->blocks.limit < data->offset + data->size && !input->stream) {
		r->file->complete = false;
		pd_stream_damaged(
			r->stream, r->blocks.limit, 0,
			"found the end of the file here, expected the bytes that it had when "
			"it was opened");
	}
	return 0;
}

#define NEXT "the next record follows the skipped bytes"
#define NONE "no record follows"

/*
 * Notes as damage the bytes from `from` to the blocks' position, where record `rec` was
 * expected. `left` bytes were left there; `got` tells whether records continue after the
 * skipped bytes.
 */
static void note_problem(struct pd_reader *r, const struct pd_record *rec,
			 enum pd_problem problem, uint64_t from, uint64_t left, int got)
{
	const char *rest = got ? NEXT : NONE;
	uint64_t size = r->blocks.offset - from;

	r->file->complete = false;
	switch (problem) {
	case PD_TOO_SMALL:
		pd_stream_damaged(r->stream, from, size,
				  "size of a record: found %u, expected at least 8; %s",
				  rec->size, rest);
		break;
	case PD_TOO_LARGE:
		pd_stream_damaged(r->stream, from, size,
				  "size of a record: found %u, expected at most the %llu bytes "
				  "that are left; %s",
				  rec->size, (unsigned long long)left,
				  got || !r->stream->open_end ? rest : "it was cut off");
		break;
	case PD_TOO_LONG:
		pd_stream_damaged(r->stream, from, size,
				  "size of a record: found %u (type %u), expected at most %u; "
				  "%s",
				  rec->size, rec->type, PD_RECORD_MOST, rest);
		break;
	case PD_WRONG_TYPE:
		pd_stream_damaged(r->stream, from, size,
				  "type of a record: found %u and so a size of %u, expected "
				  "one whose size is %u; %s",
				  rec->type, rec->size, rec->size & UINT16_MAX, rest);
		break;
	case PD_DISGUISED:
		pd_stream_damaged(
			r->stream, from, size,
			"type of a record: found %u, expected %u, which fits its parts; "
			"%s",
			rec->type, pd_low_type(r->file, rec->type), rest);
		break;
	default:
		pd_stream_damaged(
			r->stream, from, size,
			"size of a record: found %u (type %u), expected another record after "
			"so many bytes; %s",
			rec->size, rec->type, rest);
	}
}

/* Skips to the position where records continue. Returns as pd_resync(). */
static int step_over_problem(struct pd_reader *r, const struct pd_record *rec,
			     enum pd_problem problem, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	bool cut = problem == PD_TOO_LARGE && r->stream->open_end;
	int got;

	/* if only the type is damaged, the size leads to the next record */
	if ((problem == PD_WRONG_TYPE || problem == PD_DISGUISED) &&
	    pd_blocks_fill(b, (rec->size & UINT16_MAX) + HEADER_SIZE, err) > 0 &&
	    pd_header_fits(b->pos + (rec->size & UINT16_MAX), r->swap)) {
		pd_blocks_skip(b, rec->size & UINT16_MAX);
		return 1;
	}
	got = rec->size > UINT16_MAX ?
		      0 :
		      pd_step_over_parts(b, &r->binder, r->stream->open_end, err);
	if (got)
		return got;
	return pd_resync(b, &r->binder,
			 cut && pd_is_compressed(rec->type) ? PD_IN_COMPRESSED : PD_IN_RECORD,
			 r->stream->open_end, err);
}

int pd_reader_recover(struct pd_reader *r, const struct pd_record *rec, enum pd_problem problem,
		      struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	uint64_t from = b->offset, left = pd_blocks_left(b);
	int got;

	if (r->speculative)
		return pd_reader_bail_out(r);
	got = step_over_problem(r, rec, problem, err);
	if (got < 0)
		return got;
	note_problem(r, rec, problem, from, left, got);
	return got;
}

int pd_reader_end_in_header(struct pd_reader *r)
{
	uint64_t left = pd_blocks_left(&r->blocks);

	if (r->speculative)
		return pd_reader_bail_out(r);
	r->file->complete = false;
	pd_stream_damaged(
		r->stream, r->blocks.offset, left,
		"found %llu bytes after the last record, expected none or a header of 8",
		(unsigned long long)left);
	pd_blocks_skip(&r->blocks, left);
	return 0;
}

int pd_reader_lose_payload(struct pd_reader *r, struct pd_error *err)
{
	struct pd_blocks *b = &r->blocks;
	uint64_t from = b->offset, left = pd_blocks_left(b);
	int got;

	if (r->speculative)
		return pd_reader_bail_out(r);
	got = pd_resync(b, &r->binder, PD_IN_PAYLOAD, r->stream->open_end, err);
	if (got < 0)
		return got;
	r->file->complete = false;
	if (got)
		pd_stream_damaged(r->stream, from, b->offset - from,
				  "payload of a record: found a size of %llu, expected at most "
				  "%llu; records continue after the skipped bytes",
				  (unsigned long long)r->missing,
				  (unsigned long long)(left < PD_MAX_PAYLOAD ? left :
									       PD_MAX_PAYLOAD));
	else
		pd_stream_damaged(r->stream, from, b->offset - from,
				  "payload of a record: found %llu bytes up to the end of the "
				  "recording, expected %llu",
				  (unsigned long long)(b->offset - from),
				  (unsigned long long)r->missing);
	r->missing = 0;
	return 0;
}
