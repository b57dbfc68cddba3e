/*
 * Partitions of a session, which workers read in parallel: parts of its streams, or a whole
 * stream where it cannot be cut.
 *
 * The start of a partition is a guess: a position where several records in a row could begin
 * (resync.h), or to which the sizes of the records before lead, if these are large. The guess
 * holds if the partition before ends exactly there. Until then nothing that was read counts: if
 * a partition does not end where the next one begins, or a reader bails out, all results must
 * be thrown away and one thread must read the session, which reports what is wrong.
 */
#ifndef PERFLUA_PERFDATA_PARTITIONS_H
#define PERFLUA_PERFDATA_PARTITIONS_H

#include "base/progress.h"
#include "perfdata/stream/reader.h"
#include "perfdata/container/session.h"

struct pd_partition {
	struct pd_reader *reader;
	unsigned worker; /* number of the worker, from 0 on */
	size_t number;	 /* ordinal in the session; those of one worker ascend */
	/*
	 * The callback `read` asks it now and then, without saying how far it is: the reader's
	 * position is used. If it says no, `read` leaves the rest of the partition and returns
	 * true.
	 */
	struct pb_progress progress;
};

struct pd_partition_work {
	unsigned workers; /* at most; worker 0 is the calling thread */
	/*
	 * Called in a worker for each partition that the worker takes: reads all records of
	 * partition->reader. Returning false stops all workers. Errors are not reported here:
	 * the reader bails out, and pd_partitions_read() returns PB_RETRY_SERIAL.
	 */
	bool (*read)(void *arg, const struct pd_partition *partition);
	void *arg;
	enum pb_stage stage; /* of the workers, in the current pass */
	/* asked in the calling thread; NULL: nobody is asked */
	const struct pb_progress *progress;
};

/*
 * Something that watches the next pass in partitions of a session (session->watches), whoever
 * makes it: it gets all records that the pass reads.
 */
struct pd_partition_watch {
	struct pd_partition_watch *next; /* another watch of the same pass, or NULL */
	/*
	 * Called by the worker of a partition at its begin, where it adds a watch to the
	 * reader, and at its end.
	 */
	void (*begin)(void *arg, const struct pd_partition *partition);
	void (*end)(void *arg, const struct pd_partition *partition);
	void *arg;
	bool complete; /* set by a pass: it met each record of the session once */
};

/* Adds a watch to the next pass in partitions of a session. */
static inline void pd_session_add_watch(struct pd_session *session,
					struct pd_partition_watch *watch)
{
	watch->next = session->watches;
	session->watches = watch;
}

/*
 * Returns how many workers have work to do, at most `most`. It is 1 if a stream is one-shot or
 * the session is too small to be shared.
 */
unsigned pd_partitions_workers(const struct pd_session *session, unsigned most);

/*
 * Calls work->read for partitions that together hold each record of the session once. Ends the
 * watches of the session.
 *
 * Returns PB_OK; PB_STOPPED if progress or `read` said no; PB_RETRY_SERIAL if the session
 * cannot be shared or a reader bailed out. It never returns PB_FAILED.
 */
enum pb_outcome pd_partitions_read(struct pd_session *session,
				   const struct pd_partition_work *work);

#endif
