/*
 * Files of this machine, as all are opened here.
 */
#ifndef PERFLUA_SYMBOLS_FILE_H
#define PERFLUA_SYMBOLS_FILE_H

#include <sys/stat.h>

/* A descriptor of a regular file, to be closed; a fifo would have us wait. -1: *reason says why not. */
int ps_file_open(const char *path, struct stat *status, const char **reason);

#endif
