#include "loaded_chunk.h"

#include <stdlib.h>
#include <string.h>

/*
 * Returns memory for `n` positions, as many spare ones and a byte for each, as sorting needs;
 * NULL without memory.
 */
static struct pd_position *reserve_scratch(struct pd_sort_scratch *scratch, size_t n)
{
	if (n > scratch->n) {
		free(scratch->positions);
		scratch->positions = malloc(n * (2 * sizeof(*scratch->positions) + 1));
		scratch->n = scratch->positions ? n : 0;
	}
	return scratch->positions;
}

/*
 * Lists the records of the types in s->want. `time` is what a record without a time takes if no
 * record before it in the chunk has one. Returns how many positions were written.
 */
static size_t list_positions(const struct pd_loaded_chunk *loaded,
			     const struct pd_merge_stream *s, uint64_t time,
			     struct pd_position *positions)
{
	struct pd_record rec;
	size_t n = 0;

	for (uint32_t at = 0; loaded->size - at >= 8; at += rec.size) {
		rec.bytes = loaded->bytes + at;
		pd_record_header(&rec, rec.bytes, s->locator.swap, s->locator.simpleperf);
		if (rec.size < 8 || rec.size > loaded->size - at)
			break;
		pd_timestamp_of(&s->locator, &rec, &time);
		positions[n] = (struct pd_position){ pd_merge_time_of(s, time), at, rec.size };
		n += pd_types_has(&s->want, rec.type);
	}
	return n;
}

static bool find_positions(struct pd_loaded_chunk *loaded, const struct pd_chunk *chunk,
			   const struct pd_merge_stream *s, struct pd_sort_scratch *scratch)
{
	size_t most = loaded->size / 8 + 1, n;
	struct pd_position *positions = reserve_scratch(scratch, most);

	if (!positions)
		return false;
	n = list_positions(loaded, s, chunk->first, positions);
	if (!chunk->sorted)
		pd_positions_sort(positions, n, positions + most,
				  (uint8_t *)(positions + 2 * most));
	loaded->positions = malloc((n + 1) * sizeof(*positions));
	if (!loaded->positions)
		return false;
	memcpy(loaded->positions, positions, n * sizeof(*positions));
	loaded->positions[n].time = UINT64_MAX;
	loaded->n = (uint32_t)n;
	return true;
}

struct pd_loaded_chunk *pd_chunk_load(const struct pd_chunk *chunk,
				      const struct pd_merge_stream *s,
				      struct pd_sort_scratch *scratch, struct pd_error *err)
{
	struct pd_input *input = s->stream->input;
	struct pd_loaded_chunk *loaded = calloc(1, sizeof(*loaded));
	size_t n = chunk->size;

	if (!loaded)
		goto no_memory;
	loaded->bytes = chunk->held;
	if (!chunk->held) {
		loaded->bytes = loaded->own = malloc(n);
		if (!loaded->own)
			goto no_memory;
		if (!pd_input_read_timed(input, NULL, chunk->offset, loaded->own, n, n, &n,
					 err)) {
			pd_loaded_chunk_destroy(loaded);
			return NULL;
		}
	}
	loaded->size = (uint32_t)n;
	if (find_positions(loaded, chunk, s, scratch))
		return loaded;
no_memory:
	pd_loaded_chunk_destroy(loaded);
	pd_error_set(err, "ENOMEM", input->path, chunk->offset,
		     "no memory for %u bytes of records", chunk->size);
	return NULL;
}

void pd_loaded_chunk_destroy(struct pd_loaded_chunk *loaded)
{
	if (!loaded)
		return;
	free(loaded->positions);
	free(loaded->own);
	free(loaded);
}

void pd_loaded_chunk_release(struct pd_loaded_chunk *loaded)
{
	free(loaded->own);
	loaded->bytes = loaded->own = NULL;
}
