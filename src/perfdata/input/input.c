#define _GNU_SOURCE /* for ppoll() */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vector.h"

#define COPY_BLOCK (256 * 1024)
#define SECOND	   1000000000 /* ns */

/*
 * Opens a path. An interruptible open does not wait for a FIFO's writer: no signal would end
 * that, so the first read waits instead.
 */
static int open_input_path(const char *path, bool interruptible)
{
	int fd;

	if (strcmp(path, "-") == 0)
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	fd = open(path, O_RDONLY | O_CLOEXEC | (interruptible ? O_NONBLOCK : 0));
	if (fd >= 0 && interruptible)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

bool pd_input_open(struct pd_input *in, const char *path,
		   const volatile sig_atomic_t *interrupt, struct pd_error *err)
{
	struct stat st;

	*in = (struct pd_input){ .path = path, .interrupt = interrupt };
	in->fd = open_input_path(path, interrupt != NULL);
	if (in->fd < 0)
		return pd_error_errno(err, path, "cannot open");
	if (fstat(in->fd, &st) < 0) {
		pd_error_errno(err, path, "cannot stat");
	} else if (S_ISDIR(st.st_mode)) {
		pd_error_set(err, "EISDIR", path, PD_NO_OFFSET,
			     "found a directory, expected a file");
	} else {
		/* a regular file can be read at any offset, even as standard input */
		in->stream = !S_ISREG(st.st_mode);
		in->keep = in->stream;
		in->size = in->stream ? PD_UNKNOWN_SIZE : (uint64_t)st.st_size;
		in->written = in->stream ? 0 : st.st_mtime;
		in->owner = in->stream || strcmp(path, "-") == 0 ? -1 : (int64_t)st.st_uid;
		return true;
	}
	pd_input_close(in);
	return false;
}

bool pd_input_is_foreign(const struct pd_input *in)
{
	int64_t user = (int64_t)geteuid();
	const char *sudo = user == 0 ? getenv("SUDO_UID") : NULL;

	if (in->owner <= 0 || in->owner == user)
		return false;
	return !sudo || strtoll(sudo, NULL, 10) != in->owner;
}

static void drop_head(struct pd_input *in)
{
	free(in->head);
	in->head = NULL;
	in->head_size = in->head_capacity = 0;
}

void pd_input_close(struct pd_input *in)
{
	int fd = atomic_exchange(&in->fd, -1);

	/*
	 * A reader may still use the number of the descriptor, which may become another file's
	 * once it is closed.
	 */
	while (atomic_load(&in->reads))
		sched_yield();
	if (fd >= 0)
		close(fd);
	drop_head(in);
	if (in->kept_fd > 0)
		close(in->kept_fd);
	free(in->kept);
	in->kept = NULL;
	in->kept_fd = 0;
	in->n_kept = in->kept_room = 0;
}

/*
 * Waits until a stream has bytes to read, for at most `timeout`; NULL: without end. Returns
 * false at the timeout, or if *interrupt was set first. Signals are blocked except in ppoll():
 * one that came between the test of the flag and the wait would be missed.
 */
static bool poll_stream(const struct pd_input *in, const struct timespec *timeout)
{
	struct pollfd fd = { .fd = in->fd, .events = POLLIN };
	sigset_t all, before;
	int n;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	do {
		n = in->interrupt && *in->interrupt ? 0 : ppoll(&fd, 1, timeout, &before);
	} while (n < 0 && errno == EINTR);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n != 0;
}

/*
 * Waits until a stream has bytes to read, and does its idle work meanwhile. Returns false if
 * *interrupt was set first, or the idle work says so.
 */
static bool wait_for_bytes(const struct pd_input *in)
{
	bool ready;

	if (!in->idle.call)
		return !in->interrupt || poll_stream(in, NULL);
	do {
		int64_t ns = in->idle.call(in->idle.arg);

		if (ns < 0)
			return false;
		ready = poll_stream(in, &(struct timespec){ ns / SECOND, ns % SECOND });
	} while (!ready && !(in->interrupt && *in->interrupt));
	return ready;
}

/* Reads a stream once. Returns the number of bytes, 0 at its end, -1 on an error. */
static ssize_t read_some(struct pd_input *in, void *bytes, size_t n)
{
	ssize_t r;

	do {
		if (!wait_for_bytes(in)) {
			errno = EINTR;
			return -1;
		}
		r = read(in->fd, bytes, n);
	} while (r < 0 && errno == EINTR);
	if (r > 0)
		in->at += (uint64_t)r;
	return r;
}

static bool keep_bytes(struct pd_input *in, const void *bytes, size_t n)
{
	if (!pb_reserve_more(in->head, in->head_size, n, in->head_capacity))
		return false;
	memcpy(in->head + in->head_size, bytes, n);
	in->head_size += n;
	return true;
}

/*
 * Reads a stream up to `offset` and drops the bytes. Returns false on an error, true also at
 * its end.
 */
static bool discard_until(struct pd_input *in, uint64_t offset)
{
	char bytes[4096];
	ssize_t r = 1;

	while (in->at < offset && r > 0) {
		uint64_t left = offset - in->at;

		r = read_some(in, bytes, left < sizeof(bytes) ? (size_t)left : sizeof(bytes));
	}
	return r >= 0;
}

static bool read_stream(struct pd_input *in, uint64_t offset, uint8_t *bytes, size_t least,
			size_t most, size_t *got, struct pd_error *err)
{
	ssize_t r = 1;

	*got = 0;
	if (offset < in->head_size) {
		*got = in->head_size - (size_t)offset < most ? in->head_size - (size_t)offset :
							       most;
		memcpy(bytes, in->head + offset, *got);
	} else if (!in->keep) {
		drop_head(in);
	}
	if (*got >= least)
		return true;
	if (!discard_until(in, offset + *got))
		return pd_error_errno(err, in->path, "cannot read");
	while (*got < least && in->at == offset + *got && r > 0) {
		r = read_some(in, bytes + *got, most - *got);
		if (r > 0 && in->keep && !keep_bytes(in, bytes + *got, (size_t)r))
			return pd_error_set(err, "ENOMEM", in->path, offset, "no memory");
		*got += r > 0 ? (size_t)r : 0;
	}
	return r >= 0 || pd_error_errno(err, in->path, "cannot read");
}

/* Reads `n` bytes of a file, or fewer at its end. Returns their number, -1 on an error. */
static ssize_t read_file(int fd, uint64_t offset, uint8_t *bytes, size_t n)
{
	size_t have = 0;

	while (have < n) {
		ssize_t r = pread(fd, bytes + have, n - have, (off_t)(offset + have));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -1;
		if (r == 0)
			break;
		have += (size_t)r;
	}
	return (ssize_t)have;
}

bool pd_input_read(struct pd_input *in, uint64_t offset, void *bytes, size_t least, size_t most,
		   size_t *got, struct pd_error *err)
{
	ssize_t n;

	if (in->stream)
		return read_stream(in, offset, bytes, least, most, got, err);
	atomic_fetch_add(&in->reads, 1);
	n = read_file(atomic_load(&in->fd), offset, bytes, most);
	atomic_fetch_sub(&in->reads, 1);
	if (n < 0)
		return pd_error_errno(err, in->path, "cannot read");
	*got = (size_t)n;
	return true;
}

bool pd_input_read_timed(struct pd_input *in, struct pb_pass *pass, uint64_t offset,
			 void *bytes, size_t least, size_t most, size_t *got,
			 struct pd_error *err)
{
	struct pb_lap lap = pb_stage_enter(in->timing, pass, PB_STAGE_READ);
	bool read = pd_input_read(in, offset, bytes, least, most, got, err);

	pb_stage_leave(&lap);
	if (read)
		pb_stage_count(in->timing, pass, PB_STAGE_READ, 0, *got);
	return read;
}

static bool write_to_spool_file(int fd, const uint8_t *bytes, size_t n)
{
	while (n) {
		ssize_t w = write(fd, bytes, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return false;
		bytes += w;
		n -= (size_t)w;
	}
	return true;
}

/* Copies the stream to `fd`, first the bytes that were kept. */
static bool spool_to(struct pd_input *in, int fd)
{
	uint8_t *bytes = malloc(COPY_BLOCK);
	bool ok = bytes && write_to_spool_file(fd, in->head, in->head_size);
	ssize_t r = 1;

	while (ok && r > 0) {
		r = read_some(in, bytes, COPY_BLOCK);
		ok = r >= 0 && write_to_spool_file(fd, bytes, (size_t)r);
	}
	free(bytes);
	return ok;
}

/* Creates a file without a name in $TMPDIR or /tmp. Returns -1 with *err. */
static int open_spool_file(struct pd_error *err)
{
	static const char name[] = "/perflua-XXXXXX";
	const char *dir = getenv("TMPDIR");
	char *path;
	int fd = -1;

	if (!dir || !*dir)
		dir = "/tmp";
	path = malloc(strlen(dir) + sizeof(name));
	if (!path) {
		pd_error_set(err, "ENOMEM", dir, PD_NO_OFFSET, "no memory");
		return -1;
	}
	memcpy(path, dir, strlen(dir));
	memcpy(path + strlen(dir), name, sizeof(name));
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		pd_error_errno(err, path, "cannot create a temporary file for a stream");
	else
		unlink(path);
	free(path);
	return fd;
}

bool pd_input_keep(struct pd_input *in, uint64_t offset, const void *bytes, size_t n,
		   struct pd_error *err)
{
	struct pd_kept *last = in->n_kept ? &in->kept[in->n_kept - 1] : NULL;

	if (in->kept_fd <= 0)
		in->kept_fd = open_spool_file(err);
	if (in->kept_fd < 0)
		return false;
	if (!last || last->offset + last->size != offset) {
		uint64_t at = last ? last->at + last->size : 0;

		if (!pb_reserve(in->kept, in->n_kept, in->kept_room))
			return pd_error_set(err, "ENOMEM", in->path, offset, "no memory");
		last = &in->kept[in->n_kept++];
		*last = (struct pd_kept){ offset, 0, at };
	}
	if (!write_to_spool_file(in->kept_fd, bytes, n)) {
		pd_error_errno(err, in->path,
			       "cannot copy data of the stream to a file in "
			       "$TMPDIR");
		return false;
	}
	last->size += n;
	return true;
}

bool pd_input_read_kept(const struct pd_input *in, uint64_t offset, uint64_t n, void *bytes)
{
	size_t low = 0, high = in->n_kept;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (in->kept[middle].offset + in->kept[middle].size <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == in->n_kept || offset < in->kept[low].offset ||
	    n > in->kept[low].size - (offset - in->kept[low].offset))
		return false;
	return !bytes ||
	       pread(in->kept_fd, bytes, (size_t)n,
		     (off_t)(in->kept[low].at + (offset - in->kept[low].offset))) == (ssize_t)n;
}

bool pd_input_spool(struct pd_input *in, struct pd_error *err)
{
	int fd = open_spool_file(err);

	if (fd < 0)
		return false;
	if (!spool_to(in, fd)) {
		pd_error_errno(err, in->path, "cannot copy the stream to a file in $TMPDIR");
		close(fd);
		return false;
	}
	close(in->fd);
	in->fd = fd;
	in->size = in->at;
	in->stream = in->keep = false;
	drop_head(in);
	return true;
}
