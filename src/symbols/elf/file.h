/*
 * Opens the files of this machine. Each is looked at before it is opened: opening a device can
 * make it act, opening a FIFO wakes the program that waits to write into it, and reading a file
 * that the kernel makes can do anything.
 */
#ifndef PERFLUA_SYMBOLS_FILE_H
#define PERFLUA_SYMBOLS_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Opens a regular file whose path comes from a recording, or from a file that a recording
 * names. Files that the kernel makes (/proc, /sys and the like) are not opened. A `path` that
 * begins with the directory `root` (symfs; NULL: none) is looked up as if `root` were /:
 * neither ".." nor links leave it.
 *
 * Returns a descriptor, which the caller closes, and sets *status. On failure it returns -1 and
 * sets *reason to a constant string.
 */
int ps_file_open(const char *root, const char *path, struct stat *status, const char **reason);

/*
 * Opens a regular file as ps_file_open does, for a path that perflua or its user chose: the
 * kernel may make it.
 */
int ps_file_open_chosen(const char *path, struct stat *status, const char **reason);

/*
 * Opens a perf map or a jitdump as ps_file_open does. They lie where everybody may write, and
 * say how functions are called, so the file must belong to this user or root. Root opens those
 * of all users. Files larger than 512 MB are refused.
 */
int ps_file_open_left(const char *root, const char *path, struct stat *status,
		      const char **reason);

/* Returns whether `path` is a file that ps_file_open may open. Nothing is opened. */
bool ps_file_exists(const char *root, const char *path);

/* Returns whether `reason`, from one of the functions above, says that `path` is not a file. */
bool ps_file_is_other(const char *reason);

#endif
