#define _GNU_SOURCE /* O_PATH, syscall */
#include "beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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

int ps_open_beneath(int root, const char *path, int flags)
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
