#include "sideband.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/order/partitions.h"
#include "symbols/symbols.h"

#define MOST_BYTES ((size_t)64 << 20) /* of what is found: then it is read in order instead */

/* What a partition has, of a worker's records. */
struct found {
	const struct pm_finder *of; /* the worker's */
	size_t partition, first, n;
	const struct pd_stream *stream;
	uint64_t last; /* time in it, if it has any */
	bool timed;
};

/* What a thread found. */
struct pm_finder {
	struct pm_sideband_record *records;
	size_t n, capacity;
	struct found *partitions;
	size_t n_partitions, partitions_capacity;
	struct pb_arena bytes;
	const struct pd_file *file;	     /* that it searched last; NULL: none */
	struct pd_timestamp_locator locator; /* its */
};

struct search {
	struct pd_types types;
	struct pm_finder *finders; /* one for each thread */
	atomic_size_t bytes;
};

/* A partition that is searched. */
struct place {
	struct search *search;
	struct pm_finder *finder;
	struct pd_reader *reader;
	const struct pd_timestamp_locator *locator;
	uint64_t last; /* time */
	bool timed;    /* it is one of this partition */
};

/* Keeps a record; its number is for now whether its time is of this partition. */
static bool keep(struct place *p, const struct pd_record *rec)
{
	struct pm_finder *f = p->finder;
	size_t size = sizeof(*f->records) + rec->size;
	struct pm_sideband_record *kept;
	uint8_t *bytes;

	if (atomic_fetch_add(&p->search->bytes, size) + size > MOST_BYTES ||
	    !pb_reserve(f->records, f->n, f->capacity))
		return false;
	bytes = pb_arena_get(&f->bytes, rec->size);
	if (!bytes)
		return false;
	kept = &f->records[f->n++];
	*kept = (struct pm_sideband_record){ p->last, p->timed, *rec };
	kept->rec.bytes = memcpy(bytes, rec->bytes, rec->size);
	pd_bind(&p->reader->binder, &kept->rec);
	return true;
}

static bool meet(struct place *p, struct pd_record *rec)
{
	if (pd_timestamp_of(p->locator, rec, &p->last))
		p->timed = true;
	return !pd_types_has(&p->search->types, rec->type) || keep(p, rec);
}

/* Steps over samples of the run; *last becomes the last of them. */
static inline __attribute__((always_inline)) void skip_row(struct pd_run *run, bool swap,
							   struct pd_record *last)
{
	struct pd_run r = *run;

	while (pd_run_has(&r, swap) && pb_load32(r.at, swap) == PD_RECORD_SAMPLE) {
		last->bytes = r.at;
		pd_run_skip(&r, pb_load16(r.at + 6, swap));
	}
	*run = r;
	if (last->bytes)
		last->size = (uint32_t)(r.at - last->bytes);
}

/* Most are of this host's byte order: nothing need be asked of it there. */
static void skip_samples(struct pd_run *run, bool swap, struct pd_record *last)
{
	if (swap)
		skip_row(run, true, last);
	else
		skip_row(run, false, last);
}

/*
 * Meets the records of the reader's block, as long as nothing about them is unusual. Of samples
 * in a row only the last one's time is needed, which the next record may have to take; if it
 * has none, so that it is that of one before it, this fails.
 */
static bool meet_block(struct place *p)
{
	struct pd_reader *reader = p->reader;
	const struct pd_blocks *b = &reader->blocks;
	bool samples = p->locator->at[PD_RECORD_SAMPLE] > 0, ok = true;
	struct pd_run run;
	struct pd_record rec = {
		.chunk_offset = PD_NO_CHUNK,
		.source = reader->file->source,
		.stream = reader->stream->number,
	};

	pd_run_begin(&run, reader);
	while (ok) {
		struct pd_record sample = { .type = PD_RECORD_SAMPLE };

		if (samples)
			skip_samples(&run, reader->swap, &sample);
		if (sample.bytes && !pd_timestamp_of(p->locator, &sample, &p->last))
			ok = false;
		p->timed = p->timed || sample.bytes;
		if (!ok || !pd_run_has(&run, reader->swap))
			break;
		rec.offset = b->offset + (uint64_t)(run.at - b->pos);
		rec.bytes = run.at;
		pd_record_header(&rec, run.at, reader->swap, false);
		pd_run_skip(&run, rec.size);
		ok = meet(p, &rec);
	}
	pd_run_end(&run, reader);
	return ok;
}

