#include "boundary.h"

#include <stdlib.h>

#include "perfdata/stream/reader.h"

#define SEARCHED (4 * 1024 * 1024) /* bytes, about, within which a boundary is looked for */

/* records of a row: a wrong guess is found out, or leads to real records, within so many */
#define RECORDS_IN_ROW 32
#define MOST_IN_ROW    128
/* records in a row whose types and flags are in use, which end it: wrong guesses have few */
#define KNOWN_IN_ROW 4
/* bytes of a row, at most: copies of stacks hold bytes that look like a few records */
#define ROW_BYTES (64 * 1024)

/*
 * Returns the size in bytes of a row of RECORDS_IN_ROW records, or fewer with ROW_BYTES, that
 * begins at the blocks' position, up to the last of KNOWN_IN_ROW known ones; 0 if the bytes
 * there cannot all be records, or the blocks end before. Records begin where the row ends even
 * if those in it are none, as sooner or later what looks like a record leads to one.
 */
static size_t measure_row(struct pd_blocks *b, const struct pd_binder *binder)
{
	bool swap = binder->file->swap;
	size_t at = 0;
	struct pd_error err;
	int known = 0;

	for (int i = 0; i < MOST_IN_ROW; i++) {
		enum pd_trust trust;
		size_t size;

		if (known >= KNOWN_IN_ROW && (i >= RECORDS_IN_ROW || at >= ROW_BYTES))
			return at;
		if (pd_blocks_fill(b, at + 8, &err) <= 0)
			break;
		size = pb_load16(b->pos + at + 6, swap);
		if (size < 8 || pd_blocks_fill(b, at + size, &err) <= 0)
			break;
		trust = pd_record_trust(binder, b->pos + at, (uint32_t)size);
		if (trust == PD_ODD)
			break;
		known = trust >= PD_KNOWN ? known + 1 : 0;
		at += size;
	}
	return 0;
}

/*
 * Returns the offset of the first position from `nominal` on, within `size` bytes, where
 * records could begin; 0 if there is none.
 */
static uint64_t find_boundary_in(const struct pd_stream *stream, uint64_t nominal,
				 uint64_t size)
{
	uint64_t found;
	struct pd_blocks blocks;
	struct pd_binder binder;
	struct pd_error err;
	size_t row = 0;

	/* pd_resync() starts at the next position */
	if (!pd_blocks_init(&blocks, stream->input, nominal - 8, nominal + size, &err))
		return 0;
	pd_binder_init(&binder, stream->file);
	while (!row && pd_resync(&blocks, &binder, PD_IN_RECORD, false, &err) > 0)
		row = measure_row(&blocks, &binder);
	found = row ? blocks.offset + row : 0;
	pd_blocks_deinit(&blocks);
	return found;
}

/* Returns whether samples hold copies of stacks: then most records are large. */
static bool copies_stacks(const struct pd_file *file)
{
	for (size_t i = 0; i < file->n_events; i++)
		if (file->events[i].shape.sample_type & PD_SAMPLE_STACK_USER)
			return true;
	return false;
}

/* bytes that are read at once: a call for each header takes longer than copying the stacks */
#define FOLLOWED (128 * 1024)

/*
 * Returns the offset of the first record from `nominal` on to which the sizes of records lead,
 * from the one at `from` on; 0 if they lead to none. bytes[FOLLOWED] is room to read.
 */
static uint64_t follow_records(struct pd_stream *stream, uint64_t from, uint64_t nominal,
			       uint8_t *bytes)
{
	uint64_t end = stream->data.offset + stream->data.size, at = from, limit = from;
	struct pd_section part = { from, 0 };
	struct pd_error err;

	while (at < nominal) {
		const uint8_t *header;

		if (at + 8 > limit) {
			part.offset = at;
			part.size = end - at < FOLLOWED ? end - at : FOLLOWED;
			limit = at + part.size;
			if (part.size < 8 || !pd_stream_read(stream, part, bytes, &err))
				return 0;
		}
		header = bytes + (at - part.offset);
		if (!pd_header_fits(header, stream->file->swap))
			return 0;
		at += pb_load16(header + 6, stream->file->swap);
	}
	return at <= end ? at : 0;
}

uint64_t pd_find_boundary(struct pd_stream *stream, uint64_t from, uint64_t size,
			  uint64_t least)
{
	uint64_t end = stream->data.offset + stream->data.size;
	uint64_t nominal = from + size / 8 * 8, found = 0;

	if (end - from >= size + least && copies_stacks(stream->file)) {
		uint8_t *bytes = malloc(FOLLOWED);

		found = bytes ? follow_records(stream, from, nominal, bytes) : 0;
		free(bytes);
	}
	if (found)
		return found;
	for (uint64_t part = 16 * 1024; end - from >= size + least; part *= 6) {
		if (part > end - nominal)
			part = end - nominal;
		found = find_boundary_in(stream, nominal, part);
		if (found)
			return found;
		if (part > SEARCHED || part == end - nominal)
			break;
	}
	return end;
}
