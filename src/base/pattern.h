/*
 * Patterns of text: globs, and those of Lua's string library without back-references (%1).
 *
 * A pattern asks only whether a text matches, so captures mean nothing. All ways to match are
 * followed at once: the work is at most the items of the pattern times the bytes of the text,
 * however both were chosen.
 */
#ifndef PERFLUA_BASE_PATTERN_H
#define PERFLUA_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct pb_pattern;

/*
 * Compiles the `n` bytes at `text`. A glob, with * ? [set] and [!set], describes whole texts; a
 * Lua pattern parts of them, unless it is anchored.
 *
 * Returns NULL if there is no memory, with *wrong NULL, or if the pattern is malformed, with
 * *wrong a message, which stays.
 */
struct pb_pattern *pb_pattern_create(const char *text, size_t n, bool is_glob,
				     const char **wrong);
void pb_pattern_destroy(struct pb_pattern *pattern);

/*
 * Sets *matches to whether the `n` bytes at `text` match. Returns false without memory. A
 * pattern keeps memory between calls, so it is of one thread.
 */
bool pb_pattern_match(struct pb_pattern *pattern, const char *text, size_t n, bool *matches);

#endif
