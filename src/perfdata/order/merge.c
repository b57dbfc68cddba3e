#include "merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/*
 * A node of the heap. The time of the item's next record is copied here, as it is all that is
 * compared.
 */
struct pd_merge_node {
	uint64_t time;
	uint32_t item;
};

#define STREAM_SHIFT 40 /* bits of pd_merge_item.number below the stream's */

static inline bool node_is_before(const struct pd_merge *m, const struct pd_merge_node *a,
				  uint64_t time, uint32_t item)
{
	return a->time < time ||
	       (a->time == time && m->items[a->item].number < m->items[item].number);
}

/* Puts `item`, which is not in the heap, at position `i` or below. */
static inline void sift_down(struct pd_merge *m, size_t i, uint64_t time, uint32_t item)
{
	struct pd_merge_node *heap = m->heap;
	size_t child;

	while ((child = 2 * i + 1) < m->n) {
		if (child + 1 < m->n &&
		    node_is_before(m, &heap[child + 1], heap[child].time, heap[child].item))
			child++;
		if (!node_is_before(m, &heap[child], time, item))
			break;
		heap[i].time = heap[child].time;
		heap[i].item = heap[child].item;
		i = child;
	}
	heap[i].time = time;
	heap[i].item = item;
}

/*
 * Puts `item` at the top of the heap or below. The first step has no branch: where the buffers
 * of two processors alternate, branch prediction fails.
 */
static inline void sift_top(struct pd_merge *m, uint64_t time, uint32_t item)
{
	struct pd_merge_node *heap = m->heap;
	size_t child = 1;
	uint64_t below_time;
	uint32_t below;
	bool turn;

	if (m->n < 2) {
		heap[0].time = time;
		heap[0].item = item;
		return;
	}
	if (m->n > 2 && node_is_before(m, &heap[2], heap[1].time, heap[1].item))
		child = 2;
	below_time = heap[child].time;
	below = heap[child].item;
	turn = below_time < time;
	if (below_time == time)
		turn = m->items[below].number < m->items[item].number;
	heap[0].time = turn ? below_time : time;
	heap[0].item = turn ? below : item;
	sift_down(m, child, turn ? time : below_time, turn ? item : below);
}

static void sift_up(struct pd_merge *m, size_t i, uint64_t time, uint32_t item)
{
	size_t parent;

	while (i && (parent = (i - 1) / 2, !node_is_before(m, &m->heap[parent], time, item))) {
		m->heap[i] = m->heap[parent];
		i = parent;
	}
	m->heap[i] = (struct pd_merge_node){ time, item };
}

/*
 * Doubles the items and nodes. There are as many nodes as items; those in use come first.
 * Returns false without memory.
 */
static bool grow_merge(struct pd_merge *m)
{
	size_t capacity = m->capacity ? m->capacity * 2 : 64;
	size_t n_items = m->capacity, n_nodes = m->capacity;

	if (!pb_extend(m->items, n_items, capacity) || !pb_extend(m->heap, n_nodes, capacity))
		return false;
	for (size_t i = m->capacity; i < capacity; i++)
		m->heap[i].item = (uint32_t)i;
	m->capacity = capacity;
	return true;
}

bool pd_merge_add(struct pd_merge *m, const struct pd_chunk *chunk, size_t stream)
{
	uint32_t item;

	if (m->n == m->capacity && !grow_merge(m))
		return false;
	item = m->heap[m->n].item; /* nodes after the last one keep the unused items */
	m->items[item] = (struct pd_merge_item){
		.stream = &m->streams[stream],
		.chunk = chunk,
		.number = (uint64_t)stream << STREAM_SHIFT | chunk->number,
		.source = m->streams[stream].stream->file->source,
		.number_there = m->streams[stream].stream->number,
	};
	sift_up(m, m->n++, pd_merge_time_of(&m->streams[stream], chunk->min), item);
	return true;
}

/* Frees what an item loaded, and tells the caller that the chunk is used up. */
static void finish_chunk(struct pd_merge *m, struct pd_merge_item *item)
{
	const struct pd_chunk *chunk = item->chunk;

	if (item->loaded && item->loaded->own)
		m->bytes -= chunk->size;
	pd_loaded_chunk_give_back(item->loaded, &m->memory);
	if (m->used)
		m->used(m->arg, chunk);
}

