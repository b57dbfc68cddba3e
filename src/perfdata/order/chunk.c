#include "chunk.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/producer.h"
#include "base/vector.h"

void pd_chunker_begin(struct pd_chunker *k, const struct pd_record *rec, uint64_t time)
{
	k->chunk = (struct pd_chunk){
		.offset = rec->offset,
		.chunk_offset = rec->chunk_offset,
		.first = time,
		.min = time,
		.max = time,
		.number = k->next_number++,
		.sorted = true,
	};
	k->last = time;
}

uint64_t pd_chunk_types(const struct pd_types *types)
{
	uint64_t bits = types->unknown;

	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++)
		if (pd_types_has(types, type))
			bits |= pd_chunk_type(type);
	return bits;
}

#define RUNS_MOST 16

static inline bool position_is_before(const struct pd_position *a, const struct pd_position *b)
{
	return (a->time < b->time) | ((a->time == b->time) & (a->at < b->at));
}

static int compare_positions(const void *a, const void *b)
{
	return position_is_before(a, b) ? -1 : position_is_before(b, a);
}

/*
 * Deals positions out to runs, each ascending in time. Returns how many runs there are, or 0 if
 * more than RUNS_MOST are needed. run[i] becomes the run of position i, ends[k] the number of
 * positions in runs 0 … k.
 */
static size_t deal_to_runs(const struct pd_position *positions, size_t n, uint8_t *run,
			   size_t *ends)
{
	uint64_t last[RUNS_MOST]; /* last time of each run; descending */
	size_t n_runs = 0;

	memset(ends, 0, RUNS_MOST * sizeof(*ends));
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < n_runs && last[k] > positions[i].time)
			k++;
		if (k == RUNS_MOST)
			return 0;
		n_runs += k == n_runs;
		last[k] = positions[i].time;
		run[i] = (uint8_t)k;
		ends[k]++;
	}
	for (size_t k = 1; k < n_runs; k++)
		ends[k] += ends[k - 1];
	return n_runs;
}

static void merge_two_runs(const struct pd_position *a, const struct pd_position *a_end,
			   const struct pd_position *b, const struct pd_position *b_end,
			   struct pd_position *out)
{
	while (a < a_end && b < b_end) {
		bool second = position_is_before(b, a);

		*out++ = second ? *b : *a;
		b += second;
		a += !second;
	}
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
	out += a_end - a;
	memcpy(out, b, (size_t)(b_end - b) * sizeof(*b));
}

/*
 * Merges pairs of neighbouring runs until one is left, back and forth between `from` and `to`.
 * Returns the one of the two that holds the result.
 */
static struct pd_position *merge_all_runs(struct pd_position *from, struct pd_position *to,
					  size_t *ends, size_t n_runs)
{
	while (n_runs > 1) {
		struct pd_position *merged = to;
		size_t start = 0, k = 0;

		for (size_t i = 0; i < n_runs; i += 2) {
			size_t middle = ends[i], end = i + 1 < n_runs ? ends[i + 1] : middle;

			merge_two_runs(from + start, from + middle, from + middle, from + end,
				       to + start);
			ends[k++] = start = end;
		}
		n_runs = k;
		to = from;
		from = merged;
	}
	return from;
}

/*
 * Sorts `n` positions by time; equal times keep the order of offsets. `spare` and `run` must
 * have room for n items each.
 */
static void sort_positions(struct pd_position *positions, size_t n, struct pd_position *spare,
			   uint8_t *run)
{
	size_t ends[RUNS_MOST], next[RUNS_MOST] = { 0 };
	size_t n_runs = deal_to_runs(positions, n, run, ends);
	struct pd_position *sorted;

	if (!n_runs) {
		qsort(positions, n, sizeof(*positions), compare_positions);
		return;
	}
	memcpy(next + 1, ends, (RUNS_MOST - 1) * sizeof(*ends));
	for (size_t i = 0; i < n; i++)
		spare[next[run[i]]++] = positions[i];
	sorted = merge_all_runs(spare, positions, ends, n_runs);
	if (sorted != positions)
		memcpy(positions, sorted, n * sizeof(*positions));
}

/*
 * Returns memory for `n` positions, as many spare ones and a byte for each, as sorting needs;
 * NULL without memory.
 */
static struct pd_position *reserve_scratch(struct pd_chunk_memory *memory, size_t n)
{
	if (n > memory->n) {
		free(memory->positions);
		memory->positions = malloc(n * (2 * sizeof(*memory->positions) + 1));
		memory->n = memory->positions ? n : 0;
	}
	return memory->positions;
}

#define KNOWN_IDS 32 /* a power of two */

/* Whether samples are wanted, by id: a few events take turns. */
struct known_id {
	uint64_t id;
	bool is_chosen;
};

