#include "outline_internal.h"

#include <stdlib.h>

#include "base/vector.h"
#include "perfdata/order/partitions.h"

#define HEADER_SIZE 8
#define CHAPTER	    ((uint64_t)4 << 20) /* bytes that are copied before progress is asked */
#define RECENT	    256

/* The finds of a worker. */
struct sketch {
	struct pw_selection selection; /* has a time range only */
	bool prepared;		       /* the next five members are set */
	struct pd_timestamp_locator locator;
	uint32_t time_at, thread_at; /* offsets in a sample: of its time, of pid and tid */
	uint32_t least;		     /* bytes of a sample that has both */
	bool checks_ids;	     /* samples of unknown events have other offsets */
	struct part *parts;
	size_t n_parts, parts_room;
	struct chapter *chapters;
	size_t n_chapters, chapters_room;
	struct pb_id_map threads; /* pid << 32 | tid */
	struct pw_outlined_fork *forks;
	size_t n_forks, forks_room;
	/* caches of the last finds, by tid or id % RECENT */
	uint64_t recent_threads[RECENT]; /* keys of `threads` */
	uint64_t recent_ids[RECENT];	 /* ids of known events */
};

static bool has_parts(const struct sketch *s, const struct pd_layout *layout)
{
	return layout->parts[PD_PART_TID] == s->thread_at &&
	       layout->parts[PD_PART_TIME] == s->time_at;
}

/*
 * Sets the offsets of time and thread in samples. Returns false if samples of the recording's
 * events have them at several offsets, or lack them.
 */
static bool prepare_sketch(struct sketch *s, const struct pd_file *file)
{
	if (!file->n_events || file->simpleperf)
		return false;
	s->thread_at = file->events[0].sample->parts[PD_PART_TID];
	s->time_at = file->events[0].sample->parts[PD_PART_TIME];
	for (size_t i = 1; i < file->n_events; i++)
		if (!has_parts(s, file->events[i].sample))
			return false;
	s->checks_ids = !has_parts(s, file->unknown_sample);
	for (uint64_t i = 0; i < RECENT; i++) /* neither belongs there: the caches are empty */
		s->recent_threads[i] = s->recent_ids[i] = i + 1;
	s->least = (s->thread_at > s->time_at ? s->thread_at : s->time_at) + 8;
	pd_timestamp_locator_init(&s->locator, file);
	s->prepared = s->thread_at && s->time_at;
	return s->prepared;
}

static bool begin_chapter(struct sketch *s, uint64_t offset)
{
	if (!pb_reserve(s->chapters, s->n_chapters, s->chapters_room))
		return false;
	s->chapters[s->n_chapters++] = (struct chapter){
		.offset = offset,
		.first = s->n_parts,
		.counts = { .first = UINT64_MAX },
	};
	return true;
}

static struct chapter *last_chapter(const struct sketch *s)
{
	return &s->chapters[s->n_chapters - 1];
}

static void end_chapter(struct sketch *s, uint64_t offset)
{
	struct chapter *c = last_chapter(s);

	c->end = offset;
	c->n = s->n_parts - c->first;
}

/* Returns the part that the next bytes may continue; NULL if the chapter has none yet. */
static inline struct part *last_part(struct sketch *s)
{
	return s->n_parts > last_chapter(s)->first ? &s->parts[s->n_parts - 1] : NULL;
}

/* Returns whether the chapter ends with the end of a round and records that are left out. */
static bool is_without_round(const struct sketch *s, const struct part *last)
{
	const struct part *before = last - 1;

	return last->fate == LEFT_OUT && last > &s->parts[last_chapter(s)->first] &&
	       (before->fate == ROUND_END || before->ends_round);
}

