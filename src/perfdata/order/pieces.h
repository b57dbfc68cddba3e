/*
 * A session in pieces that threads share: pieces of its streams, and whole streams that cannot be cut.
 *
 * Where a piece begins is guessed: a place where several records in a row could have been written (resync.h). The
 * guess is proved when the piece before ends just there. Until then nothing is believed: if a piece does not end where
 * the next one begins, or meets anything unusual, all that was read is to be thrown away, and the session walked by one
 * thread, which says what is wrong with it.
 */
#ifndef PERFLUA_PERFDATA_PIECES_H
#define PERFLUA_PERFDATA_PIECES_H

#include "base/progress.h"
#include "perfdata/stream/reader.h"
#include "perfdata/container/session.h"

enum pd_pieces {
	PD_PIECES_DONE, /* each record was read once */
	PD_PIECES_NOT, /* it cannot be shared, or was not cut right: nothing that was done counts */
	PD_PIECES_ENDED, /* progress, or whoever reads, said no */
};

struct pd_piece {
	struct pd_reader *reader;
	unsigned worker; /* the number of the thread */
	size_t number; /* of the piece: they ascend in the session, and of one thread in time */
	/*
	 * To be asked now and then while the piece is read; the reader tells how far that is.
	 * When it says no, leave the rest, and return true.
	 */
	struct pb_progress progress;
};

struct pd_pieces_work {
	unsigned threads; /* at most; number 0 is the caller's */
	/*
	 * In a thread, for each piece it takes: reads all of the reader's records, which never fails: what does is
	 * PD_PIECES_NOT. False: no more, of any thread.
	 */
	bool (*read)(void *arg, const struct pd_piece *piece);
	void *arg;
	const struct pb_progress *progress; /* in the caller's thread; NULL: nobody is asked */
};

/* For how many threads there is work, at most `most`; 1: what comes once, or is little, is not shared. */
unsigned pd_pieces_threads(const struct pd_session *session, unsigned most);

enum pd_pieces pd_pieces_read(struct pd_session *session, const struct pd_pieces_work *work);

#endif
