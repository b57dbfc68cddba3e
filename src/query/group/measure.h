/*
 * Measures of groups: each has a state of some bytes in each group, initially all zero, and a
 * row of functions for its kind and that of its values.
 */
#ifndef PERFLUA_QUERY_MEASURE_H
#define PERFLUA_QUERY_MEASURE_H

#include "group.h"
#include "query/chains/strings.h"
#include "base/wide.h"

/* A value that is read from records. */
struct pq_read {
	struct pq_expr *expr; /* NULL: none */
	uint32_t field;	      /* the field that the expression is; UINT32_MAX: it is more */
};

struct pq_measure_ops;

/* The way to add a record; some measures need no call. */
enum pq_way {
	PQ_WAY_STEP,
	PQ_WAY_COUNT,
	PQ_WAY_SUM,	/* of integers: a value that is a field alone */
	PQ_WAY_NATURAL, /* of unsigned ones likewise, by pq_add_natural() */
	PQ_WAY_TIMES,
};

struct pq_measured {
	enum pq_way way;
	const struct pq_measure_ops *ops;
	const struct pq_measure *measure;
	enum pq_kind kind; /* kind of the values */
	bool is_unsigned;  /* integers of that kind are unsigned */
	/* the value, or the weight, is computed as the value of the measure before */
	bool is_same_value, is_same_weight;
	size_t at; /* offset of the state in a group */
	struct pq_read value, weight;
	struct pq_texts *texts; /* texts of the groups */
	/*
	 * while merging: number of a chain in the other table → number in this one; while the
	 * table is made its own: number of a chain → number of a stack
	 */
	const uint32_t *chains;
	const struct pq_fields *fields; /* they have the record's event in a step */
};

#define PQ_TOO_LARGE (UINT64_C(1) << 63) /* a sum that has no answer */

/* Adds an unsigned integer. A sum that exceeds 2^63 - 1 is PQ_TOO_LARGE from then on. */
static inline void pq_add_natural(uint64_t *sum, uint64_t x)
{
	if (__builtin_add_overflow(*sum, x, sum) || *sum > PQ_TOO_LARGE)
		*sum = PQ_TOO_LARGE;
}

struct pq_measure_ops {
	enum pq_way way;
	size_t size; /* bytes of a state, a multiple of 8 */
	/*
	 * Adds a value (ignored by a count) `weight` ≥ 1 times. Returns false without memory.
	 */
	bool (*step)(const struct pq_measured *m, void *state, const struct pq_value *value,
		     uint64_t weight);
	/*
	 * Adds a later state of another table, which it may empty. Returns false without
	 * memory.
	 */
	bool (*merge)(const struct pq_measured *m, void *state, void *from);
	void (*get)(const struct pq_measured *m, const void *state, struct pq_state *out);
	/*
	 * Adds what `get` gave for a later state of another table, which stays as it is.
	 * Returns false without memory. NULL: bare tables have no such measure.
	 */
	bool (*put)(const struct pq_measured *m, void *state, const struct pq_state *from);
	/*
	 * Makes the state need neither the recording nor m->chains: events become their names,
	 * chains the numbers there. Returns false without memory. NULL: it needs nothing.
	 */
	bool (*own)(const struct pq_measured *m, void *state);
	/* Says why a state has no answer; NULL: it always has one. */
	enum pq_wrong (*wrong)(const void *state);
	/* Frees what a state owns; NULL: nothing. */
	void (*deinit)(void *state);
	/* Why one worker must take in all records, in a few words; NULL: several may. */
	const char *serial;
	/* those for unsigned integers; NULL: these */
	const struct pq_measure_ops *of_unsigned;
};

/*
 * Returns the functions of a measure whose values have that kind. `is_put`: it has no records,
 * but states of other tables.
 */
const struct pq_measure_ops *pq_measure_ops(const struct pq_measure *measure, enum pq_kind kind,
					    bool is_put);

#define PQ_SERIAL_SUM "sums of floats depend on the order of records"

#define PQ_MEASURE_ROW(NAME, name) extern const struct pq_measure_row pq_##name##_row;
PQ_MEASURES(PQ_MEASURE_ROW)
#undef PQ_MEASURE_ROW

/* Returns a number as a double. */
static inline double pq_to_double(const struct pq_value *value)
{
	return value->type == PQ_FLOAT ? value->f : (double)value->i;
}

static inline struct pq_value pq_float_value(double f)
{
	return (struct pq_value){ .type = PQ_FLOAT, .f = f };
}

/* Returns an integer of that kind as a wide one. */
static inline struct pb_wide pb_widened(const struct pq_value *value, enum pq_kind kind)
{
	return pb_wide_from(value->i, pq_is_unsigned(kind));
}

#endif
