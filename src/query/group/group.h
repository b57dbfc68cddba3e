/*
 * Groups of records by their keys, and what is measured of each: a hash table of keys, whose
 * texts are numbers.
 *
 * A table is of one thread. Tables of the same description add up (pq_groups_merge), in any
 * order, but for `first` and `last`: there the later one is merged into the earlier.
 */
#ifndef PERFLUA_QUERY_GROUP_H
#define PERFLUA_QUERY_GROUP_H

#include "query/expr/expr.h"
#include "sketch.h"

enum pq_measure_kind {
	PQ_M_COUNT, /* no value */
	PQ_M_SUM,
	PQ_M_AVG,
	PQ_M_MIN,
	PQ_M_MAX,
	PQ_M_QUANTILE, /* the sketch: the caller knows which quantile */
	PQ_M_HIST,
	PQ_M_DISTINCT,
	PQ_M_FIRST,
	PQ_M_LAST,
	PQ_M_SHARE, /* as the sum */
	PQ_M_RATIO, /* two sums, of the records of two sets of events */
};

struct pq_key {
	const struct pq_node *value;
	const struct pq_node *other; /* the key where `value` is absent; NULL: PQ_NIL */
};

struct pq_measure {
	enum pq_measure_kind kind;
	const struct pq_node *value; /* NULL: of PQ_M_COUNT */
	const struct pq_node *
		/* each record counts so often (AVG, QUANTILE, HIST, COUNT); NULL: once */
		weight;
	const uint8_t *events[2]; /* of PQ_M_RATIO, by number: [n_events] */
	size_t n_events;
};

struct pq_grouping {
	const struct pq_key *keys;
	size_t n_keys; /* 0: all records are one group, which is there without records, too */
	const struct pq_measure *measures;
	size_t n_measures;
	/*
	 * records of which the first sum or average is of an integer above it are set aside; 0:
	 * none are
	 */
	uint64_t most;
};

struct pq_groups;

/*
 * NULL: no memory. The description must stay. It adds its fields to `fields`, which must
 * outlive its use.
 */
struct pq_groups *pq_groups_create(const struct pq_grouping *grouping,
				   struct pq_fields *fields);
void pq_groups_destroy(struct pq_groups *groups);

/* Adds the record that was entered in its fields. False: no memory. */
bool pq_groups_add(struct pq_groups *groups);

/*
 * Adds the groups of `from`, which are emptied. Progress is reported after so many groups, with
 * no bytes; once it says no, the rest is dropped. False: no memory.
 */
#define PQ_MERGED_AT_ONCE 4096
bool pq_groups_merge(struct pq_groups *groups, struct pq_groups *from,
		     const struct pb_progress *progress);

/* Why what was measured has no answer. */
enum pq_wrong {
	PQ_RIGHT,	  /* it has */
	PQ_WRONG_SUM,	  /* of some group it passes 2^63 - 1 */
	PQ_WRONG_WEIGHT,  /* of a record it is none: below 0, above 2^63 - 1, a float */
	PQ_WRONG_WEIGHTS, /* of some group they pass 2^63 - 1 */
	PQ_WRONG_AVERAGE, /* what is averaged passes 2^94 */
};
enum pq_wrong pq_groups_wrong(const struct pq_groups *groups);

size_t pq_groups_size(const struct pq_groups *groups);

/* Returns how many records were set aside: they are in no group. */
uint64_t pq_groups_set_aside(const struct pq_groups *groups);

/* Gives back what only finds groups: nothing is added to them or merged any more. */
void pq_groups_seal(struct pq_groups *groups);

/* The chains that keys of PQ_CHAIN are of; NULL: there are none. */
struct pq_chains *pq_groups_chains(const struct pq_groups *groups);

/*
 * Key k of group g; of what is a float PQ_FLOAT, else floats that are integers are PQ_INT. Text
 * is the groups'.
 */
void pq_groups_key(const struct pq_groups *groups, size_t g, size_t k, struct pq_value *out);

/* What was measured, by kind; the pointers are the groups'. */
struct pq_state {
	struct pq_value
		/*
		 * COUNT, SUM, SHARE: a number; MIN, MAX, FIRST, LAST: PQ_NIL if there was none
		 */
		value;
	uint64_t n;   /* AVG: so many; RATIO: nothing */
	int64_t high; /* AVG, of integers: the sum is high * 2^32 + value, 0 <= value < 2^32 */
	struct pq_value other;		 /* RATIO: the sum of the second events */
	const struct pq_sketch *sketch;	 /* QUANTILE, HIST: counts */
	struct pq_value least, greatest; /* QUANTILE */
	const struct pq_value *set;	 /* DISTINCT: [n_set] */
	size_t n_set;
};
void pq_groups_state(const struct pq_groups *groups, size_t g, size_t m, struct pq_state *out);

#endif
