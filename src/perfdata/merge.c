#include "merge.h"

#include <stdlib.h>
#include <string.h>

struct pd_merge_item {
	const struct pd_merge_stream *stream;
	const struct pd_chunk *chunk;
	uint64_t number;	/* of the chunk, its stream's on top */
	struct pd_opened *open; /* NULL: not read yet */
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

/* Done with a chunk. */
static void finish(struct pd_merge *m, struct pd_merge_item *item)
{
	const struct pd_chunk *chunk = item->chunk;

	if (item->open && item->open->own)
		m->bytes -= chunk->size;
	pd_opened_destroy(item->open);
	if (m->used)
		m->used(m->arg, chunk);
}

#define MANY 64 /* chunks: for fewer no thread is worth starting */

void pd_merge_start(struct pd_merge *m)
{
	struct pd_opening *due;

	if (m->n < MANY)
		return;
	due = malloc(m->n * sizeof(*due));
	if (!due)
		return; /* each is opened when it is due */
	for (size_t i = 0; i < m->n; i++) {
		const struct pd_merge_item *item = &m->items[m->heap[i].item];

		due[i] = (struct pd_opening){ item->chunk, item->stream, item->number };
	}
	m->openings = pd_openings_start(due, m->n);
}

void pd_merge_deinit(struct pd_merge *m)
{
	pd_openings_stop(m->openings);
	m->openings = NULL;
	for (size_t i = 0; i < m->n; i++)
		finish(m, &m->items[m->heap[i].item]);
	free(m->heap);
	free(m->items);
	free(m->scratch.places);
	free(m->record);
	m->record = NULL;
	m->record_size = 0;
	m->heap = NULL;
	m->items = NULL;
	m->scratch = (struct pd_scratch){ NULL, 0 };
	m->n = m->capacity = 0;
}

/* Lets go of the bytes of the chunk that is needed last. */
static void make_room(struct pd_merge *m)
{
	const struct pd_merge_node *last = NULL;
	struct pd_merge_item *item;
	bool as_they_lie;

	for (size_t i = 1; i < m->n; i++) {
		const struct pd_merge_node *node = &m->heap[i];

		item = &m->items[node->item];
		if (item->open && item->open->own &&
		    (!last || before(m, last, node->time, node->item)))
			last = node;
	}
	if (!last)
		return;
	item = &m->items[last->item];
	as_they_lie = !item->open->places;
	if (!pd_opened_let_go(item->open, item->stream, item->next, last->time))
		return;
	if (as_they_lie)
		item->next = 0;
	m->bytes -= item->chunk->size;
}

/*
 * The time of the record at item->next; a record without one has that of the record before it, which *time is. False:
 * there is no more record.
 */
static inline bool look(const struct pd_merge_item *item, uint64_t *time)
{
	const struct pd_opened *open = item->open;
	struct pd_record rec;

	if (!open->places) {
		if (!pd_opened_record(open, item->next, item->stream->stamp.swap, &rec))
			return false;
		pd_stamp_of(&item->stream->stamp, &rec, time);
		return true;
	}
	if (item->next >= open->n)
		return false;
	*time = open->places[item->next].time;
	return true;
}

/* Notes that a file is not what it was when its index was made. */
static void changed(struct pd_stream *stream, uint64_t offset, uint64_t missing,
		    const char *found)
{
	stream->file->complete = false;
	pd_stream_damaged(stream, offset, missing,
			  "found %s here, expected what was there when the file was opened",
			  found);
}

/* Reads the record at item->next of a chunk whose bytes were let go: 1; 0: it is gone; -1: see err. */
static int fetch(struct pd_merge *m, struct pd_merge_item *item, struct pd_error *err)
{
	const struct pd_place *place = &item->open->places[item->next];
	struct pd_stream *stream = item->stream->stream;
	uint64_t offset = item->chunk->offset + place->at;
	struct pd_record rec;
	size_t got;

	if (place->size > m->record_size) {
		free(m->record);
		m->record = malloc(place->size);
		m->record_size = m->record ? place->size : 0;
		if (!m->record) {
			pd_error_set(err, "ENOMEM", stream->input->path, offset,
				     "no memory for a record of %u bytes", place->size);
			return -1;
		}
	}
	if (!pd_input_read(stream->input, offset, m->record, place->size, place->size, &got,
			   err))
		return -1;
	if (got < place->size) {
		changed(stream, offset + got, place->size - got, "the end of the file");
	} else {
		pd_record_header(&rec, m->record, item->stream->stamp.swap);
		if (rec.size == place->size)
			return 1;
		changed(stream, offset, place->size, "other bytes");
	}
	item->open->n = item->next;
	return 0;
}

/* Takes the record at item->next, whose bytes are at p if its chunk's were let go; returns what is next then. */
static inline uint32_t take(const struct pd_merge_item *item, const uint8_t *p,
			    struct pd_record *rec)
{
	const struct pd_opened *open = item->open;
	const struct pd_chunk *chunk = item->chunk;
	uint32_t at = open->places ? open->places[item->next].at : item->next;

	rec->bytes = open->bytes ? open->bytes + at : p;
	pd_record_header(rec, rec->bytes, item->stream->stamp.swap);
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

/* Reads the chunk of an item; false: see err. */
static bool open_chunk(struct pd_merge *m, struct pd_merge_item *item, struct pd_error *err)
{
	const struct pd_chunk *chunk = item->chunk;

	if (m->bytes && !chunk->held && m->bytes + chunk->size > m->most)
		make_room(m);
	if (m->openings)
		item->open = pd_openings_next(m->openings, err);
	else
		item->open = pd_chunk_open(chunk, item->stream, &m->scratch, err);
	if (!item->open)
		return false;
	m->bytes += item->open->own ? chunk->size : 0;
	if (item->open->size < chunk->size)
		changed(item->stream->stream, chunk->offset + item->open->size,
			chunk->size - item->open->size, "the end of the file");
	return true;
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
		int got = 1;

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
		if (!top->open->bytes)
			got = fetch(m, top, err);
		if (got < 0)
			return got;
		m->handed = true; /* or gone: then go_on finds no more of its chunk */
		if (!got)
			continue;
		top->next = take(top, m->record, rec);
		if (pd_types_has(&m->want, rec->type)) {
			pd_bind(&top->stream->stamp.binder, rec);
			if (m->heap[0].time > m->time)
				m->time = m->heap[0].time;
			return 1;
		}
	}
}

uint64_t pd_merge_time(const struct pd_merge *m)
{
	return m->n ? m->heap[0].time : UINT64_MAX;
}
