/*
 * Which event a record is of, and so how it is laid out.
 */
#ifndef PERFLUA_PERFDATA_BIND_H
#define PERFLUA_PERFDATA_BIND_H

#include "perfdata/container/file.h"
#include "perfdata/format/record.h"

struct pd_binder {
	const struct pd_file *file;
	/* event, the only one of many files; NULL: there is none */
	const struct pd_event *first;
	uint16_t sample_id_at; /* offset of a sample's id; 0: it has none */
	uint16_t other_id_at;  /* of another record's, from its end; 0: none */
};

/*
 * Of a file with several events, of which some may come late, each record is asked for its own.
 */
static inline bool pd_binds_by_id(const struct pd_binder *binder)
{
	return binder->file->n_events > 1;
}

void pd_binder_init(struct pd_binder *binder, const struct pd_file *file);

/* The event whose id lies at `at`, which must be within the record; NULL: none has that id. */
static inline const struct pd_event *pd_event_at(const struct pd_binder *binder,
						 const struct pd_record *rec, uint32_t at)
{
	const struct pd_file *file = binder->file;
	uint32_t index = pb_id_map_find(&file->ids.map, pb_load64(rec->bytes + at, file->swap));

	return index == UINT32_MAX ? NULL : &file->events[index];
}

void pd_bind_other(const struct pd_binder *binder, struct pd_record *rec);

/*
 * Sets rec->event and rec->layout by its type and bytes. Samples, nearly all of a file, are
 * inline.
 */
static inline void pd_bind(const struct pd_binder *binder, struct pd_record *rec)
{
	uint32_t at = binder->sample_id_at;

	if (rec->type != PD_RECORD_SAMPLE) {
		pd_bind_other(binder, rec);
		return;
	}
	if (!pd_binds_by_id(binder))
		rec->event = binder->first;
	else
		rec->event = at && at + 8 <= rec->size ? pd_event_at(binder, rec, at) : NULL;
	rec->layout = rec->event ? rec->event->sample : binder->file->unknown_sample;
}

#endif
