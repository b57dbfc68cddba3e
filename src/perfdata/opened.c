#include "opened.h"

#include <stdlib.h>
#include <string.h>

/* Room for sorting n places: themselves, as many more, and a byte for each. */
static struct pd_place *room_for(struct pd_scratch *scratch, size_t n)
{
	if (n > scratch->n) {
		free(scratch->places);
		scratch->places = malloc(n * (2 * sizeof(*scratch->places) + 1));
		scratch->n = scratch->places ? n : 0;
	}
	return scratch->places;
}

static bool sort(struct pd_opened *opened, const struct pd_chunk *chunk,
		 const struct pd_stamp *stamp, struct pd_scratch *scratch)
{
	uint64_t time = chunk->first;
	size_t most = opened->size / 8 + 1, n = 0;
	struct pd_place *places = room_for(scratch, most);
	struct pd_record rec;

	if (!places)
		return false;
	for (uint32_t at = 0; pd_opened_record(opened, at, stamp->swap, &rec); at += rec.size) {
		pd_stamp_of(stamp, &rec, &time);
		places[n++] = (struct pd_place){ time, at };
	}
	pd_places_sort(places, n, places + most, (uint8_t *)(places + 2 * most));
	opened->places = malloc((n + 1) * sizeof(*places));
	if (!opened->places)
		return false;
	memcpy(opened->places, places, n * sizeof(*places));
	opened->n = (uint32_t)n;
	return true;
}

struct pd_opened *pd_chunk_open(const struct pd_chunk *chunk, const struct pd_merge_stream *s,
				struct pd_scratch *scratch, struct pd_error *err)
{
	struct pd_input *input = s->stream->input;
	size_t n = chunk->held ? 0 : chunk->size, got = chunk->size;
	struct pd_opened *opened = malloc(sizeof(*opened) + n);

	if (!opened)
		goto no_memory;
	if (n && !pd_input_read(input, chunk->offset, opened->own, n, n, &got, err)) {
		free(opened);
		return NULL;
	}
	*opened = (struct pd_opened){
		.bytes = chunk->held ? chunk->held : opened->own,
		.size = (uint32_t)got,
	};
	if (chunk->sorted || sort(opened, chunk, &s->stamp, scratch))
		return opened;
	pd_opened_destroy(opened);
no_memory:
	pd_error_set(err, "ENOMEM", input->path, chunk->offset,
		     "no memory for %u bytes of records", chunk->size);
	return NULL;
}

void pd_opened_destroy(struct pd_opened *opened)
{
	if (!opened)
		return;
	free(opened->places);
	free(opened);
}
