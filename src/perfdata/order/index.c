#include "index.h"

#include <stdlib.h>

#include "base/vector.h"

#define ASK_EVERY 256 /* turns of the loop between two reports of progress */

/* Appends the chunk that is begun to the index. Returns false without memory. */
static bool end_listed_chunk(struct pd_chunk_list *list)
{
	struct pd_index *index = &list->index;

	if (!pb_reserve(index->chunks, index->n, list->capacity))
		return false;
	index->chunks[index->n++] = list->chunker.chunk;
	list->chunker.chunk.size = 0;
	return true;
}

/*
 * Adds records of `run` to the chunk that is begun while they continue it with ascending times.
 * This is the fast path: nearly all records of a recording take it.
 */
static void add_run_to_chunk(struct pd_run *run, const struct pd_timestamp_locator *locator,
			     struct pd_chunker *chunker)
{
	struct pd_chunk *c = &chunker->chunk;
	const uint8_t *start = run->at;
	uint64_t last = chunker->last, types = 0;
	size_t room = c->sorted && c->size < PD_CHUNK_MOST ? PD_CHUNK_MOST - c->size : 0;
	bool swap = locator->swap;
	struct pd_run r = *run;

	while (pd_run_has(&r, swap)) {
		uint32_t type = pb_load32(r.at, swap), size = pb_load16(r.at + 6, swap);
		int at = type < PD_RECORD_USER ? locator->at[type] : 0;
		uint64_t time;

		if (at <= 0 || (uint32_t)at + 8 > size || (size_t)(r.at - start) + size > room)
			break;
		time = pb_load64(r.at + at, swap);
		if (time < last || time == 0 || time == UINT64_MAX)
			break;
		types |= pd_chunk_type(type);
		last = time;
		pd_run_skip(&r, size);
	}
	*run = r;
	if (r.at == start)
		return;
	c->types |= types;
	c->size += (uint32_t)(r.at - start);
	c->max = chunker->last = last;
}

/*
 * Adds the records of the reader's block while nothing about them is unusual. That makes an
 * index for a fraction of what pd_reader_advance() alone would cost.
 */
static void add_block_to_chunk(struct pd_reader *reader,
			       const struct pd_timestamp_locator *locator, struct pd_chunker *k)
{
	const struct pd_blocks *b = &reader->blocks;
	struct pd_record rec = { .chunk_offset = PD_NO_CHUNK };
	struct pd_run run;

	pd_run_begin(&run, reader);
	for (;;) {
		uint64_t time;

		rec.offset = b->offset + (uint64_t)(run.at - b->pos);
		/* The payload of a record may lie in between. */
		if (rec.offset == k->chunk.offset + k->chunk.size)
			add_run_to_chunk(&run, locator, k);
		if (!pd_run_has(&run, locator->swap))
			break;
		rec.offset = b->offset + (uint64_t)(run.at - b->pos);
		rec.bytes = run.at;
		pd_record_header(&rec, run.at, locator->swap, false);
		time = k->last;
		pd_timestamp_of(locator, &rec, &time);
		if (!pd_chunker_fits(k, &rec, time))
			break;
		pd_chunker_add(k, &rec, time);
		pd_run_skip(&run, rec.size);
	}
	pd_run_end(&run, reader);
}

enum pb_outcome pd_chunk_list_read(struct pd_chunk_list *list, struct pd_reader *reader,
				   const struct pd_timestamp_locator *locator,
				   const struct pb_progress *progress, struct pd_error *err)
{
	struct pd_chunker *chunker = &list->chunker;
	const struct pd_blocks *b = &reader->blocks;
	struct pd_record rec;
	size_t asked = 0;
	int got;

	while ((got = pd_reader_advance(reader, &rec, err)) > 0) {
		uint64_t time = chunker->last;
		bool found, ends;

		if (pd_is_compressed(rec.type) || rec.chunk_offset != PD_NO_CHUNK)
			return PB_RETRY_SERIAL;
		found = pd_timestamp_of(locator, &rec, &time) && list->leading;
		ends = !pd_chunker_fits(chunker, &rec, time) || (found && chunker->chunk.size);
		if (ends && !end_listed_chunk(list))
			goto no_memory;
		if (found) {
			list->leading = false;
			list->n_leading = list->index.n;
		}
		pd_chunker_add(chunker, &rec, time);
		if (!list->leading)
			add_block_to_chunk(reader, locator, chunker);
		if (++asked % ASK_EVERY == 0 &&
		    !pb_goes_on(progress, b->offset - b->start, b->limit - b->start))
			return PB_STOPPED;
	}
	if (got < 0)
		return PB_FAILED;
	if (chunker->chunk.size && !end_listed_chunk(list))
		goto no_memory;
	if (list->leading)
		list->n_leading = list->index.n;
	return PB_OK;
no_memory:
	pd_error_set(err, "ENOMEM", reader->stream->input->path, PD_NO_OFFSET,
		     "no memory for its time index");
	return PB_FAILED;
}

enum pb_outcome pd_index_make(struct pd_stream *stream,
			      const struct pd_timestamp_locator *locator,
			      const struct pb_progress *progress, struct pd_error *err)
{
	struct pd_chunk_list list = { .leading = false };
	struct pd_index *index;
	struct pd_reader reader;
	enum pb_outcome made = PB_FAILED;

	if (stream->index)
		return PB_OK;
	if (stream->input->stream)
		return PB_RETRY_SERIAL;
	index = calloc(1, sizeof(*index));
	if (!index) {
		pd_error_set(err, "ENOMEM", stream->input->path, PD_NO_OFFSET, "no memory");
		return PB_FAILED;
	}
	if (pd_reader_init(&reader, stream, err)) {
		pd_blocks_read_ahead(&reader.blocks);
		made = pd_chunk_list_read(&list, &reader, locator, progress, err);
		*index = list.index;
		pd_reader_deinit(&reader);
	}
	if (made == PB_OK)
		pd_stream_set_index(stream, index);
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
