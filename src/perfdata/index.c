#include "index.h"

#include <stdlib.h>

#define ASK_EVERY 1024 /* rounds of the loop between two calls of go_on */

static bool keep(struct pd_index *index, size_t *capacity, const struct pd_chunk *chunk)
{
	if (index->n == *capacity) {
		size_t more = *capacity ? *capacity + *capacity / 2 : 64;
		struct pd_chunk *grown = realloc(index->chunks, more * sizeof(*grown));

		if (!grown)
			return false;
		index->chunks = grown;
		*capacity = more;
	}
	index->chunks[index->n++] = *chunk;
	return true;
}

/*
 * Adds the records of the reader's block to the chunk that was begun, as long as nothing about them is
 * unusual: so the index costs less than half of what it would with pd_reader_advance alone.
 */
static void add_block(struct pd_reader *reader, const struct pd_stamp *stamp,
		      struct pd_cutter *cutter)
{
	struct pd_cutter k = *cutter;
	struct pd_record rec = { .offset = reader->blocks.offset, .chunk_offset = PD_NO_CHUNK };
	uint64_t time = k.last;

	while (pd_reader_peek(reader, &rec) && rec.type < PD_RECORD_USER) {
		pd_stamp_of(stamp, &rec, &time);
		if (!pd_cutter_fits(&k, &rec, time))
			break;
		pd_cutter_add(&k, &rec, time);
		pd_blocks_skip(&reader->blocks, rec.size);
		rec.offset += rec.size;
	}
	*cutter = k;
}

static enum pd_indexed fill(struct pd_index *index, struct pd_reader *reader,
			    const struct pd_stamp *stamp, bool (*go_on)(void *arg), void *arg,
			    struct pd_error *err)
{
	struct pd_cutter cutter = { .next_number = 0 };
	struct pd_record rec;
	size_t capacity = 0, asked = 0;
	int got;

	while ((got = pd_reader_advance(reader, &rec, err)) > 0) {
		uint64_t time = cutter.last;

		if (pd_is_compressed(rec.type) || rec.chunk_offset != PD_NO_CHUNK)
			return PD_INDEX_NONE;
		pd_stamp_of(stamp, &rec, &time);
		if (!pd_cutter_fits(&cutter, &rec, time)) {
			if (!keep(index, &capacity, &cutter.chunk))
				goto no_memory;
			cutter.chunk.size = 0;
		}
		pd_cutter_add(&cutter, &rec, time);
		add_block(reader, stamp, &cutter);
		if (go_on && ++asked % ASK_EVERY == 0 && !go_on(arg))
			return PD_INDEX_ENDED;
	}
	if (got < 0)
		return PD_INDEX_FAILED;
	if (!cutter.chunk.size || keep(index, &capacity, &cutter.chunk))
		return PD_INDEX_MADE;
no_memory:
	pd_error_set(err, "ENOMEM", reader->stream->input->path, PD_NO_OFFSET,
		     "no memory for the order of its records");
	return PD_INDEX_FAILED;
}

enum pd_indexed pd_index_make(struct pd_stream *stream, const struct pd_stamp *stamp,
			      bool (*go_on)(void *arg), void *arg, struct pd_error *err)
{
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
		made = fill(index, &reader, stamp, go_on, arg, err);
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
