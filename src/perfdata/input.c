#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool pd_input_open(struct pd_input *in, const char *path, struct pd_error *err)
{
	struct stat st;

	in->path = path;
	in->size = 0;
	/* O_NONBLOCK: opening a FIFO without a writer must not hang before we can say what it is */
	in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (in->fd < 0)
		return pd_error_errno(err, path, "cannot open");
	if (fstat(in->fd, &st) < 0) {
		pd_error_errno(err, path, "cannot stat");
	} else if (S_ISDIR(st.st_mode)) {
		pd_error_set(err, "EISDIR", path, PD_NO_OFFSET,
			     "found a directory, expected a file: "
			     "this version does not read directory recordings yet");
	} else if (!S_ISREG(st.st_mode)) {
		pd_error_set(err, "ESPIPE", path, PD_NO_OFFSET,
			     "found a pipe or device, expected a regular file: "
			     "this version does not read streams yet");
	} else {
		in->size = (uint64_t)st.st_size;
		return true;
	}
	pd_input_close(in);
	return false;
}

void pd_input_close(struct pd_input *in)
{
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
}

bool pd_input_read(const struct pd_input *in, uint64_t offset, void *bytes, size_t n,
		   size_t *got, struct pd_error *err)
{
	size_t have = 0;

	while (have < n) {
		ssize_t r = pread(in->fd, (char *)bytes + have, n - have,
				  (off_t)(offset + have));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return pd_error_errno(err, in->path, "cannot read");
		if (r == 0)
			break;
		have += (size_t)r;
	}
	*got = have;
	return true;
}
