#include "merge.h"

#include <stdlib.h>
#include <string.h>

struct pd_merge_item {
	const struct pd_merge_stream *stream;
	const struct pd_chunk *chunk;
	uint64_t number;	/* of the chunk, its stream's on top */
	struct pd_opened *open; /* NULL: not read, yet or any more */
	bool seen;		/* it was read once */
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
	pd_opened_destroy(item->open);
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

/* What the thread that opens chunks ahead of the merge needs. */
struct pd_openings {
	struct pd_ahead *ahead;
	struct pd_scratch scratch;
	size_t n;
	struct opening {
		const struct pd_chunk *chunk;
		const struct pd_merge_stream *stream;
		uint64_t number;
	} due[]; /* in the order in which they are needed */
};

static int by_min(const void *a, const void *b)
{
	const struct opening *x = a, *y = b;

	if (x->chunk->min != y->chunk->min)
		return x->chunk->min < y->chunk->min ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void *open_next(void *arg, size_t i, struct pd_error *err)
{
	struct pd_openings *o = arg;

	return i < o->n ? pd_chunk_open(o->due[i].chunk, o->due[i].stream, &o->scratch, err) :
			  NULL;
}

static void drop(void *opened)
{
	pd_opened_destroy(opened);
}

#define MANY 64 /* chunks: for fewer no thread is worth starting */

void pd_merge_start(struct pd_merge *m)
{
	struct pd_openings *o;

	if (m->n < MANY)
		return;
	o = calloc(1, sizeof(*o) + m->n * sizeof(o->due[0]));
	if (!o)
		return; /* each is opened when it is due */
	for (; o->n < m->n; o->n++) {
		const struct pd_merge_item *item = &m->items[m->heap[o->n].item];

		o->due[o->n] = (struct opening){ item->chunk, item->stream, item->number };
	}
	qsort(o->due, o->n, sizeof(o->due[0]), by_min);
	o->ahead = pd_ahead_start((struct pd_maker){ open_next, drop, o, PD_AHEAD_MOST });
	if (o->ahead)
		m->openings = o;
	else
		free(o);
}

static void stop(struct pd_merge *m)
{
	if (!m->openings)
		return;
	pd_ahead_stop(m->openings->ahead);
	free(m->openings->scratch.places);
	free(m->openings);
	m->openings = NULL;
}

void pd_merge_deinit(struct pd_merge *m)
{
	stop(m);
	for (size_t i = 0; i < m->n; i++)
		finish(m, &m->items[m->heap[i].item]);
	free(m->heap);
	free(m->items);
	free(m->scratch.places);
	m->heap = NULL;
	m->items = NULL;
	m->scratch = (struct pd_scratch){ NULL, 0 };
	m->n = m->capacity = 0;
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

/* Takes the record at item->next; returns what it is then. */
static inline uint32_t take(const struct pd_merge_item *item, struct pd_record *rec)
{
	const struct pd_opened *open = item->open;
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

/* Reads the chunk of an item; false: see err. */
static bool open_chunk(struct pd_merge *m, struct pd_merge_item *item, struct pd_error *err)
{
	const struct pd_chunk *chunk = item->chunk;
	struct pd_stream *stream = item->stream->stream;

	if (m->bytes && !chunk->held && m->bytes + chunk->size > m->most)
		make_room(m);
	if (m->openings && !item->seen)
		item->open = pd_ahead_next(m->openings->ahead, err);
	else
		item->open = pd_chunk_open(chunk, item->stream, &m->scratch, err);
	if (!item->open)
		return false;
	item->seen = true;
	m->bytes += chunk->held ? 0 : chunk->size;
	if (item->open->size < chunk->size) {
		stream->file->complete = false;
		pd_stream_damaged(stream, chunk->offset + item->open->size,
				  chunk->size - item->open->size,
				  "found the end of the file here, expected what was there when "
				  "it was opened");
	}
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
