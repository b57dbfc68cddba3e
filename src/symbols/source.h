/*
 * The text of source files, as far as they may be read: regular files of up to 64 MB, which the
 * kernel does not make; and the lines that a bundle has (bundle.h).
 */
#ifndef PERFLUA_SYMBOLS_SOURCE_H
#define PERFLUA_SYMBOLS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_source;
struct ps_store;

/*
 * Opens and reads a file. Returns NULL and sets *reason, to a constant string, if it cannot be
 * read. `symfs` is ignored if it is NULL: see ps_file_open().
 */
struct ps_source *ps_source_open(const char *symfs, const char *path, const char **reason);
/*
 * Does the same for a file that debug information of the store's binaries names. Lines that a
 * bundle of the store has come before those of the file here. `store` must outlive it.
 */
struct ps_source *ps_source_open_of(struct ps_store *store, const char *path,
				    const char **reason);
void ps_source_destroy(struct ps_source *source);

/* Returns when the file was last written, in s. */
int64_t ps_source_modified(const struct ps_source *source);

/*
 * Returns a line, counted from 1, without its end, and sets *n to its length. NULL: the file
 * ends before it.
 */
const char *ps_source_line(struct ps_source *source, uint32_t line, size_t *n);

#endif
