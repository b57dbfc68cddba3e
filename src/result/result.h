/*
 * Results: the groups that a query found as one value, with their keys and the states of their
 * measures, in sections by event. The states stay as they are, so results add up exactly in any
 * order.
 *
 * A result owns all that it consists of, but for its stacks, and so outlives the recording. It
 * is constant once it is made. What of it is shown, and in which order, is a view's (view.h).
 */
#ifndef PERFLUA_RESULT_RESULT_H
#define PERFLUA_RESULT_RESULT_H

#include "column.h"

struct pr_key {
	enum pr_kind kind;
	bool is_event; /* the key is the event: shares are of its total */
};

struct pr_measure {
	enum pq_measure_kind measure;
	enum pr_kind kind; /* of the values that were measured */
};

/* Describes the keys and measures of a result. Results of equal shapes may be merged. */
struct pr_shape {
	size_t n_keys, n_measures;
	const struct pr_key *keys;	   /* [n_keys] */
	const struct pr_measure *measures; /* [n_measures] */
};

struct pr_result {
	struct pr_shape shape; /* copied */
	/*
	 * Key 0 of a group is its section, a PQ_INT: the place of its event among those of the
	 * result, from 1 on; 0: no event. The keys of the shape come after it.
	 */
	struct pq_groups *groups;
	struct pq_grouping grouping;	/* of `groups`: only kinds */
	const struct pq_stacks *stacks; /* of values of kind PR_STACK; NULL: none; borrowed */
	bool is_open; /* groups may be put: it was created empty, not taken from a query */
};

/*
 * Creates an empty result, for pr_put(). `stacks`, which may be NULL, must outlive it. Returns
 * NULL without memory.
 */
struct pr_result *pr_create(const struct pr_shape *shape, const struct pq_stacks *stacks);
void pr_destroy(struct pr_result *result);

/* Returns a node of values that are shown as that kind, of which only the kind counts. */
const struct pq_node *pr_kind_node(enum pr_kind kind);

static inline size_t pr_size(const struct pr_result *result)
{
	return pq_groups_size(result->groups);
}

#define PR_ROWS_AHEAD 16 /* rows of which the groups are expected before they are asked for */

/* Returns the section of a group. */
static inline uint32_t pr_section(const struct pr_result *result, size_t g)
{
	struct pq_value section;

	pq_groups_key(result->groups, g, 0, &section);
	return (uint32_t)section.u;
}

/* Sets *out to key `k` of the shape. Texts are the result's. */
static inline void pr_key_value(const struct pr_result *result, size_t g, size_t k,
				struct pq_value *out)
{
	pq_groups_key(result->groups, g, k + 1, out);
}

/* Returns the bits of key `k`, and its type, an enum pq_type: see pq_groups_key_bits(). */
static inline uint64_t pr_key_bits(const struct pr_result *result, size_t g, size_t k,
				   uint8_t *type)
{
	return pq_groups_key_bits(result->groups, g, k + 1, type);
}

/*
 * Adds `states`, one for each measure, or nothing (NULL) to the group with these keys, of which
 * the first is the section; it is added if it is new. The result must be open. Sets *g to its
 * number, unless g is NULL. Texts are copied; a PQ_CHAIN is the number of a stack of `stacks`.
 * Returns false without memory.
 */
static inline bool pr_put(struct pr_result *result, const struct pq_value *keys,
			  const struct pq_state *states, size_t *g)
{
	return pq_groups_put(result->groups, keys, states, g);
}

/* Adds a state of measure `m` to group `g`, likewise. */
static inline bool pr_put_state(struct pr_result *result, size_t g, size_t m,
				const struct pq_state *state)
{
	return pq_groups_put_state(result->groups, g, m, state);
}

/*
 * Adds all groups of `from`, whose shape is the same: those of section s become groups of
 * section sections[s]. Its stacks are added to `stacks`, those of `to`; NULL if there are none.
 * Returns false without memory.
 */
bool pr_add(struct pr_result *to, const struct pr_result *from, const uint32_t *sections,
	    size_t n_sections, struct pq_stacks *stacks);

/*
 * Takes the groups of a query, whose keys and measures are those of `shape`, in any case.
 * `has_events` and stack_of are as in pq_groups_own(). Returns NULL without memory.
 */
struct pr_result *pr_take(const struct pr_shape *shape, struct pq_groups *groups,
			  bool has_events, const uint32_t *stack_of,
			  const struct pq_stacks *stacks);

#endif