static bool search_partition(void *arg, const struct pd_partition *partition)
{
	struct search *s = arg;
	struct pm_finder *f = &s->finders[partition->worker];
	struct place p = { s, f, partition->reader, &f->locator, 0, false };
	size_t first = f->n;
	struct pd_record rec;
	struct pd_error err;
	bool ok = true;

	if (f->file != partition->reader->file)
		pd_timestamp_locator_init(&f->locator, partition->reader->file);
	f->file = partition->reader->file;
	while (ok && pb_goes_on(&partition->progress, 0, 0) &&
	       pd_reader_advance(partition->reader, &rec, &err) > 0)
		ok = meet(&p, &rec) && meet_block(&p);
	if (!ok || !pb_reserve(f->partitions, f->n_partitions, f->partitions_capacity)) {
		partition->reader->bailed_out = true;
		return true;
	}
	f->partitions[f->n_partitions++] = (struct found){
		.of = f,
		.partition = partition->number,
		.first = first,
		.n = f->n - first,
		.stream = partition->reader->stream,
		.last = p.last,
		.timed = p.timed,
	};
	return true;
}

/*
 * Puts what was found in a row, as it lies. What a partition begins with has the time of the
 * partition before it.
 */
static void put_in_row(struct pm_sideband *sideband, const struct found *const *partitions,
		       size_t n)
{
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++) {
		const struct found *f = partitions[i];

		if (i && f->stream != partitions[i - 1]->stream)
			last = 0;
		for (size_t k = 0; k < f->n; k++) {
			struct pm_sideband_record *r = &sideband->records[sideband->n];

			*r = f->of->records[f->first + k];
			if (!r->number)
				r->time = last;
			r->number = sideband->n++;
		}
		if (f->timed)
			last = f->last;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct pm_sideband_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Sorts them, those of each recording by itself if their times cannot be compared. */
static void sort(struct pm_sideband *s, bool one_clock)
{
	struct pm_sideband_record *r = s->records;

	for (size_t from = 0, to = 0; from < s->n; from = to) {
		bool sorted = true;

		for (to = from + 1; to < s->n; to++) {
			if (!one_clock && r[to].rec.source != r[from].rec.source)
				break;
			sorted = sorted && r[to].time >= r[to - 1].time;
		}
		if (!sorted)
			qsort(&r[from], to - from, sizeof(*r), by_time);
	}
}

/* Puts what all threads found together; false: no memory. */
static bool gather(struct pm_sideband *s, const struct pd_session *session)
{
	const struct found **partitions;
	size_t n = 0, n_partitions = 0;

	for (unsigned i = 0; i < s->n_finders; i++) {
		n += s->finders[i].n;
		n_partitions += s->finders[i].n_partitions;
	}
	partitions = calloc(n_partitions + 1, sizeof(struct found *));
	s->records = calloc(n + 1, sizeof(*s->records));
	for (unsigned i = 0; partitions && i < s->n_finders; i++)
		for (size_t k = 0; k < s->finders[i].n_partitions; k++)
			partitions[s->finders[i].partitions[k].partition] =
				&s->finders[i].partitions[k];
	if (partitions && s->records) {
		put_in_row(s, partitions, n_partitions);
		sort(s, session->one_clock);
	}
	free(partitions);
	return partitions && s->records;
}

bool pm_sideband_find(struct pm_sideband *s, struct pd_session *session, unsigned threads,
		      const struct pb_progress *progress)
{
	struct search search = { .bytes = 0 };
	struct pd_partition_work work = {
		.workers = pd_partitions_workers(session, threads),
		.read = search_partition,
		.arg = &search,
		.progress = progress,
	};

	*s = (struct pm_sideband){ .n_finders = work.workers };
	s->finders = search.finders = calloc(work.workers, sizeof(*s->finders));
	pm_machine_types(&search.types);
	if (s->finders && pd_partitions_read(session, &work) == PB_OK && gather(s, session))
		return true;
	pm_sideband_deinit(s);
	return false;
}

void pm_sideband_deinit(struct pm_sideband *s)
{
	for (unsigned i = 0; s->finders && i < s->n_finders; i++) {
		pb_arena_deinit(&s->finders[i].bytes);
		free(s->finders[i].records);
		free(s->finders[i].partitions);
	}
	free(s->finders);
	free(s->records);
	*s = (struct pm_sideband){ 0 };
}