/* Returns true if the samples of a record's event are to be delivered. Binds the record. */
static bool is_event_chosen(const struct pd_merge_stream *s, struct pd_record *rec)
{
	const struct pd_sample_choice *choice = &s->choice;

	pd_bind(&s->locator.binder, rec);
	if (!rec->event)
		return choice->events[choice->n];
	return rec->event->number >= choice->n || choice->events[rec->event->number];
}

/* Returns true if a sample is to be delivered. */
static inline bool is_chosen(const struct pd_merge_stream *s, struct pd_record *rec,
			     struct known_id *ids)
{
	uint32_t at = s->locator.binder.sample_id_at;
	struct known_id *known;
	uint64_t id;

	if (!at || at + 8 > rec->size)
		return is_event_chosen(s, rec);
	id = pb_load64(rec->bytes + at, s->locator.swap);
	known = &ids[id % KNOWN_IDS];
	if (known->id != id)
		*known = (struct known_id){ id, is_event_chosen(s, rec) };
	return known->is_chosen;
}

/*
 * Lists the records of the types in s->want, without the samples that are not chosen. `time`
 * is what a record without a time takes if no record before it in the chunk has one. Returns
 * how many positions were written.
 */
static size_t list_positions(struct pd_loaded_chunk *loaded, const struct pd_merge_stream *s,
			     uint64_t time, struct pd_position *positions)
{
	struct pd_position left_out = { .size = 0 }; /* the last one */
	struct known_id ids[KNOWN_IDS];
	struct pd_record rec;
	size_t n = 0;

	for (size_t i = 0; i < KNOWN_IDS; i++)
		ids[i].id = i + 1; /* has another place: unused */
	for (uint32_t at = 0; loaded->size - at >= 8; at += rec.size) {
		bool has_time;

		rec.bytes = loaded->bytes + at;
		pd_record_header(&rec, rec.bytes, s->locator.swap, s->locator.simpleperf);
		if (rec.size < 8 || rec.size > loaded->size - at)
			break;
		has_time = pd_timestamp_of(&s->locator, &rec, &time);
		positions[n] = (struct pd_position){ pd_merge_time_of(s, time), at, rec.size };
		if (!pd_types_has(&s->want, rec.type))
			continue;
		if (!s->choice.events || rec.type != PD_RECORD_SAMPLE ||
		    is_chosen(s, &rec, ids)) {
			n++;
			continue;
		}
		left_out = positions[n];
		if (has_time && time > loaded->latest)
			loaded->latest = time;
	}
	if (!n && left_out.size)
		positions[n++] = left_out;
	return n;
}

static bool find_positions(struct pd_loaded_chunk *loaded, const struct pd_chunk *chunk,
			   const struct pd_merge_stream *s, struct pd_chunk_memory *memory)
{
	size_t most = loaded->size / 8 + 1, n;
	struct pd_position *positions = reserve_scratch(memory, most);

	if (!positions)
		return false;
	n = list_positions(loaded, s, chunk->first, positions);
	if (!chunk->sorted)
		sort_positions(positions, n, positions + most,
			       (uint8_t *)(positions + 2 * most));
	if (!loaded->positions || n > loaded->n_most) {
		free(loaded->positions);
		loaded->positions = malloc((n + 1) * sizeof(*positions));
		loaded->n_most = (uint32_t)n;
	}
	if (!loaded->positions)
		return false;
	memcpy(loaded->positions, positions, n * sizeof(*positions));
	loaded->positions[n].time = UINT64_MAX;
	loaded->n = (uint32_t)n;
	return true;
}

/* Returns a chunk without content, with the memory of one that was given back if there is. */
static struct pd_loaded_chunk *take_spare(struct pd_chunk_memory *memory)
{
	for (size_t i = 0; i < PD_SPARE_CHUNKS; i++) {
		struct pd_loaded_chunk *spare = atomic_exchange(&memory->spares[i], NULL);

		if (spare)
			return spare;
	}
	return calloc(1, sizeof(struct pd_loaded_chunk));
}

/* Makes `own` memory for `n` bytes, and for most later chunks. Returns false without memory. */
static bool reserve_bytes(struct pd_loaded_chunk *loaded, size_t n)
{
	if (n > loaded->room) {
		loaded->room = n > PD_CHUNK_MOST ? n : PD_CHUNK_MOST;
		free(loaded->block);
		loaded->block = pb_pages(loaded->room);
		if (!loaded->block)
			loaded->room = 0;
	}
	loaded->own = loaded->block;
	return loaded->own;
}

static void destroy_loaded_chunk(struct pd_loaded_chunk *loaded)
{
	if (!loaded)
		return;
	free(loaded->positions);
	free(loaded->block);
	free(loaded);
}

