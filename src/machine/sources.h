/*
 * The recordings of a session, which are the sources of records: the machine that each is of,
 * and the time of a record. sources.c also tells which guest a record is of: see pm_guests.
 */
#ifndef PERFLUA_MACHINE_SOURCES_H
#define PERFLUA_MACHINE_SOURCES_H

#include "machine/maps/maps.h"
#include "perfdata/order/time_order.h"

struct pm_source {
	/* number of its machine: see machine.h */
	uint32_t machine;
	bool timed; /* else the order of the file is taken for that of time */
	bool alone; /* one of several recordings, and the only one of its machine */
	/*
	 * A record with a time was added: records that perf synthesizes are of its end from now
	 * on.
	 */
	bool begun;
	uint64_t first_timestamp; /* ns when it began; 0: the only or earliest recording */
	uint64_t *before; /* [n_streams], if not timed: bytes of the streams before each */
};

struct pm_sources {
	struct pm_source *list; /* [n] */
	size_t n;
	unsigned time_id;
};

/*
 * Initializes *sources for the recordings of `session`. Returns false without memory:
 * pm_sources_deinit() is to be called then, too.
 */
bool pm_sources_init(struct pm_sources *sources, const struct pd_session *session);
void pm_sources_deinit(struct pm_sources *sources);

/*
 * Finds when each recording began, in one pass over the records that `options` select; the
 * recordings must be readable again. Returns false if that fails, with *err set, or if
 * options->progress stops it.
 */
bool pm_sources_find_first_timestamps(struct pm_sources *sources, struct pd_session *session,
				      const struct pd_walk_options *options,
				      struct pd_error *err);

/*
 * Find when each recording began from records that are at hand. If
 * pm_sources_need_first_timestamps() returns true, call begin, then pm_sources_note_timestamp()
 * for every record, then end. begin returns false and sets *err if the recordings cannot be
 * read.
 */
bool pm_sources_need_first_timestamps(const struct pm_sources *sources,
				      const struct pd_session *session);
bool pm_sources_begin_first_timestamps(struct pm_sources *sources, struct pd_session *session,
				       struct pd_error *err);
void pm_sources_note_timestamp(struct pm_sources *sources, const struct pd_record *rec);
void pm_sources_end_first_timestamps(struct pm_sources *sources);

/* Returns the recording that `rec` is of. */
static inline struct pm_source *pm_source_of(const struct pm_sources *sources,
					     const struct pd_record *rec)
{
	return &sources->list[rec->source ? rec->source - 1u : 0];
}

/* Does what pm_integer() does, for a field that takes more than a load. */
bool pm_integer_decoded(const struct pd_record *rec, unsigned index, int64_t *out);

/*
 * Sets *out to an integer field of `rec`. Returns false, and leaves *out undefined, if it has
 * none of that name.
 */
static inline bool pm_integer(const struct pd_record *rec, unsigned name_id, int64_t *out)
{
	unsigned index = rec->layout->slot[name_id];

	return pd_record_integer(rec, index, out) || pm_integer_decoded(rec, index, out);
}

/* Sets *out to a field of `rec`; PD_NIL if it has none of that name. */
static inline void pm_get(const struct pd_record *rec, unsigned name_id, struct pd_value *out)
{
	unsigned index = rec->layout->slot[name_id];

	out->type = PD_NIL;
	if (index)
		pd_record_get(rec, index, out);
}

/*
 * Returns true if the samples of all recordings have times. In a recording without, only FORK
 * and EXIT records have one, so in the order of time they would come too early.
 */
bool pm_sources_are_timed(const struct pm_sources *sources);

/*
 * Returns the position of a record in a source without times, as a number that grows from
 * record to record.
 */
uint64_t pm_position_of(const struct pm_source *source, const struct pd_record *rec);

/* Returns the time of a record, or the position that stands for it; PM_NO_TIME: neither. */
static inline uint64_t pm_time_of(const struct pm_sources *sources, const struct pd_record *rec)
{
	const struct pm_source *source = pm_source_of(sources, rec);
	int64_t time;

	if (!source->timed)
		return pm_position_of(source, rec);
	return pm_integer(rec, sources->time_id, &time) ? (uint64_t)time : PM_NO_TIME;
}

#endif
