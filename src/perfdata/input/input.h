/*
 * Where bytes come from: a regular file, read at any offset by as many readers as like, or a
 * stream, read once from front to end.
 */
#ifndef PERFLUA_PERFDATA_INPUT_H
#define PERFLUA_PERFDATA_INPUT_H

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "perfdata/format/error.h"

#define PD_UNKNOWN_SIZE (UINT64_MAX / 2) /* of a stream, until its end is met */

struct pd_input {
	atomic_int fd; /* -1: closed */
	atomic_int
		/* of a file that are under way: also by threads, which close() waits for */
		reads;
	uint64_t size;	  /* of a stream PD_UNKNOWN_SIZE */
	const char *path; /* owned by whoever opened it */
	bool stream;
	bool passed;				/* the one pass over the stream was begun */
	const volatile sig_atomic_t *interrupt; /* NULL: see pd_input_open */
	bool keep;     /* what is read of the stream is kept for that pass */
	uint64_t at;   /* how far the stream was read */
	uint8_t *head; /* what was kept: the stream's first head_size bytes */
	size_t head_size, head_capacity;
};

/*
 * Opens a file, a FIFO, or standard input for "-"; fd is -1 on failure. A stream is kept at
 * first. Nobody waits for bytes of a stream once a signal handler has set `interrupt`: that
 * fails, with the code EINTR.
 */
bool pd_input_open(struct pd_input *in, const char *path,
		   const volatile sig_atomic_t *interrupt, struct pd_error *err);
void pd_input_close(struct pd_input *in);

/* Turns a stream into a regular file that has no name, from its first byte on. */
bool pd_input_spool(struct pd_input *in, struct pd_error *err);

/*
 * Reads at least `least` and at most `most` bytes at offset; *got is what there was: fewer than
 * least only at the end, also if a file shrank since it was opened. A stream gives what it has
 * at once, goes only forward, and passes over what lies before offset. False on a read error.
 */
bool pd_input_read(struct pd_input *in, uint64_t offset, void *bytes, size_t least, size_t most,
		   size_t *got, struct pd_error *err);

#endif
