/*
 * The records of some of a session's recordings in the order of their times.
 *
 * Where all can be read again the order is exact: by an index of each stream's chunks. Else, of
 * a pipe or of compressed records, it is as good as the queue's window.
 */
#ifndef PERFLUA_PERFDATA_ORDER_H
#define PERFLUA_PERFDATA_ORDER_H

#include "base/outcome.h"
#include "base/progress.h"
#include "queue.h"
#include "perfdata/container/session.h"

struct pd_order {
	struct pd_merge_stream *streams;
	size_t n;
	bool queued;
	struct pd_merge merge; /* else, of records from and to these times, in ns: */
	uint64_t first, last;
	struct pd_queue queue;
};

/* What is wanted; see struct pd_walk. */
struct pd_wanted {
	struct pd_types types;
	uint64_t from, to;
	unsigned threads; /* that may make an index; 0: only the caller's */
	bool split; /* samples with counter values are delivered value by value: counters.h */
	/*
	 * in the order of files: blocks are read ahead, for whoever does little with each
	 * record
	 */
	bool ahead;
	struct pb_progress progress; /* of making an index */
	struct pd_meets meets;	     /* of streams and compressed records only */
};

/*
 * Orders the records of the files first … first + n - 1. PB_STOPPED: wanted->progress said no,
 * and there are none. PB_RETRY_SERIAL: no record has a time, so they are to be read as they
 * lie.
 */
enum pb_outcome pd_order_init(struct pd_order *order, const struct pd_session *session,
			      size_t first, size_t n, const struct pd_wanted *wanted,
			      struct pd_error *err);
void pd_order_deinit(struct pd_order *order);

/* As pd_walk_next. */
static inline int pd_order_next(struct pd_order *o, struct pd_record *rec, struct pd_error *err)
{
	return o->queued ? pd_queue_next(&o->queue, rec, err) :
			   pd_merge_next(&o->merge, rec, err);
}

/* The records that came too late to be handed out in order, so far. */
uint64_t pd_order_late(const struct pd_order *order);

#endif
