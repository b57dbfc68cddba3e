/*
 * What is measured of a group: a state of a few bytes for each measure, which begins as zeros.
 * One row of functions for each kind of measure and of what it is a measure of.
 */
#ifndef PERFLUA_QUERY_MEASURE_H
#define PERFLUA_QUERY_MEASURE_H

#include "group.h"
#include "query/expr/strings.h"
#include "query/expr/wide.h"

/* How a value is read from a record. */
struct pq_read {
	struct pq_expr *expr; /* NULL: there is nothing to read */
	uint32_t field;	      /* that it is, alone; UINT32_MAX: it is more than that */
};

struct pq_measure_ops;

/* How a record is added: some measures need no call. */
enum pq_way {
	PQ_WAY_STEP,
	PQ_WAY_COUNT,
	PQ_WAY_SUM, /* of integers, of a field alone */
};

struct pq_measured {
	enum pq_way way;
	const struct pq_measure_ops *ops;
	const struct pq_measure *measure;
	enum pq_kind kind; /* of the value */
	bool is_unsigned;  /* as the kind */
	size_t at;	   /* the state, in a group */
	struct pq_read value, weight;
	struct pq_texts *texts; /* the groups' */
	const uint32_t *chains; /* the numbers of another's chains, while it is merged */
	const struct pq_fields *fields; /* for the record's event; only in a step */
};

struct pq_measure_ops {
	size_t size; /* of a state; a multiple of 8 */
	/*
	 * Takes in a value (of a count: any) `weight` times, at least once. False: no memory.
	 */
	bool (*step)(const struct pq_measured *m, void *state, const struct pq_value *value,
		     uint64_t weight);
	/* Takes in a later state of another table, and may leave it empty. False: no memory. */
	bool (*merge)(const struct pq_measured *m, void *state, void *from);
	void (*get)(const struct pq_measured *m, const void *state, struct pq_state *out);
	/* NULL: nothing of it ever is. */
	enum pq_wrong (*wrong)(const void *state);
	/* NULL: it has nothing of its own. */
	void (*deinit)(void *state);
};

/* The row of a measure of values of a kind. */
const struct pq_measure_ops *pq_measure_ops(const struct pq_measure *measure,
					    enum pq_kind kind);

/* Rows of one file each. */
extern const struct pq_measure_ops pq_count_ops, pq_weighted_count_ops;
extern const struct pq_measure_ops pq_sum_ops[2],
	pq_ratio_ops[2]; /* of integers; of anything */
extern const struct pq_measure_ops pq_avg_ops[2];
extern const struct pq_measure_ops pq_min_ops, pq_max_ops, pq_first_ops, pq_last_ops;
extern const struct pq_measure_ops pq_quantile_ops, pq_hist_ops;
extern const struct pq_measure_ops pq_distinct_ops;

/* Is a below b? Of numbers, none of which is NaN, and texts, which are above all numbers. */
bool pq_less(const struct pq_value *a, const struct pq_value *b, bool is_unsigned);

/* An integer as its kind has it. */
static inline struct pq_wide pq_widened(const struct pq_value *value, enum pq_kind kind)
{
	return pq_wide_from(value->i, pq_is_unsigned(kind));
}

#endif
