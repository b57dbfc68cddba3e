/*
 * Groups of records by their keys, and what is measured of each.
 *
 * A table of groups belongs to one worker. Tables of the same description add up
 * (pq_groups_merge) in any order; with the measures `first` and `last` the later table must be
 * merged into the earlier.
 */
#ifndef PERFLUA_QUERY_GROUP_H
#define PERFLUA_QUERY_GROUP_H

#include "query/expr/expr.h"
#include "sketch.h"

enum pq_measure_kind {
	PQ_M_COUNT, /* has no value */
	PQ_M_SUM,
	PQ_M_AVG,
	PQ_M_MIN,
	PQ_M_MAX,
	PQ_M_QUANTILE, /* has a sketch: the caller knows which quantile */
	PQ_M_HIST,
	PQ_M_DISTINCT,
	PQ_M_FIRST,
	PQ_M_LAST,
	PQ_M_SHARE, /* like the sum */
	PQ_M_RATIO, /* two sums, of the records of two sets of events */
	PQ_M_TIMES, /* nothing of a group: see pq_groups_times() */
	/* values that were computed elsewhere: they have no records, and are not merged */
	PQ_M_COMPARED,
	PQ_M_DELTA,
};

struct pq_key {
	const struct pq_node *value;
	const struct pq_node *other; /* the key if `value` is absent; NULL: PQ_NIL */
};

struct pq_measure {
	enum pq_measure_kind kind;
	const struct pq_node *value; /* NULL for PQ_M_COUNT */
	const struct pq_node *
		/*
		 * how often each record counts (AVG, QUANTILE, HIST, COUNT); NULL: once;
		 * of TIMES what is kept with the value
		 */
		weight;
	const uint8_t *events[2]; /* for PQ_M_RATIO, by number of the event: [n_events] */
	size_t n_events;
};

/* Returns why one worker must take in all records, in a few words; NULL: several may. */
const char *pq_measure_serial(const struct pq_measure *measure);

struct pq_grouping {
	const struct pq_key *keys;
	size_t n_keys; /* 0: all records are one group, which exists even without records */
	const struct pq_measure *measures;
	size_t n_measures;
	/*
	 * where rows are parts of records: the groups that count each record once, for the
	 * totals that shares refer to; NULL: none
	 */
	const struct pq_grouping *whole;
	/*
	 * records whose first sum or average is of an integer above this limit are set aside;
	 * 0: none
	 */
	uint64_t most;
};

struct pq_groups;

/*
 * Creates an empty table, and adds the fields of `grouping` to `fields`; both must outlive it.
 * Returns NULL without memory.
 */
struct pq_groups *pq_groups_create(const struct pq_grouping *grouping,
				   struct pq_fields *fields);
void pq_groups_destroy(struct pq_groups *groups);

/* Adds the record that `fields` entered. Returns false without memory. */
bool pq_groups_add(struct pq_groups *groups);

/*
 * Adds the record to the groups of grouping.whole, if there are any. Returns false without
 * memory.
 */
bool pq_groups_add_whole(struct pq_groups *groups);

/* Returns the groups of grouping.whole; NULL: there are none. */
struct pq_groups *pq_groups_whole(const struct pq_groups *groups);

/*
 * Adds the groups of `from`, which is emptied; its chains can no longer be looked up. Progress
 * is reported after each PQ_MERGED_AT_ONCE groups, with 0 bytes; when it says stop, the rest is
 * dropped. Returns false without memory.
 */
#define PQ_MERGED_AT_ONCE 4096
bool pq_groups_merge(struct pq_groups *groups, struct pq_groups *from,
		     const struct pb_progress *progress);

/* Says why a measure has no answer. */
enum pq_wrong {
	PQ_RIGHT,	  /* it has one */
	PQ_WRONG_SUM,	  /* a sum exceeds 2^63 - 1 */
	PQ_WRONG_WEIGHT,  /* a record's weight is below 0, above 2^63 - 1, or a float */
	PQ_WRONG_WEIGHTS, /* the sum of weights exceeds 2^63 - 1 */
	PQ_WRONG_AVERAGE, /* what is averaged exceeds 2^94 */
};
enum pq_wrong pq_groups_wrong(const struct pq_groups *groups);

size_t pq_groups_size(const struct pq_groups *groups);

/* Returns the number of records that were set aside and are in no group. */
uint64_t pq_groups_set_aside(const struct pq_groups *groups);

