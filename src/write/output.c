#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* runs of records that are larger are written from where they were read */
#define CAPACITY ((size_t)128 << 10)
#define SENT	 ((size_t)1 << 30) /* bytes that the kernel copies in one call */

bool pw_output_init(struct pw_output *out, int fd, bool swap)
{
	*out = (struct pw_output){ .fd = fd, .swap = swap, .buffer = malloc(CAPACITY) };
	out->capacity = out->buffer ? CAPACITY : 0;
	return out->buffer != NULL;
}

void pw_output_deinit(struct pw_output *out)
{
	free(out->buffer);
	out->buffer = NULL;
	out->n = out->capacity = 0;
}

static void write_all(struct pw_output *out, const uint8_t *p, size_t n)
{
	while (n && !out->error && out->fd >= 0) {
		ssize_t done = write(out->fd, p, n);

		if (done < 0 && errno != EINTR)
			out->error = errno;
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		}
	}
}

bool pw_output_flush(struct pw_output *out)
{
	write_all(out, out->buffer, out->n);
	out->n = 0;
	return !out->error;
}

void pw_put_large(struct pw_output *out, const void *bytes, size_t n)
{
	pw_output_flush(out);
	if (n >= out->capacity) {
		write_all(out, bytes, n);
	} else {
		memcpy(out->buffer, bytes, n);
		out->n = n;
	}
	out->at += n;
}

uint64_t pw_put_of_file(struct pw_output *out, int fd, uint64_t offset, uint64_t n)
{
	off_t from = (off_t)offset;
	uint64_t left = out->fd < 0 ? 0 : n;

	pw_output_flush(out);
	while (left && !out->error) {
		ssize_t done = sendfile(out->fd, fd, &from, left < SENT ? (size_t)left : SENT);

		if (done == 0 || (done < 0 && errno != EINTR))
			break;
		left -= done > 0 ? (uint64_t)done : 0;
	}
	out->at += n - left;
	return n - left;
}

bool pw_output_replace(struct pw_output *out, uint64_t offset, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	pw_output_flush(out);
	while (n && !out->error && out->fd >= 0) {
		ssize_t done = pwrite(out->fd, p, n, (off_t)offset);

		if (done < 0 && errno != EINTR)
			out->error = errno;
		if (done > 0) {
			p += done;
			offset += (uint64_t)done;
			n -= (size_t)done;
		}
	}
	return !out->error;
}

void pw_put_zeros(struct pw_output *out, size_t n)
{
	static const uint8_t zeros[64];

	for (; n > sizeof(zeros); n -= sizeof(zeros))
		pw_put(out, zeros, sizeof(zeros));
	pw_put(out, zeros, n);
}
