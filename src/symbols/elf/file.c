#define _GNU_SOURCE /* strerrordesc_np, O_PATH */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "beneath.h"

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
	fd = ps_open_beneath(dir, rest, flags);
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
