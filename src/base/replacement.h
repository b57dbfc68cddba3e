/*
 * Writing a named file so that whatever ends the process leaves the old file or the new one.
 * The new file is written under a temporary name, `.NAME.XXXXXX` in the directory of the old
 * one, and renamed at the end. A symbolic link stays: the file that it leads to is replaced.
 */
#ifndef PERFLUA_BASE_REPLACEMENT_H
#define PERFLUA_BASE_REPLACEMENT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct pb_replacement;

/* A file or directory that is removed if the process ends before it is complete. */
struct pb_unfinished_entry {
	const char *path;		  /* temporary; "" or of nothing that exists: nothing */
	void (*remove)(const char *path); /* for a signal handler; NULL: it is a file */
	struct pb_unfinished *list;	  /* that it is in, or NULL */
	struct pb_unfinished_entry *_Atomic next;
};

/* All that is neither committed nor discarded. All zero: there is nothing. */
struct pb_unfinished {
	struct pb_unfinished_entry *_Atomic first;
};

struct pb_replacement {
	char path[PATH_MAX];   /* temporary file, which the caller writes */
	char target[PATH_MAX]; /* file that it replaces */
	int fd;		       /* of the temporary file; -1: it was committed or discarded */
	bool is_private;       /* a new file is for its owner alone */
	bool is_old;	       /* the target exists; mode, uid and gid are its own */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	struct pb_unfinished_entry entry;
};

/* How a file is to be written. */
enum pb_replace {
	PB_REPLACE,	     /* the temporary file is there, and empty */
	PB_REPLACE_IN_PLACE, /* not by a temporary file; *reason says why, or is NULL */
	PB_REPLACE_FAILED,   /* the file cannot be written: see errno */
};

/*
 * Begins to replace the file `path`, or to create it: with is_private, so that its owner alone
 * may read it. Only for PB_REPLACE is there anything to commit or to discard. Devices, FIFOs,
 * sockets, directories and what /proc/PID/fd leads to are written in place without a reason.
 * With a reason, a constant text, so are files with several hard links or an access control
 * list, mount points, files that the sticky bit of their directory protects, and files beside
 * which no temporary file can be made.
 *
 * The replacement is added to `unfinished`, unless that is NULL, and must then stay where it
 * is.
 */
enum pb_replace pb_replacement_begin(struct pb_replacement *r, const char *path,
				     bool is_private, struct pb_unfinished *unfinished,
				     const char **reason);

/*
 * Gives the temporary file the name of the old file, with the permissions of that one, and its
 * owner and group where the process may set them. Bits that make programs run as others are not
 * kept. The caller has closed the file without an error. Returns 0, or an error of errno.h: the
 * temporary file is then removed, and the old file is as it was.
 */
int pb_replacement_commit(struct pb_replacement *r);

/* Removes the temporary file. Does nothing after a commit. */
void pb_replacement_discard(struct pb_replacement *r);

/* Adds an entry, whose path and function are set, to a list, unless that is NULL. */
void pb_unfinished_add(struct pb_unfinished *unfinished, struct pb_unfinished_entry *entry);
/* Takes an entry out of its list, if it is in one. */
void pb_unfinished_drop(struct pb_unfinished_entry *entry);

/*
 * Removes the temporary files of all that are unfinished. A signal handler may call this; the
 * process is to end then.
 */
void pb_unfinished_remove(struct pb_unfinished *unfinished);

#endif
