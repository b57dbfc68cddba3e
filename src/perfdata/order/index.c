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
 * Adds plain records from `p` on, before `end`, to the chunk that is begun while they continue
 * it with ascending times. Returns the position after them. This is the fast path: nearly all
 * records of a recording take it.
 */
static inline __attribute__((always_inline)) const uint8_t *add_ascending(
	struct pd_chunker *chunker, const struct pd_timestamp_locator *locator,
	const uint8_t *p, const uint8_t *end, bool swap)
{
	struct pd_chunk *c = &chunker->chunk;
	const uint8_t *start = p;
	uint64_t last = chunker->last, types = 0;
	size_t room = c->sorted && c->size < PD_CHUNK_MOST ? PD_CHUNK_MOST - c->size : 0;

	while (p < end) {
		uint32_t type = pb_load32(p, swap), size = pb_load16(p + 6, swap);
		int at = type < PD_RECORD_USER ? locator->at[type] : 0;
		uint64_t time;

		if (at <= 0 || (uint32_t)at + 8 > size || (size_t)(p - start) + size > room)
			break;
		time = pb_load64(p + at, swap);
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
	c->max = chunker->last = last;
	return p;
}

/* Adds a record with its header. Returns false without memory. */
static bool list_record(struct pd_chunk_list *list, struct pd_record *rec)
{
	struct pd_chunker *chunker = &list->chunker;
	uint64_t time = chunker->last;
	bool found = pd_timestamp_of(list->locator, rec, &time) && list->leading;
	bool ends = !pd_chunker_fits(chunker, rec, time) || (found && chunker->chunk.size);

	if (ends && !end_listed_chunk(list))
		return false;
	if (found) {
		list->leading = false;
		list->n_leading = list->index.n;
	}
	pd_chunker_add(chunker, rec, time);
	return true;
}

/* Lists records: pd_reader_watch.take. */
static void list_records(void *arg, struct pd_reader *reader, const struct pd_record *first,
			 size_t size)
{
	struct pd_chunk_list *list = arg;
	const struct pd_chunk *chunk = &list->chunker.chunk;
	const uint8_t *p = first->bytes, *end = p + size;
	struct pd_record rec = *first;

	if (pd_is_compressed(first->type) || first->chunk_offset != PD_NO_CHUNK)
		list->wrong = PB_RETRY_SERIAL;
	while (list->wrong == PB_OK && p < end) {
		rec.offset = first->offset + (uint64_t)(p - first->bytes);
		/* the payload of a record may lie in between */
		if (!list->leading && rec.offset == chunk->offset + chunk->size) {
			p = reader->swap ?
				    add_ascending(&list->chunker, list->locator, p, end, true) :
				    add_ascending(&list->chunker, list->locator, p, end, false);
			rec.offset = first->offset + (uint64_t)(p - first->bytes);
		}
		if (p == end)
			break;
		rec.bytes = p;
		if (p != first->bytes) /* which may be larger than 64 KB: it is not in a run */
			pd_record_header(&rec, p, reader->swap, false);
		if (!list_record(list, &rec))
			list->wrong = PB_FAILED;
		p += rec.size;
	}
}

void pd_chunk_list_begin(struct pd_chunk_list *list, struct pd_reader *reader,
			 const struct pd_timestamp_locator *locator)
{
	*list = (struct pd_chunk_list){
		.locator = locator,
		.leading = reader->blocks.start != reader->stream->data.offset,
		.watch = { .take = list_records, .arg = list },
		.wrong = PB_OK,
	};
	pd_reader_add_watch(reader, &list->watch);
}

enum pb_outcome pd_chunk_list_end(struct pd_chunk_list *list)
{
	if (list->wrong == PB_OK && list->chunker.chunk.size && !end_listed_chunk(list))
		list->wrong = PB_FAILED;
	if (list->leading)
		list->n_leading = list->index.n;
	return list->wrong;
}

/* Reads all records of a reader for its watch, which lists their chunks. */
static enum pb_outcome read_listed(struct pd_chunk_list *list, struct pd_reader *reader,
				   const struct pb_progress *progress, struct pd_error *err)
{
	const struct pd_blocks *b = &reader->blocks;
	struct pd_record rec;
	size_t asked = 0;
	int got;

	while ((got = pd_reader_advance(reader, &rec, err)) > 0 && list->wrong == PB_OK) {
		pd_run_pass(reader);
		if (++asked % ASK_EVERY == 0 &&
		    !pb_goes_on(progress, b->offset - b->start, b->limit - b->start))
			return PB_STOPPED;
	}
	if (got < 0)
		return PB_FAILED;
	if (pd_chunk_list_end(list) == PB_FAILED)
		pd_error_set(err, "ENOMEM", reader->stream->input->path, PD_NO_OFFSET,
			     "no memory for its time index");
	return list->wrong;
}

enum pb_outcome pd_index_make(struct pd_stream *stream,
			      const struct pd_timestamp_locator *locator,
			      const struct pb_progress *progress, struct pd_error *err)
{
	struct pd_chunk_list list;
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
		pd_chunk_list_begin(&list, &reader, locator);
		made = read_listed(&list, &reader, progress, err);
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
