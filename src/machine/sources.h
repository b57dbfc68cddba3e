/*
 * The recordings of a session: which system each is of, and what stands for the times of its
 * records.
 */
#ifndef PERFLUA_MACHINE_SOURCES_H
#define PERFLUA_MACHINE_SOURCES_H

#include "perfdata/order/time_order.h"

/* Of a record: it has no time, though others of its recording do. */
#define PM_NO_TIME UINT64_MAX

struct pm_source {
	/* recordings whose times can be compared are of one; the number of its first */
	uint32_t system;
	bool timed;	/* else the order of the file is that of time */
	bool alone;	/* among several: its system is its own */
	bool begun;	/* a record with a time was met: what perf wrote itself comes behind */
	uint64_t floor; /* when it began, in ns; 0 of the earliest of a system */
	uint64_t *before; /* by stream, when not timed: bytes of the streams before it */
};

struct pm_sources {
	struct pm_source *list; /* [n] */
	size_t n;
	unsigned time_id;
};

/* What a process or thread of a system is found by. */
static inline uint64_t pm_key_of(uint32_t system, int32_t pid)
{
	return (uint64_t)system << 32 | (uint32_t)pid;
}

bool pm_sources_init(struct pm_sources *sources, const struct pd_session *session);
void pm_sources_deinit(struct pm_sources *sources);

/*
 * Finds the floors of recordings that can be read again; `options` name the records that the
 * machine takes in.
 */
bool pm_sources_find_floors(struct pm_sources *sources, struct pd_session *session,
			    const struct pd_walk_options *options, struct pd_error *err);

/*
 * The same of records that are at hand. Is there need to? Begins; is told of each of them;
 * ends.
 */
bool pm_sources_need_floors(const struct pm_sources *sources, const struct pd_session *session);
bool pm_sources_begin_floors(struct pm_sources *sources, struct pd_session *session,
			     struct pd_error *err);
void pm_sources_lower_floor(struct pm_sources *sources, const struct pd_record *rec);
void pm_sources_end_floors(struct pm_sources *sources);

static inline struct pm_source *pm_source_of(const struct pm_sources *sources,
					     const struct pd_record *rec)
{
	return &sources->list[rec->source ? rec->source - 1u : 0];
}

/* As pm_integer, of what is no plain load. */
bool pm_integer_decoded(const struct pd_record *rec, unsigned index, int64_t *out);

/* An integer of a record; false: it has none of that name. */
static inline bool pm_integer(const struct pd_record *rec, unsigned name_id, int64_t *out)
{
	unsigned index = rec->layout->slot[name_id];

	return pd_record_integer(rec, index, out) || pm_integer_decoded(rec, index, out);
}

/* A value of a record; PD_NIL: it has none of that name. */
static inline void pm_get(const struct pd_record *rec, unsigned name_id, struct pd_value *out)
{
	unsigned index = rec->layout->slot[name_id];

	out->type = PD_NIL;
	if (index)
		pd_record_get(rec, index, out);
}

/*
 * Have all of them times? Without, forks and exits are the only records with one: in the order
 * of time they come early.
 */
bool pm_sources_are_timed(const struct pm_sources *sources);

/*
 * Where a record of a source without times lies, as a number that grows from record to record.
 */
uint64_t pm_place_of(const struct pm_source *source, const struct pd_record *rec);

/* What stands for the time of a record; PM_NO_TIME: nothing does. */
static inline uint64_t pm_time_of(const struct pm_sources *sources, const struct pd_record *rec)
{
	const struct pm_source *source = pm_source_of(sources, rec);
	int64_t time;

	if (!source->timed)
		return pm_place_of(source, rec);
	return pm_integer(rec, sources->time_id, &time) ? (uint64_t)time : PM_NO_TIME;
}

#endif
