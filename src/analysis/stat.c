#include "stat.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* records, or bytes where records are counted in blocks, between two reports of progress */
#define ASK_EVERY 65536
#define MET	  64 /* ids of samples whose events are remembered */

static void add_to_count(struct pd_count *count, const struct pd_record *rec)
{
	count->records++;
	count->bytes += rec->size;
}

static struct pd_count *get_count(struct pd_stat *stat, uint32_t type)
{
	struct pd_stat_unknown *added;

	if (type < PD_RECORD_TYPES)
		return &stat->types[type];
	for (size_t i = 0; i < stat->n_unknown; i++)
		if (stat->unknown[i].type == type)
			return &stat->unknown[i].count;
	/*
	 * no writer has so many types: they are damage, and the last one counts all further
	 * ones
	 */
	if (stat->n_unknown == 256)
		return &stat->unknown[255].count;
	if (!pb_reserve(stat->unknown, stat->n_unknown, stat->unknown_room))
		return NULL;
	added = &stat->unknown[stat->n_unknown++];
	*added = (struct pd_stat_unknown){ .type = type };
	return &added->count;
}

/* Widens a range of times by a record's; `time_id` is the number of the name "time". */
static void add_time(struct pd_time_range *range, const struct pd_record *rec, unsigned time_id)
{
	unsigned index = rec->layout->slot[time_id];
	struct pd_value v;

	v.type = PD_NIL; /* an initialiser would clear all of v for every record */
	if (index)
		pd_record_get(rec, index, &v);
	if (v.type != PD_NIL)
		pd_time_range_widen(range, v.u, v.u);
}

static uint64_t get_lost_count(const struct pd_record *rec, const struct pd_field_names *names)
{
	struct pd_value v = { .type = PD_NIL };
	unsigned index = rec->layout->slot[pd_field_name_id(names, "lost", 4)];

	if (index)
		pd_record_get(rec, index, &v);
	return v.type == PD_NIL ? 0 : v.u;
}

static bool reserve_stat_events(struct pd_stat *stat, size_t n_events)
{
	return n_events <= stat->n_events || pb_extend(stat->events, stat->n_events, n_events);
}

/*
 * Returns the counts of the record's event; NULL if it is not known, or was added late and
 * there is no memory for it.
 */
static struct pd_stat_event *get_stat_event(struct pd_stat *stat,
					    const struct pd_session *session,
					    const struct pd_record *rec)
{
	if (!rec->event || (rec->event->number >= stat->n_events &&
			    !reserve_stat_events(stat, session->n_events)))
		return NULL;
	return &stat->events[rec->event->number];
}

static void add_loss(struct pd_stat *stat, struct pd_stat_event *event,
		     const struct pd_record *rec, uint64_t lost)
{
	if (pd_record_loss(rec) == PD_LOSS_RECORDS) {
		stat->lost_records += lost;
		return;
	}
	stat->lost_samples += lost;
	if (event)
		event->lost_samples += lost;
}

static void add_payload(struct pd_stat *stat, const struct pd_session *session,
			const struct pd_record *rec)
{
	struct pd_section payload = pd_record_payload(rec);

	if (pd_stream_holds(pd_session_stream(session, rec), payload))
		stat->payload += payload.size;
}

static void count_record(struct pd_stat *stat, const struct pd_session *session,
			 const struct pd_record *rec, unsigned time_id)
{
	struct pd_count *count = get_count(stat, rec->type);
	struct pd_stat_event *event = get_stat_event(stat, session, rec);
	const struct pd_record_desc *desc = rec->layout->desc;

	if (count)
		add_to_count(count, rec);
	if (rec->type == PD_RECORD_SAMPLE) {
		add_to_count(event ? &event->samples : &stat->unknown_event, rec);
		add_time(&stat->times, rec, time_id);
		return;
	}
	if (desc && desc->loss)
		add_loss(stat, event, rec,
			 get_lost_count(rec, &session->files[0]->field_names));
	if (desc && desc->payload)
		add_payload(stat, session, rec);
}

bool pd_stat_init(struct pd_stat *stat, const struct pd_session *session)
{
	memset(stat, 0, sizeof(*stat));
	return reserve_stat_events(stat, session->n_events);
}

/* Counts of consecutive samples. */
struct tally {
	struct pd_count count;
	struct pd_time_range times;
};

static void add_tally(struct pd_stat *stat, const struct pd_event *event,
		      const struct tally *tally)
{
	struct pd_count *all = &stat->types[PD_RECORD_SAMPLE];

	if (!tally->count.records)
		return;
	all->records += tally->count.records;
	all->bytes += tally->count.bytes;
	if (event) {
		stat->events[event->number].samples.records += tally->count.records;
		stat->events[event->number].samples.bytes += tally->count.bytes;
	}
	pd_time_range_widen(&stat->times, tally->times.first, tally->times.last);
}

/*
 * The records that are counted: their file, and the offset of the time in all its samples (0:
 * it differs).
 */