#define PREFETCH_LEAST 64 /* chunks; a thread does not pay for fewer */

void pd_merge_start(struct pd_merge *m)
{
	struct pd_chunk_request *requests;

	if (m->n < PREFETCH_LEAST)
		return;
	requests = malloc(m->n * sizeof(*requests));
	if (!requests)
		return; /* chunks are loaded when they are due */
	for (size_t i = 0; i < m->n; i++) {
		const struct pd_merge_item *item = &m->items[m->heap[i].item];

		requests[i] = (struct pd_chunk_request){ item->chunk, item->stream,
							 item->number };
	}
	m->prefetch = pd_chunk_prefetch_start(requests, m->n, &m->memory, m->pass);
}

void pd_merge_deinit(struct pd_merge *m)
{
	pd_chunk_prefetch_stop(m->prefetch);
	m->prefetch = NULL;
	for (size_t i = 0; i < m->n; i++)
		finish_chunk(m, &m->items[m->heap[i].item]);
	free(m->heap);
	free(m->items);
	pd_chunk_memory_deinit(&m->memory);
	free(m->record);
	m->record = NULL;
	m->record_size = 0;
	m->heap = NULL;
	m->items = NULL;
	m->n = m->capacity = 0;
}

/* Frees the bytes of the loaded chunk whose next record is due last. */
static void release_last_needed(struct pd_merge *m)
{
	const struct pd_merge_node *last = NULL;
	struct pd_merge_item *item;

	for (size_t i = 1; i < m->n; i++) {
		const struct pd_merge_node *node = &m->heap[i];

		item = &m->items[node->item];
		if (item->loaded && item->loaded->own &&
		    (!last || node_is_before(m, last, node->time, node->item)))
			last = node;
	}
	if (!last)
		return;
	item = &m->items[last->item];
	pd_loaded_chunk_free_bytes(item->loaded);
	m->bytes -= item->chunk->size;
}

static inline bool item_is_at_end(const struct pd_merge_item *item)
{
	return item->next >= item->loaded->n;
}

/* Sets *time to that of the item's next record. Returns false if there is none. */
static inline bool get_next_time(const struct pd_merge_item *item, uint64_t *time)
{
	if (item_is_at_end(item))
		return false;
	*time = item->loaded->positions[item->next].time;
	return true;
}

/* Notes as damage that the file changed since its index was made. */
static void note_changed_file(struct pd_stream *stream, uint64_t offset, uint64_t missing,
			      const char *found)
{
	stream->file->complete = false;
	pd_stream_damaged(
		stream, offset, missing,
		"found %s here, expected the bytes that the file had when it was opened",
		found);
}

/*
 * Reads the next record of an item whose bytes were freed into m->record. Returns 1; 0 if the
 * record is gone, which is noted as damage; -1 with *err.
 */
static int read_due_record(struct pd_merge *m, struct pd_merge_item *item, struct pd_error *err)
{
	const struct pd_position *position = &item->loaded->positions[item->next];
	struct pd_stream *stream = item->stream->stream;
	uint64_t offset = item->chunk->offset + position->at;
	struct pd_record rec;
	size_t got;

	if (position->size > m->record_size) {
		free(m->record);
		m->record = malloc(position->size);
		m->record_size = m->record ? position->size : 0;
		if (!m->record) {
			pd_error_set(err, "ENOMEM", stream->input->path, offset,
				     "no memory for a record of %u bytes", position->size);
			return -1;
		}
	}
	if (!pd_input_read_timed(stream->input, m->pass, offset, m->record, position->size,
				 position->size, &got, err))
		return -1;
	if (got < position->size) {
		note_changed_file(stream, offset + got, position->size - got,
				  "the end of the file");
	} else {
		pd_record_header(&rec, m->record, item->stream->locator.swap,
				 item->stream->locator.simpleperf);
		if (rec.size == position->size)
			return 1;
		note_changed_file(stream, offset, position->size, "other bytes");
	}
	item->loaded->n = item->next;
	return 0;
}

