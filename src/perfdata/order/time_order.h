/*
 * Delivers the records of some of a session's recordings in the order of their times.
 *
 * If all streams can be read again the order is exact: it follows an index of each stream's
 * chunks (index.h). Records of pipes and compressed records go through a queue (queue.h), so
 * they are in order as far as the queue's window reaches.
 */
#ifndef PERFLUA_PERFDATA_TIME_ORDER_H
#define PERFLUA_PERFDATA_TIME_ORDER_H

#include "base/progress.h"
#include "perfdata/container/session.h"
#include "merge.h"
#include "queue.h"

struct pd_time_order {
	struct pd_merge_stream *streams;
	size_t n;
	bool queued;
	struct pd_merge merge; /* unless queued */
	uint64_t first, last;  /* ns: the range of times of the merged chunks */
	struct pd_queue queue; /* the queue, if `queued` */
};

/* Options of a walk. pd_walk_init() sets the defaults given here in brackets. */
struct pd_walk_options {
	struct pd_types types; /* types that are delivered */
	/*
	 * The samples that are wanted, where the order is exact. All are delivered if samples
	 * are split, or if a record is delivered that tells of losses: its reader needs the
	 * time of the record before it (all).
	 */
	struct pd_sample_choice choice;
	/*
	 * ns: records earlier than `from`, or not earlier than `to`, may be left out; none is
	 * if samples are split (all times)
	 */
	uint64_t from, to;
	/* at most, for making an index; 0 or 1: the calling thread makes it (0) */
	unsigned workers;
	/* deliver samples with counter values value by value, see counters.h (false) */
	bool split;
	/*
	 * in file order, read blocks ahead in a thread: pays if each record takes little work
	 * (false)
	 */
	bool read_ahead;
	struct pb_progress progress; /* reports while an index is made (nobody is asked) */
	struct pb_pass *pass; /* that the walk belongs to (the current one; NULL: none) */
	/* for one-shot streams and compressed records only (none) */
	struct pd_sideband_callback on_sideband;
};

/*
 * Prepares *order for the n files of `session` from number `first` on.
 *
 * Returns PB_OK; PB_STOPPED if options->progress said no; PB_RETRY_SERIAL if no record has a
 * time, so that the records must be read in file order; PB_FAILED with *err. Unless it returns
 * PB_OK there is nothing to deinit. `session` must outlive *order.
 */
enum pb_outcome pd_time_order_init(struct pd_time_order *order,
				   const struct pd_session *session, size_t first, size_t n,
				   const struct pd_walk_options *options, struct pd_error *err);
void pd_time_order_deinit(struct pd_time_order *order);

/* Returns the next record, as pd_walk_next() does. */
static inline int pd_time_order_next(struct pd_time_order *o, struct pd_record *rec,
				     struct pd_error *err)
{
	return o->queued ? pd_queue_next(&o->queue, rec, err) :
			   pd_merge_next(&o->merge, rec, err);
}

/*
 * Returns true if the records of a session have times and no index of them yet, so that the
 * first walk in the order of time makes one, in a pass of its own. Streams and compressed
 * records have none.
 */
bool pd_time_order_needs_index(const struct pd_session *session);

/*
 * Makes the index of times of a session, if a walk in the order of time would: by at most
 * `workers` threads, as long as `progress` says to go on. A walk makes what was not made, and
 * reports errors.
 */
void pd_time_order_index(struct pd_session *session, unsigned workers,
			 const struct pb_progress *progress);

/* The making of the index of times on the way of another pass. */
struct pd_time_watch {
	struct pd_merge_stream *streams;
	struct pd_index_watch *index; /* NULL: nothing is made */
};

/*
 * Lets the next pass in partitions of a session make the index of times, if a walk in the order
 * of time would: that pass then takes little longer. End the watch after the pass.
 */
void pd_time_watch_begin(struct pd_time_watch *watch, struct pd_session *session);
void pd_time_watch_end(struct pd_time_watch *watch);

/*
 * Returns true if an index of the session says that records of these types lie in less than a
 * quarter of its bytes: a walk in the order of time then reads little more than these.
 */
bool pd_time_order_has_few(const struct pd_session *session, const struct pd_types *types);

/*
 * Returns how many records so far came too late to be delivered in order; 0 if the order is
 * exact.
 */
uint64_t pd_time_order_late(const struct pd_time_order *order);

#endif