/* Frees memory that only serves to find groups. Nothing may be added or merged after it. */
void pq_groups_seal(struct pq_groups *groups);

/* Returns the chains that keys of type PQ_CHAIN are numbers in; NULL: none. */
struct pq_chains *pq_groups_chains(const struct pq_groups *groups);

/* Prefetches group `g`, which will be asked for soon: groups may lie all over the memory. */
void pq_groups_expect(const struct pq_groups *groups, size_t g);

/*
 * Sets *out to key `k` of group `g`. Floats that are integers are PQ_INT, unless the key's kind
 * is float. Text is the table's.
 */
void pq_groups_key(const struct pq_groups *groups, size_t g, size_t k, struct pq_value *out);

/* The result of a measure, depending on its kind. Pointers are the table's. */
struct pq_state {
	struct pq_value
		/*
		 * COUNT, SUM, SHARE: a number; MIN, MAX, FIRST, LAST: PQ_NIL if there is none
		 */
		value;
	uint64_t n;   /* AVG: number of values; unused by RATIO */
	int64_t high; /* AVG of integers: the sum is high * 2^32 + value, 0 <= value < 2^32 */
	struct pq_value other;		 /* RATIO: sum of the second events */
	const struct pq_sketch *sketch;	 /* QUANTILE, HIST: counts */
	struct pq_value least, greatest; /* QUANTILE */
	const struct pq_value *set;	 /* DISTINCT: [n_set] */
	size_t n_set;
};
void pq_groups_state(const struct pq_groups *groups, size_t g, size_t m, struct pq_state *out);

/* A record, as PQ_M_TIMES keeps it. */
struct pq_time {
	uint64_t time, weight; /* values of the measure; 0 if they are no integers */
	uint32_t group;
};

/*
 * Returns all records, in the order in which they were added and merged, and sets *n to their
 * number; of none if PQ_M_TIMES is not measured. They are the table's.
 */
const struct pq_time *pq_groups_times(const struct pq_groups *groups, size_t *n);

/* Free them; the other groups, but not their chains and texts. */
void pq_groups_forget_times(struct pq_groups *groups);
void pq_groups_forget_rows(struct pq_groups *groups);

/*
 * Creates an empty table without fields, for pq_groups_put(): of the values of keys and
 * measures in `grouping`, which must outlive it, only the kinds count. Returns NULL without
 * memory.
 */
struct pq_groups *pq_groups_create_bare(const struct pq_grouping *grouping);

/*
 * Adds `states`, which has one for each measure, to the group with these keys, which is added
 * if it is new. Sets *g to its number, unless g is NULL. Texts, sketches and sets are copied; a
 * PQ_CHAIN is a number that means the same in all tables. Keys that are equal numbers are one
 * key; NaN is PQ_NIL. Returns false, with part of it added, without memory.
 */
bool pq_groups_put(struct pq_groups *groups, const struct pq_value *keys,
		   const struct pq_state *states, size_t *g);

/*
 * Makes the groups a table of their own, which needs neither fields nor the recording any more,
 * and is described by `grouping` from now on; nothing is added or merged any more, and the
 * groups of grouping.whole are destroyed. Events become their names, chains their texts; chains
 * as values become stacks: stacks[i] is the number of that of chain i.
 *
 * Key 0 becomes the section of its group, a PQ_INT: if `section` is 0, the number of the event
 * that it was, from 1 on, or 0 for none; if `section` is SIZE_MAX, the groups get such a key 0
 * before theirs, which is 0. Returns false without memory; then the table can only be
 * destroyed.
 */
bool pq_groups_own(struct pq_groups *groups, const struct pq_grouping *grouping, size_t section,
		   const uint32_t *stacks);

/*
 * Renumbers sections, the keys 0 of a table that was created bare or made its own: section i
 * becomes places[i - 1], for 0 < i <= n; all others become `other`.
 */
void pq_groups_set_sections(struct pq_groups *groups, const uint32_t *places, size_t n,
			    uint32_t other);

/* Return how many keys groups have, and how many measures. */
size_t pq_groups_n_keys(const struct pq_groups *groups);
size_t pq_groups_n_measures(const struct pq_groups *groups);

/* Returns how many bytes the groups hold, but for what their states own. */
size_t pq_groups_memory(const struct pq_groups *groups);

#endif
