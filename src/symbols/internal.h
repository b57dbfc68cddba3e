/*
 * What the files that look for symbols share: the inside of the store, and how the search for
 * one binary goes.
 */
#ifndef PERFLUA_SYMBOLS_INTERNAL_H
#define PERFLUA_SYMBOLS_INTERNAL_H

#include <limits.h>
#include <pthread.h>

#include "base/map.h"
#include "dso.h"
#include "store.h"

struct ps_store {
	struct ps_options options; /* its strings are the store's */
	const char *buildid_dir;   /* the build-id cache; NULL: there is none */
	pthread_mutex_t lock;	   /* of all that follows, and of each dso while it is loaded */
	struct ps_dso **dsos;	   /* [n]: as they were met */
	size_t n, capacity;
	struct pb_map by_id; /* of dsos */
	uint64_t seed; /* of the hash: what binaries there are is the recording's choice */
	struct pb_arena texts;
	int vdso_fd; /* this process's own vdso as a file; -1: not needed yet */
};

/*
 * A copy of a string that lives as long as the store; NULL: no memory. The caller has the lock.
 */
const char *ps_store_text(struct ps_store *store, const char *text);

/* Where a path of the recorded machine is here; false: it is too long, or relative. */
bool ps_store_path(const struct ps_store *store, const char *name, char path[PATH_MAX]);

/*
 * Returns whether host, kernel release and architecture of the recording are those of this
 * system.
 */
bool ps_store_is_here(const struct ps_store *store);

/* Is the kernel that was recorded the one that runs here? The caller has the lock. */
bool ps_kernel_runs(struct ps_store *store);

#define PS_HAS_SYMBOLS "has the symbols"

/*
 * Notes that a path was tried, where it came from (NULL: nothing to say), and what came of it.
 * Without memory nothing is noted. ps_dso_judge() replaces the verdict of entry `i` of
 * dso->tried, if there is one.
 */
void ps_dso_tried(struct ps_dso *dso, const char *path, const char *where, const char *verdict);
void ps_dso_judge(struct ps_dso *dso, size_t i, const char *verdict);

/*
 * The names of a binary for people: as perf script and perf report have them. False: no memory.
 */
bool ps_dso_name(struct ps_dso *dso);

#endif
