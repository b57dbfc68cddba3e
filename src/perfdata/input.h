/*
 * Where bytes come from. In this version: a regular file, read at any offset; each reader reads its
 * own blocks, so several may read one input at the same time.
 */
#ifndef PERFLUA_PERFDATA_INPUT_H
#define PERFLUA_PERFDATA_INPUT_H

#include <stddef.h>

#include "error.h"

struct pd_input {
	int fd; /* -1: closed */
	uint64_t size;
	const char *path; /* owned by whoever opened it */
};

/* Opens a regular file; fd is -1 on failure. */
bool pd_input_open(struct pd_input *in, const char *path, struct pd_error *err);
void pd_input_close(struct pd_input *in);

/*
 * Reads up to n bytes at offset; *got is what there was: fewer than n only at the end of the file,
 * also if the file shrank since it was opened. False on a read error.
 */
bool pd_input_read(const struct pd_input *in, uint64_t offset, void *bytes, size_t n,
		   size_t *got, struct pd_error *err);

#endif
