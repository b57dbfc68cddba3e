#include "queue.h"

#include <stdlib.h>
#include <string.h>

#define SLAB	 (128 * 1024) /* of a large enough window */
#define PIECE	 (64 * 1024)  /* of a stream of one buffer, read at once */
#define OVERHEAD 192	      /* of a chunk, at most: what it takes beside its records */

/* Bytes of chunks, one behind the other. */
struct pd_slab {
	size_t chunks; /* that are in use, and one while it is filled */
	size_t used, size;
	uint8_t bytes[];
};

/* A chunk that waits. */
struct waiting {
	struct pd_chunk chunk; /* first: what the merge knows of it */
	struct pd_slab *slab;
};

struct pd_queue_stream {
	struct pd_reader reader;
	struct pd_cutter cutter;
	bool reading;
	bool one_buffer; /* its records are almost in order */
	bool ended;
	/* ns: the latest of all; that when the last round ended, when the one before it did */
	uint64_t latest, last_round, due;
};

static void drop(struct pd_queue *q, struct pd_slab *slab)
{
	if (!slab || --slab->chunks)
		return;
	q->waiting -= slab->size;
	free(slab);
}

static void used(void *arg, const struct pd_chunk *chunk)
{
	struct waiting *w = (struct waiting *)chunk;
	struct pd_queue *q = arg;

	q->waiting -= OVERHEAD;
	drop(q, w->slab);
	free(w);
}

bool pd_queue_init(struct pd_queue *q, struct pd_error *err)
{
	q->streams = calloc(q->n, sizeof(*q->streams));
	if (!q->streams)
		return pd_error_set(err, "ENOMEM", q->merge.streams[0].stream->input->path,
				    PD_NO_OFFSET, "no memory");
	q->merge.used = used;
	q->merge.arg = q;
	for (size_t i = 0; i < q->n; i++) {
		struct pd_stream *stream = q->merge.streams[i].stream;

		if (!pd_reader_init(&q->streams[i].reader, stream, err))
			return false;
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
	drop(q, q->slab);
	free(q->streams);
	q->streams = NULL;
	q->slab = NULL;
}

/* Hands the chunk that was begun over to the merge. */
static bool end_chunk(struct pd_queue *q, size_t i)
{
	struct pd_cutter *cutter = &q->streams[i].cutter;
	struct waiting *w;

	if (!cutter->chunk.size)
		return true;
	w = malloc(sizeof(*w));
	if (!w)
		return false;
	w->chunk = cutter->chunk;
	w->slab = q->slab;
	if (!pd_merge_add(&q->merge, &w->chunk, i)) {
		free(w);
		return false;
	}
	q->slab->chunks++;
	q->waiting += OVERHEAD;
	cutter->chunk.size = 0;
	return true;
}

/* Room for n bytes behind what is in the slab; what was begun there ends. */
static bool make_room(struct pd_queue *q, size_t i, size_t n)
{
	size_t size = q->window / 16 < SLAB ? q->window / 16 : SLAB;

	if (size < n)
		size = n;
	if (q->slab && q->slab->size - q->slab->used >= n)
		return true;
	if (!end_chunk(q, i))
		return false;
	drop(q, q->slab);
	q->slab = malloc(sizeof(*q->slab) + size);
	if (!q->slab)
		return false;
	*q->slab = (struct pd_slab){ .chunks = 1, .size = size };
	q->waiting += size;
	return true;
}

/* Lets a record wait. */
static bool put(struct pd_queue *q, size_t i, const struct pd_record *rec, uint64_t time)
{
	struct pd_cutter *cutter = &q->streams[i].cutter;
	uint8_t *at;
	bool begins;

	if (!pd_cutter_fits(cutter, rec, time) && !end_chunk(q, i))
		return false;
	if (!make_room(q, i, rec->size))
		return false;
	begins = !cutter->chunk.size;
	pd_cutter_add(cutter, rec, time);
	at = q->slab->bytes + q->slab->used;
	if (begins)
		cutter->chunk.held = at;
	memcpy(at, rec->bytes, rec->size);
	q->slab->used += rec->size;
	return true;
}

static void end_round(const struct pd_queue *q, struct pd_queue_stream *s)
{
	/* perf, too, does not count a round while nothing waits */
	if (!q->merge.n)
		return;
	s->due = s->last_round;
	s->last_round = s->latest;
}

/* Takes the next record of a stream in: as pd_reader_next. */
static int take(struct pd_queue *q, size_t i, struct pd_record *rec, struct pd_error *err)
{
	struct pd_queue_stream *s = &q->streams[i];
	uint64_t time = s->cutter.last;
	bool ok = true;
	int got = pd_reader_advance(&s->reader, rec, err);

	if (got <= 0)
		return got;
	if (pd_timestamp_of(&q->merge.streams[i].locator, rec, &time)) {
		q->late += time < q->merge.time;
		if (time > s->latest)
			s->latest = time;
	}
	if (!pd_types_has(&q->merge.streams[i].want, rec->type))
		s->cutter.last = time;
	else if (!put(q, i, rec, time))
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

/* Reads a stream up to the end of a round, or until too much waits; false: see err. */
static bool read_on(struct pd_queue *q, size_t i, struct pd_error *err)
{
	struct pd_queue_stream *s = &q->streams[i];
	struct pd_record rec;
	size_t read = 0;
	bool round = false;
	int got;

	do {
		got = take(q, i, &rec, err);
		if (got <= 0)
			break;
		read += rec.size;
		round = rec.type == PD_RECORD_FINISHED_ROUND ||
			(s->one_buffer && read >= PIECE);
	} while (!round && q->waiting <= q->window);
	s->ended = got == 0;
	if (!end_chunk(q, i))
		return pd_error_set(err, "ENOMEM", s->reader.stream->input->path, PD_NO_OFFSET,
				    "no memory");
	if (round)
		end_round(q, s);
	return got >= 0;
}

/* The stream that holds up the others most; n: all are at their end. */
static size_t slowest(const struct pd_queue *q)
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
		i = slowest(q);
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
		if (!read_on(q, i, err))
			return -1;
		i = slowest(q);
		if (i < q->n && q->streams[i].due > q->merge.limit)
			q->merge.limit = q->streams[i].due;
	}
}
