/*
 * Groups of a result that were met, by the keys that tell their rows: most groups differ from
 * one that was met in the slice of time alone, and are of its row.
 *
 * Groups are read some at a time, so that the look-ups of all of them wait for memory together.
 */
#ifndef PERFLUA_COMPARE_MET_H
#define PERFLUA_COMPARE_MET_H

#include "base/hash.h"
#include "base/map.h"
#include "result/view.h"

#define PC_AHEAD 32 /* groups that are read together */

struct pc_met {
	const struct pr_result *result;
	size_t n_keys, other; /* the first keys, and another one; PR_NONE: no other */
	/* [n * (n_words + 1)]: words of each group, and its row */
	uint64_t *groups;
	size_t n_words, n, room;
	struct pb_map map; /* numbers of groups */
	struct pb_secret secret;
	/* the groups from number `first` on: words and hashes */
	size_t first;
	uint64_t *ahead; /* [PC_AHEAD * n_words] */
	uint32_t hashes[PC_AHEAD];
};

/* Initializes *met for a result, which must outlive it. Returns false without memory. */
bool pc_met_init(struct pc_met *met, const struct pr_result *result, size_t n_keys,
		 size_t other);
void pc_met_deinit(struct pc_met *met);

/*
 * Reads and hashes the next groups, from number `first` on, for pc_met_find(), and prefetches
 * their rows from `rows`. Returns how many groups, at most PC_AHEAD; 0: there are no more.
 */
size_t pc_met_look_ahead(struct pc_met *met, size_t first, const struct pr_result *rows);

/*
 * Finds group `g`, one of those that pc_met_look_ahead() read last. Sets *row to where its row
 * is, until the next call, and *is_new if the caller has to put it there. Returns false without
 * memory.
 */
bool pc_met_find(struct pc_met *met, size_t g, uint64_t **row, bool *is_new);

#endif
