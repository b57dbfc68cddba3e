/*
 * Functions of the fuzz targets: they make inputs of bytes, and read everything of a recording.
 * They check what can be checked without knowing the input, and abort where it does not hold.
 */
#ifndef PERFLUA_FUZZ_COMMON_H
#define PERFLUA_FUZZ_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include "perfdata/order/walk.h"

#define FUZZ_PATH 64

/* libFuzzer's; also what AFL++ calls. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Ends the run: what holds for any input did not. */
#define FUZZ_CHECK(condition) \
	((condition) ? (void)0 : fuzz_failed(#condition, __FILE__, __LINE__))
void fuzz_failed(const char *condition, const char *file, int line) __attribute__((noreturn));

/* A file of these bytes that has no name: its descriptor, and a path that opens it. */
int fuzz_file(const uint8_t *bytes, size_t n, char path[FUZZ_PATH]);

struct fuzz_part {
	const uint8_t *bytes;
	size_t n;
};

/* Splits an input: the sizes of all parts but the last (u32, little-endian), then the parts. */
void fuzz_split(const uint8_t *bytes, size_t n, struct fuzz_part *parts, size_t n_parts);

/* Opens the recordings, if they can be, reads all there is of them and closes them. */
void fuzz_read(const char *const *paths, size_t n);

/* Reads a pipe or FIFO: everything that can be read in one pass. */
void fuzz_read_stream(const char *path, enum pd_order_kind kind, bool small_window);

/* Feeds a feature's bytes to its decoder. */
void fuzz_feature(const struct pd_feature *feature, const uint8_t *bytes, size_t n,
		  const struct pd_feature_context *context);

#endif
