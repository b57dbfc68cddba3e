#include "sideband.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/order/partitions.h"
#include "perfdata/order/time_order.h"
#include "symbols/symbols.h"

#define MOST_BYTES ((size_t)64 << 20) /* of all records found: more are read in order instead */

/* The records that a worker found in a partition. */
struct partition_records {
	const struct pm_finder *of; /* worker that found them */
	size_t partition, first, n;
	const struct pd_stream *stream;
	uint64_t last; /* time of the last record that has one */
	bool timed;
};

/* A worker's finds. It owns the bytes of the records. */
struct pm_finder {
	struct pm_sideband_record *records;
	size_t n, capacity;
	struct partition_records *partitions;
	size_t n_partitions, partitions_capacity;
	struct pb_arena bytes;
	const struct pd_file *file;	     /* the file that was searched last; NULL: none */
	struct pd_timestamp_locator locator; /* timestamp locator of `file` */
};

struct search {
	struct pd_types types;
	struct pm_finder *finders; /* [workers] */
	atomic_size_t bytes;
	atomic_bool gave_up; /* a record of the pass that makes the index found no room */
};

/* A partition that is being searched. */
struct partition_search {
	struct search *search;
	struct pm_finder *finder;
	struct pd_reader *reader;
	const struct pd_timestamp_locator *locator;
	uint64_t last; /* time of the last record that has one */
	bool timed;    /* `last` is of this partition */
};

/*
 * Keeps a copy of a record of `reader`, whose time, or that of the record before it, is `time`.
 * Until join_found() its `number` says whether that is of this partition (`timed`). Returns
 * false if there is no room for it.
 */
static bool keep_record(struct search *search, struct pm_finder *f, struct pd_reader *reader,
			const struct pd_record *rec, uint64_t time, bool timed)
{
	size_t size = sizeof(*f->records) + rec->size;
	struct pm_sideband_record *kept;
	uint8_t *bytes;

	if (atomic_fetch_add(&search->bytes, size) + size > MOST_BYTES ||
	    !pb_reserve(f->records, f->n, f->capacity))
		return false;
	bytes = pb_arena_get(&f->bytes, rec->size);
	if (!bytes)
		return false;
	kept = &f->records[f->n++];
	*kept = (struct pm_sideband_record){ time, timed, *rec };
	kept->rec.bytes = memcpy(bytes, rec->bytes, rec->size);
	pd_bind(&reader->binder, &kept->rec);
	return true;
}

static bool scan_record(struct partition_search *p, struct pd_record *rec)
{
	if (pd_timestamp_of(p->locator, rec, &p->last))
		p->timed = true;
	return !pd_types_has(&p->search->types, rec->type) ||
	       keep_record(p->search, p->finder, p->reader, rec, p->last, p->timed);
}

/*
 * Lists the records that a worker found in a partition, which are those after the ones of its
 * partition before. `last` is the time of the last record, if one is `timed`. Returns false
 * without memory.
 */
static bool list_partition(struct pm_finder *f, const struct pd_partition *partition,
			   uint64_t last, bool timed)
{
	const struct partition_records *before;
	size_t first = 0;

	if (!pb_reserve(f->partitions, f->n_partitions, f->partitions_capacity))
		return false;
	if (f->n_partitions) {
		before = &f->partitions[f->n_partitions - 1];
		first = before->first + before->n;
	}
	f->partitions[f->n_partitions++] = (struct partition_records){
		.of = f,
		.partition = partition->number,
		.first = first,
		.n = f->n - first,
		.stream = partition->reader->stream,
		.last = last,
		.timed = timed,
	};
	return true;
}

/* Skips samples at the head of a run, and stores the last one in *last. */
static inline __attribute__((always_inline)) void skip_sample_run(struct pd_run *run, bool swap,
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

/*
 * Skips samples. Most recordings have the byte order of this host, for which a loop of its own
 * needs no test of it.
 */
static void skip_samples(struct pd_run *run, bool swap, struct pd_record *last)
{
	if (swap)
		skip_sample_run(run, true, last);
	else
		skip_sample_run(run, false, last);
}

/*
 * Scans the rest of the reader's block. In a row of samples only the time of the last is
 * needed, which a record after them may have to take. Returns false if that sample has no time
 * of its own, or there is no room for a record.
 */
static bool scan_block(struct partition_search *p)
{
	struct pd_reader *reader = p->reader;
	const struct pd_blocks *b = &reader->blocks;
	bool samples = p->locator->at[PD_RECORD_SAMPLE] > 0, ok = true;
	struct pd_run run;
	struct pd_record rec = pd_reader_record(reader);

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
		ok = scan_record(p, &rec);
	}
	pd_run_end(&run, reader);
	return ok;
}

