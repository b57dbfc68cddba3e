/*
 * Groups of records by their keys, and what is measured of each.
 *
 * A table of groups belongs to one worker. Tables of the same description add up
 * (pq_groups_merge) in any order; with the measures `first` and `last` the later table must be
 * merged into the earlier.
 */
#ifndef PERFLUA_QUERY_GROUP_H
#define PERFLUA_QUERY_GROUP_H

#include "query/program/expr.h"
#include "sketch.h"

/*
 * The measures: PQ_M_NAME, and pq_name_row in a measure_*.c. Those of queries come first.
 *
 * A count has no value. A quantile has a sketch: the caller knows which quantile. A ratio has
 * two sums, of the records of two sets of events. `times` keeps nothing of a group: see
 * pq_groups_times(). Values that were computed elsewhere, `compared` and `delta`, have no
 * records, and are not merged.
 */
#define PQ_MEASURES(ROW)        \
	ROW(COUNT, count)       \
	ROW(SUM, sum)           \
	ROW(AVG, avg)           \
	ROW(MIN, min)           \
	ROW(MAX, max)           \
	ROW(QUANTILE, quantile) \
	ROW(HIST, hist)         \
	ROW(DISTINCT, distinct) \
	ROW(FIRST, first)       \
	ROW(LAST, last)         \
	ROW(MAX_BY, max_by)     \
	ROW(SHARE, share)       \
	ROW(RATIO, ratio)       \
	ROW(TIMES, times)       \
	ROW(COMPARED, compared) \
	ROW(DELTA, delta)

enum pq_measure_kind {
#define PQ_MEASURE_KIND(NAME, name) PQ_M_##NAME,
	PQ_MEASURES(PQ_MEASURE_KIND) PQ_MEASURE_KINDS
#undef PQ_MEASURE_KIND
};

struct pq_key {
	const struct pq_node *value;
	const struct pq_node *fallback; /* the key if `value` is absent; NULL: PQ_NIL */
};

struct pq_measure {
	enum pq_measure_kind kind;
	const struct pq_node *value; /* NULL for PQ_M_COUNT */
	/*
	 * how often each record counts (AVG, QUANTILE, HIST, COUNT); NULL: once. For MAX_BY,
	 * the value that is greatest; for TIMES, the value that is kept with the time.
	 */
	const struct pq_node *weight;
	const uint8_t *events[2]; /* for PQ_M_RATIO, by number of the event: [n_events] */
	size_t n_events;
};

/* The values that a measure takes. */
enum pq_takes {
	PQ_TAKES_NOTHING,
	PQ_TAKES_NUMBERS,
	PQ_TAKES_ORDERED, /* texts, too */
	PQ_TAKES_VALUES,  /* booleans and events, too */
	PQ_TAKES_STACKS,  /* all of them */
};

/* The parts of a state. */
enum pq_part {
	PQ_PART_NONE,
	PQ_PART_NATURAL, /* 0 … 2^63 - 1 */
	PQ_PART_INTEGER,
	PQ_PART_LOW,	 /* of an average's sum: 0 … 2^32 - 1, or a float */
	PQ_PART_SUM,	 /* of values */
	PQ_PART_NUMBER,	 /* one of the values that is not NaN */
	PQ_PART_ORDERED, /* one of the values that is a number or text; PQ_NIL: none */
	PQ_PART_VALUE,	 /* one of the values; PQ_NIL: none */
};

#define PQ_MOST_PARTS 3

struct pq_state;
struct pq_measure_ops;

/* How a state is shown. */
struct pq_shown {
	enum pq_kind kind; /* of the values */
	double share;	   /* of a quantile: 0 to 1 */
	double total;	   /* what a share is of */
};

/* All that is known of a measure, in one place. */
struct pq_measure_row {
	const char *name;
	const char *prefix; /* of its column's name, before the field; NULL: "name_" */
	enum pq_takes takes;
	/*
	 * the kind of its column: "same" as that of the values; "sum": likewise, but sums of
	 * addresses are unsigned; or a kind
	 */
	const char *shows;
	bool is_weighted;  /* a record's weight may stand beside its value */
	bool is_ordered;   /* it depends on the order of records */
	bool is_magnitude; /* rows are sorted by it without its sign */
	bool is_single;	   /* it shows nothing of groups that were added up to one */
	/*
	 * A state consists of parts; the counts of buckets up to ±last_bucket, unless that is
	 * 0; a set of values. No state is kept of a measure that has none of them.
	 */
	uint8_t parts[PQ_MOST_PARTS]; /* enum pq_part */
	int32_t last_bucket;
	bool has_set;
	/* Sets *out, which is PQ_NIL, to what is shown; NULL: the first part is. */
	void (*show)(const struct pq_shown *how, const struct pq_state *state,
		     struct pq_value *out);
	/* for integers and for other values; a count's without and with a weight */
	const struct pq_measure_ops *ops[2];
};

const struct pq_measure_row *pq_measure_row(enum pq_measure_kind kind);

/* Returns how many parts a state has. */
static inline size_t pq_count_parts(const struct pq_measure_row *row)
{
	size_t n = 0;

	while (n < PQ_MOST_PARTS && row->parts[n])
		n++;
	return n;
}

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
	/*
	 * call chains at most, and half the groups at most, 0: any number: see
	 * pq_chains_limit(); records beyond are of PQ_OTHERS
	 */
	size_t limit;
	/*
	 * several groups may have the same keys: those of workers are not looked up when they
	 * are merged
	 */
	bool repeats;
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
 * Lets pq_groups_add() look up groups of a large table together, if their measures allow it,
 * until pq_groups_settle() has added all of them: it is called before the groups are read or
 * merged. Both return false without memory.
 */