/* Loads the chunk of an item. Returns false with *err. */
static bool load_chunk(struct pd_merge *m, struct pd_merge_item *item, struct pd_error *err)
{
	const struct pd_chunk *chunk = item->chunk;
	uint64_t *latest;

	if (m->bytes && !chunk->held && m->bytes + chunk->size > m->most)
		release_last_needed(m);
	if (m->prefetch)
		item->loaded = pd_chunk_prefetch_next(m->prefetch, err);
	else
		item->loaded = pd_chunk_load(chunk, item->stream, &m->memory, err);
	if (!item->loaded)
		return false;
	latest = item->stream->choice.latest;
	if (latest && latest[item->source] < item->loaded->latest)
		latest[item->source] = item->loaded->latest;
	m->bytes += item->loaded->own ? chunk->size : 0;
	if (item->loaded->size < chunk->size)
		note_changed_file(item->stream->stream, chunk->offset + item->loaded->size,
				  chunk->size - item->loaded->size, "the end of the file");
	return true;
}

static void remove_top(struct pd_merge *m)
{
	uint32_t item = m->heap[0].item;
	struct pd_merge_node last = m->heap[--m->n];

	finish_chunk(m, &m->items[item]);
	m->heap[m->n].item = item;
	if (m->n)
		sift_down(m, 0, last.time, last.item);
}

/*
 * Moves the top on to its next record and restores the heap. Returns false, and changes
 * nothing, if its chunk has no more records but `ready` may refer to it.
 */
static inline bool advance_top(struct pd_merge *m)
{
	uint64_t time = m->heap[0].time;
	uint32_t item = m->heap[0].item;

	if (get_next_time(&m->items[item], &time))
		sift_top(m, time, item);
	else if (m->n_ready)
		return false;
	else
		remove_top(m);
	m->handed = false;
	return true;
}

/* Makes the top's next record ready. Returns 1; 0 if the record is gone; -1 with *err. */
static int take_top(struct pd_merge *m, struct pd_error *err)
{
	struct pd_merge_item *top = &m->items[m->heap[0].item];
	int got = top->loaded->bytes ? 1 : read_due_record(m, top, err);

	if (got < 0)
		return got;
	/* also if it is gone: advance_top() then finds the end of its chunk */
	m->handed = true;
	if (!got)
		return got;
	m->ready[m->n_ready++] = (struct pd_merge_ready){
		m->heap[0].item, top->loaded->positions[top->next++].at
	};
	if (m->heap[0].time > m->time)
		m->time = m->heap[0].time;
	return 1;
}

/*
 * The rest of a chunk's sorted records. Mostly the two chunks that are first in the heap hold
 * many records before those of all others: these two runs are merged without the heap, and
 * without a branch, as prediction fails where two buffers alternate.
 */
struct run {
	const struct pd_position *next;
	uint32_t item;
};

/*
 * Makes records of two runs ready that come before `bound` (ns), at most up to PD_MERGE_READY.
 * Among equal times the second run's come first if `second_first`. Returns how many were made
 * ready.
 */
static size_t merge_first_runs(struct pd_merge *m, struct run runs[2], bool second_first,
			       uint64_t bound)
{
	const struct pd_position *a = runs[0].next, *b = runs[1].next;
	size_t begun = m->n_ready, n = begun;
	uint32_t items[2] = { runs[0].item, runs[1].item };

	while (n < PD_MERGE_READY) {
		size_t turn = (b->time < a->time) | ((b->time == a->time) & second_first);
		const struct pd_position *p = turn ? b : a;

		if (p->time >= bound)
			break;
		m->ready[n++] = (struct pd_merge_ready){ items[turn], p->at };
		m->time = p->time > m->time ? p->time : m->time;
		b += turn;
		a += 1 - turn;
	}
	runs[0].next = a;
	runs[1].next = b;
	m->n_ready = n;
	return n - begun;
}

static bool is_loaded(const struct pd_merge *m, size_t i)
{
	const struct pd_loaded_chunk *loaded = m->items[m->heap[i].item].loaded;

	return loaded && loaded->bytes;
}

