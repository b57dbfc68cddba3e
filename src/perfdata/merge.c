#include "merge.h"

#include <stdlib.h>
#include <string.h>

#include "jumble.h"

#define HEADER 8

/* What is there of a chunk while its records are due. */
struct open {
	const uint8_t *bytes;
	uint32_t size; /* may be less than the chunk's: of a file that was cut under us */
	uint32_t n;    /* of places */
	struct pd_place *places; /* in the order of time; NULL: as they lie */
	uint8_t own[];
};

struct pd_merge_item {
	const struct pd_merge_stream *stream;
	const struct pd_chunk *chunk;
	uint64_t number;   /* of the chunk, its stream's on top */
	struct open *open; /* NULL: not read, yet or any more */
	uint32_t next; /* the next record: its offset in the chunk, or its place in the order */
};

/* Of the heap: the time of an item's next record is apart from the item, for it is all that is compared. */
struct pd_merge_node {
	uint64_t time;
	uint32_t item;
};

#define STREAM 40 /* bits of number below the stream's */

static inline bool before(const struct pd_merge *m, const struct pd_merge_node *a,
			  uint64_t time, uint32_t item)
{
	return a->time < time ||
	       (a->time == time && m->items[a->item].number < m->items[item].number);
}

/* Puts an item that is not in the heap in its place, from i on down. */
static inline void sift_down(struct pd_merge *m, size_t i, uint64_t time, uint32_t item)
{
	struct pd_merge_node *heap = m->heap;
	size_t child;

	while ((child = 2 * i + 1) < m->n) {
		if (child + 1 < m->n &&
		    before(m, &heap[child + 1], heap[child].time, heap[child].item))
			child++;
		if (!before(m, &heap[child], time, item))
			break;
		heap[i].time = heap[child].time;
		heap[i].item = heap[child].item;
		i = child;
	}
	heap[i].time = time;
	heap[i].item = item;
}

/*
 * The same for the top. Where the buffers of two processors take turns no guess of whether the other one's
 * turn has come is right: so the first step is one without a branch.
 */
static inline void sift_top(struct pd_merge *m, uint64_t time, uint32_t item)
{
	struct pd_merge_node *heap = m->heap;
	size_t child = 1;
	uint64_t other_time;
	uint32_t other;
	bool turn;

	if (m->n < 2) {
		heap[0].time = time;
		heap[0].item = item;
		return;
	}
	if (m->n > 2 && before(m, &heap[2], heap[1].time, heap[1].item))
		child = 2;
	other_time = heap[child].time;
	other = heap[child].item;
	turn = other_time < time;
	if (other_time == time)
		turn = m->items[other].number < m->items[item].number;
	heap[0].time = turn ? other_time : time;
	heap[0].item = turn ? other : item;
	sift_down(m, child, turn ? time : other_time, turn ? item : other);
}

static void sift_up(struct pd_merge *m, size_t i, uint64_t time, uint32_t item)
{
	size_t parent;

	while (i && (parent = (i - 1) / 2, !before(m, &m->heap[parent], time, item))) {
		m->heap[i] = m->heap[parent];
		i = parent;
	}
	m->heap[i] = (struct pd_merge_node){ time, item };
}

/* Room for another item; there are as many items as nodes, and those that are in use come first. */
static bool grow(struct pd_merge *m)
{
	size_t capacity = m->capacity ? m->capacity * 2 : 64;
	struct pd_merge_item *items = realloc(m->items, capacity * sizeof(*items));
	struct pd_merge_node *heap = items ? realloc(m->heap, capacity * sizeof(*heap)) : NULL;

	if (items)
		m->items = items;
	if (!heap)
		return false;
	m->heap = heap;
	for (size_t i = m->capacity; i < capacity; i++)
		heap[i].item = (uint32_t)i;
	m->capacity = capacity;
	return true;
}

