/*
 * The records of some of a session's recordings in the order of their times.
 *
 * Where all can be read again the order is exact: by an index of each stream's chunks. Else, of
 * a pipe or of compressed records, it is as good as the queue's window.
 */
#ifndef PERFLUA_PERFDATA_TIME_ORDER_H
#define PERFLUA_PERFDATA_TIME_ORDER_H

#include "base/outcome.h"
#include "base/progress.h"
#include "queue.h"
#include "perfdata/container/session.h"

struct pd_time_order {
	struct pd_merge_stream *streams;
	size_t n;
	bool queued;
	struct pd_merge merge; /* else, of records from and to these times, in ns: */
	uint64_t first, last;
	struct pd_queue queue;
};

/* Options of a walk; see struct pd_walk. */
struct pd_walk_options {
	struct pd_types types;
	uint64_t from, to;
	unsigned workers; /* that may make an index; 0: only the caller's */
	bool split; /* samples with counter values are delivered value by value: counters.h */
	/*
	 * in the order of files: blocks are read ahead, for whoever does little with each
	 * record
	 */
	bool read_ahead;
	struct pb_progress progress;		 /* of making an index */
	struct pd_sideband_callback on_sideband; /* of streams and compressed records only */
};

/*
 * Orders the records of the files first … first + n - 1. PB_STOPPED: options->progress said
 * no, and there are none. PB_RETRY_SERIAL: no record has a time, so they are to be read as they
 * lie.
 */
enum pb_outcome pd_time_order_init(struct pd_time_order *order,
				   const struct pd_session *session, size_t first, size_t n,
				   const struct pd_walk_options *options, struct pd_error *err);
void pd_time_order_deinit(struct pd_time_order *order);

/* As pd_walk_next. */
static inline int pd_time_order_next(struct pd_time_order *o, struct pd_record *rec,
				     struct pd_error *err)
{
	return o->queued ? pd_queue_next(&o->queue, rec, err) :
			   pd_merge_next(&o->merge, rec, err);
}

/* The records that came too late to be handed out in order, so far. */
uint64_t pd_time_order_late(const struct pd_time_order *order);

#endif
