/*
 * Shared by the files of health.
 *
 * Most counts add up in any order, so workers make them of parts of a session (health.c). What
 * depends on the order of records, they note as moments, which are gone through in order
 * (health_order.c).
 */
#ifndef PERFLUA_ANALYSIS_HEALTH_INTERNAL_H
#define PERFLUA_ANALYSIS_HEALTH_INTERNAL_H

#include "base/vector.h"
#include "health.h"

/* Fields that are looked up by name. */
enum pd_health_field {
	PD_HEALTH_LOST,
	PD_HEALTH_ID,
	PD_HEALTH_STREAM_ID,
	PD_HEALTH_TIME,
	PD_HEALTH_CPU,
	PD_HEALTH_FLAGS,
	PD_HEALTH_FIELDS
};

#define PD_HEALTH_NO_EVENT UINT32_MAX

/* A record whose place among the others matters. */
struct pd_moment {
	uint64_t time; /* ns */
	/*
	 * the id or cpu of a sample; of THROTTLE and UNTHROTTLE, what they have in common; the
	 * number of the recording
	 */
	uint64_t key;
	uint32_t event; /* number; PD_HEALTH_NO_EVENT: it is not known */
	uint16_t cpu;	/* PD_HEALTH_CPUS: it is not known */
	uint8_t kind;	/* enum pd_moment_kind */
	bool is_timed;	/* of THROTTLE and UNTHROTTLE: there is a time */
};

enum pd_moment_kind {
	PD_MOMENT_OF_ID,  /* a sample with an id */
	PD_MOMENT_OF_CPU, /* a sample with a cpu and no id */
	PD_MOMENT_RECORD, /* another record of the kernel */
	PD_MOMENT_ROUND,
	PD_MOMENT_THROTTLE,
	PD_MOMENT_UNTHROTTLE,
	PD_MOMENT_SOURCE, /* the records of a recording begin */
};

struct pd_health_pass {
	struct pd_health *health;
	const struct pd_session *session;
	unsigned fields[PD_HEALTH_FIELDS]; /* numbers of their names */
	struct pd_gaps gaps;
	struct pd_counters *counters; /* NULL: no sample may have counter values */
	struct pd_moment *moments;    /* [n_moments]; owned */
	size_t n_moments, moments_room;
	uint16_t source;
	bool no_memory;
	bool needs_order; /* a sample has counter values, but there are no counters */
};

/*
 * Begins a pass that counts in *health, which it initializes. Returns false without memory;
 * the caller calls pd_health_pass_deinit() and pd_health_deinit() also then.
 */
bool pd_health_pass_init(struct pd_health_pass *pass, struct pd_health *health,
			 const struct pd_session *session);
void pd_health_pass_deinit(struct pd_health_pass *pass);

/* Adds a record. */
void pd_health_add(struct pd_health_pass *pass, const struct pd_record *rec);

/*
 * Adds what another pass counted, which had the same events, but for its moments. Returns false
 * without memory.
 */
bool pd_health_merge(struct pd_health_pass *pass, const struct pd_health_pass *added);

/* Adds a moment; sets pass->no_memory without memory. */
static inline void pd_health_note(struct pd_health_pass *p, const struct pd_moment *moment)
{
	if (p->n_moments < p->moments_room ||
	    pb_reserve(p->moments, p->n_moments, p->moments_room))
		p->moments[p->n_moments++] = *moment;
	else
		p->no_memory = true;
}

/*
 * Makes room for events that came late; the entry for no known event stays the last. Returns
 * false without memory, and sets pass->no_memory.
 */
bool pd_health_reserve_events(struct pd_health_pass *pass);

/*
 * Returns the counts of an event, by number, valid until the next call: those for no known
 * event for PD_HEALTH_NO_EVENT, and without memory, which sets pass->no_memory.
 */
static inline struct pd_health_event *pd_health_event_at(struct pd_health_pass *pass,
							 uint32_t number)
{
	struct pd_health *h = pass->health;

	if (number != PD_HEALTH_NO_EVENT &&
	    (number < h->n_events || pd_health_reserve_events(pass)))
		return &h->events[number];
	return &h->events[h->n_events];
}

static inline struct pd_health_event *pd_health_event_of(struct pd_health_pass *pass,
							 const struct pd_record *rec)
{
	return pd_health_event_at(pass, rec->event ? rec->event->number : PD_HEALTH_NO_EVENT);
}

/*
 * Returns the time (ns) by which perf sorts a record: a sample's own, otherwise the trailer's.
 * Returns false if it has none.
 */
static inline bool pd_health_time_of(const struct pd_record *rec, uint64_t *time)
{
	const struct pd_layout *layout = rec->layout;
	uint64_t type = layout->shape->sample_type;
	uint32_t at;

	if (!(type & PD_SAMPLE_TIME))
		return false;
	if (rec->type == PD_RECORD_SAMPLE) {
		at = layout->parts[PD_PART_TIME];
	} else {
		if (!layout->trailer_size || rec->size < layout->trailer_size + 8)
			return false;
		at = rec->size - layout->trailer_size + (type & PD_SAMPLE_TID ? 8 : 0);
	}
	if (!at || rec->size < at + 8)
		return false;
	*time = pd_rec64(rec, at);
	return *time != 0 && *time != UINT64_MAX;
}

/* Counts a sample. */
void pd_health_add_sample(struct pd_health_pass *pass, const struct pd_record *rec);

/*
 * A map of fixed size from keys to times. Where keys crowd an older one is forgotten, so that
 * no recording makes the map grow. Zero-initialised: empty.
 */
#define PD_BOUNDED_MAP_BITS 12
#define PD_BOUNDED_MAP_NEAR 8 /* slots in which a key can be */

struct pd_bounded_map {
	struct pd_bounded_slot {
		uint64_t key, time;
		/* ns; the first of the later samples that were earlier than `time` */
		uint64_t regressed;
		uint32_t n_behind;
		bool used;
	} slots[(1u << PD_BOUNDED_MAP_BITS) + PD_BOUNDED_MAP_NEAR];
};

/* The state between moments. Zero-initialised: before the first one. */
struct pd_health_order {
	struct pd_bounded_map throttled; /* time of the last THROTTLE, by key */
	struct pd_bounded_map streams;	 /* time of the last sample, by id or cpu */
	uint16_t source;
};

/* Goes through `n` moments that follow those before, and adds to pass->health. */
void pd_health_follow(struct pd_health_pass *pass, struct pd_health_order *order,
		      const struct pd_moment *moments, size_t n);

#endif
