/*
 * Unpacks compressed files: kernel modules, and the small symbol tables within some programs.
 */
#ifndef PERFLUA_SYMBOLS_UNPACK_H
#define PERFLUA_SYMBOLS_UNPACK_H

#include <stddef.h>

/*
 * Unpacks the contents of a descriptor, compressed by gzip, xz or Zstandard, to an unlinked
 * file. Returns its descriptor, which the caller closes; -1: another format, damage, or far
 * more data than such files hold.
 */
int ps_unpack(int fd);

/* Returns the descriptor of an unlinked file with these bytes; -1: no space. */
int ps_memory_file(const void *bytes, size_t n);

#endif
