/*
 * Time order of records that can be read only once: copies of them wait until no record that is
 * still to come can be earlier.
 *
 * Each stream says up to which time that is so. With round markers the rule is perf's: at the
 * end of a round all records up to the latest time of the round before are due (see
 * perf_event__process_finished_round, tools/perf/util/ordered-events.c). A stream of a
 * directory holds one ring buffer, whose records are almost in order: there each 64 KB that are
 * read count as a round. Without either all records wait for the end of the stream. If the
 * waiting records exceed the window, the earliest are delivered. A record that comes too late
 * is delivered at once, and counted.
 */
#ifndef PERFLUA_PERFDATA_QUEUE_H
#define PERFLUA_PERFDATA_QUEUE_H

#include "merge.h"

/*
 * A callback for records of some types as soon as they are read. Records that are delivered
 * later may need what these say; nothing that is still to be read is earlier. call NULL: none.
 * `call` returns false without memory.
 */
struct pd_sideband_callback {
	struct pd_types types;
	bool (*call)(void *arg, const struct pd_record *rec);
	void *arg;
};

struct pd_queue {
	struct pd_merge merge;
	struct pd_queue_stream *streams; /* one for each of merge.streams */
	size_t n;
	struct pd_sideband_callback on_sideband;
	size_t waiting, window; /* bytes that wait, and that may wait */
	uint64_t late;		/* records that came too late */
	struct pd_slab *slab;	/* the slab that is being filled */
};

/*
 * Starts the queue. The caller has set merge.streams, n (their number), on_sideband and window,
 * and zeroed the rest. Returns false with *err; pd_queue_deinit() is due in either case.
 */
bool pd_queue_init(struct pd_queue *queue, struct pd_error *err);
void pd_queue_deinit(struct pd_queue *queue);

/* Returns the next record, as pd_merge_next(); reads as much of the streams as that needs. */
int pd_queue_next(struct pd_queue *queue, struct pd_record *rec, struct pd_error *err);

#endif
