/*
 * Walks all records of a session: in the order they lie in its files, or in the order of their
 * times.
 *
 *	struct pd_walk walk;
 *
 *	if (!pd_walk_init(&walk, session, PD_ORDER_TIME, &err)) …
 *	walk.options.types = …
 *	while ((got = pd_walk_next(&walk, &rec, &err)) > 0) …
 *	pd_walk_deinit(&walk);
 *
 * A record is valid until the next call. Files whose times cannot be compared follow one
 * another.
 */
#ifndef PERFLUA_PERFDATA_WALK_H
#define PERFLUA_PERFDATA_WALK_H

#include "perfdata/stream/counters.h"
#include "time_order.h"

enum pd_order_kind {
	PD_ORDER_FILE,
	PD_ORDER_TIME,
};

struct pd_walk {
	struct pd_session *session;
	/*
	 * The caller may change before the first record: the types that are delivered (all);
	 * the times, in ns, outside of which nothing needs to be delivered but may be (all);
	 * how many threads may make an index (one); whether to read ahead (no); the progress of
	 * making an index (nobody is asked); who is called for records of which types as they
	 * are read; whether samples with counter values are split (no): then none of them is left out for
	 * its time.
	 */
	struct pd_walk_options options;
	/* records that came too late for their place, of what was walked to its end */
	uint64_t late;
	/* its own */
	enum pd_order_kind kind;
	enum {
		PD_WALK_NEXT, /* goes on with the next stream or file */
		PD_WALK_READING,
		PD_WALK_ORDERED,
	} state;
	size_t file, stream; /* the next to be walked */
	/* files before this one are walked in file order whatever the kind */
	size_t file_order;
	struct pd_reader reader;
	struct pd_time_order order;
	struct pd_counters *counters; /* NULL: no sample with counter values was met */
	bool splitting;		      /* the last record may have more samples */
};

/* A stream can be passed over once: a second walk fails. */
bool pd_walk_init(struct pd_walk *walk, struct pd_session *session, enum pd_order_kind kind,
		  struct pd_error *err);
void pd_walk_deinit(struct pd_walk *walk);

/* As pd_reader_next, with calls of walk->options.on_sideband. */
int pd_walk_call_back(struct pd_walk *walk, struct pd_record *rec, struct pd_error *err);

/* As pd_walk_next, when what was walked is at its end. */
int pd_walk_step(struct pd_walk *walk, struct pd_record *rec, struct pd_error *err);

/* As pd_walk_next, without splitting. */
static inline int pd_walk_record(struct pd_walk *walk, struct pd_record *rec,
				 struct pd_error *err)
{
	int got = 0;

	if (walk->state == PD_WALK_READING)
		got = walk->options.on_sideband.call ? pd_walk_call_back(walk, rec, err) :
						       pd_reader_next(&walk->reader, rec, err);
	else if (walk->state == PD_WALK_ORDERED)
		got = pd_time_order_next(&walk->order, rec, err);
	return got ? got : pd_walk_step(walk, rec, err);
}

/*
 * Goes on where a record has counter values, or the one before had: as pd_walk_next. `rec` was
 * read, unless walk->splitting.
 */
int pd_walk_split(struct pd_walk *walk, struct pd_record *rec, struct pd_error *err);

/*
 * Returns which part of all that is walked was, from 0 to 1, when `rec` was delivered: in the
 * order of time, of the time; else as pd_session_part.
 */
double pd_walk_part(const struct pd_walk *walk, const struct pd_record *rec);

/* 1: the next record; 0: there is none; -1: a file could not be read, err says why. */
static inline int pd_walk_next(struct pd_walk *walk, struct pd_record *rec,
			       struct pd_error *err)
{
	int got;

	if (walk->splitting)
		return pd_walk_split(walk, rec, err);
	got = pd_walk_record(walk, rec, err);
	if (got > 0 && walk->options.split && pd_has_counters(rec))
		return pd_walk_split(walk, rec, err);
	return got;
}

#endif
