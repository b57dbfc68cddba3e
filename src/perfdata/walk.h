/*
 * Walks all records of a session: in the order they lie in its files, or in the order of their times.
 *
 *	struct pd_walk walk;
 *
 *	if (!pd_walk_init(&walk, session, PD_ORDER_TIME, &err)) …
 *	walk.want = …; walk.from = …
 *	while ((got = pd_walk_next(&walk, &rec, &err)) > 0) …
 *	pd_walk_deinit(&walk);
 *
 * A record is valid until the next call. Files whose times cannot be compared follow one another.
 */
#ifndef PERFLUA_PERFDATA_WALK_H
#define PERFLUA_PERFDATA_WALK_H

#include "reader.h"
#include "session.h"

enum pd_order {
	PD_ORDER_FILE,
	PD_ORDER_TIME,
};

struct pd_walk {
	struct pd_session *session;
	/* what the caller may change before the first record */
	enum pd_order order;
	struct pd_types want; /* types that are delivered: all */
	uint64_t from,
		to; /* ns: in time order nothing outside needs to be delivered, but may be */
	bool (*go_on)(void *arg); /* asked now and then where it takes long; NULL: yes */
	void *arg;
	/* its own */
	size_t file, stream; /* the next to be walked */
	struct pd_reader reader;
	bool reading;
};

bool pd_walk_init(struct pd_walk *walk, struct pd_session *session, enum pd_order order,
		  struct pd_error *err);
void pd_walk_deinit(struct pd_walk *walk);

int pd_walk_step(struct pd_walk *walk, struct pd_record *rec, struct pd_error *err);

/* 1: the next record; 0: there is none; -1: a file could not be read, err says why. */
static inline int pd_walk_next(struct pd_walk *walk, struct pd_record *rec,
			       struct pd_error *err)
{
	int got = walk->reading ? pd_reader_next(&walk->reader, rec, err) : 0;

	return got ? got : pd_walk_step(walk, rec, err);
}

#endif
