/* Opens paths of another machine, whose root is a directory here. */
#ifndef PERFLUA_SYMBOLS_BENEATH_H
#define PERFLUA_SYMBOLS_BENEATH_H

/*
 * Opens `path` as if the directory `root` were /: links, also absolute ones, and ".." stay
 * below it. Returns a descriptor, which the caller closes; or -1 and errno. Without openat2(2),
 * before Linux 5.6 and in some sandboxes, the path is walked step by step; then `flags` must
 * have O_PATH, or errno is ENOSYS.
 */
int ps_open_beneath(int root, const char *path, int flags);

#endif
