/*
 * Groups of a result that were met, by the keys that tell their rows: most groups differ from
 * one that was met in the slice of time alone, and are of its row.
 */
#ifndef PERFLUA_COMPARE_MET_H
#define PERFLUA_COMPARE_MET_H

#include "base/hash.h"
#include "base/map.h"
#include "result/view.h"

struct pc_met {
	const struct pr_result *result;
	size_t n_keys, other; /* the first keys, and another one; PR_NONE: no other */
	/* [n * (n_words + 1)]: words of each group, and its row */
	uint64_t *groups;
	size_t n_words, n, room;
	struct pb_map map; /* numbers of groups */
	struct pb_secret secret;
};

/* Initializes *met for a result, which must outlive it. */
void pc_met_init(struct pc_met *met, const struct pr_result *result, size_t n_keys,
		 size_t other);
void pc_met_deinit(struct pc_met *met);

/*
 * Finds group `g`. Sets *row to where its row is, until the next call, and *is_new if the
 * caller has to put it there. Returns false without memory.
 */
bool pc_met_find(struct pc_met *met, size_t g, uint64_t **row, bool *is_new);

#endif
