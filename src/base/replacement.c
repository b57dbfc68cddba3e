#define _GNU_SOURCE /* statx */
#include "replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MOST_LINKS    40 /* symbolic links that are followed, as in the kernel */
#define MOST_ATTEMPTS 100
#define RANDOM_SIZE   6
#define NAME_SIZE     (NAME_MAX - 2 - RANDOM_SIZE) /* of a name between the dots */

/* Returns the length of the directory of a path, with the slash; 0 without a slash. */
static int directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

/* Writes the directory of `path` to `directory`. */
static void copy_directory(char directory[PATH_MAX], const char *path)
{
	int n = directory_length(path);

	snprintf(directory, PATH_MAX, "%.*s", n ? n : 1, n ? path : ".");
}

static bool is_in_proc(const char *directory)
{
	struct statfs fs;

	return statfs(directory, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/*
 * Follows `path` through symbolic links to `target`, which may not exist yet. Returns 0 or an
 * error of errno.h, and sets *is_handle if a link is an open file of a process, as /dev/stdout.
 */
static int follow_links(char target[PATH_MAX], const char *path, bool *is_handle)
{
	char link[PATH_MAX], directory[PATH_MAX];
	struct stat st;

	*is_handle = false;
	if (snprintf(target, PATH_MAX, "%s", path) >= PATH_MAX)
		return ENAMETOOLONG;
	for (int i = 0; lstat(target, &st) == 0 && S_ISLNK(st.st_mode); i++) {
		ssize_t n = readlink(target, link, sizeof(link));

		if (i == MOST_LINKS)
			return ELOOP;
		if (n < 0)
			return errno;
		copy_directory(directory, target);
		*is_handle = is_in_proc(directory);
		if (*is_handle)
			return 0;
		if (snprintf(target, PATH_MAX, "%.*s%.*s",
			     *link == '/' ? 0 : directory_length(target), directory, (int)n,
			     link) >= PATH_MAX)
			return ENAMETOOLONG;
	}
	return 0;
}

static bool is_mount_point(int fd)
{
	struct statx stx;

	return statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx) == 0 &&
	       (stx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) &&
	       (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* Returns true if the sticky bit of the directory forbids this process to replace the file. */
static bool is_protected(const struct stat *st, const char *directory)
{
	struct stat above;

	return stat(directory, &above) == 0 && (above.st_mode & S_ISVTX) && geteuid() != 0 &&
	       geteuid() != st->st_uid && geteuid() != above.st_uid;
}

/*
 * Finds whether the old file can be replaced, and keeps its owner and permissions. Fails if the
 * process may not write the file, although it could rename another one over it.
 */
static enum pb_replace look_at_target(struct pb_replacement *r, const char *directory,
				      const char **reason)
{
	struct stat st;
	int fd;

	if (stat(r->target, &st) < 0)
		return errno == ENOENT ? PB_REPLACE : PB_REPLACE_FAILED;
	if (!S_ISREG(st.st_mode))
		return PB_REPLACE_IN_PLACE;
	fd = open(r->target, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return PB_REPLACE_FAILED;
	if (st.st_nlink > 1)
		*reason = "it has several hard links";
	else if (is_mount_point(fd))
		*reason = "it is a mount point";
	else if (is_protected(&st, directory))
		*reason = "the sticky bit of its directory protects it";
	else if (getxattr(r->target, "system.posix_acl_access", NULL, 0) > 0)
		*reason = "it has an access control list";
	close(fd);
	r->is_old = true;
	r->mode = st.st_mode & 0777;
	r->uid = st.st_uid;
	r->gid = st.st_gid;
	return *reason ? PB_REPLACE_IN_PLACE : PB_REPLACE;
}

static int make_temporary_file(struct pb_replacement *r, const char *directory,
			       const char *name)
{
	static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	unsigned char random[RANDOM_SIZE];

	for (int i = 0; i < MOST_ATTEMPTS; i++) {
		if (getentropy(random, sizeof(random)) < 0)
			return -1;
		for (size_t k = 0; k < sizeof(random); k++)
			random[k] = (unsigned char)letters[random[k] % (sizeof(letters) - 1)];
		if (snprintf(r->path, sizeof(r->path), "%s/.%.*s.%.*s", directory, NAME_SIZE,
			     name, RANDOM_SIZE, (const char *)random) >= PATH_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		/* an old file's permissions are given at the end, a new one has the umask's */
		r->fd = open(r->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			     r->is_old || r->is_private ? 0600 : 0666);
		if (r->fd >= 0 || errno != EEXIST)
			return r->fd;
	}
	return -1;
}

/*
 * Blocks all signals, so that none is handled between the creation of a file and its entry in
 * the list. Sets *before to the mask to be restored.
 */
static void block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

void pb_unfinished_add(struct pb_unfinished *unfinished, struct pb_unfinished_entry *entry)
{
	entry->list = unfinished;
	if (!unfinished)
		return;
	entry->next = unfinished->first;
	unfinished->first = entry;
}

void pb_unfinished_drop(struct pb_unfinished_entry *entry)
{
	struct pb_unfinished_entry *_Atomic *at = entry->list ? &entry->list->first : NULL;

	while (at && *at && *at != entry)
		at = &(*at)->next;
	if (at && *at)
		*at = entry->next;
	entry->list = NULL;
}

/* Returns true if the directory refuses new files, as opposed to a lack of space. */
static bool is_refused(int error)
{
	return error == EACCES || error == EPERM || error == EROFS || error == ENOENT ||
	       error == EOPNOTSUPP;
}

enum pb_replace pb_replacement_begin(struct pb_replacement *r, const char *path,
				     bool is_private, struct pb_unfinished *unfinished,
				     const char **reason)
{
	char directory[PATH_MAX];
	const char *name;
	enum pb_replace how;
	sigset_t before;
	bool is_handle;
	int error;

	*reason = NULL;
	r->fd = -1;
	r->is_private = is_private;
	r->is_old = false;
	r->entry = (struct pb_unfinished_entry){ .path = r->path };
	error = follow_links(r->target, path, &is_handle);
	if (error) {
		errno = error;
		return PB_REPLACE_FAILED;
	}
	name = r->target + directory_length(r->target);
	if (is_handle || !*name) /* a path that ends with a slash is a directory's */
		return PB_REPLACE_IN_PLACE;
	copy_directory(directory, r->target);
	how = look_at_target(r, directory, reason);
	if (how != PB_REPLACE)
		return how;
	block_signals(&before);
	error = make_temporary_file(r, directory, name) < 0 ? errno : 0;
	if (!error)
		pb_unfinished_add(unfinished, &r->entry);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error && r->is_old && is_refused(error))
		*reason = "no file can be made in its directory";
	else if (error == ENAMETOOLONG) /* of the temporary file, which is longer */
		*reason = "its name leaves no room for that of a temporary file";
	if (*reason)
		return PB_REPLACE_IN_PLACE;
	errno = error;
	return error ? PB_REPLACE_FAILED : PB_REPLACE;
}

/*
 * Gives the temporary file the owner and the permissions of the old one. Where the group cannot
 * be set, the new one gets no more than others have.
 */
static void copy_permissions(const struct pb_replacement *r)
{
	mode_t mode = r->mode;

	if (fchown(r->fd, r->uid, r->gid) < 0 && fchown(r->fd, (uid_t)-1, r->gid) < 0)
		mode = (mode & ~(mode_t)070) | (mode & (mode & 007) << 3); /* another group */
	fchmod(r->fd, mode);
}

int pb_replacement_commit(struct pb_replacement *r)
{
	sigset_t before;
	int error;

	if (r->is_old)
		copy_permissions(r);
	block_signals(&before);
	error = rename(r->path, r->target) < 0 ? errno : 0;
	if (!error) {
		pb_unfinished_drop(&r->entry);
		close(r->fd);
		r->fd = -1;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pb_replacement_discard(r);
	return error;
}

void pb_replacement_discard(struct pb_replacement *r)
{
	if (r->fd < 0)
		return;
	unlink(r->path);
	pb_unfinished_drop(&r->entry);
	close(r->fd);
	r->fd = -1;
}

void pb_unfinished_remove(struct pb_unfinished *unfinished)
{
	for (struct pb_unfinished_entry *e = unfinished->first; e; e = e->next)
		if (e->remove)
			e->remove(e->path);
		else
			unlink(e->path);
}
