#include "merge.h"

#include <stdlib.h>
#include <string.h>

/*
 * Of the heap: the time of an item's next record is apart from the item, for it is all that is
 * compared.
 */
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
 * The same for the top. Where the buffers of two processors take turns no guess of whether the
 * other one's turn has come is right: so the first step is one without a branch.
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

/*
 * Room for another item; there are as many items as nodes, and those that are in use come
 * first.
 */
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
		.source = m->streams[stream].stream->file->source,
		.number_there = m->streams[stream].stream->number,
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
	pd_opened_let_go(item->open);
	m->bytes -= item->chunk->size;
}

static inline bool at_end(const struct pd_merge_item *item)
{
	return item->next >= item->open->n;
}

/* The time of the record at item->next; false: there is no more record. */
static inline bool look(const struct pd_merge_item *item, uint64_t *time)
{
	if (at_end(item))
		return false;
	*time = item->open->places[item->next].time;
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

/*
 * Reads the record at item->next of a chunk whose bytes were let go: 1; 0: it is gone; -1: see
 * err.
 */
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
		pd_record_header(&rec, m->record, item->stream->locator.swap,
				 item->stream->locator.simpleperf);
		if (rec.size == place->size)
			return 1;
		changed(stream, offset, place->size, "other bytes");
	}
	item->open->n = item->next;
	return 0;
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

/*
 * Makes the top's next record the one to come; leaves the earliest of all on top. False: its
 * chunk has no more, but what is ready may lie in it.
 */
static inline bool go_on(struct pd_merge *m)
{
	uint64_t time = m->heap[0].time;
	uint32_t item = m->heap[0].item;

	if (look(&m->items[item], &time))
		sift_top(m, time, item);
	else if (m->n_ready)
		return false;
	else
		remove_top(m);
	m->handed = false;
	return true;
}

/* Makes the top's record ready: 1; 0: it is gone; -1: see err. */
static int take_top(struct pd_merge *m, struct pd_error *err)
{
	struct pd_merge_item *top = &m->items[m->heap[0].item];
	int got = top->open->bytes ? 1 : fetch(m, top, err);

	if (got < 0)
		return got;
	m->handed = true; /* or gone: then go_on finds no more of its chunk */
	if (!got)
		return got;
	m->ready[m->n_ready++] = (struct pd_merge_ready){ m->heap[0].item,
							  top->open->places[top->next++].at };
	if (m->heap[0].time > m->time)
		m->time = m->heap[0].time;
	return 1;
}

/*
 * Of the two chunks that are first in the heap many records mostly come before those of all
 * others: they are merged without the heap. That of two buffers which take turns is picked
 * without a branch, for no guess would be right.
 */
struct lane {
	const struct pd_place *next;
	uint32_t item;
};

/*
 * Makes records of two lanes ready that come before `bound`; of equal times the second's if
 * second_first.
 */
static size_t merge_lanes(struct pd_merge *m, struct lane lanes[2], bool second_first,
			  uint64_t bound)
{
	const struct pd_place *a = lanes[0].next, *b = lanes[1].next;
	size_t begun = m->n_ready, n = begun;
	uint32_t items[2] = { lanes[0].item, lanes[1].item };

	while (n < PD_MERGE_READY) {
		size_t turn = (b->time < a->time) | ((b->time == a->time) & second_first);
		const struct pd_place *p = turn ? b : a;

		if (p->time >= bound)
			break;
		m->ready[n++] = (struct pd_merge_ready){ items[turn], p->at };
		m->time = p->time > m->time ? p->time : m->time;
		b += turn;
		a += 1 - turn;
	}
	lanes[0].next = a;
	lanes[1].next = b;
	m->n_ready = n;
	return n - begun;
}

static bool is_open(const struct pd_merge *m, size_t i)
{
	const struct pd_opened *open = m->items[m->heap[i].item].open;

	return open && open->bytes;
}

static struct lane lane_of(const struct pd_merge *m, size_t i)
{
	const struct pd_merge_item *item = &m->items[m->heap[i].item];

	return (struct lane){ &item->open->places[item->next], m->heap[i].item };
}

/*
 * Puts a lane back, at i in the heap, below which all is in order. At its end it is there with
 * the time of its last record, so that it soon comes to the top, to be removed.
 */
static void end_lane(struct pd_merge *m, const struct lane *l, size_t i)
{
	struct pd_merge_item *item = &m->items[l->item];
	const struct pd_opened *open = item->open;

	item->next = (uint32_t)(l->next - open->places);
	sift_down(m, i, open->places[item->next - at_end(item)].time, l->item);
}

#define FEW	   8  /* records: for less, lanes make no haste, */
#define ONE_BY_ONE 64 /* nor will they for the next ones */

/*
 * Makes records of the first two chunks of the heap ready. False: there is none that surely
 * comes next. A lane that is at its end has UINT64_MAX as its next time, which no record has.
 */
static bool take_lanes(struct pd_merge *m)
{
	static const struct pd_place none = { .time = UINT64_MAX };
	struct lane lanes[2] = { lane_of(m, 0), { &none, 0 } };
	size_t second = m->n < 2 ? 0 : 1, taken;
	uint64_t bound = m->limit < UINT64_MAX ? m->limit + 1 : UINT64_MAX;

	if (m->n > 2 && before(m, &m->heap[2], m->heap[1].time, m->heap[1].item))
		second = 2;
	if (second && is_open(m, second)) {
		const size_t others[] = { 3 - second, 2 * second + 1, 2 * second + 2 };

		lanes[1] = lane_of(m, second);
		for (size_t i = 0; i < 3; i++)
			if (others[i] < m->n && m->heap[others[i]].time < bound)
				bound = m->heap[others[i]].time;
	} else if (second) {
		bound = m->heap[second].time < bound ? m->heap[second].time : bound;
		second = 0;
	}
	taken = merge_lanes(m, lanes,
			    second && m->items[lanes[1].item].number <
					      m->items[lanes[0].item].number,
			    bound);
	if (taken < FEW)
		m->one_by_one = ONE_BY_ONE;
	if (!taken)
		return false;
	if (second)
		end_lane(m, &lanes[1], second);
	end_lane(m, &lanes[0], 0);
	return true;
}

int pd_merge_fill(struct pd_merge *m, struct pd_error *err)
{
	m->n_ready = m->n_taken = 0;
	while (m->n_ready < PD_MERGE_READY) {
		struct pd_merge_item *top;

		if (m->handed && !go_on(m))
			break;
		if (!m->n || m->heap[0].time > m->limit)
			break;
		top = &m->items[m->heap[0].item];
		/* what is read now may take the place of what is ready */
		if (m->n_ready && (!top->open || !top->open->bytes))
			break;
		if (!top->open) {
			if (!open_chunk(m, top, err))
				return -1;
			m->handed = true; /* so that its first record is looked for */
		} else if (at_end(top)) {
			m->handed = true; /* go_on removes it */
		} else if (m->one_by_one || !top->open->bytes || !take_lanes(m)) {
			m->one_by_one -= m->one_by_one > 0;
			if (take_top(m, err) < 0)
				return -1;
		}
	}
	return m->n_ready > 0;
}

uint64_t pd_merge_time(const struct pd_merge *m)
{
	return m->n ? m->heap[0].time : UINT64_MAX;
}
