#define _GNU_SOURCE /* strerrordesc_np */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int ps_file_open(const char *path, struct stat *status, const char **reason)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && fstat(fd, status) == 0 && S_ISREG(status->st_mode))
		return fd;
	*reason = fd < 0 ? strerrordesc_np(errno) : "not a regular file";
	if (fd >= 0)
		close(fd);
	return -1;
}
