/* Internal to the module: the store, and how the search for the symbols of one binary goes. */
#ifndef PERFLUA_SYMBOLS_INTERNAL_H
#define PERFLUA_SYMBOLS_INTERNAL_H

#include <limits.h>
#include <pthread.h>

#include "base/hash.h"
#include "base/map.h"
#include "dso.h"
#include "memo.h"
#include "store.h"

/* Lines of a source file that were asked for, in a store that collects. */
struct ps_noted_source {
	const char *path;     /* the store's */
	int64_t modified;     /* s */
	struct ps_memo lines; /* number → text */
};

struct ps_store {
	struct ps_options options; /* options; their strings belong to the store */
	const char *buildid_dir;   /* build-id cache; NULL: none */
	pthread_mutex_t lock;	   /* protects what follows, and each dso while it is loaded */
	struct ps_dso **dsos;	   /* [n], in the order in which they were met */
	size_t n, capacity;
	struct pb_map by_id;	 /* numbers of `dsos` */
	struct pb_secret secret; /* secret of the hashes */
	struct pb_arena texts;
	struct ps_bundle *bundle;	  /* set before binaries are asked for; NULL: none */
	struct ps_noted_source **sources; /* [n_sources] */
	size_t n_sources, sources_room;
	int vdso_fd; /* the vdso of this process as a file; -1: not needed yet */
	unsigned n_users;
	bool has_owner;	      /* ps_store_destroy() was not called yet */
	bool has_ended_lines; /* no lines are read any more */
};

/*
 * Returns a copy of a string that lives as long as the store; NULL: no memory. The caller has
 * the lock.
 */
const char *ps_store_text(struct ps_store *store, const char *text);

/* Returns the entry of a source file, added if there is none; NULL: no memory. */
struct ps_noted_source *ps_store_note_source(struct ps_store *store, const char *path,
					     int64_t modified);

/* Notes a line of `n` bytes; without memory nothing is noted. */
void ps_store_note_line(struct ps_store *store, struct ps_noted_source *noted, uint32_t line,
			const char *text, size_t n);

/*
 * Writes the path here that stands for a path of the recorded machine. Returns false if that is
 * too long, or `name` is relative.
 */
bool ps_store_path(const struct ps_store *store, const char *name, char path[PATH_MAX]);

/*
 * Returns true if host, kernel release and architecture of the recording are those of this
 * machine.
 */
bool ps_store_is_here(const struct ps_store *store);

#define PS_HAS_SYMBOLS "has the symbols"

/*
 * Note that a path was tried, its source (NULL: nothing to say), and the result; without memory
 * nothing is noted. ps_dso_judge() replaces the verdict of entry `i` of dso->tried, if there is
 * one.
 */
void ps_dso_tried(struct ps_dso *dso, const char *path, const char *where, const char *verdict);
void ps_dso_judge(struct ps_dso *dso, size_t i, const char *verdict);

/*
 * Sets the names of a binary that perf script and perf report show. Returns false without
 * memory.
 */
bool ps_dso_name(struct ps_dso *dso);

#endif
