/* A directory of "data", "data.0" and "data.1". A file without bytes is not there. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static char directory[PATH_MAX];
static const char *const names[] = { "data", "data.0", "data.1" };

#define FILES (sizeof(names) / sizeof(names[0]))

static void path_in(char path[PATH_MAX], const char *name)
{
	FUZZ_CHECK(snprintf(path, PATH_MAX, "%s/%s", directory, name) < PATH_MAX);
}

static void remove_directory(void)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < FILES; i++) {
		path_in(path, names[i]);
		unlink(path);
	}
	rmdir(directory);
}

static void make_directory(void)
{
	const char *parent = getenv("TMPDIR");

	snprintf(directory, sizeof(directory), "%s/perflua-fuzz-XXXXXX",
		 parent ? parent : "/tmp");
	FUZZ_CHECK(mkdtemp(directory));
	atexit(remove_directory);
}

static void write_file(const char *name, const uint8_t *bytes, size_t n)
{
	char path[PATH_MAX];
	int fd;

	path_in(path, name);
	if (!n) {
		unlink(path);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FUZZ_CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *paths[] = { directory };
	struct fuzz_part parts[FILES];

	if (!*directory)
		make_directory();
	fuzz_split(bytes, n, parts, FILES);
	for (size_t i = 0; i < FILES; i++)
		write_file(names[i], parts[i].bytes, parts[i].n);
	fuzz_read(paths, 1);
	return 0;
}