static bool search_partition(void *arg, const struct pd_partition *partition)
{
	struct search *s = arg;
	struct pm_finder *f = &s->finders[partition->worker];
	struct partition_search p = { s, f, partition->reader, &f->locator, 0, false };
	struct pd_record rec;
	struct pd_error err;
	bool ok = true;

	if (f->file != partition->reader->file)
		pd_timestamp_locator_init(&f->locator, partition->reader->file);
	f->file = partition->reader->file;
	while (ok && pb_goes_on(&partition->progress, 0, 0) &&
	       pd_reader_advance(partition->reader, &rec, &err) > 0)
		ok = scan_record(&p, &rec) && scan_block(&p);
	if (!ok || !list_partition(f, partition, p.last, p.timed))
		partition->reader->bailed_out = true;
	return true;
}

static void take_watched(void *arg, const struct pd_partition *partition,
			 const struct pd_record *rec, uint64_t time, bool timed)
{
	struct search *s = arg;

	if (!keep_record(s, &s->finders[partition->worker], partition->reader, rec, time,
			 timed))
		atomic_store(&s->gave_up, true);
}

static void end_watched(void *arg, const struct pd_partition *partition, uint64_t time,
			bool timed)
{
	struct search *s = arg;

	if (!list_partition(&s->finders[partition->worker], partition, time, timed))
		atomic_store(&s->gave_up, true);
}

/*
 * Joins the finds of all partitions in the order of the session. A record before the first time
 * of a partition gets the last time of the partition before it.
 */
static void join_found(struct pm_sideband *sideband,
		       const struct partition_records *const *partitions, size_t n)
{
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++) {
		const struct partition_records *f = partitions[i];

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

static int compare_sideband_times(const void *a, const void *b)
{
	const struct pm_sideband_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Sorts the records by time, those of each recording apart if their clocks do not agree. */
static void sort_records(struct pm_sideband *s, bool one_clock)
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
			qsort(&r[from], to - from, sizeof(*r), compare_sideband_times);
	}
}

/* Gathers what all workers found. Returns false without memory. */
static bool gather_records(struct pm_sideband *s, const struct pd_session *session)
{
	const struct partition_records **partitions;
	size_t n = 0, n_partitions = 0;

	for (unsigned i = 0; i < s->n_finders; i++) {
		n += s->finders[i].n;
		n_partitions += s->finders[i].n_partitions;
	}
	partitions = calloc(n_partitions + 1, sizeof(struct partition_records *));
	s->records = calloc(n + 1, sizeof(*s->records));
	for (unsigned i = 0; partitions && i < s->n_finders; i++)
		for (size_t k = 0; k < s->finders[i].n_partitions; k++)
			partitions[s->finders[i].partitions[k].partition] =
				&s->finders[i].partitions[k];
	if (partitions && s->records) {
		join_found(s, partitions, n_partitions);
		sort_records(s, session->one_clock);
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
		.stage = PB_STAGE_NAMES,
	};

	*s = (struct pm_sideband){ .n_finders = work.workers };
	s->finders = search.finders = calloc(work.workers, sizeof(*s->finders));
	pm_system_types(&search.types);
	if (s->finders && pd_partitions_read(session, &work) == PB_OK &&
	    gather_records(s, session))
		return true;
	pm_sideband_deinit(s);
	return false;
}

bool pm_sideband_find_indexing(struct pm_sideband *s, struct pd_session *session,
			       unsigned threads, const struct pb_progress *progress)
{
	struct search search = { .bytes = 0 };
	struct pd_index_watch watch = {
		.take = take_watched,
		.end = end_watched,
		.arg = &search,
	};

	*s = (struct pm_sideband){ .n_finders = threads };
	s->finders = search.finders = calloc(threads, sizeof(*s->finders));
	pm_system_types(&watch.types);
	if (pd_time_order_index(session, threads, s->finders ? &watch : NULL, progress) &&
	    !search.gave_up && gather_records(s, session))
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