struct pd_loaded_chunk *pd_chunk_load(const struct pd_chunk *chunk,
				      const struct pd_merge_stream *s,
				      struct pd_chunk_memory *memory, struct pd_error *err)
{
	struct pd_input *input = s->stream->input;
	struct pd_loaded_chunk *loaded = take_spare(memory);
	size_t n = chunk->size;

	if (!loaded)
		goto no_memory;
	loaded->own = NULL;
	loaded->latest = 0;
	loaded->bytes = chunk->held;
	if (!chunk->held) {
		if (!reserve_bytes(loaded, n))
			goto no_memory;
		loaded->bytes = loaded->own;
		if (!pd_input_read_timed(input, NULL, chunk->offset, loaded->own, n, n, &n,
					 err)) {
			destroy_loaded_chunk(loaded);
			return NULL;
		}
	}
	loaded->size = (uint32_t)n;
	if (find_positions(loaded, chunk, s, memory))
		return loaded;
no_memory:
	destroy_loaded_chunk(loaded);
	pd_error_set(err, "ENOMEM", input->path, chunk->offset,
		     "no memory for %u bytes of records", chunk->size);
	return NULL;
}

void pd_loaded_chunk_give_back(struct pd_loaded_chunk *loaded, struct pd_chunk_memory *memory)
{
	for (size_t i = 0; loaded && i < PD_SPARE_CHUNKS; i++) {
		struct pd_loaded_chunk *none = NULL;

		if (atomic_compare_exchange_strong(&memory->spares[i], &none, loaded))
			return;
	}
	destroy_loaded_chunk(loaded);
}

void pd_loaded_chunk_free_bytes(struct pd_loaded_chunk *loaded)
{
	free(loaded->block);
	loaded->bytes = loaded->own = loaded->block = NULL;
	loaded->room = 0;
}

void pd_chunk_memory_deinit(struct pd_chunk_memory *memory)
{
	for (size_t i = 0; i < PD_SPARE_CHUNKS; i++)
		destroy_loaded_chunk(atomic_exchange(&memory->spares[i], NULL));
	free(memory->positions);
	memory->positions = NULL;
	memory->n = 0;
}

#define LOADED_WAITING 8 /* loaded chunks that may wait; so few stay in the L2 cache */

struct pd_chunk_prefetch {
	struct pb_producer *producer;
	struct pd_error error; /* why loading ended; read after the producer ended */
	struct pd_chunk_request *requests;
	size_t n;
	struct pd_chunk_memory *memory;
	struct pb_pass *pass; /* that the loading belongs to */
};

/* The order is that of the merge. */
static int compare_requests(const void *a, const void *b)
{
	const struct pd_chunk_request *x = a, *y = b;
	uint64_t x_time = pd_merge_time_of(x->stream, x->chunk->min);
	uint64_t y_time = pd_merge_time_of(y->stream, y->chunk->min);

	if (x_time != y_time)
		return x_time < y_time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void destroy_loaded(void *loaded)
{
	destroy_loaded_chunk(loaded);
}

static void *load_next(void *arg, size_t i)
{
	struct pd_chunk_prefetch *o = arg;
	struct pd_loaded_chunk *loaded;
	struct pb_lap lap;

	if (i == o->n)
		return NULL;
	lap = pb_stage_enter(o->requests[i].stream->stream->input->timing, o->pass,
			     PB_STAGE_ORDER);
	loaded = pd_chunk_load(o->requests[i].chunk, o->requests[i].stream, o->memory,
			       &o->error);
	pb_stage_leave(&lap);
	return loaded;
}

struct pd_chunk_prefetch *pd_chunk_prefetch_start(struct pd_chunk_request *requests, size_t n,
						  struct pd_chunk_memory *memory,
						  struct pb_pass *pass)
{
	struct pd_chunk_prefetch *o = calloc(1, sizeof(*o));

	if (!o) {
		free(requests);
		return NULL;
	}
	qsort(requests, n, sizeof(*requests), compare_requests);
	o->requests = requests;
	o->n = n;
	o->memory = memory;
	o->pass = pass ? pass : pb_pass_current(requests->stream->stream->input->timing);
	o->error.code = "";
	o->producer = pb_producer_start(
		(struct pb_producing){ load_next, destroy_loaded, o, LOADED_WAITING });
	if (o->producer)
		return o;
	pd_chunk_prefetch_stop(o);
	return NULL;
}

void pd_chunk_prefetch_stop(struct pd_chunk_prefetch *o)
{
	if (!o)
		return;
	pb_producer_stop(o->producer);
	free(o->requests);
	free(o);
}

struct pd_loaded_chunk *pd_chunk_prefetch_next(struct pd_chunk_prefetch *o,
					       struct pd_error *err)
{
	struct pd_loaded_chunk *loaded = pb_producer_next(o->producer);

	if (!loaded && err)
		*err = o->error;
	return loaded;
}
