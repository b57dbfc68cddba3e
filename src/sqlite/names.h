/*
 * The threads and binaries of samples. Each distinct one has a number, from 1 on in the order
 * in which they were met.
 */
#ifndef PERFLUA_SQLITE_NAMES_H
#define PERFLUA_SQLITE_NAMES_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "query/query.h"

struct pt_thread {
	int64_t pid, tid; /* -1: it has none */
	struct pd_text comm;
};

struct pt_binary {
	struct pd_text name;
	const struct ps_build_id *build_id; /* NULL: not known */
};

/* Zero-initialised but for its secret: empty. */
struct pt_names {
	struct pb_secret secret;
	struct pb_arena arena;
	struct pt_thread *threads;
	struct pt_binary *binaries;
	size_t n_threads, n_binaries;
	size_t threads_room, binaries_room;
	struct pb_map by_thread, by_binary;
};

void pt_names_deinit(struct pt_names *names);

/* Return the number of one that equals the argument, added if it is new; 0: no memory. */
uint32_t pt_names_thread(struct pt_names *names, const struct pt_thread *thread);
uint32_t pt_names_binary(struct pt_names *names, struct pd_text name);

#endif
