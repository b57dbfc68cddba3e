/*
 * Where a recording can be cut: positions at which records begin, found without reading those
 * before.
 */
#ifndef PERFLUA_PERFDATA_BOUNDARY_H
#define PERFLUA_PERFDATA_BOUNDARY_H

#include "perfdata/container/file.h"

/*
 * Returns where a partition that begins at `from` should end: about `size` bytes after, at a
 * position where records could begin, or at the end of the stream if fewer than `least` bytes
 * would be left. Mostly a few kilobytes have to be read.
 *
 * Copies of stacks may hold records: those of a program that reads or writes recordings lead
 * from one copy to the next as the real ones do. But few headers lead through large records, so
 * that takes less time than a guess.
 */
uint64_t pd_find_boundary(struct pd_stream *stream, uint64_t from, uint64_t size,
			  uint64_t least);

#endif
