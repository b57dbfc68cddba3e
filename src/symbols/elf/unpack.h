/*
 * Compressed files: modules of the kernel, the small symbol tables within some programs.
 */
#ifndef PERFLUA_SYMBOLS_UNPACK_H
#define PERFLUA_SYMBOLS_UNPACK_H

#include <stddef.h>

/*
 * Unpacks what a file descriptor has from its start on, by gzip, xz or Zstandard, to a file
 * without a name: its descriptor, to be closed. -1: it is none of these, is damaged, or holds
 * far more than such files do.
 */
int ps_unpack(int fd);

/* A file without a name that has these bytes; -1: no room. */
int ps_memory_file(const void *bytes, size_t n);

#endif
