/*
 * The directory that a recording is written to as perf record --threads does: "data" is the
 * file with the header, "data.N" have records of one processor or thread each, without one. It
 * is made beside the target, and takes its name when it is whole.
 */
#ifndef PERFLUA_WRITE_DIRECTORY_H
#define PERFLUA_WRITE_DIRECTORY_H

#include <limits.h>

#include "base/replacement.h"
#include "writer.h"

#define PW_PARTS_MOST 512 /* files beside "data"; further processors or threads share them */

struct pw_data_file {
	struct pw_output out;
	struct pw_compressor *compressor; /* NULL: nothing is compressed */
};

struct pw_directory {
	char path[PATH_MAX]; /* temporary; "": there is none, or it was committed */
	char target[PATH_MAX];
	struct pb_unfinished_entry entry;
	int fd;					   /* of the directory */
	unsigned cpu_id, tid_id;		   /* numbers of field names */
	struct pw_data_file *parts[PW_PARTS_MOST]; /* NULL: not needed yet */
};

/*
 * Makes the temporary directory, and adds it to `unfinished`, unless that is NULL: it must then
 * stay where it is. Returns false with errno.
 */
bool pw_directory_begin(struct pw_directory *d, const char *target,
			struct pb_unfinished *unfinished);

/*
 * Drops what was written before, and opens "data" for a recording like `like`. Returns -1 with
 * errno.
 */
int pw_directory_open(struct pw_directory *d, const struct pd_file *like);

/*
 * Adds a record of `like` that has a time, as `written`, to the file of its processor or
 * thread. Returns false with *err.
 */
bool pw_directory_put(struct pw_directory *d, struct pw_writer *w, const struct pd_record *rec,
		      const struct pd_record *written, struct pd_error *err);

/* Writes what is left. Adds to *bytes the sizes of the files. Returns false with *err. */
bool pw_directory_finish(struct pw_directory *d, uint64_t *bytes, struct pd_error *err);

/*
 * Gives the directory its name. A file or a recording there is replaced. Returns false with
 * errno, ENOTEMPTY if there is a directory with other files.
 */
bool pw_directory_commit(struct pw_directory *d);

/* Removes the temporary directory. Does nothing after a commit. */
void pw_directory_discard(struct pw_directory *d);

#endif
