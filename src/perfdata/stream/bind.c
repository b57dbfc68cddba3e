#include "bind.h"

#include <string.h>

#include "perfdata/format/sample.h"
#include "perfdata/format/views.h"

#define HEADER_SIZE 8
#define READ_VALUES 16 /* offset of the counter values in a READ record */

/* Sets the offset of the id in samples: see evlist__id2evsel, tools/perf/util/evlist.c. */
static void find_sample_id(struct pd_binder *b)
{
	const struct pd_layout *sample = b->file->events[0].sample;
	uint64_t type = b->file->events[0].shape.sample_type;

	if (type & PD_SAMPLE_IDENTIFIER)
		b->sample_id_at = sample->parts[PD_PART_IDENTIFIER];
	else if (type & PD_SAMPLE_ID)
		b->sample_id_at = sample->parts[PD_PART_ID];
}

/* Sets the offsets of the field `id`, in the body or the trailer, of records that have one. */
static void find_other_ids(struct pd_binder *b)
{
	const struct pd_event *first = b->file->events;
	unsigned id = pd_field_name_id(&b->file->field_names, "id", strlen("id"));
	uint64_t format = first->shape.read_format;

	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
		const struct pd_layout *layout = first->others[type];

		if (!layout || !layout->slot[id])
			continue;
		b->other_id_at[type] = layout->bound[layout->slot[id]].at;
		/* the last of all trailers, however long they are */
		if (b->other_id_at[type] < 0 && first->shape.sample_type & PD_SAMPLE_IDENTIFIER)
			b->other_id_at[type] = -8;
	}
	/* without a trailer, the id of its first counter, which is the leader's of a group */
	if (!b->other_id_at[PD_RECORD_READ] && format & PD_READ_ID)
		b->other_id_at[PD_RECORD_READ] = (int16_t)(READ_VALUES +
							   pd_read_header_size(format) + 8);
}

void pd_binder_init(struct pd_binder *b, const struct pd_file *file)
{
	*b = (struct pd_binder){ .file = file };
	b->first = file->n_events ? file->events : NULL;
	if (b->first) {
		find_sample_id(b);
		find_other_ids(b);
	}
}

/* Returns the event of a header_attr record, which is that of its first id. */
static const struct pd_event *find_described_event(const struct pd_binder *b,
						   struct pd_record *rec)
{
	struct pd_value ids = { .type = PD_VIEW };

	rec->layout = b->first->others[rec->type];
	pd_open_ids(rec, HEADER_SIZE, &ids);
	return ids.type == PD_VIEW && ids.view.count ? pd_event_at(b, rec, ids.view.at) :
						       b->first;
}

/* Returns the event of a record that is not a sample, in a file with several events. */
static const struct pd_event *find_other_event(const struct pd_binder *b, struct pd_record *rec,
					       uint32_t type)
{
	int32_t id_at = b->other_id_at[type];
	uint32_t at = id_at < 0 ? rec->size + (uint32_t)id_at : (uint32_t)id_at;

	if (!id_at)
		return type == PD_RECORD_HEADER_ATTR ? find_described_event(b, rec) : b->first;
	/*
	 * In a record too short for its id `at` is too large, or has wrapped around. perf
	 * writes an id of 0 in its own records, which are treated as the first event's.
	 */
	if (at < HEADER_SIZE || at > rec->size - 8 ||
	    !pb_load64(rec->bytes + at, b->file->swap))
		return b->first;
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
		rec->event = pd_binds_by_id(b) ? find_other_event(b, rec, type) : b->first;
		rec->layout = (rec->event ? rec->event : b->first)->others[type];
	}
	if (!rec->layout)
		rec->layout = file->bare_layouts[0];
}
