/*
 * Whether files of this machine are those of a recorded binary, where no build-id says so.
 */
#ifndef PERFLUA_SYMBOLS_PROOF_H
#define PERFLUA_SYMBOLS_PROOF_H

#include <limits.h>

#include "dso.h"

/* Why files of this machine are not used for a binary. */
struct ps_doubt {
	const char *reason;  /* for missing(): a constant string */
	char found[160];     /* what the file there is, and what was recorded; "" for nothing */
	char path[PATH_MAX]; /* of that file */
};

/*
 * Returns whether files of this machine may have the symbols of `dso`. Files with a recorded
 * build-id prove themselves, so this is true where there is one; also with the options symfs
 * and any_binary. Otherwise the recording must be of this system, by host name, release and
 * architecture, and the file in the binary's place the one that was mapped, as far as its
 * device and inode were recorded. Where the recording is of another host, or does not name one,
 * device and inode must be those of the file, and what was mapped must be within the file; of
 * another host also the inode's generation. If this returns false, *doubt says why.
 */
bool ps_is_proven(const struct ps_dso *dso, struct ps_doubt *doubt);

/*
 * The same; if it returns false, it sets dso->reason and notes the file. The caller has the
 * lock.
 */
bool ps_check_proof(struct ps_dso *dso);

#endif
