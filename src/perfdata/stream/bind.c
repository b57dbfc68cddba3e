#include "bind.h"

#include "perfdata/format/sample.h"

#define HEADER_SIZE 8

/*
 * Finds where the id lies that selects a record's event: see evlist__id2evsel,
 * tools/perf/util/evlist.c.
 */
static void find_id_offsets(struct pd_binder *b)
{
	const struct pd_shape *shape = &b->file->events[0].shape;
	const struct pd_layout *sample = b->file->events[0].sample;
	uint64_t t = shape->sample_type;

	if (t & PD_SAMPLE_IDENTIFIER) {
		b->sample_id_at = sample->parts[PD_PART_IDENTIFIER];
		b->other_id_at = 8;
	} else if (t & PD_SAMPLE_ID) {
		b->sample_id_at = sample->parts[PD_PART_ID];
		b->other_id_at = (uint16_t)(8 + (t & PD_SAMPLE_CPU ? 8 : 0) +
					    (t & PD_SAMPLE_STREAM_ID ? 8 : 0));
	}
	if (!shape->sample_id_all)
		b->other_id_at = 0;
}

void pd_binder_init(struct pd_binder *b, const struct pd_file *file)
{
	*b = (struct pd_binder){ .file = file };
	b->first = file->n_events ? file->events : NULL;
	if (b->first)
		find_id_offsets(b);
}

/* Returns the event of a record that is no sample, in a file with several events. */
static const struct pd_event *find_other_event(const struct pd_binder *b,
					       const struct pd_record *rec, uint32_t type)
{
	const struct pd_event *events = b->file->events;
	uint32_t at = rec->size - b->other_id_at;

	if (!b->other_id_at || !events->others[type] || !events->others[type]->trailer_size)
		return events;
	/*
	 * In a record too short for its trailer `at` has wrapped around. perf writes an id of 0
	 * in its own records, which are treated as the first event's.
	 */
	if (at < HEADER_SIZE || at > rec->size - 8 ||
	    !pb_load64(rec->bytes + at, b->file->swap))
		return events;
	return pd_event_at(b, rec, at);
}

void pd_bind_other(const struct pd_binder *b, struct pd_record *rec)
{
	const struct pd_file *file = b->file;
	uint32_t type = rec->type < PD_RECORD_TYPES ? rec->type : 0;

	if (!b->first) {
		rec->event = NULL;
		rec->layout = file->bare_layouts[type];
	} else {
		rec->event = pd_binds_by_id(b) ? find_other_event(b, rec, type) : file->events;
		rec->layout = (rec->event ? rec->event : file->events)->others[type];
	}
	if (!rec->layout)
		rec->layout = file->bare_layouts[0];
}
