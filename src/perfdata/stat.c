#include "stat.h"

#include <stdlib.h>
#include <string.h>

#define ASK_EVERY 65536 /* records between two calls of go_on */

static void add(struct pd_count *count, const struct pd_record *rec)
{
	count->records++;
	count->bytes += rec->size;
}

static struct pd_count *count_of(struct pd_stat *stat, uint32_t type)
{
	struct pd_stat_unknown *grown;

	if (type < PD_RECORD_TYPES)
		return &stat->types[type];
	for (size_t i = 0; i < stat->n_unknown; i++)
		if (stat->unknown[i].type == type)
			return &stat->unknown[i].count;
	/* more kinds than any writer has are damage: the last kind counts them */
	if (stat->n_unknown == 256)
		return &stat->unknown[255].count;
	grown = realloc(stat->unknown, (stat->n_unknown + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	stat->unknown = grown;
	grown += stat->n_unknown++;
	*grown = (struct pd_stat_unknown){ .type = type };
	return &grown->count;
}

/* Widens a span of time by a record's; time_id is the number of the name "time". */
static void widen(struct pd_span *span, const struct pd_record *rec, unsigned time_id)
{
	unsigned index = rec->layout->slot[time_id];
	struct pd_value v;

	v.type = PD_NIL; /* an initialiser would clear all of v, for every record */
	if (index)
		pd_record_get(rec, index, &v);
	if (v.type == PD_NIL)
		return;
	if (!span->known || v.u < span->first)
		span->first = v.u;
	if (!span->known || v.u > span->last)
		span->last = v.u;
	span->known = true;
}

static uint64_t lost_count(const struct pd_record *rec, const struct pd_names *names)
{
	struct pd_value v = { .type = PD_NIL };
	unsigned index = rec->layout->slot[pd_name_id(names, "lost", 4)];

	if (index)
		pd_record_get(rec, index, &v);
	return v.type == PD_NIL ? 0 : v.u;
}

static void add_record(struct pd_stat *stat, const struct pd_file *file,
		       const struct pd_record *rec, unsigned time_id)
{
	struct pd_count *count = count_of(stat, rec->type);
	size_t event = rec->event ? rec->event->index : file->n_events;
	uint64_t lost;

	if (count)
		add(count, rec);
	switch (rec->type) {
	case PD_RECORD_SAMPLE:
		add(&stat->events[event].samples, rec);
		widen(&stat->times, rec, time_id);
		break;
	case PD_RECORD_LOST:
		stat->lost_records += lost_count(rec, &file->names);
		break;
	case PD_RECORD_LOST_SAMPLES:
		lost = lost_count(rec, &file->names);
		stat->lost_samples += lost;
		stat->events[event].lost_samples += lost;
		break;
	case PD_RECORD_AUXTRACE:
	case PD_RECORD_TRACING_DATA:
		stat->payload += pd_record_payload(rec).size;
		break;
	}
}

bool pd_stat_collect(struct pd_stat *stat, struct pd_file *file, bool (*go_on)(void *arg),
		     void *arg, struct pd_error *err)
{
	unsigned time_id = pd_name_id(&file->names, "time", 4), asked = 0;
	struct pd_reader reader;
	struct pd_record rec;
	int got = 0;

	memset(stat, 0, sizeof(*stat));
	stat->events = calloc(file->n_events + 1, sizeof(*stat->events));
	if (!stat->events)
		return pd_error_set(err, "ENOMEM", file->path, PD_NO_OFFSET, "no memory");
	if (pd_reader_init(&reader, file, err)) {
		while ((got = pd_reader_next(&reader, &rec, err)) > 0) {
			add_record(stat, file, &rec, time_id);
			if (go_on && ++asked % ASK_EVERY == 0 && !go_on(arg))
				break;
		}
		pd_reader_deinit(&reader);
		if (got >= 0)
			return true;
	}
	pd_stat_deinit(stat);
	return false;
}

void pd_stat_deinit(struct pd_stat *stat)
{
	free(stat->unknown);
	free(stat->events);
	stat->unknown = NULL;
	stat->events = NULL;
}

bool pd_file_times(struct pd_file *file, struct pd_span *times, struct pd_error *err)
{
	unsigned time_id = pd_name_id(&file->names, "time", 4);
	struct pd_reader reader;
	struct pd_record rec;
	int got;

	if (!file->times.known && !file->input.stream) {
		if (!pd_reader_init(&reader, file, err))
			return false;
		pd_reader_want_none(&reader);
		pd_reader_want(&reader, PD_RECORD_SAMPLE);
		*times = (struct pd_span){ 0 };
		while ((got = pd_reader_next(&reader, &rec, err)) > 0)
			widen(times, &rec, time_id);
		pd_reader_deinit(&reader);
		if (got < 0)
			return false;
		file->times = *times;
	}
	*times = file->times;
	return true;
}