bool pq_groups_defer(struct pq_groups *groups);
bool pq_groups_settle(struct pq_groups *groups);

/*
 * Adds the record to the groups of grouping.whole, if there are any. Returns false without
 * memory.
 */
bool pq_groups_add_whole(struct pq_groups *groups);

/* Returns the groups of grouping.whole; NULL: there are none. */
struct pq_groups *pq_groups_whole(const struct pq_groups *groups);

/*
 * Adds the groups of `from`, which may only be destroyed after it. Progress is reported after
 * each PQ_MERGED_AT_ONCE groups, with 0 bytes; when it says stop, the rest is dropped. Returns
 * false without memory.
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

/*
 * Makes the natural sums of all groups seven eighths of what they are, as perf top's at each
 * tick; counts stay.
 */
void pq_groups_decay(struct pq_groups *groups);

/* Returns the chains that keys of type PQ_CHAIN are numbers in; NULL: none. */
struct pq_chains *pq_groups_chains(const struct pq_groups *groups);

/* Prefetches group `g`, which will be asked for soon: groups may lie all over the memory. */
void pq_groups_expect(const struct pq_groups *groups, size_t g);

/*
 * Sets *out to key `k` of group `g`. Floats that are integers are PQ_INT, unless the key's kind
 * is float. Text is the table's.
 */
void pq_groups_key(const struct pq_groups *groups, size_t g, size_t k, struct pq_value *out);

/*
 * Returns the bits of key `k` of group `g` and sets *type: groups of a table have the same ones
 * for equal keys. Text is not read.
 */
uint64_t pq_groups_key_bits(const struct pq_groups *groups, size_t g, size_t k, uint8_t *type);

/*
 * The result of a measure, as its row describes it. Pointers are the table's.
 *
 * Parts of an average are the number of values, and their sum as high * 2^32 + low with
 * 0 <= low < 2^32; from the first float on the low part has all floats. Those of a quantile are
 * the least and the greatest value, those of a ratio the sums of its two sets of events.
 */
struct pq_state {
	union {
		struct pq_value value, parts[PQ_MOST_PARTS];
	};
	const struct pq_sketch *sketch;
	const struct pq_value *set; /* [n_set] */
	size_t n_set;
};
void pq_groups_state(const struct pq_groups *groups, size_t g, size_t m, struct pq_state *out);

/* A record, as PQ_M_TIMES keeps it. */
struct pq_time {
	uint64_t time, weight; /* values of the measure; 0 if they are not integers */
	uint32_t group;
};

/* Sets *out to what is shown of a state of a measure. */
static inline void pq_show_state(const struct pq_measure_row *row, const struct pq_shown *how,
				 const struct pq_state *state, struct pq_value *out)
{
	*out = (struct pq_value){ .type = PQ_NIL };
	if (row->show)
		row->show(how, state, out);
	else
		*out = state->value;
}

/*
 * Returns all records, in the order in which they were added and merged, and sets *n to their
 * number; of none if PQ_M_TIMES is not measured. They are the table's.
 */
const struct pq_time *pq_groups_times(const struct pq_groups *groups, size_t *n);

/* Frees all of these records but the first `n`: those that are left may move. */
void pq_groups_drop_times(struct pq_groups *groups, size_t n);

/* Frees all groups but the first `n` of a sealed table; their chains and texts stay. */
void pq_groups_drop(struct pq_groups *groups, size_t n);

/*
 * Creates an empty table without fields, for pq_groups_put(): of the values of keys and
 * measures in `grouping`, which must outlive it, only the kinds count. Returns NULL without
 * memory.
 */
struct pq_groups *pq_groups_create_bare(const struct pq_grouping *grouping);

/*
 * Adds `states`, which has one for each measure, or nothing (NULL) to the group with these
 * keys, which is added if it is new. Sets *g to its number, unless g is NULL. Texts, sketches
 * and sets are copied; a PQ_CHAIN is a number that means the same in all tables. Keys that are
 * equal numbers are one key; NaN is PQ_NIL. Returns false, with part of it added, without
 * memory.
 */
bool pq_groups_put(struct pq_groups *groups, const struct pq_value *keys,
		   const struct pq_state *states, size_t *g);

/* Adds a state of measure `m` to a group, likewise. */
bool pq_groups_put_state(struct pq_groups *groups, size_t g, size_t m,
			 const struct pq_state *state);

/*
 * Makes the groups a table of their own, which needs neither fields nor the recording any more,
 * and is described by `grouping` from now on; nothing is added or merged any more, and the
 * groups of grouping.whole are destroyed. Events become their names, chains their texts; chains
 * as values become stacks: stacks[i] is the number of that of chain i.
 *
 * Key 0 becomes the section of its group, a PQ_INT: if `has_events`, the number of the event
 * that it was, from 1 on, or 0 for none; else the groups get such a key 0 before theirs, which
 * is 0. Returns false without memory; then the table can only be destroyed.
 */
bool pq_groups_own(struct pq_groups *groups, const struct pq_grouping *grouping,
		   bool has_events, const uint32_t *stacks);

/*
 * Renumbers sections, the keys 0 of a table that was created bare or made its own: section i
 * becomes places[i - 1], for 0 < i <= n; all others become `rest`.
 */
void pq_groups_set_sections(struct pq_groups *groups, const uint32_t *places, size_t n,
			    uint32_t rest);

/* Return how many keys groups have, and how many measures. */
size_t pq_groups_n_keys(const struct pq_groups *groups);
size_t pq_groups_n_measures(const struct pq_groups *groups);

/* Returns how many bytes the groups hold, but for what their states own. */
size_t pq_groups_memory(const struct pq_groups *groups);

#endif