struct counted {
	const struct pd_session *session;
	const struct pd_binder *binder;
	unsigned time_id;
	uint32_t time_at;
	/* events by id, of which few are in use at a time; event NULL: empty */
	struct pd_met {
		uint64_t id;
		const struct pd_event *event;
	} met[MET];
};

/* Returns the event of a sample in a file with several events, or NULL. */
static inline const struct pd_event *find_met_event(struct counted *c, struct pd_record *rec)
{
	uint32_t at = c->binder->sample_id_at;
	struct pd_met *met;
	uint64_t id;

	if (!at || at + 8 > rec->size)
		return NULL;
	id = pb_load64(rec->bytes + at, c->binder->file->swap);
	met = &c->met[id % MET];
	if (!met->event || met->id != id)
		*met = (struct pd_met){ id, pd_event_at(c->binder, rec, at) };
	return met->event;
}

/* Counts a record, whose event `rec` lacks. For most samples header, time and id are enough. */
static inline __attribute__((always_inline)) void count_one(struct pd_stat *stat,
							    struct counted *c,
							    struct pd_record *rec,
							    const struct pd_event *only,
							    struct tally *t)
{
	bool swap = c->binder->file->swap;
	bool sample = rec->type == PD_RECORD_SAMPLE && c->time_at &&
		      c->time_at + 8 <= rec->size;

	rec->event = only || !sample ? only : find_met_event(c, rec);
	if (sample && rec->event && rec->event->number < stat->n_events) {
		uint64_t time = pb_load64(rec->bytes + c->time_at, swap);

		t->times.first = time < t->times.first ? time : t->times.first;
		t->times.last = time > t->times.last ? time : t->times.last;
		add_to_count(&t->count, rec);
		if (!only)
			add_to_count(&stat->events[rec->event->number].samples, rec);
	} else {
		pd_bind(c->binder, rec);
		count_record(stat, c->session, rec, c->time_id);
	}
}

static const struct pd_event *get_only_event(const struct pd_binder *binder)
{
	return pd_binds_by_id(binder) ? NULL : binder->first;
}

/* Counts the records of the reader's block while nothing about them is unusual. */
static void count_block(struct pd_stat *stat, struct counted *c, struct pd_reader *reader)
{
	const struct pd_event *only = get_only_event(c->binder);
	struct tally t = { .times = { .first = UINT64_MAX } };
	struct pd_run run;
	struct pd_record rec = pd_reader_record(reader);

	pd_run_begin(&run, reader);
	while (pd_run_has(&run, reader->swap)) {
		pd_record_header(&rec, run.at, reader->swap, false);
		rec.bytes = run.at;
		count_one(stat, c, &rec, only, &t);
		pd_run_skip(&run, rec.size);
		rec.offset += rec.size;
	}
	pd_run_end(&run, reader);
	add_tally(stat, only, &t);
}

/* Counts the records of a range. */
static void count_range(struct pd_stat *stat, struct counted *c,
			const struct pd_record_range *range)
{
	const struct pd_event *only = get_only_event(c->binder);
	const struct pd_file *file = c->binder->file;
	const uint8_t *p = range->bytes, *end = p + range->size;
	struct tally t = { .times = { .first = UINT64_MAX } };
	struct pd_record rec = {
		.offset = range->offset,
		.chunk_offset = range->chunk_offset,
		.source = file->source,
	};

	for (; p < end; p += rec.size) {
		pd_record_header(&rec, p, file->swap, file->simpleperf);
		rec.bytes = p;
		count_one(stat, c, &rec, only, &t);
		/*
		 * only records outside of compressed ones have a payload, which needs their
		 * offset
		 */
		rec.offset += range->chunk_offset == PD_NO_CHUNK ? rec.size : 0;
	}
	add_tally(stat, only, &t);
}

/* Returns the offset of the time in all samples of a file; 0 if it differs. */
static uint32_t find_sample_time(const struct pd_file *file, unsigned time_id)
{
	int at = 0;

	for (size_t i = 0; i < file->n_events; i++) {
		const struct pd_layout *layout = file->events[i].sample;
		const struct pd_bound *b = &layout->bound[layout->slot[time_id]];

		if (!layout->slot[time_id] || !b->direct || (i && b->at != at))
			return 0;
		at = b->at;
	}
	return (uint32_t)at;
}

static struct counted make_counted(const struct pd_session *session,
				   const struct pd_binder *binder)
{
	unsigned time_id = pd_field_name_id(&binder->file->field_names, "time", 4);

	return (struct counted){
		.session = session,
		.binder = binder,
		.time_id = time_id,
		.time_at = find_sample_time(binder->file, time_id),
	};
}

