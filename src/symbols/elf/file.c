#define _GNU_SOURCE /* strerrordesc_np, O_PATH */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Opens paths of another machine, whose root is a directory here. */

#define MAX_LINKS    40 /* as in the kernel */
#define MAX_ATTEMPTS 64

#define STEP (O_PATH | O_NOFOLLOW | O_CLOEXEC)

/* A path that is walked component by component. */
struct walk {
	int root, at; /* `at` is closed at the end, unless it is the root */
	unsigned n_links;
	char rest[PATH_MAX]; /* the path from `at` on */
};

static void move_to(struct walk *walk, int fd)
{
	if (walk->at != walk->root)
		close(walk->at);
	walk->at = fd;
}

/* Puts the target of a link before `after`, the part of walk->rest that follows the link. */
static bool follow_link(struct walk *walk, int link, const char *after)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(link, "", target, sizeof(target));
	size_t left = strlen(after) + 1;

	if (n < 0)
		return false;
	if (++walk->n_links > MAX_LINKS || (size_t)n + left > sizeof(walk->rest)) {
		errno = walk->n_links > MAX_LINKS ? ELOOP : ENAMETOOLONG;
		return false;
	}
	memmove(walk->rest + n, after, left);
	memcpy(walk->rest, target, (size_t)n);
	if (*walk->rest == '/')
		move_to(walk, walk->root);
	return true;
}

static bool is_root(const struct walk *walk)
{
	struct stat root, at;

	/* if in doubt, assume the root: the walk goes no higher */
	return fstat(walk->root, &root) != 0 || fstat(walk->at, &at) != 0 ||
	       (root.st_dev == at.st_dev && root.st_ino == at.st_ino);
}

/* Goes to `name`. If that is a link, its target takes its place in the path instead. */
static bool step_to(struct walk *walk, const char *name, const char *after)
{
	struct stat status;
	bool followed;
	int fd;

	if (strcmp(name, "..") == 0 && is_root(walk))
		name = ".";
	fd = openat(walk->at, name, STEP);
	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && S_ISLNK(status.st_mode)) {
		followed = follow_link(walk, fd, after);
		close(fd);
		return followed;
	}
	move_to(walk, fd);
	memmove(walk->rest, after, strlen(after) + 1);
	return true;
}

static bool walk_all(struct walk *walk)
{
	char name[NAME_MAX + 1];

	for (;;) {
		const char *at = walk->rest + strspn(walk->rest, "/");
		size_t n = strcspn(at, "/");

		if (!n)
			return true;
		if (n > NAME_MAX) {
			errno = ENAMETOOLONG;
			return false;
		}
		memcpy(name, at, n);
		name[n] = '\0';
		if (!step_to(walk, name, at + n))
			return false;
	}
}

static int open_by_walk(int root, const char *path, int flags)
{
	struct walk walk = { .root = root, .at = root };
	size_t n = strlen(path);
	int error;

	if (!(flags & O_PATH) || n >= sizeof(walk.rest)) {
		errno = flags & O_PATH ? ENAMETOOLONG : ENOSYS;
		return -1;
	}
	memcpy(walk.rest, path, n + 1);
	if (walk_all(&walk))
		return walk.at == root ? openat(root, ".", flags) : walk.at;
	error = errno;
	move_to(&walk, root);
	errno = error;
	return -1;
}

/*
 * Opens `path` as if the directory `root` were /: links, also absolute ones, and ".." stay
 * below it. Returns a descriptor, which the caller closes; or -1 and errno. Without openat2(2),
 * before Linux 5.6 and in some sandboxes, the path is walked step by step; then `flags` must
 * have O_PATH, or errno is ENOSYS.
 */
