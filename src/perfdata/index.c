#include "index.h"

#include <stdlib.h>

#define ASK_EVERY 256 /* rounds of the loop between two calls of go_on */

/* Ends the chunk that was begun; false: no memory. */
static bool keep(struct pd_cutting *cutting)
{
	struct pd_index *index = &cutting->index;

	if (index->n == cutting->capacity) {
		size_t more = cutting->capacity ? cutting->capacity + cutting->capacity / 2 :
						  64;
		struct pd_chunk *grown = realloc(index->chunks, more * sizeof(*grown));

		if (!grown)
			return false;
		index->chunks = grown;
		cutting->capacity = more;
	}
	index->chunks[index->n++] = cutting->cutter.chunk;
	cutting->cutter.chunk.size = 0;
	return true;
}

/*
 * Adds the records at p that go on in the chunk that was begun, whose times ascend, as long as nothing about them is
 * unusual: nearly all of a recording come along here. Returns where they end.
 */
static const uint8_t *add_run(const uint8_t *p, const uint8_t *end,
			      const struct pd_stamp *stamp, struct pd_cutter *cutter)
{
	struct pd_chunk *c = &cutter->chunk;
	const uint8_t *start = p;
	uint64_t last = cutter->last, types = 0;
	size_t room = c->sorted && c->size < PD_CHUNK_MOST ? PD_CHUNK_MOST - c->size : 0;
	bool swap = stamp->swap;
	uint32_t size;

	while ((size = pd_plain_size(p, end, swap))) {
		uint32_t type = pd_load32(p, swap);
		int at = type < PD_RECORD_USER ? stamp->at[type] : 0;
		uint64_t time;

		if (at <= 0 || (uint32_t)at + 8 > size || (size_t)(p - start) + size > room)
			break;
		time = pd_load64(p + at, swap);
		if (time < last || time == 0 || time == UINT64_MAX)
			break;
		types |= pd_chunk_type(type);
		last = time;
		p += size;
	}
	if (p == start)
		return p;
	c->types |= types;
	c->size += (uint32_t)(p - start);
	c->max = cutter->last = last;
	return p;
}

/*
 * Adds the records of the reader's block to the chunk that was begun, as long as nothing about them is
 * unusual: so the index costs a fraction of what it would with pd_reader_advance alone.
 */
static void add_block(struct pd_reader *reader, const struct pd_stamp *stamp,
		      struct pd_cutter *k)
{
	struct pd_blocks *b = &reader->blocks;
	struct pd_record rec = { .chunk_offset = PD_NO_CHUNK };

	for (;;) {
		uint64_t time;

		/* a payload may be in between */
		if (pd_reader_at_plain(reader) && b->offset == k->chunk.offset + k->chunk.size)
			pd_blocks_skip(b, (size_t)(add_run(b->pos, b->end, stamp, k) - b->pos));
		if (!pd_reader_peek(reader, &rec) || rec.type >= PD_RECORD_USER)
			return;
		rec.offset = b->offset;
		time = k->last;
		pd_stamp_of(stamp, &rec, &time);
		if (!pd_cutter_fits(k, &rec, time))
			return;
		pd_cutter_add(k, &rec, time);
		pd_blocks_skip(b, rec.size);
	}
}

enum pd_indexed pd_cut(struct pd_cutting *cutting, struct pd_reader *reader,
		       const struct pd_stamp *stamp, bool (*go_on)(void *arg), void *arg,
		       struct pd_error *err)
{
	struct pd_cutter *cutter = &cutting->cutter;
	struct pd_record rec;
	size_t asked = 0;
	int got;

	while ((got = pd_reader_advance(reader, &rec, err)) > 0) {
		uint64_t time = cutter->last;
		bool found, ends;

		if (pd_is_compressed(rec.type) || rec.chunk_offset != PD_NO_CHUNK)
			return PD_INDEX_NONE;
		found = pd_stamp_of(stamp, &rec, &time) && cutting->leading;
		ends = !pd_cutter_fits(cutter, &rec, time) || (found && cutter->chunk.size);
		if (ends && !keep(cutting))
			goto no_memory;
		if (found) {
			cutting->leading = false;
			cutting->n_leading = cutting->index.n;
		}
		pd_cutter_add(cutter, &rec, time);
		if (!cutting->leading)
			add_block(reader, stamp, cutter);
		if (go_on && ++asked % ASK_EVERY == 0 && !go_on(arg))
			return PD_INDEX_ENDED;
	}
	if (got < 0)
		return PD_INDEX_FAILED;
	if (cutter->chunk.size && !keep(cutting))
		goto no_memory;
	if (cutting->leading)
		cutting->n_leading = cutting->index.n;
	return PD_INDEX_MADE;
no_memory:
	pd_error_set(err, "ENOMEM", reader->stream->input->path, PD_NO_OFFSET,
		     "no memory for the order of its records");
	return PD_INDEX_FAILED;
}

enum pd_indexed pd_index_make(struct pd_stream *stream, const struct pd_stamp *stamp,
			      bool (*go_on)(void *arg), void *arg, struct pd_error *err)
{
	struct pd_cutting cutting = { .leading = false };
	struct pd_index *index;
	struct pd_reader reader;
	enum pd_indexed made = PD_INDEX_FAILED;

	if (stream->index)
		return PD_INDEX_MADE;
	if (stream->input->stream)
		return PD_INDEX_NONE;
	index = calloc(1, sizeof(*index));
	if (!index) {
		pd_error_set(err, "ENOMEM", stream->input->path, PD_NO_OFFSET, "no memory");
		return PD_INDEX_FAILED;
	}
	if (pd_reader_init(&reader, stream, err)) {
		pd_blocks_read_ahead(&reader.blocks);
		made = pd_cut(&cutting, &reader, stamp, go_on, arg, err);
		*index = cutting.index;
		pd_reader_deinit(&reader);
	}
	if (made == PD_INDEX_MADE)
		stream->index = index;
	else
		pd_index_destroy(index);
	return made;
}

void pd_index_destroy(struct pd_index *index)
{
	if (!index)
		return;
	free(index->chunks);
	free(index);
}