/* Adds the fate of the bytes from an offset on. Returns false without memory. */
static bool add_part(struct sketch *s, uint64_t offset, enum fate fate, uint32_t id)
{
	struct part *last = last_part(s);
	bool ends_round = fate == ROUND_END && last && last->fate == KEPT && !last->ends_round;

	if (fate == ROUND_END && last && is_without_round(s, last))
		fate = LEFT_OUT;
	if (last && (ends_round || (fate <= KEPT && last->fate == fate))) {
		last->ends_round = ends_round;
		return true;
	}
	if (!pb_reserve(s->parts, s->n_parts, s->parts_room))
		return false;
	s->parts[s->n_parts++] = (struct part){ offset, id, fate, false };
	return true;
}

static inline bool add_thread(struct sketch *s, const uint8_t *sample, bool swap)
{
	uint32_t tid = pb_load32(sample + s->thread_at + 4, swap);
	uint64_t thread = (uint64_t)pb_load32(sample + s->thread_at, swap) << 32 | tid;
	uint64_t *recent = &s->recent_threads[tid % RECENT];

	if (*recent == thread)
		return true;
	*recent = thread;
	return pb_id_map_add(&s->threads, thread, 0);
}

/* Returns whether a sample has its thread, and a time, at the usual offsets. Sets *time. */
static inline bool is_usual(struct sketch *s, const struct pd_binder *binder,
			    const uint8_t *sample, uint32_t size, bool swap, uint64_t *time)
{
	uint32_t at = binder->sample_id_at;
	uint64_t id, *recent;

	if (size < s->least)
		return false;
	*time = pb_load64(sample + s->time_at, swap);
	if (*time == 0 || *time == UINT64_MAX)
		return false;
	if (!s->checks_ids)
		return true;
	if (!at || at + 8 > size)
		return false;
	id = pb_load64(sample + at, swap);
	recent = &s->recent_ids[id % RECENT];
	if (*recent == id)
		return true;
	if (pb_id_map_find(&binder->file->ids.map, id) == UINT32_MAX)
		return false;
	*recent = id;
	return true;
}

static inline enum fate fate_of_sample(const struct sketch *s, uint64_t time)
{
	return time >= s->selection.from && time < s->selection.to ? KEPT : LEFT_OUT;
}

static inline void count_sample(struct pw_counts *counts, uint32_t size, uint64_t time)
{
	counts->records++;
	counts->samples++;
	counts->bytes += size;
	counts->sample_bytes += size;
	counts->first = time < counts->first ? time : counts->first;
	counts->last = time > counts->last ? time : counts->last;
}

/* Adds a sample. Returns false if it is unusual, or without memory. */
static bool add_sample(struct sketch *s, const struct pd_binder *binder,
		       const struct pd_record *rec)
{
	uint64_t time;

	if (!is_usual(s, binder, rec->bytes, rec->size, s->locator.swap, &time))
		return false;
	if (fate_of_sample(s, time) == LEFT_OUT)
		return add_part(s, rec->offset, LEFT_OUT, 0);
	count_sample(&last_chapter(s)->counts, rec->size, time);
	return add_part(s, rec->offset, KEPT, 0) && add_thread(s, rec->bytes, s->locator.swap);
}

/*
 * Adds the samples at the beginning of a run that have the fate of the last part, as nearly all
 * records of a recording do. Advances *offset, that of the run in the file, past them.
 */
static inline __attribute__((always_inline)) void continue_part(struct sketch *s,
								struct pd_run *run,
								uint64_t *offset, bool swap)
{
	const struct pd_binder *binder = &run->reader->binder;
	struct pw_counts *chapter = &last_chapter(s)->counts, counts = *chapter;
	struct part *part = last_part(s);
	enum fate fate = part ? part->fate : RECORD;
	const uint8_t *begin = run->at;
	uint64_t time;

	while (pd_run_has(run, swap) && pb_load32(run->at, swap) == PD_RECORD_SAMPLE) {
		uint32_t size = pb_load16(run->at + 6, swap);

		if (!is_usual(s, binder, run->at, size, swap, &time) ||
		    fate_of_sample(s, time) != fate)
			break;
		if (fate == KEPT) {
			if (!add_thread(s, run->at, swap))
				break;
			count_sample(&counts, size, time);
		}
		pd_run_skip(run, size);
	}
	if (run->at == begin)
		return;
	*chapter = counts;
	part->ends_round = false;
	*offset += (uint64_t)(run->at - begin);
}