static int open_beneath(int root, const char *path, int flags)
{
	const struct open_how how = {
		.flags = (unsigned)flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	/* EAGAIN: a rename elsewhere kept the kernel from being sure of a ".." */
	for (int i = 0; i < MAX_ATTEMPTS; i++) {
		int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

		if (fd >= 0 || (errno != EAGAIN && errno != ENOSYS && errno != EPERM))
			return fd;
		if (errno != EAGAIN)
			break;
	}
	return open_by_walk(root, path, flags);
}

#define LOOK (O_PATH | O_CLOEXEC)
#define READ (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

#define MAX_LEFT (1 << 29)

static const char special[] = "is a file of /proc, /sys or the like, not a regular file";

static const struct {
	mode_t type;
	const char *reason;
} others[] = {
	{ S_IFDIR, "is a directory, not a file" }, { S_IFCHR, "is a device, not a file" },
	{ S_IFBLK, "is a device, not a file" },	   { S_IFIFO, "is a FIFO, not a file" },
	{ S_IFSOCK, "is a socket, not a file" },
};

#define N_OTHERS (sizeof(others) / sizeof(*others))

bool ps_file_is_other(const char *reason)
{
	bool is_other = reason == special;

	for (size_t i = 0; i < N_OTHERS; i++)
		is_other |= reason == others[i].reason;
	return is_other;
}

/* Returns the reason not to open something of that status; NULL: it is a regular file. */
static const char *get_refusal(const struct stat *status)
{
	if (S_ISREG(status->st_mode))
		return NULL;
	for (size_t i = 0; i < N_OTHERS; i++)
		if ((status->st_mode & S_IFMT) == others[i].type)
			return others[i].reason;
	return "not a regular file";
}

/* Returns whether a file is of a filesystem whose files the kernel makes as they are read. */
static bool is_made_by_kernel(int fd)
{
	static const unsigned long types[] = {
		PROC_SUPER_MAGIC,   SYSFS_MAGIC,	 DEBUGFS_MAGIC,	 TRACEFS_MAGIC,
		SECURITYFS_MAGIC,   SELINUX_MAGIC,	 EFIVARFS_MAGIC, PSTOREFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,	 BINFMTFS_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		/* f_type is signed, and has 32 bits on some machines */
		if ((uint32_t)fs.f_type == (uint32_t)types[i])
			return true;
	return false;
}

/* Returns the rest of a path that begins with the directory `root`; NULL: it does not. */
static const char *strip_root(const char *root, const char *path)
{
	size_t n = root ? strlen(root) : 0;

	if (!n || strncmp(path, root, n) != 0 || (path[n] != '/' && root[n - 1] != '/'))
		return NULL;
	return path + n;
}

static int open_path(const char *root, const char *path, int flags)
{
	const char *rest = strip_root(root, path);
	int dir, fd, error;

	if (!rest)
		return open(path, flags);
	dir = open(root, LOOK | O_DIRECTORY);
	if (dir < 0)
		return -1;
	fd = open_beneath(dir, rest, flags);
	error = errno;
	close(dir);
	errno = error;
	return fd;
}

/* Finds a regular file without opening it. Returns a descriptor for open_found, or -1. */
static int find_regular_file(const char *root, const char *path, struct stat *status,
			     const char **reason)
{
	int fd = open_path(root, path, LOOK);

	if (fd < 0 || fstat(fd, status) != 0)
		*reason = strerrordesc_np(errno);
	else if (!(*reason = get_refusal(status)))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * Opens the file that find_regular_file() found, and closes `found`. Where /proc is not mounted
 * the path is opened once more, and must lead to the same file.
 */
static int open_found(int found, const char *root, const char *path, struct stat *status,
		      const char **reason)
{
	const struct stat was = *status;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
	fd = open(name, READ);
	if (fd < 0 && errno == ENOENT)
		fd = open_path(root, path, READ);
	close(found);
	if (fd < 0 || fstat(fd, status) != 0)
		*reason = strerrordesc_np(errno);
	else if (status->st_dev != was.st_dev || status->st_ino != was.st_ino)
		*reason = "was replaced by another file";
	else
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Finds a file like find_regular_file(), unless the kernel makes it. */
static int find_named(const char *root, const char *path, struct stat *status,
		      const char **reason)
{
	int found = find_regular_file(root, path, status, reason);

	if (found < 0 || !is_made_by_kernel(found))
		return found;
	*reason = special;
	close(found);
	return -1;
}

int ps_file_open(const char *root, const char *path, struct stat *status, const char **reason)
{
	int found = find_named(root, path, status, reason);

	return found < 0 ? -1 : open_found(found, root, path, status, reason);
}

int ps_file_open_chosen(const char *path, struct stat *status, const char **reason)
{
	int found = find_regular_file(NULL, path, status, reason);

	return found < 0 ? -1 : open_found(found, NULL, path, status, reason);
}

int ps_file_open_left(const char *root, const char *path, struct stat *status,
		      const char **reason)
{
	int found = find_named(root, path, status, reason);
	uid_t user = geteuid();

	if (found < 0)
		return -1;
	if (user && status->st_uid && status->st_uid != user)
		*reason = "of another user";
	else if (status->st_size > MAX_LEFT)
		*reason = "larger than 512 MB";
	else
		return open_found(found, root, path, status, reason);
	close(found);
	return -1;
}

bool ps_file_exists(const char *root, const char *path)
{
	const char *reason;
	struct stat status;
	int found = find_named(root, path, &status, &reason);

	if (found >= 0)
		close(found);
	return found >= 0;
}
