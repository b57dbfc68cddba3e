/*
 * A recording that comes through a pipe, a few bytes with each read: how many, the input
 * decides. A file in file mode is spooled.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common.h"

#define MAX_INPUT (1 << 20) /* the pipe holds all of it */

static int piped = -1; /* the pipe's end that is read */
static size_t at_once; /* bytes a read of it gives at most */

ssize_t __real_read(int fd, void *bytes, size_t n);
ssize_t __wrap_read(int fd, void *bytes, size_t n);

/*
 * The pipe is opened by its path, so its descriptor there is another one: all reads are short
 * alike.
 */
ssize_t __wrap_read(int fd, void *bytes, size_t n)
{
	return __real_read(fd, bytes, piped >= 0 && n > at_once ? at_once : n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const size_t sizes[] = { 7, 64, 1000, MAX_INPUT };
	unsigned how = n ? bytes[n - 1] : 0; /* to a recording its last byte means least */
	char path[FUZZ_PATH];
	int fds[2];

	if (n > MAX_INPUT)
		return 0;
	FUZZ_CHECK(!pipe2(fds, O_CLOEXEC) && fcntl(fds[1], F_SETPIPE_SZ, MAX_INPUT) >= 0);
	FUZZ_CHECK(write(fds[1], bytes, n) == (ssize_t)n);
	close(fds[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	piped = fds[0];
	at_once = sizes[how & 3];
	fuzz_read_stream(path, how & 4 ? PD_ORDER_FILE : PD_ORDER_TIME, how & 8);
	piped = -1;
	close(fds[0]);
	return 0;
}
