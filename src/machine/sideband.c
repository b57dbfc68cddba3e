#include "sideband.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vector.h"
#include "machine.h"
#include "perfdata/stream/timestamp.h"

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
	struct pm_sideband *sideband;
	struct pm_sideband_record *records;
	size_t n, capacity;
	struct partition_records *partitions;
	size_t n_partitions, partitions_capacity;
	struct pb_arena bytes;
	const struct pd_file *file;	     /* the file that was searched last; NULL: none */
	struct pd_timestamp_locator locator; /* timestamp locator of `file` */
	uint64_t last;			     /* time of the last record that has one */
	bool timed;			     /* `last` is of the current partition */
	struct pd_reader_watch watch;
};

/*
 * Keeps a copy of a record of `reader`. Until join_found() its `number` says whether its time
 * is of this partition. Returns false if there is no room for it.
 */
static bool keep_record(struct pm_finder *f, struct pd_reader *reader,
			const struct pd_record *rec)
{
	size_t size = sizeof(*f->records) + rec->size;
	struct pm_sideband_record *kept;
	uint8_t *bytes;

	if (atomic_fetch_add(&f->sideband->bytes, size) + size > MOST_BYTES ||
	    !pb_reserve(f->records, f->n, f->capacity))
		return false;
	bytes = pb_arena_get(&f->bytes, rec->size);
	if (!bytes)
		return false;
	kept = &f->records[f->n++];
	*kept = (struct pm_sideband_record){ f->last, f->timed, *rec };
	kept->rec.bytes = memcpy(bytes, rec->bytes, rec->size);
	pd_bind(&reader->binder, &kept->rec);
	return true;
}

static bool find_record(struct pm_finder *f, struct pd_reader *reader, struct pd_record *rec)
{
	if (pd_timestamp_of(&f->locator, rec, &f->last))
		f->timed = true;
	return !pd_types_has(&f->sideband->types, rec->type) || keep_record(f, reader, rec);
}

/*
 * Steps over samples from `p` on, before `end`. Returns the position after them, and sets *last
 * to the last one.
 */
static inline __attribute__((always_inline)) const uint8_t *skip_samples(const uint8_t *p,
									 const uint8_t *end,
									 bool swap,
									 const uint8_t **last)
{
	while (p < end && pb_load32(p, swap) == PD_RECORD_SAMPLE) {
		*last = p;
		p += pb_load16(p + 6, swap);
	}
	return p;
}

/*
 * Takes note of the time of the last sample in a row, which a record after them may have to
 * take. Returns false if that has no time of its own.
 */
static bool note_sample_time(struct pm_finder *f, const uint8_t *sample, size_t size)
{
	struct pd_record rec = {
		.type = PD_RECORD_SAMPLE,
		.bytes = sample,
		.size = (uint32_t)size,
	};

	f->timed = true;
	return pd_timestamp_of(&f->locator, &rec, &f->last);
}

/*
 * Finds records among `size` bytes of plain records, or takes a single record. Most recordings
 * have the byte order of this host, for which a loop of its own needs no test of it.
 */
static void find_in_run(void *arg, struct pd_reader *reader, const struct pd_record *first,
			size_t size)
{
	struct pm_finder *f = arg;
	const uint8_t *p = first->bytes, *end = p + size;
	bool samples = f->locator.at[PD_RECORD_SAMPLE] > 0, ok = true;
	struct pd_record rec = *first;

	if (size == first->size) {
		ok = find_record(f, reader, &rec);
		p = end;
	}
	while (ok && p < end) {
		const uint8_t *sample = NULL;

		if (samples && reader->swap)
			p = skip_samples(p, end, true, &sample);
		else if (samples)
			p = skip_samples(p, end, false, &sample);
		ok = !sample || note_sample_time(f, sample, (size_t)(p - sample));
		if (!ok || p == end)
			break;
		rec.offset = first->offset + (uint64_t)(p - first->bytes);
		rec.bytes = p;
		pd_record_header(&rec, p, reader->swap, false);
		ok = find_record(f, reader, &rec);
		p += rec.size;
	}
	if (!ok)
		atomic_store(&f->sideband->gave_up, true);
}

static void begin_partition(void *arg, const struct pd_partition *partition)
{
	struct pm_sideband *s = arg;
	struct pm_finder *f = &s->finders[partition->worker];
	struct pd_reader *reader = partition->reader;

	if (f->file != reader->file)
		pd_timestamp_locator_init(&f->locator, reader->file);
	f->file = reader->file;
	f->last = 0;
	f->timed = false;
	f->watch = (struct pd_reader_watch){ .take = find_in_run, .arg = f };
	pd_reader_add_watch(reader, &f->watch);
}

/*
 * Lists the records that a worker found in a partition, which are those after the ones of its
 * partition before.
 */
static void end_partition(void *arg, const struct pd_partition *partition)
{
	struct pm_sideband *s = arg;
	struct pm_finder *f = &s->finders[partition->worker];
	const struct partition_records *before;
	size_t first = 0;

	if (!pb_reserve(f->partitions, f->n_partitions, f->partitions_capacity)) {
		atomic_store(&s->gave_up, true);
		return;
	}
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
		.last = f->last,
		.timed = f->timed,
	};
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

bool pm_sideband_gather(struct pm_sideband *s, struct pd_session *session)
{
	const struct partition_records **partitions;
	size_t n = 0, n_partitions = 0;

	session->watches = NULL;
	if (!s->watch.complete || atomic_load(&s->gave_up))
		return false;
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

struct pm_sideband *pm_sideband_create(const struct pd_session *session, unsigned threads)
{
	struct pm_sideband *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->n_finders = pd_partitions_workers(session, threads);
	s->finders = calloc(s->n_finders, sizeof(*s->finders));
	if (!s->finders) {
		free(s);
		return NULL;
	}
	for (unsigned i = 0; i < s->n_finders; i++)
		s->finders[i].sideband = s;
	pm_system_types(&s->types);
	return s;
}

void pm_sideband_destroy(struct pm_sideband *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->n_finders; i++) {
		pb_arena_deinit(&s->finders[i].bytes);
		free(s->finders[i].records);
		free(s->finders[i].partitions);
	}
	free(s->finders);
	free(s->records);
	free(s);
}

void pm_sideband_watch(struct pm_sideband *s, struct pd_session *session)
{
	s->watch = (struct pd_partition_watch){
		.begin = begin_partition,
		.end = end_partition,
		.arg = s,
	};
	pd_session_add_watch(session, &s->watch);
}

/* Reads a partition for its watch alone. */
static bool search_partition(void *arg, const struct pd_partition *partition)
{
	struct pm_sideband *s = arg;
	struct pd_reader *reader = partition->reader;
	struct pd_record rec;
	struct pd_error err;

	while (!atomic_load(&s->gave_up) && pb_goes_on(&partition->progress, 0, 0) &&
	       pd_reader_advance(reader, &rec, &err) > 0)
		pd_run_pass(reader);
	reader->bailed_out = reader->bailed_out || atomic_load(&s->gave_up);
	return true;
}

bool pm_sideband_find(struct pm_sideband *s, struct pd_session *session, unsigned threads,
		      const struct pb_progress *progress)
{
	struct pd_partition_work work = {
		.workers = threads,
		.read = search_partition,
		.arg = s,
		.progress = progress,
		.stage = PB_STAGE_NAMES,
	};

	pm_sideband_watch(s, session);
	pd_partitions_read(session, &work);
	return pm_sideband_gather(s, session);
}