static bool add_fork(struct sketch *s, const struct pd_record *rec)
{
	if (rec->size < 24)
		return true;
	if (!pb_reserve(s->forks, s->n_forks, s->forks_room))
		return false;
	s->forks[s->n_forks++] = (struct pw_outlined_fork){
		.ppid = pd_rec32(rec, 12),
		.tid = pd_rec32(rec, 16),
		.ptid = pd_rec32(rec, 20),
	};
	return true;
}

/* Adds a record of the kernel that is not a sample. Returns false without memory. */
static bool add_other(struct sketch *s, const struct pd_binder *binder, struct pd_record *rec)
{
	struct pw_counts *counts = &last_chapter(s)->counts;
	uint32_t id = 0;
	enum pw_tie tie;

	pd_bind(binder, rec);
	if (rec->type == PD_RECORD_FORK && !add_fork(s, rec))
		return false;
	if (!pw_keeps_time(&s->selection, &s->locator, rec))
		return add_part(s, rec->offset, LEFT_OUT, 0);
	tie = pw_find_tie(rec, &id);
	if (tie != PW_FREE)
		return add_part(s, rec->offset,
				tie == PW_TIED_TO_THREAD ? OF_THREAD : OF_PROCESS, id);
	counts->records++;
	counts->bytes += rec->size;
	return add_part(s, rec->offset, KEPT, 0);
}

/* Adds a record. Returns false if it cannot be part of an outline, or without memory. */
static inline bool add_record(struct sketch *s, const struct pd_binder *binder,
			      struct pd_record *rec)
{
	if (rec->type == PD_RECORD_SAMPLE)
		return add_sample(s, binder, rec);
	if (rec->type == PD_RECORD_FINISHED_ROUND && rec->size == HEADER_SIZE && !rec->misc)
		return add_part(s, rec->offset, ROUND_END, 0);
	if (rec->type >= PD_RECORD_USER || pw_is_aux(rec->type))
		return !pd_is_compressed(rec->type) && add_part(s, rec->offset, RECORD, 0);
	return add_other(s, binder, rec);
}

/*
 * Adds the records of the reader's block. Returns false as add_record() does. Each byte order
 * has a copy of the inner loop, so that the usual one costs no test for each record.
 */
static bool add_run(struct sketch *s, struct pd_reader *reader)
{
	struct pd_record rec = pd_reader_record(reader);
	struct pd_run run;
	bool ok = true;

	pd_run_begin(&run, reader);
	for (;;) {
		if (reader->swap)
			continue_part(s, &run, &rec.offset, true);
		else
			continue_part(s, &run, &rec.offset, false);
		if (!ok || !pd_run_has(&run, reader->swap))
			break;
		rec.bytes = run.at;
		pd_record_header(&rec, run.at, reader->swap, false);
		ok = add_record(s, &reader->binder, &rec);
		rec.offset += rec.size;
		pd_run_skip(&run, rec.size);
	}
	pd_run_end(&run, reader);
	return ok;
}

static bool sketch_partition(void *arg, const struct pd_partition *partition)
{
	struct pw_outline *o = arg;
	struct sketch *s = &o->sketches[partition->worker];
	struct pd_reader *reader = partition->reader;
	const struct pd_blocks *blocks = &reader->blocks;
	bool ok = (s->prepared || prepare_sketch(s, reader->file)) &&
		  begin_chapter(s, blocks->offset);
	struct pd_record rec;
	struct pd_error err;

	while (ok && pb_goes_on(&partition->progress, 0, 0) &&
	       pd_reader_advance(reader, &rec, &err) > 0) {
		ok = add_record(s, &reader->binder, &rec) && add_run(s, reader);
		if (ok && blocks->offset - last_chapter(s)->offset > CHAPTER) {
			end_chapter(s, blocks->offset);
			ok = begin_chapter(s, blocks->offset);
		}
	}
	if (ok)
		end_chapter(s, blocks->offset);
	reader->bailed_out = reader->bailed_out || !ok;
	return true;
}