static struct run make_run(const struct pd_merge *m, size_t i)
{
	const struct pd_merge_item *item = &m->items[m->heap[i].item];

	return (struct run){ &item->loaded->positions[item->next], m->heap[i].item };
}

/*
 * Puts the item of a run back at position `i` of the heap, whose subtrees are in order. An item
 * without more records keeps the time of its last one, so that it soon comes to the top and is
 * removed.
 */
static void put_run_back(struct pd_merge *m, const struct run *l, size_t i)
{
	struct pd_merge_item *item = &m->items[l->item];
	const struct pd_loaded_chunk *loaded = item->loaded;

	item->next = (uint32_t)(l->next - loaded->positions);
	sift_down(m, i, loaded->positions[item->next - item_is_at_end(item)].time, l->item);
}

#define FEW_RECORDS 8  /* records; merging runs does not pay for fewer, */
#define ONE_BY_ONE  64 /* nor, it is assumed, for the next ones */

/*
 * Makes records of the first two chunks of the heap ready. Returns false if none surely comes
 * next. A run at its end has UINT64_MAX as its next time, which no record has.
 */
static bool take_from_runs(struct pd_merge *m)
{
	static const struct pd_position none = { .time = UINT64_MAX };
	struct run runs[2] = { make_run(m, 0), { &none, 0 } };
	size_t second = m->n < 2 ? 0 : 1, taken;
	uint64_t bound = m->limit < UINT64_MAX ? m->limit + 1 : UINT64_MAX;

	if (m->n > 2 && node_is_before(m, &m->heap[2], m->heap[1].time, m->heap[1].item))
		second = 2;
	if (second && is_loaded(m, second)) {
		const size_t others[] = { 3 - second, 2 * second + 1, 2 * second + 2 };

		runs[1] = make_run(m, second);
		for (size_t i = 0; i < 3; i++)
			if (others[i] < m->n && m->heap[others[i]].time < bound)
				bound = m->heap[others[i]].time;
	} else if (second) {
		bound = m->heap[second].time < bound ? m->heap[second].time : bound;
		second = 0;
	}
	taken = merge_first_runs(m, runs,
				 second && m->items[runs[1].item].number <
						   m->items[runs[0].item].number,
				 bound);
	if (taken < FEW_RECORDS)
		m->one_by_one = ONE_BY_ONE;
	if (!taken)
		return false;
	if (second)
		put_run_back(m, &runs[1], second);
	put_run_back(m, &runs[0], 0);
	return true;
}

/* Does what pd_merge_fill() does. */
static int make_ready(struct pd_merge *m, struct pd_error *err)
{
	m->n_ready = m->n_taken = 0;
	while (m->n_ready < PD_MERGE_READY) {
		struct pd_merge_item *top;

		if (m->handed && !advance_top(m))
			break;
		if (!m->n || m->heap[0].time > m->limit)
			break;
		top = &m->items[m->heap[0].item];
		/* loading or reading may free what `ready` refers to */
		if (m->n_ready && (!top->loaded || !top->loaded->bytes))
			break;
		if (!top->loaded) {
			if (!load_chunk(m, top, err))
				return -1;
			m->handed = true; /* so that advance_top() looks for its first record */
		} else if (item_is_at_end(top)) {
			m->handed = true; /* so that advance_top() removes it */
		} else if (m->one_by_one || !top->loaded->bytes || !take_from_runs(m)) {
			m->one_by_one -= m->one_by_one > 0;
			if (take_top(m, err) < 0)
				return -1;
		}
	}
	return m->n_ready > 0;
}

int pd_merge_fill(struct pd_merge *m, struct pd_error *err)
{
	struct pb_timing *timing = m->streams[0].stream->input->timing;
	struct pb_lap lap = pb_stage_enter(timing, m->pass, PB_STAGE_ORDER);
	int got = make_ready(m, err);

	pb_stage_leave(&lap);
	pb_stage_count(timing, m->pass, PB_STAGE_ORDER, m->n_ready, 0);
	return got;
}

uint64_t pd_merge_time(const struct pd_merge *m)
{
	return m->n ? m->heap[0].time : UINT64_MAX;
}
