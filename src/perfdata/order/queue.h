/*
 * Time order of what comes only once: records wait, as copies, until what is still to come
 * cannot be earlier.
 *
 * When that is so each stream says. Where there are round markers it is as with perf: a round
 * hands out what is not later than the latest of the round before (see
 * perf_event__process_finished_round, tools/perf/util/ordered-events.c). A directory's streams
 * are each of one buffer, whose records are almost in order: there the last piece that was read
 * is a round. Else all must wait for the end. If too many bytes wait, the earliest are handed
 * out. What comes later than it should have is handed out at once, and counted.
 */
#ifndef PERFLUA_PERFDATA_QUEUE_H
#define PERFLUA_PERFDATA_QUEUE_H

#include "merge.h"

/*
 * Whoever wants to know records of some types as soon as they are read: what is handed out then
 * may ask for what they say, as nothing that is still to come is earlier. NULL: nobody. It
 * returns false without memory.
 */
struct pd_sideband_callback {
	struct pd_types types;
	bool (*call)(void *arg, const struct pd_record *rec);
	void *arg;
};

struct pd_queue {
	struct pd_merge merge;
	struct pd_queue_stream *streams; /* beside merge.streams */
	size_t n;
	struct pd_sideband_callback on_sideband;
	size_t waiting, window; /* bytes that wait, and may */
	uint64_t late;		/* records that came too late */
	struct pd_slab *slab;	/* that is being filled */
};

/*
 * *queue with merge.streams (n of them), on_sideband and window set, all else zero. False: see
 * err.
 */
bool pd_queue_init(struct pd_queue *queue, struct pd_error *err);
void pd_queue_deinit(struct pd_queue *queue);

/* As pd_merge_next; reads on as far as it must. */
int pd_queue_next(struct pd_queue *queue, struct pd_record *rec, struct pd_error *err);

#endif
