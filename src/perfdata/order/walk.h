/*
 * Walks all records of a session, in file order or in the order of their times.
 *
 *	struct pd_walk walk;
 *
 *	if (!pd_walk_init(&walk, session, PD_ORDER_TIME, &err)) …
 *	walk.options.types = …
 *	while ((got = pd_walk_next(&walk, &rec, &err)) > 0) …
 *	pd_walk_deinit(&walk);
 *
 * A record is valid until the next call. Files whose clocks cannot be compared are walked one
 * after another.
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
	/* The caller may change them between pd_walk_init() and the first record. */
	struct pd_walk_options options;
	/*
	 * records that came too late for their position in time, in the files that were walked
	 * to their end
	 */
	uint64_t late;
	/* private: */
	enum pd_order_kind kind;
	enum {
		PD_WALK_NEXT, /* the next stream or files are to be started */
		PD_WALK_READING,
		PD_WALK_ORDERED,
	} state;
	size_t file, stream; /* the next to be started */
	/*
	 * Files below this number have no times and are walked in file order even if `kind` is
	 * PD_ORDER_TIME.
	 */
	size_t file_order;
	struct pd_reader reader;
	struct pd_time_order order;
	struct pd_counters *counters; /* NULL until a sample with counter values is met */
	bool splitting;		      /* more samples of the last record may follow */
	bool clock_waits; /* the first sample of a stream, which begins its clock, is to come */
	bool special;	  /* one of these two */
};

/*
 * Prepares a walk over `session`, which must outlive it.
 *
 * Returns false with *err if a file of the session is a one-shot stream (a pipe) that was
 * walked before. A walk that was initialised must be deinitialised.
 */
bool pd_walk_init(struct pd_walk *walk, struct pd_session *session, enum pd_order_kind kind,
		  struct pd_error *err);
void pd_walk_deinit(struct pd_walk *walk);

/*
 * Returns the next record of walk->reader, as pd_reader_next(), and calls
 * walk->options.on_sideband for each record of its types that is read on the way.
 */
int pd_walk_call_back(struct pd_walk *walk, struct pd_record *rec, struct pd_error *err);

/*
 * Starts with the next stream or files, as those before are at their end, and returns the first
 * record, as pd_walk_next().
 */
int pd_walk_step(struct pd_walk *walk, struct pd_record *rec, struct pd_error *err);

/* Returns the next record, as pd_walk_next(), without splitting samples. */
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
 * Returns the next sample that *rec is split into, or else the next record, as pd_walk_next().
 * `rec` is a record with counter values that was just read, unless walk->splitting: then the
 * samples of the last such record continue.
 */
int pd_walk_split(struct pd_walk *walk, struct pd_record *rec, struct pd_error *err);

/*
 * Goes on with a split record, or begins the clock of a stream when its first sample comes.
 * Returns as pd_walk_next().
 */
int pd_walk_special(struct pd_walk *walk, struct pd_record *rec, struct pd_error *err);

/*
 * Returns how much of the walk is done, from 0 to 1, when `rec` was delivered: a part of the
 * walk's time range if the time order is exact, else as pd_session_part().
 */
double pd_walk_part(const struct pd_walk *walk, const struct pd_record *rec);

/*
 * Reads the next record into *rec. Returns 1; 0 at the end; -1 with *err if a file could not be
 * read.
 */
static inline int pd_walk_next(struct pd_walk *walk, struct pd_record *rec,
			       struct pd_error *err)
{
	int got;

	if (walk->special)
		return pd_walk_special(walk, rec, err);
	got = pd_walk_record(walk, rec, err);
	if (got > 0 && walk->options.split && pd_has_counters(rec))
		return pd_walk_split(walk, rec, err);
	return got;
}

#endif
