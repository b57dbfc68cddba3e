/*
 * The source of a recording's bytes: a regular file, which any number of readers read at any
 * offset, or a stream (a pipe, a terminal), which is read once from front to end.
 */
#ifndef PERFLUA_PERFDATA_INPUT_H
#define PERFLUA_PERFDATA_INPUT_H

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/timing.h"
#include "perfdata/format/error.h"

/* Work that is done while a stream is waited for. Zero-initialised: there is none. */
struct pd_idle {
	/*
	 * Called in the thread that reads, before it waits. Returns after how many ns without
	 * bytes to call again; negative: the read fails with the code EINTR.
	 */
	int64_t (*call)(void *arg);
	void *arg;
};

#define PD_UNKNOWN_SIZE (UINT64_MAX / 2) /* size of a stream until its end is met */

/* Bytes of a stream that are kept in a nameless file. */
struct pd_kept {
	uint64_t offset, size; /* in the stream */
	uint64_t at;	       /* in the file */
};

struct pd_input {
	atomic_int fd; /* -1: closed */
	/* reads of a file in progress, in any thread; pd_input_close() waits for them */
	atomic_int reads;
	uint64_t size;	  /* in bytes; PD_UNKNOWN_SIZE of a stream */
	int64_t written;  /* s since 1970: when the file was last written; 0: a stream */
	int64_t owner;	  /* the user whom a named regular file belongs to; -1: none */
	const char *path; /* owned by the caller of pd_input_open() */
	bool stream;
	bool consumed;				/* the one pass over the stream has begun */
	const volatile sig_atomic_t *interrupt; /* NULL: see pd_input_open() */
	struct pd_idle idle;			/* may be set while nothing is read */
	bool keep;     /* bytes that are read of the stream are kept for the pass over it */
	uint64_t at;   /* offset up to which the stream was read */
	uint8_t *head; /* the kept bytes: the stream's first head_size bytes */
	size_t head_size, head_capacity;
	/*
	 * of a stream: payloads of records are kept in a file when they pass. The caller sets
	 * it before the pass over the stream.
	 */
	bool keeps_payloads;
	int kept_fd;	      /* the file; 0: none is kept */
	struct pd_kept *kept; /* [n_kept]: in ascending order */
	size_t n_kept, kept_room;
	struct pb_timing *timing; /* NULL: nothing is measured */
};

/*
 * Opens a file, a FIFO, or standard input for "-". A stream keeps the bytes that are read until
 * the caller clears in->keep. `path` must outlive the input. Once a signal handler has set
 * *interrupt no read waits for bytes of a stream: it fails with the code EINTR. NULL: reads
 * wait.
 *
 * Returns false with *err; then in->fd is -1 and there is nothing to close.
 */
bool pd_input_open(struct pd_input *in, const char *path,
		   const volatile sig_atomic_t *interrupt, struct pd_error *err);
void pd_input_close(struct pd_input *in);

/*
 * Returns true if the file belongs to another user: not to the one who reads it, nor to root,
 * nor to the user who became root by sudo.
 */
bool pd_input_is_foreign(const struct pd_input *in);

/*
 * Turns a stream into a regular file: copies it, from its first byte on, to a temporary file
 * without a name. Returns false with *err.
 */
bool pd_input_spool(struct pd_input *in, struct pd_error *err);

/* Keeps bytes at an offset of a stream, after those kept before. Returns false with *err. */
bool pd_input_keep(struct pd_input *in, uint64_t offset, const void *bytes, size_t n,
		   struct pd_error *err);

/*
 * Returns whether all bytes of a range were kept. Reads them into `bytes`, unless that is NULL;
 * false then also means that they cannot be read.
 */
bool pd_input_read_kept(const struct pd_input *in, uint64_t offset, uint64_t n, void *bytes);

/*
 * Reads at least `least` and at most `most` bytes at `offset`; `bytes` has room for `most`.
 * Sets *got to the number of bytes, which is less than `least` only at the end, also that of a
 * file that was truncated since it was opened. A stream returns the bytes that are available
 * and discards those before `offset`; it cannot go back, except to kept bytes. Returns false
 * with *err on a read error.
 */
bool pd_input_read(struct pd_input *in, uint64_t offset, void *bytes, size_t least, size_t most,
		   size_t *got, struct pd_error *err);

/* Does what pd_input_read() does, as a stage of `pass`: see pb_stage_enter(). */
bool pd_input_read_timed(struct pd_input *in, struct pb_pass *pass, uint64_t offset,
			 void *bytes, size_t least, size_t most, size_t *got,
			 struct pd_error *err);

#endif
