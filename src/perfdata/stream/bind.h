/*
 * Finds the event of a record, and with it the record's layout.
 */
#ifndef PERFLUA_PERFDATA_BIND_H
#define PERFLUA_PERFDATA_BIND_H

#include "perfdata/container/file.h"
#include "perfdata/format/record.h"

struct pd_binder {
	const struct pd_file *file;
	/* the only event of most files; NULL: the file has none */
	const struct pd_event *first;
	uint16_t sample_id_at; /* offset of the id in a sample; 0: samples have none */
	/*
	 * by type, offset of the id in other records; negative: from their end; 0: they have
	 * none
	 */
	int16_t other_id_at[PD_RECORD_TYPES];
};

/*
 * Returns whether each record's id must be looked up: the file has several events. Some may be
 * added late.
 */
static inline bool pd_binds_by_id(const struct pd_binder *binder)
{
	return binder->file->n_events > 1;
}

/* Prepares a binder for the records of `file`, which must outlive it. It needs no deinit. */
void pd_binder_init(struct pd_binder *binder, const struct pd_file *file);

/*
 * Returns the event whose id lies at offset `at`, which must be within the record; NULL if no
 * event has that id.
 */
static inline const struct pd_event *pd_event_at(const struct pd_binder *binder,
						 const struct pd_record *rec, uint32_t at)
{
	const struct pd_file *file = binder->file;
	uint32_t index = pb_id_map_find(&file->ids.map, pb_load64(rec->bytes + at, file->swap));

	return index == UINT32_MAX ? NULL : &file->events[index];
}

/* Binds a record that is not a sample: see pd_bind(). */
void pd_bind_other(const struct pd_binder *binder, struct pd_record *rec);

/*
 * Sets rec->event and rec->layout from the record's type and bytes; rec->event becomes NULL if
 * the event is not known. Inline for samples, which are nearly all records of a file.
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