static int compare_chapters(const void *a, const void *b)
{
	const struct chapter *const *x = a, *const *y = b;

	return (*x)->offset < (*y)->offset ? -1 : (*x)->offset > (*y)->offset;
}

/* Lists the chapters of all sketches in the order of the file. Returns false without memory. */
static bool join_sketches(struct pw_outline *o)
{
	size_t n = 0;

	for (unsigned i = 0; i < o->n_sketches; i++)
		n += o->sketches[i].n_chapters;
	o->chapters = calloc(n + 1, sizeof(struct chapter *));
	if (!o->chapters)
		return false;
	for (unsigned i = 0; i < o->n_sketches; i++) {
		const struct sketch *s = &o->sketches[i];

		for (size_t k = 0; k < s->n_chapters; k++) {
			s->chapters[k].parts = s->parts + s->chapters[k].first;
			o->chapters[o->n++] = &s->chapters[k];
		}
	}
	qsort(o->chapters, o->n, sizeof(struct chapter *), compare_chapters);
	return true;
}

struct pw_outline *pw_outline_create(struct pd_session *session, uint64_t from, uint64_t to,
				     unsigned workers, const struct pb_progress *progress)
{
	struct pw_outline *o = calloc(1, sizeof(*o));
	struct pd_partition_work work = {
		.workers = pd_partitions_workers(session, workers),
		.read = sketch_partition,
		.arg = o,
		.progress = progress,
		.stage = PB_STAGE_COUNTS,
	};

	if (!o)
		return NULL;
	o->from = from;
	o->to = to;
	o->stream = session->files[0]->streams;
	o->sketches = calloc(work.workers, sizeof(*o->sketches));
	o->n_sketches = o->sketches ? work.workers : 0;
	for (unsigned i = 0; i < o->n_sketches; i++)
		o->sketches[i].selection = (struct pw_selection){ .from = from, .to = to };
	if (o->sketches && session->n_files == 1 && session->files[0]->n_streams == 1 &&
	    fstat(o->stream->input->fd, &o->status) == 0 &&
	    pd_partitions_read(session, &work) == PB_OK && join_sketches(o))
		return o;
	pw_outline_destroy(o);
	return NULL;
}

void pw_outline_destroy(struct pw_outline *o)
{
	if (!o)
		return;
	for (unsigned i = 0; i < o->n_sketches; i++) {
		free(o->sketches[i].parts);
		free(o->sketches[i].chapters);
		free(o->sketches[i].forks);
		pb_id_map_deinit(&o->sketches[i].threads);
	}
	free(o->sketches);
	free(o->chapters);
	free(o);
}

void pw_outline_each_thread(const struct pw_outline *o,
			    void (*take)(void *arg, uint32_t pid, uint32_t tid), void *arg)
{
	for (unsigned i = 0; i < o->n_sketches; i++) {
		const struct pb_id_map *threads = &o->sketches[i].threads;

		for (size_t k = 0; k < threads->n; k++)
			take(arg, (uint32_t)(threads->entries[k].key >> 32),
			     (uint32_t)threads->entries[k].key);
	}
}

void pw_outline_each_fork(const struct pw_outline *o,
			  void (*take)(void *arg, const struct pw_outlined_fork *fork),
			  void *arg)
{
	for (unsigned i = 0; i < o->n_sketches; i++)
		for (size_t k = 0; k < o->sketches[i].n_forks; k++)
			take(arg, &o->sketches[i].forks[k]);
}
