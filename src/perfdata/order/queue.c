#include "queue.h"

#include <stdlib.h>
#include <string.h>

#define SLAB_SIZE  (128 * 1024) /* bytes of a slab, unless the window is small */
#define ROUND_SIZE (64 * 1024)	/* bytes of a single ring buffer that count as a round */
#define OVERHEAD   192		/* bytes a chunk takes beside its records, at most */

/* Bytes of consecutive chunks. */
struct pd_slab {
	size_t chunks; /* chunks in use, plus one while the slab is filled */
	size_t used, size;
	uint8_t bytes[];
};

/* A chunk that waits. */
struct waiting {
	struct pd_chunk chunk; /* the first member: the merge knows its address only */
	struct pd_slab *slab;
};

struct pd_queue_stream {
	struct pd_reader reader;
	struct pd_chunker chunker;
	bool reading;
	bool one_buffer; /* its records are those of one ring buffer, nearly in order */
	bool ended;
	/*
	 * ns: the latest of all times; the same at the end of the last round, and of the one
	 * before it
	 */
	uint64_t latest, last_round, due;
};

static void release_slab(struct pd_queue *q, struct pd_slab *slab)
{
	if (!slab || --slab->chunks)
		return;
	q->waiting -= slab->size;
	free(slab);
}

static void release_waiting(void *arg, const struct pd_chunk *chunk)
{
	struct waiting *w = (struct waiting *)chunk;
	struct pd_queue *q = arg;

	q->waiting -= OVERHEAD;
	release_slab(q, w->slab);
	free(w);
}

bool pd_queue_init(struct pd_queue *q, struct pd_error *err)
{
	q->streams = calloc(q->n, sizeof(*q->streams));
	if (!q->streams)
		return pd_error_set(err, "ENOMEM", q->merge.streams[0].stream->input->path,
				    PD_NO_OFFSET, "no memory");
	q->merge.used = release_waiting;
	q->merge.arg = q;
	for (size_t i = 0; i < q->n; i++) {
		struct pd_stream *stream = q->merge.streams[i].stream;

		if (!pd_reader_init(&q->streams[i].reader, stream, err))
			return false;
		q->streams[i].reader.blocks.pass = q->merge.pass;
		q->streams[i].reading = true;
		q->streams[i].one_buffer = stream->number > 0;
	}
	return true;
}

void pd_queue_deinit(struct pd_queue *q)
{
	for (size_t i = 0; q->streams && i < q->n; i++)
		if (q->streams[i].reading)
			pd_reader_deinit(&q->streams[i].reader);
	pd_merge_deinit(&q->merge);
	release_slab(q, q->slab);
	free(q->streams);
	q->streams = NULL;
	q->slab = NULL;
}

/* Adds the chunk that is begun to the merge. Returns false without memory. */
static bool end_waiting_chunk(struct pd_queue *q, size_t i)
{
	struct pd_chunker *chunker = &q->streams[i].chunker;
	struct waiting *w;

	if (!chunker->chunk.size)
		return true;
	w = malloc(sizeof(*w));
	if (!w)
		return false;
	w->chunk = chunker->chunk;
	w->slab = q->slab;
	if (!pd_merge_add(&q->merge, &w->chunk, i)) {
		free(w);
		return false;
	}
	q->slab->chunks++;
	q->waiting += OVERHEAD;
	chunker->chunk.size = 0;
	return true;
}

/*
 * Makes room for `n` bytes in the slab. A new slab ends the chunk that is begun, whose bytes
 * must be contiguous. Returns false without memory.
 */
static bool reserve_slab(struct pd_queue *q, size_t i, size_t n)
{
	size_t size = q->window / 16 < SLAB_SIZE ? q->window / 16 : SLAB_SIZE;

	if (size < n)
		size = n;
	if (q->slab && q->slab->size - q->slab->used >= n)
		return true;
	if (!end_waiting_chunk(q, i))
		return false;
	release_slab(q, q->slab);
	q->slab = malloc(sizeof(*q->slab) + size);
	if (!q->slab)
		return false;
	*q->slab = (struct pd_slab){ .chunks = 1, .size = size };
	q->waiting += size;
	return true;
}

