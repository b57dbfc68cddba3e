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
 * Opens a file that debug information of the store's binaries names. Lines that a bundle of the
 * store has come before those of the file here, which has no others to tell if it differs in
 * one of them. Returns NULL and sets *reason, to a constant string, if there are none. `store`
 * must outlive the source.
 */
struct ps_source *ps_source_open(struct ps_store *store, const char *path, const char **reason);
void ps_source_destroy(struct ps_source *source);

/* Returns when the file was last written, in s. */
int64_t ps_source_modified(const struct ps_source *source);

/*
 * Returns a line, counted from 1, without its end, and sets *n to its length. NULL: the file
 * ends before it.
 */
const char *ps_source_line(struct ps_source *source, uint32_t line, size_t *n);

#endif
