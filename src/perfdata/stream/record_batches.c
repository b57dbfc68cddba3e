#include "record_batches.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "base/producer.h"

#define BATCHES_WAITING 8    /* batches made in advance, at most */
#define BATCH_RANGES	4096 /* ranges of a batch, at most */
/* bytes of the stream for a batch, at most: other types of records may lie between */
#define BATCH_REACH ((uint64_t)4 << 20)
/* bytes of a block that must be free: zstd's largest output, or the longest record */
#define BLOCK_LEAST ((size_t)192 * 1024)
#define LINE	    64	 /* bytes of a cache line */
#define CLAIMED	    2048 /* bytes: see claim_lines() */

struct pd_record_batches {
	struct pb_producer *producer; /* NULL: the caller's thread makes the batches */
	/* used by the producer's thread: */
	_Alignas(PB_APART) struct pd_reader reader;
	bool bailed_out; /* read by others only after the last batch */
	/* used by the caller's thread: */
	_Alignas(PB_APART) struct pd_binder binder; /* the reader's */
	struct pd_timestamp_locator locator;
	bool picks; /* `pick` is not empty */
	struct pd_types pick;
	uint64_t rounds, last;
	pthread_mutex_t lock;
	struct pd_record_batch *spare; /* protected by `lock` */
	struct pb_pass *pass;	       /* that it belongs to */
};

static void destroy_batch(void *arg)
{
	struct pd_record_batch *batch = arg;

	free(batch->ranges);
	free(batch->picked);
	free(batch->block);
	free(batch->uncompressed);
	free(batch);
}

static struct pd_record_batch *create_batch(void)
{
	struct pd_record_batch *batch = calloc(1, sizeof(*batch));

	if (!batch)
		return NULL;
	batch->block = malloc(PD_RECORD_BATCH_SIZE);
	if (batch->block)
		return batch;
	free(batch);
	return NULL;
}

static struct pd_record_batch *take_spare_batch(struct pd_record_batches *b)
{
	struct pd_record_batch *batch;

	pthread_mutex_lock(&b->lock);
	batch = b->spare;
	if (batch)
		b->spare = batch->next;
	pthread_mutex_unlock(&b->lock);
	if (!batch)
		return create_batch();
	batch->n_ranges = batch->n_picked = batch->uncompressed_size = 0;
	batch->latest = 0;
	batch->untimed = false;
	return batch;
}

void pd_record_batches_give_back(struct pd_record_batches *b, struct pd_record_batch *batch)
{
	pthread_mutex_lock(&b->lock);
	batch->next = b->spare;
	b->spare = batch;
	pthread_mutex_unlock(&b->lock);
}

/*
 * Appends a range, unless it is empty. The address of bytes outside of compressed records is
 * set when the batch is complete. Returns false without memory.
 */
static bool add_range(struct pd_record_batch *batch, struct pd_record_range range)
{
	if (!range.size)
		return true;
	if (!pb_reserve(batch->ranges, batch->n_ranges, batch->ranges_capacity))
		return false;
	batch->ranges[batch->n_ranges++] = range;
	return true;
}

static bool batch_is_full(const struct pd_record_batch *batch)
{
	return batch->n_ranges >= BATCH_RANGES;
}

/* Copies a record that lies outside of compressed ones. Returns false without memory. */
static bool take_uncompressed(struct pd_record_batch *batch, const struct pd_record *rec)
{
	struct pd_record_range range = { .size = rec->size,
					 .offset = rec->offset,
					 .chunk_offset = PD_NO_CHUNK };
	struct pd_record_range *last = batch->n_ranges ? &batch->ranges[batch->n_ranges - 1] :
							 NULL;
	size_t size = batch->uncompressed_size + rec->size;

	if (!pb_reserve_more(batch->uncompressed, batch->uncompressed_size, rec->size,
			     batch->uncompressed_capacity))
		return false;
	memcpy(batch->uncompressed + batch->uncompressed_size, rec->bytes, rec->size);
	batch->uncompressed_size = size;
	if (last && last->chunk_offset == PD_NO_CHUNK &&
	    last->offset + last->size == rec->offset) {
		last->size += rec->size;
		return true;
	}
	return add_range(batch, range);
}

/*
 * Takes all records that are decompressed. A record that began in the compressed record before
 * has a range of its own, as its offset differs. Returns false if the bytes cannot be records,
 * or without memory.
 */