/* Copies a record into the slab, to wait there. Returns false without memory. */
static bool add_to_queue(struct pd_queue *q, size_t i, const struct pd_record *rec,
			 uint64_t time)
{
	struct pd_chunker *chunker = &q->streams[i].chunker;
	uint8_t *at;
	bool begins;

	if (!pd_chunker_fits(chunker, rec, time) && !end_waiting_chunk(q, i))
		return false;
	if (!reserve_slab(q, i, rec->size))
		return false;
	begins = !chunker->chunk.size;
	pd_chunker_add(chunker, rec, time);
	at = q->slab->bytes + q->slab->used;
	if (begins)
		chunker->chunk.held = at;
	memcpy(at, rec->bytes, rec->size);
	q->slab->used += rec->size;
	return true;
}

static void end_round(const struct pd_queue *q, struct pd_queue_stream *s)
{
	/* perf does not count a round either while nothing waits */
	if (!q->merge.n)
		return;
	s->due = s->last_round;
	s->last_round = s->latest;
}

/* Reads the next record of stream `i` and lets it wait. Returns as pd_reader_next(). */
static int take_next_record(struct pd_queue *q, size_t i, struct pd_record *rec,
			    struct pd_error *err)
{
	struct pd_queue_stream *s = &q->streams[i];
	uint64_t time = s->chunker.last;
	bool ok = true;
	int got = pd_reader_advance(&s->reader, rec, err);

	if (got <= 0)
		return got;
	if (pd_timestamp_of(&q->merge.streams[i].locator, rec, &time)) {
		uint64_t merged = pd_merge_time_of(&q->merge.streams[i], time);

		q->late += merged < q->merge.time;
		if (merged > s->latest)
			s->latest = merged;
	}
	if (!pd_types_has(&q->merge.streams[i].want, rec->type))
		s->chunker.last = time;
	else if (!add_to_queue(q, i, rec, time))
		ok = false;
	if (q->on_sideband.call && pd_types_has(&q->on_sideband.types, rec->type)) {
		pd_bind(&q->merge.streams[i].locator.binder, rec);
		ok = q->on_sideband.call(q->on_sideband.arg, rec) && ok;
	}
	if (!ok) {
		pd_error_set(err, "ENOMEM", q->merge.streams[i].stream->input->path,
			     rec->offset, "no memory for records that wait for earlier ones");
		return -1;
	}
	return 1;
}

/*
 * Reads stream `i` up to the end of a round, or until more bytes wait than may. Returns false
 * with *err.
 */
static bool fill_round(struct pd_queue *q, size_t i, struct pd_error *err)
{
	struct pd_queue_stream *s = &q->streams[i];
	struct pd_record rec;
	size_t read = 0;
	bool round = false;
	int got;

	do {
		got = take_next_record(q, i, &rec, err);
		if (got <= 0)
			break;
		read += rec.size;
		round = rec.type == PD_RECORD_FINISHED_ROUND ||
			(s->one_buffer && read >= ROUND_SIZE);
	} while (!round && q->waiting <= q->window);
	s->ended = got == 0;
	if (!end_waiting_chunk(q, i))
		return pd_error_set(err, "ENOMEM", s->reader.stream->input->path, PD_NO_OFFSET,
				    "no memory");
	if (round)
		end_round(q, s);
	return got >= 0;
}

/* Does what fill_round() does, as a stage of the queue's pass. */
static bool read_round(struct pd_queue *q, size_t i, struct pd_error *err)
{
	struct pb_lap lap = pb_stage_enter(q->merge.streams[i].stream->input->timing,
					   q->merge.pass, PB_STAGE_ORDER);
	bool read = fill_round(q, i, err);

	pb_stage_leave(&lap);
	return read;
}

/*
 * Returns the stream that holds back the others most, as its records are due up to the earliest
 * time; q->n if all are at their end.
 */
static size_t find_slowest_stream(const struct pd_queue *q)
{
	size_t found = q->n;

	for (size_t i = 0; i < q->n; i++)
		if (!q->streams[i].ended &&
		    (found == q->n || q->streams[i].due < q->streams[found].due))
			found = i;
	return found;
}

int pd_queue_next(struct pd_queue *q, struct pd_record *rec, struct pd_error *err)
{
	for (;;) {
		int got = pd_merge_next(&q->merge, rec, err);
		size_t i;

		if (got)
			return got;
		i = find_slowest_stream(q);
		if (i == q->n && !q->merge.n)
			return 0;
		if (i == q->n) {
			q->merge.limit = UINT64_MAX;
			continue;
		}
		if (q->waiting > q->window && q->merge.n) {
			q->merge.limit = pd_merge_time(&q->merge);
			continue;
		}
		if (!read_round(q, i, err))
			return -1;
		i = find_slowest_stream(q);
		if (i < q->n && q->streams[i].due > q->merge.limit)
			q->merge.limit = q->streams[i].due;
	}
}