bool pd_merge_add(struct pd_merge *m, const struct pd_chunk *chunk, size_t stream)
{
	uint32_t item;

	if (m->n == m->capacity && !grow(m))
		return false;
	item = m->heap[m->n].item; /* a node behind the last keeps a free one */
	m->items[item] = (struct pd_merge_item){
		.stream = &m->streams[stream],
		.chunk = chunk,
		.number = (uint64_t)stream << STREAM | chunk->number,
	};
	sift_up(m, m->n++, chunk->min, item);
	return true;
}

static void let_go(struct pd_merge *m, struct pd_merge_item *item)
{
	if (!item->open)
		return;
	m->bytes -= item->chunk->held ? 0 : item->chunk->size;
	free(item->open->places);
	free(item->open);
	item->open = NULL;
}

/* Done with a chunk. */
static void finish(struct pd_merge *m, struct pd_merge_item *item)
{
	const struct pd_chunk *chunk = item->chunk;

	let_go(m, item);
	if (m->used)
		m->used(m->arg, chunk);
}

void pd_merge_deinit(struct pd_merge *m)
{
	for (size_t i = 0; i < m->n; i++)
		finish(m, &m->items[m->heap[i].item]);
	free(m->heap);
	free(m->items);
	free(m->scratch);
	m->heap = NULL;
	m->items = NULL;
	m->scratch = NULL;
	m->n = m->capacity = m->scratch_size = 0;
}

/* Lets go of the chunk that is needed last of those that are read. */
static void make_room(struct pd_merge *m)
{
	const struct pd_merge_node *last = NULL;

	for (size_t i = 1; i < m->n; i++) {
		const struct pd_merge_node *node = &m->heap[i];
		const struct pd_merge_item *item = &m->items[node->item];

		if (item->open && !item->chunk->held &&
		    (!last || before(m, last, node->time, node->item)))
			last = node;
	}
	if (last)
		let_go(m, &m->items[last->item]);
}

/* Finds the record at `at`: its header and bytes; false if there is not a whole one. */
static inline bool record_at(const struct pd_merge_item *item, uint32_t at,
			     struct pd_record *rec)
{
	const struct open *open = item->open;

	if (open->size - at < HEADER)
		return false;
	pd_record_header(rec, open->bytes + at, item->stream->stamp.swap);
	rec->bytes = open->bytes + at;
	return rec->size >= HEADER && rec->size <= open->size - at;
}

/*
 * The time of the record at item->next; a record without one has that of the record before it, which *time is. False:
 * there is no more record.
 */
static inline bool look(const struct pd_merge_item *item, uint64_t *time)
{
	const struct open *open = item->open;
	struct pd_record rec;

	if (!open->places) {
		if (!record_at(item, item->next, &rec))
			return false;
		pd_stamp_of(&item->stream->stamp, &rec, time);
		return true;
	}
	if (item->next >= open->n)
		return false;
	*time = open->places[item->next].time;
	return true;
}

/* Takes the record at item->next; returns what it is then. */
static inline uint32_t take(const struct pd_merge_item *item, struct pd_record *rec)
{
	const struct open *open = item->open;
	const struct pd_chunk *chunk = item->chunk;
	uint32_t at = open->places ? open->places[item->next].at : item->next;

	pd_record_header(rec, open->bytes + at, item->stream->stamp.swap);
	rec->bytes = open->bytes + at;
	rec->source = item->stream->stream->file->source;
	rec->stream = item->stream->stream->number;
	rec->offset = chunk->offset;
	rec->chunk_offset = chunk->inside;
	if (chunk->inside == PD_NO_CHUNK)
		rec->offset += at;
	else
		rec->chunk_offset += at;
	return open->places ? item->next + 1 : at + rec->size;
}

/* Room for sorting n places: themselves, as many more, and a byte for each. */
static struct pd_place *scratch(struct pd_merge *m, size_t n)
{
	if (n > m->scratch_size) {
		free(m->scratch);
		m->scratch = malloc(n * (2 * sizeof(*m->scratch) + 1));
		m->scratch_size = m->scratch ? n : 0;
	}
	return m->scratch;
}