static bool take_decompressed(struct pd_record_batches *b, struct pd_record_batch *batch)
{
	const struct pd_reader *r = &b->reader;
	struct pd_decompress *d = r->decompress;
	const uint8_t *p = d->pos, *end = d->end;
	bool before = d->at < 0;
	struct pd_record_range range = {
		.bytes = p,
		.offset = before ? r->began_offset : r->compressed_at,
		.chunk_offset = before ? r->began_chunk_offset : (uint64_t)d->at,
	};
	struct pd_record rec;

	while (end - p >= 8 && !(before && p > d->pos)) {
		pd_record_header(&rec, p, r->swap, r->file->simpleperf);
		/*
		 * damage can claim a size as simpleperf's large records have, for which a block
		 * is too small
		 */
		if (rec.size < 8 || rec.size > UINT16_MAX)
			return false;
		if ((size_t)(end - p) < rec.size)
			break;
		p += rec.size;
	}
	range.size = (size_t)(p - d->pos);
	pd_decompress_skip(d, range.size);
	return add_range(batch, range);
}

/*
 * Asks for the cache lines that will be written next, as the other thread read them last. Many
 * compressed records are small, and records are looked for right after they were decompressed.
 */
static void claim_lines(const uint8_t *from, const uint8_t *end)
{
	if (end - from > CLAIMED)
		end = from + CLAIMED;
	for (; from < end; from += LINE)
#ifdef __x86_64__
		/* the builtin asks for a line to read, unless the processor is named */
		__asm__ volatile("prefetchw %0" : : "m"(*from));
#else
		__builtin_prefetch(from, 1);
#endif
}

/*
 * Takes records from the compressed record that the reader is in. Returns 1 at its end, 0 if
 * the batch is full, -1 if the reader must bail out.
 */
static int read_decompressed(struct pd_record_batches *b, struct pd_record_batch *batch)
{
	struct pd_decompress *d = b->reader.decompress;
	int got;

	do {
		const uint8_t *pos;

		do {
			pos = d->pos;
			if (!take_decompressed(b, batch))
				return -1;
		} while (d->pos > pos);
		if ((size_t)(batch->block + PD_RECORD_BATCH_SIZE - d->end) < BLOCK_LEAST ||
		    batch_is_full(batch))
			return 0;
		claim_lines(d->end, batch->block + PD_RECORD_BATCH_SIZE);
		got = pd_decompress_append(d);
	} while (got > 0);
	b->reader.in_compressed = false;
	return got < 0 ? -1 : 1;
}

/*
 * Sets the addresses of ranges outside of compressed records, as their copies no longer move.
 */
static void place_uncompressed(struct pd_record_batch *batch)
{
	const uint8_t *at = batch->uncompressed;

	for (size_t i = 0; i < batch->n_ranges; i++) {
		struct pd_record_range *range = &batch->ranges[i];

		if (range->chunk_offset != PD_NO_CHUNK)
			continue;
		range->bytes = at;
		at += range->size;
	}
}

/* Fills a batch. Returns 1; 0 at the end of the stream; -1 if the reader bailed out. */
static int fill_batch(struct pd_record_batches *b, struct pd_record_batch *batch)
{
	struct pd_reader *r = &b->reader;
	uint64_t far = r->blocks.offset + BATCH_REACH;
	struct pd_record rec;
	struct pd_error err;
	int got = 1;

	/* made here, so that its memory is near its thread, and no other thread's */
	if (!r->decompress)
		r->decompress = pd_decompress_create(r->stream->input->timing, NULL);
	if (!r->decompress)
		return -1;
	pd_decompress_into(r->decompress, batch->block, PD_RECORD_BATCH_SIZE);
	while (got > 0 && batch->uncompressed_size < PD_RECORD_BATCH_SIZE &&
	       !batch_is_full(batch) && r->blocks.offset < far) {
		if (r->in_compressed) {
			got = read_decompressed(b, batch);
			if (!got)
				return 1; /* the batch is full */
			continue;
		}
		got = pd_reader_advance(r, &rec, &err);
		if (got > 0 && !take_uncompressed(batch, &rec))
			got = -1;
	}
	return r->bailed_out ? -1 : got;
}

static void *make_batch(void *arg, size_t i)
{
	struct pd_record_batches *b = arg;
	struct pb_lap lap = pb_stage_enter(b->reader.stream->input->timing, b->pass,
					   PB_STAGE_READ);
	struct pd_record_batch *batch = take_spare_batch(b);
	int got = batch ? fill_batch(b, batch) : -1;

	(void)i;
	pb_stage_leave(&lap);
	b->bailed_out = got < 0;
	if (batch && (got < 0 || (got == 0 && !batch->n_ranges))) {
		pd_record_batches_give_back(b, batch);
		batch = NULL;
	}
	if (!batch)
		return NULL;
	place_uncompressed(batch);
	batch->done = b->reader.blocks.offset - b->reader.stream->data.offset;
	return batch;
}