enum pb_outcome pd_stat_read_batches(struct pd_stat *stat, const struct pd_session *session,
				     struct pd_record_batches *batches,
				     const struct pb_progress *progress)
{
	struct counted counted = make_counted(session, pd_record_batches_binder(batches));
	bool bailed_out = false, goes_on = true;
	struct pd_record_batch *batch;

	while (goes_on && (batch = pd_record_batches_next(batches, &bailed_out))) {
		for (size_t i = 0; i < batch->n_ranges; i++)
			count_range(stat, &counted, &batch->ranges[i]);
		goes_on = pb_goes_on(progress, batch->done, pd_session_size(session));
		pd_record_batches_give_back(batches, batch);
	}
	return bailed_out ? PB_RETRY_SERIAL : goes_on ? PB_OK : PB_STOPPED;
}

int pd_stat_read(struct pd_stat *stat, const struct pd_session *session,
		 struct pd_reader *reader, const struct pb_progress *progress,
		 struct pd_error *err)
{
	struct counted counted = make_counted(session, &reader->binder);
	const struct pd_blocks *b = &reader->blocks;
	uint64_t asked = b->offset;
	struct pd_record rec;
	int got;

	while ((got = pd_reader_next(reader, &rec, err)) > 0) {
		count_record(stat, session, &rec, counted.time_id);
		count_block(stat, &counted, reader);
		if (b->offset - asked < ASK_EVERY)
			continue;
		asked = b->offset;
		if (!pb_goes_on(progress, b->offset - b->start, b->limit - b->start))
			break;
	}
	return got;
}

/*
 * Counts the samples that a record of the event is delivered as. Returns false without memory.
 */
static bool add_delivered(struct pd_stat *stat, struct pd_session *session,
			  struct pd_counters *counters, const struct pd_record *rec)
{
	struct pd_stat_event *event = get_stat_event(stat, session, rec);
	struct pd_record sample;
	int got;

	if (!pd_has_counters(rec)) {
		if (event && rec->type == PD_RECORD_SAMPLE)
			event->delivered++;
		return true;
	}
	stat->split = true;
	pd_counters_split(counters, rec);
	while ((got = pd_counters_next(counters, &sample)) > 0) {
		event = get_stat_event(stat, session, &sample);
		if (event)
			event->delivered++;
	}
	return got == 0;
}

bool pd_stat_collect(struct pd_stat *stat, struct pd_session *session,
		     const struct pb_progress *progress, struct pd_error *err)
{
	unsigned time_id = pd_field_name_id(&session->files[0]->field_names, "time", 4),
		 asked = 0;
	struct pd_counters *counters = pd_counters_create(session);
	bool enough = counters != NULL;
	struct pd_walk walk;
	struct pd_record rec;
	int got = -1;

	if (!pd_stat_init(stat, session)) {
		pd_counters_destroy(counters);
		return pd_error_set(err, "ENOMEM", session->files[0]->path, PD_NO_OFFSET,
				    "no memory");
	}
	if (pd_walk_init(&walk, session, PD_ORDER_FILE, err)) {
		while (enough && (got = pd_walk_next(&walk, &rec, err)) > 0) {
			if (asked++ % ASK_EVERY == 0 && !pb_goes_on(progress, 0, 0))
				break;
			count_record(stat, session, &rec, time_id);
			enough = add_delivered(stat, session, counters, &rec);
		}
		pd_walk_deinit(&walk);
		if (enough && got < 0 && pd_error_interrupted(err))
			got = 0;
	}
	pd_counters_destroy(counters);
	if (!enough || (got >= 0 && !reserve_stat_events(stat, session->n_events))) {
		pd_error_set(err, "ENOMEM", session->files[0]->path, PD_NO_OFFSET, "no memory");
		got = -1;
	}
	if (got < 0)
		pd_stat_deinit(stat);
	return got >= 0;
}

static void merge_count(struct pd_count *count, const struct pd_count *from)
{
	count->records += from->records;
	count->bytes += from->bytes;
}

void pd_stat_merge(struct pd_stat *stat, const struct pd_stat *from)
{
	for (size_t i = 0; i < PD_RECORD_TYPES; i++)
		merge_count(&stat->types[i], &from->types[i]);
	for (size_t i = 0; i < from->n_unknown; i++) {
		struct pd_count *count = get_count(stat, from->unknown[i].type);

		if (count)
			merge_count(count, &from->unknown[i].count);
	}
	for (size_t i = 0; i < stat->n_events && i < from->n_events; i++) {
		merge_count(&stat->events[i].samples, &from->events[i].samples);
		stat->events[i].lost_samples += from->events[i].lost_samples;
	}
	merge_count(&stat->unknown_event, &from->unknown_event);
	stat->lost_records += from->lost_records;
	stat->lost_samples += from->lost_samples;
	stat->payload += from->payload;
	if (from->times.known)
		pd_time_range_widen(&stat->times, from->times.first, from->times.last);
}

void pd_stat_deinit(struct pd_stat *stat)
{
	free(stat->unknown);
	free(stat->events);
	stat->unknown = NULL;
	stat->events = NULL;
}
