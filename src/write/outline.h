/*
 * An outline of a recording whose samples are chosen by their time alone: the fate of each part
 * of the file. One pass in partitions makes it, and finds the threads of the samples; the parts
 * that are kept are then copied as bytes, without being read as records again.
 */
#ifndef PERFLUA_WRITE_OUTLINE_H
#define PERFLUA_WRITE_OUTLINE_H

#include "base/progress.h"
#include "selection.h"
#include "writer.h"

struct pw_outline;

/*
 * Outlines the session's only recording, whose samples at from <= time < to (ns) are chosen.
 * Returns NULL if it has to be read record by record (it is compressed, damaged or a directory,
 * or its samples have their times at several offsets), if `progress` said no, or without
 * memory.
 */
struct pw_outline *pw_outline_create(struct pd_session *session, uint64_t from, uint64_t to,
				     unsigned workers, const struct pb_progress *progress);
void pw_outline_destroy(struct pw_outline *outline);

struct pw_outlined_fork {
	uint32_t tid, ptid, ppid;
};

/* Calls `take` for each thread with chosen samples, for some more than once. */
void pw_outline_each_thread(const struct pw_outline *outline,
			    void (*take)(void *arg, uint32_t pid, uint32_t tid), void *arg);

/* Calls `take` for each fork of the recording. */
void pw_outline_each_fork(const struct pw_outline *outline,
			  void (*take)(void *arg, const struct pw_outlined_fork *fork),
			  void *arg);

/*
 * Writes what is kept. `w` must copy runs (pw_copies_runs) without compression. `threads` and
 * `processes` are those of struct pw_selection. Once `progress` says no the rest is left out.
 * Returns false with *err as pw_write() does, and if the file was written to since it was
 * outlined: the parts may then be other bytes.
 */
bool pw_outline_write(const struct pw_outline *outline, struct pw_writer *w,
		      const struct pb_id_map *threads, const struct pb_id_map *processes,
		      const struct pb_progress *progress, struct pd_error *err);

#endif