static bool init_batches(struct pd_record_batches *b, struct pd_stream *stream)
{
	struct pd_error err;

	pthread_mutex_init(&b->lock, NULL);
	if (!pd_reader_init(&b->reader, stream, &err))
		return false;
	b->reader.speculative = true;
	b->binder = b->reader.binder;
	pd_timestamp_locator_init(&b->locator, stream->file);
	return true;
}

struct pd_record_batches *pd_record_batches_start(struct pd_stream *stream,
						  const struct pd_types *pick, unsigned threads)
{
	struct pd_record_batches *b = pb_apart(1, sizeof(*b));

	if (!b)
		return NULL;
	b->pass = pb_pass_current(stream->input->timing);
	b->picks = pick != NULL;
	if (pick)
		b->pick = *pick;
	if (!init_batches(b, stream)) {
		pd_record_batches_stop(b);
		return NULL;
	}
	/* without a thread the caller's makes the batches */
	if (threads > 1)
		b->producer = pb_producer_start(
			(struct pb_producing){ make_batch, destroy_batch, b, BATCHES_WAITING });
	return b;
}

void pd_record_batches_stop(struct pd_record_batches *b)
{
	if (!b)
		return;
	pb_producer_stop(b->producer);
	pd_reader_deinit(&b->reader);
	while (b->spare) {
		struct pd_record_batch *batch = b->spare;

		b->spare = batch->next;
		destroy_batch(batch);
	}
	pthread_mutex_destroy(&b->lock);
	free(b);
}

const struct pd_binder *pd_record_batches_binder(const struct pd_record_batches *b)
{
	return &b->binder;
}

/*
 * Notes the time of a record, and lists it if it is to be picked. Returns false without memory.
 */
static inline bool note_record(struct pd_record_batches *b, struct pd_record_batch *batch,
			       struct pd_record *rec, uint64_t *latest)
{
	uint64_t before = b->last;
	bool timed = pd_timestamp_of(&b->locator, rec, &b->last);

	if (rec->type == PD_RECORD_FINISHED_ROUND)
		b->rounds++;
	if (rec->type == PD_RECORD_SAMPLE) {
		if (!timed || b->locator.at[PD_RECORD_SAMPLE] <= 0)
			batch->untimed = true;
		else if (b->last > *latest)
			*latest = b->last;
	}
	if (!pd_types_has(&b->pick, rec->type))
		return true;
	if (!pb_reserve(batch->picked, batch->n_picked, batch->picked_capacity))
		return false;
	batch->picked[batch->n_picked++] = (struct pd_picked){ *rec, before };
	return true;
}

/* Notes the records of a range. Returns false without memory. */
static bool note_range(struct pd_record_batches *b, struct pd_record_batch *batch,
		       const struct pd_record_range *range)
{
	const struct pd_file *file = b->reader.file;
	const uint8_t *p = range->bytes, *end = p + range->size;
	bool outside = range->chunk_offset == PD_NO_CHUNK;
	uint64_t latest = batch->latest;
	struct pd_record rec = {
		.offset = range->offset,
		.chunk_offset = range->chunk_offset,
		.source = file->source,
		.stream = b->reader.stream->number,
	};

	for (; p < end; p += rec.size) {
		pd_record_header(&rec, p, file->swap, file->simpleperf);
		rec.bytes = p;
		if (!note_record(b, batch, &rec, &latest))
			return false;
		if (outside)
			rec.offset += rec.size;
		else
			rec.chunk_offset += rec.size;
	}
	batch->latest = latest;
	return true;
}

struct pd_record_batch *pd_record_batches_next(struct pd_record_batches *b, bool *bailed_out)
{
	struct pd_record_batch *batch = b->producer ? pb_producer_next(b->producer) :
						      make_batch(b, 0);
	bool ok = true;

	*bailed_out = !batch && b->bailed_out;
	for (size_t i = 0; ok && batch && b->picks && i < batch->n_ranges; i++)
		ok = note_range(b, batch, &batch->ranges[i]);
	if (!ok) {
		pd_record_batches_give_back(b, batch);
		*bailed_out = true;
		return NULL;
	}
	if (batch)
		batch->rounds = b->rounds;
	return batch;
}
