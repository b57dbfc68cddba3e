/*
 * Errors for people: a code that a program can compare, and one line that names the path, the
 * file offset, the bytes that were found there and what was expected.
 */
#ifndef PERFLUA_PERFDATA_ERROR_H
#define PERFLUA_PERFDATA_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#define PD_NO_OFFSET UINT64_MAX

struct pd_error {
	const char *code;  /* "ENOENT", "FORMAT" …; a constant */
	char message[480]; /* "PATH: offset N: found …, expected …" */
};

/*
 * Fills err (which may be NULL) with a message about path at offset (PD_NO_OFFSET: about the
 * file as a whole). Always returns false, so a failing function can end with `return
 * pd_error_set(…)`.
 */
bool pd_error_set(struct pd_error *err, const char *code, const char *path, uint64_t offset,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * Fills err for a failed system call, from errno; `what` says what was tried. Always returns
 * false.
 */
bool pd_error_errno(struct pd_error *err, const char *path, const char *what);

/* Returns whether a wait for a stream was interrupted. All that was read before is valid. */
bool pd_error_interrupted(const struct pd_error *err);

#endif
