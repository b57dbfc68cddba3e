/*
 * A session in pieces that threads share: pieces of its streams, and whole streams that cannot
 * be cut.
 *
 * Where a piece begins is guessed: a place where several records in a row could have been
 * written (resync.h). The guess is proved when the piece before ends just there. Until then
 * nothing is believed: if a piece does not end where the next one begins, or meets anything
 * unusual, all that was read is to be thrown away, and the session walked by one thread, which
 * says what is wrong with it.
 */
#ifndef PERFLUA_PERFDATA_PARTITIONS_H
#define PERFLUA_PERFDATA_PARTITIONS_H

#include "base/outcome.h"
#include "base/progress.h"
#include "perfdata/stream/reader.h"
#include "perfdata/container/session.h"

struct pd_partition {
	struct pd_reader *reader;
	unsigned worker; /* the number of the thread */
	size_t number; /* of the piece: they ascend in the session, and of one thread in time */
	/*
	 * To be asked now and then while the piece is read; the reader tells how far that is.
	 * When it says no, leave the rest, and return true.
	 */
	struct pb_progress progress;
};

struct pd_partition_work {
	unsigned workers; /* at most; number 0 is the caller's */
	/*
	 * In a thread, for each piece it takes: reads all of the reader's records, which never
	 * fails: what does is PB_RETRY_SERIAL. False: no more, of any thread.
	 */
	bool (*read)(void *arg, const struct pd_partition *piece);
	void *arg;
	const struct pb_progress *progress; /* in the caller's thread; NULL: nobody is asked */
};

/*
 * For how many threads there is work, at most `most`; 1: what comes once, or is little, is not
 * shared.
 */
unsigned pd_partitions_workers(const struct pd_session *session, unsigned most);

/*
 * Has each record read once. PB_STOPPED: progress, or `read`, said no. PB_RETRY_SERIAL: the
 * session cannot be shared, or something about it is unusual. It never fails.
 */
enum pb_outcome pd_partitions_read(struct pd_session *session,
				   const struct pd_partition_work *work);

#endif