/* Sorts the records of a chunk that is in no order; false: no memory. */
static bool sort(struct pd_merge *m, const struct pd_merge_item *item)
{
	struct open *open = item->open;
	uint64_t time = item->chunk->first;
	size_t most = open->size / HEADER + 1, n = 0;
	struct pd_place *places = scratch(m, most);
	struct pd_record rec;

	if (!places)
		return false;
	for (uint32_t at = 0; record_at(item, at, &rec); at += rec.size) {
		pd_stamp_of(&item->stream->stamp, &rec, &time);
		places[n++] = (struct pd_place){ time, at };
	}
	pd_places_sort(places, n, places + most, (uint8_t *)(places + 2 * most));
	open->places = malloc((n + 1) * sizeof(*places));
	if (!open->places)
		return false;
	memcpy(open->places, places, n * sizeof(*places));
	open->n = (uint32_t)n;
	return true;
}

/* Reads the chunk of an item; false: see err. */
static bool open_chunk(struct pd_merge *m, struct pd_merge_item *item, struct pd_error *err)
{
	const struct pd_chunk *chunk = item->chunk;
	struct pd_input *input = item->stream->stream->input;
	size_t n = chunk->held ? 0 : chunk->size, got = chunk->size;
	struct open *open;

	if (m->bytes && n && m->bytes + n > m->most)
		make_room(m);
	open = malloc(sizeof(*open) + n);
	if (!open)
		goto no_memory;
	if (n && !pd_input_read(input, chunk->offset, open->own, n, n, &got, err)) {
		free(open);
		return false;
	}
	if (got < chunk->size) {
		item->stream->stream->file->complete = false;
		pd_stream_damaged(item->stream->stream, chunk->offset + got, chunk->size - got,
				  "found the end of the file here, expected what was there when "
				  "it was opened");
	}
	*open = (struct open){
		.bytes = chunk->held ? chunk->held : open->own,
		.size = (uint32_t)got,
	};
	item->open = open;
	m->bytes += n;
	if (chunk->sorted || sort(m, item))
		return true;
	let_go(m, item);
no_memory:
	return pd_error_set(err, "ENOMEM", input->path, chunk->offset,
			    "no memory for %u bytes of records", chunk->size);
}

static void remove_top(struct pd_merge *m)
{
	uint32_t item = m->heap[0].item;
	struct pd_merge_node last = m->heap[--m->n];

	finish(m, &m->items[item]);
	m->heap[m->n].item = item;
	if (m->n)
		sift_down(m, 0, last.time, last.item);
}

/* Makes the top's next record the one to come; leaves the earliest of all on top. */
static inline void go_on(struct pd_merge *m)
{
	uint64_t time = m->heap[0].time;
	uint32_t item = m->heap[0].item;

	if (look(&m->items[item], &time))
		sift_top(m, time, item);
	else
		remove_top(m);
}

int pd_merge_next(struct pd_merge *m, struct pd_record *rec, struct pd_error *err)
{
	for (;;) {
		struct pd_merge_item *top;

		if (m->handed)
			go_on(m);
		m->handed = false;
		if (!m->n || m->heap[0].time > m->limit)
			return 0;
		top = &m->items[m->heap[0].item];
		if (!top->open) {
			if (!open_chunk(m, top, err))
				return -1;
			go_on(m);
			continue;
		}
		top->next = take(top, rec);
		m->handed = true;
		if (pd_types_has(&m->want, rec->type)) {
			pd_bind(&top->stream->stamp.binder, rec);
			m->time = m->heap[0].time;
			return 1;
		}
	}
}

uint64_t pd_merge_time(const struct pd_merge *m)
{
	return m->n ? m->heap[0].time : UINT64_MAX;
}
