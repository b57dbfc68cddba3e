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

/* Lists the records that are wanted; returns how many. */
static size_t list(const struct pd_opened *opened, const struct pd_merge_stream *s,
		   uint64_t time, struct pd_place *places)
{
	struct pd_record rec;
	size_t n = 0;

	for (uint32_t at = 0; opened->size - at >= 8; at += rec.size) {
		rec.bytes = opened->bytes + at;
		pd_record_header(&rec, rec.bytes, s->locator.swap, s->locator.simpleperf);
		if (rec.size < 8 || rec.size > opened->size - at)
			break;
		pd_timestamp_of(&s->locator, &rec, &time);
		places[n] = (struct pd_place){ time, at, rec.size };
		n += pd_types_has(&s->want, rec.type);
	}
	return n;
}

static bool find_places(struct pd_opened *opened, const struct pd_chunk *chunk,
			const struct pd_merge_stream *s, struct pd_scratch *scratch)
{
	size_t most = opened->size / 8 + 1, n;
	struct pd_place *places = room_for(scratch, most);

	if (!places)
		return false;
	n = list(opened, s, chunk->first, places);
	if (!chunk->sorted)
		pd_places_sort(places, n, places + most, (uint8_t *)(places + 2 * most));
	opened->places = malloc((n + 1) * sizeof(*places));
	if (!opened->places)
		return false;
	memcpy(opened->places, places, n * sizeof(*places));
	opened->places[n].time = UINT64_MAX;
	opened->n = (uint32_t)n;
	return true;
}

struct pd_opened *pd_chunk_open(const struct pd_chunk *chunk, const struct pd_merge_stream *s,
				struct pd_scratch *scratch, struct pd_error *err)
{
	struct pd_input *input = s->stream->input;
	struct pd_opened *opened = calloc(1, sizeof(*opened));
	size_t n = chunk->size;

	if (!opened)
		goto no_memory;
	opened->bytes = chunk->held;
	if (!chunk->held) {
		opened->bytes = opened->own = malloc(n);
		if (!opened->own)
			goto no_memory;
		if (!pd_input_read(input, chunk->offset, opened->own, n, n, &n, err)) {
			pd_opened_destroy(opened);
			return NULL;
		}
	}
	opened->size = (uint32_t)n;
	if (find_places(opened, chunk, s, scratch))
		return opened;
no_memory:
	pd_opened_destroy(opened);
	pd_error_set(err, "ENOMEM", input->path, chunk->offset,
		     "no memory for %u bytes of records", chunk->size);
	return NULL;
}

void pd_opened_destroy(struct pd_opened *opened)
{
	if (!opened)
		return;
	free(opened->places);
	free(opened->own);
	free(opened);
}

void pd_opened_let_go(struct pd_opened *opened)
{
	free(opened->own);
	opened->bytes = opened->own = NULL;
}
