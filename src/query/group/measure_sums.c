/* Counts, sums and ratios of sums. */

#include "measure.h"

static bool count_step(const struct pq_measured *m, void *state, const struct pq_value *value,
		       uint64_t weight)
{
	(void)m;
	(void)value;
	(void)weight;
	++*(uint64_t *)state;
	return true;
}

static bool count_merge(const struct pq_measured *m, void *state, void *from)
{
	(void)m;
	*(uint64_t *)state += *(uint64_t *)from;
	return true;
}

static void count_get(const struct pq_measured *m, const void *state, struct pq_state *out)
{
	(void)m;
	out->value = (struct pq_value){ .type = PQ_INT, .u = *(const uint64_t *)state };
}

static const struct pq_measure_ops count_ops = {
	.way = PQ_WAY_COUNT,
	.size = sizeof(uint64_t),
	.step = count_step,
	.merge = count_merge,
	.get = count_get,
};

static bool weighted_step(const struct pq_measured *m, void *state,
			  const struct pq_value *value, uint64_t weight)
{
	(void)m;
	(void)value;
	pq_add_natural(state, weight);
	return true;
}

static bool natural_step(const struct pq_measured *m, void *state, const struct pq_value *value,
			 uint64_t weight)
{
	(void)m;
	(void)weight;
	if (value->type == PQ_INT)
		pq_add_natural(state, value->u);
	return true;
}

static bool natural_merge(const struct pq_measured *m, void *state, void *from)
{
	(void)m;
	pq_add_natural(state, *(const uint64_t *)from);
	return true;
}

static bool natural_put(const struct pq_measured *m, void *state, const struct pq_state *from)
{
	return natural_step(m, state, &from->value, 1);
}

static enum pq_wrong natural_wrong(const void *state)
{
	return *(const uint64_t *)state < PQ_TOO_LARGE ? PQ_RIGHT : PQ_WRONG_SUM;
}

static bool integer_step(const struct pq_measured *m, void *state, const struct pq_value *value,
			 uint64_t weight)
{
	(void)weight;
	if (value->type == PQ_INT)
		pb_wide_add(state, pb_widened(value, m->kind));
	return true;
}

static bool integer_merge(const struct pq_measured *m, void *state, void *from)
{
	(void)m;
	pb_wide_add(state, *(struct pb_wide *)from);
	return true;
}

static bool integer_put(const struct pq_measured *m, void *state, const struct pq_state *from)
{
	return integer_step(m, state, &from->value, 1);
}

static struct pq_value integer_of(const void *state)
{
	const struct pb_wide *sum = state;

	return (struct pq_value){ .type = PQ_INT, .u = sum->low };
}

static void integer_get(const struct pq_measured *m, const void *state, struct pq_state *out)
{
	(void)m;
	out->value = integer_of(state);
}

static enum pq_wrong integer_wrong(const void *state)
{
	return pb_wide_fits(*(const struct pb_wide *)state) ? PQ_RIGHT : PQ_WRONG_SUM;
}

static enum pq_wrong weighted_wrong(const void *state)
{
	return *(const uint64_t *)state < PQ_TOO_LARGE ? PQ_RIGHT : PQ_WRONG_WEIGHTS;
}

static bool merge_nothing(const struct pq_measured *m, void *state, void *from)
{
	(void)m;
	(void)state;
	(void)from;
	return true;
}

static void get_nothing(const struct pq_measured *m, const void *state, struct pq_state *out)
{
	(void)m;
	(void)state;
	(void)out;
}

static const struct pq_measure_ops times_ops = {
	.way = PQ_WAY_TIMES,
	.merge = merge_nothing,
	.get = get_nothing,
};

const struct pq_measure_row pq_times_row = {
	.name = "times",
	.takes = PQ_TAKES_NUMBERS,
	.ops = { &times_ops, &times_ops },
};

static const struct pq_measure_ops weighted_count_ops = {
	.size = sizeof(uint64_t),
	.step = weighted_step,
	.merge = natural_merge,
	.get = count_get,
	.put = natural_put,
	.wrong = weighted_wrong,
};

const struct pq_measure_row pq_count_row = {
	.name = "count",
	.shows = "unsigned",
	.is_weighted = true,
	.parts = { PQ_PART_NATURAL },
	.ops = { &count_ops, &weighted_count_ops },
};

/* The sum of any values: of integers until the first float. */
struct any_sum {
	union {
		struct pb_wide i;
		double f;
	};
	bool is_float;
};

static void add_float_to_sum(struct any_sum *sum, double x)
{
	double before = sum->is_float ? sum->f : pb_wide_to_double(sum->i);

	sum->f = before + x;
	sum->is_float = true;
}

static bool any_step(const struct pq_measured *m, void *state, const struct pq_value *value,
		     uint64_t weight)
{
	struct any_sum *sum = state;

	(void)m;
	(void)weight;
	if (value->type == PQ_FLOAT)
		add_float_to_sum(sum, value->f);
	else if (value->type == PQ_INT && sum->is_float)
		sum->f += (double)value->i;
	else if (value->type == PQ_INT)
		pb_wide_add(&sum->i, pb_wide_from(value->i, false));
	return true;
}

static bool any_merge(const struct pq_measured *m, void *state, void *from)
{
	struct any_sum *sum = state;
	const struct any_sum *added = from;

	(void)m;
	if (added->is_float)
		add_float_to_sum(sum, added->f);
	else if (sum->is_float)
		sum->f += pb_wide_to_double(added->i);
	else
		pb_wide_add(&sum->i, added->i);
	return true;
}

static bool any_put(const struct pq_measured *m, void *state, const struct pq_state *from)
{
	return any_step(m, state, &from->value, 1);
}

static struct pq_value any_of(const void *state)
{
	const struct any_sum *sum = state;

	if (sum->is_float)
		return (struct pq_value){ .type = PQ_FLOAT, .f = sum->f };
	return (struct pq_value){ .type = PQ_INT, .u = sum->i.low };
}

static void any_get(const struct pq_measured *m, const void *state, struct pq_state *out)
{
	(void)m;
	out->value = any_of(state);
}

static enum pq_wrong any_wrong(const void *state)
{
	const struct any_sum *sum = state;

	return sum->is_float || pb_wide_fits(sum->i) ? PQ_RIGHT : PQ_WRONG_SUM;
}

static const struct pq_measure_ops natural_sum_ops = {
	.way = PQ_WAY_NATURAL,
	.size = sizeof(uint64_t),
	.step = natural_step,
	.merge = natural_merge,
	.get = count_get,
	.put = natural_put,
	.wrong = natural_wrong,
};

static const struct pq_measure_ops sum_ops[2] = {
	{
		.of_unsigned = &natural_sum_ops,
		.way = PQ_WAY_SUM,
		.size = sizeof(struct pb_wide),
		.step = integer_step,
		.merge = integer_merge,
		.get = integer_get,
		.put = integer_put,
		.wrong = integer_wrong,
	},
	{
		.size = sizeof(struct any_sum),
		.step = any_step,
		.merge = any_merge,
		.get = any_get,
		.put = any_put,
		.wrong = any_wrong,
		.serial = PQ_SERIAL_SUM,
	},
};

const struct pq_measure_row pq_sum_row = {
	.name = "sum",
	.prefix = "",
	.takes = PQ_TAKES_NUMBERS,
	.shows = "sum",
	.parts = { PQ_PART_SUM },
	.ops = { &sum_ops[0], &sum_ops[1] },
};

static void show_share(const struct pq_shown *how, const struct pq_state *state,
		       struct pq_value *out)
{
	if (how->total != 0)
		*out = pq_float_value(100 * (pq_to_double(&state->value) / how->total));
}

const struct pq_measure_row pq_share_row = {
	.name = "share",
	.takes = PQ_TAKES_NUMBERS,
	.shows = "percent",
	.parts = { PQ_PART_SUM },
	.show = show_share,
	.ops = { &sum_ops[0], &sum_ops[1] },
};

/* A ratio has two sums; a record may count in both. */
#define RATIO(name, each)                                                                    \
	static bool name##_ratio_step(const struct pq_measured *m, void *state,              \
				      const struct pq_value *value, uint64_t weight)         \
	{                                                                                    \
		const struct pd_event *event = m->fields->rec->event;                        \
		size_t number = event ? event->number : SIZE_MAX;                            \
                                                                                             \
		if (number >= m->measure->n_events)                                          \
			return true;                                                         \
		for (unsigned i = 0; i < 2; i++) {                                           \
			if (m->measure->events[i][number])                                   \
				name##_step(m, (each *)state + i, value, weight);            \
		}                                                                            \
		return true;                                                                 \
	}                                                                                    \
                                                                                             \
	static bool name##_ratio_merge(const struct pq_measured *m, void *state, void *from) \
	{                                                                                    \
		name##_merge(m, state, from);                                                \
		return name##_merge(m, (each *)state + 1, (each *)from + 1);                 \
	}                                                                                    \
                                                                                             \
	static void name##_ratio_get(const struct pq_measured *m, const void *state,         \
				     struct pq_state *out)                                   \
	{                                                                                    \
		(void)m;                                                                     \
		out->parts[0] = name##_of(state);                                            \
		out->parts[1] = name##_of((const each *)state + 1);                          \
	}                                                                                    \
                                                                                             \
	static bool name##_ratio_put(const struct pq_measured *m, void *state,               \
				     const struct pq_state *from)                            \
	{                                                                                    \
		return name##_step(m, state, &from->parts[0], 1) &&                          \
		       name##_step(m, (each *)state + 1, &from->parts[1], 1);                \
	}                                                                                    \
                                                                                             \
	static enum pq_wrong name##_ratio_wrong(const void *state)                           \
	{                                                                                    \
		enum pq_wrong wrong = name##_wrong(state);                                   \
                                                                                             \
		return wrong == PQ_RIGHT ? name##_wrong((const each *)state + 1) : wrong;    \
	}

RATIO(integer, struct pb_wide)
RATIO(any, struct any_sum)

#define RATIO_OPS(name, each, why)                                                             \
	{                                                                                      \
		.size = 2 * sizeof(each), .step = name##_ratio_step,                           \
		.merge = name##_ratio_merge, .get = name##_ratio_get, .put = name##_ratio_put, \
		.wrong = name##_ratio_wrong, .serial = (why),                                  \
	}

static const struct pq_measure_ops ratio_ops[2] = {
	RATIO_OPS(integer, struct pb_wide, NULL),
	RATIO_OPS(any, struct any_sum, PQ_SERIAL_SUM),
};

static void show_ratio(const struct pq_shown *how, const struct pq_state *state,
		       struct pq_value *out)
{
	(void)how;
	if (pq_to_double(&state->parts[1]) != 0)
		*out = pq_float_value(pq_to_double(&state->parts[0]) /
				      pq_to_double(&state->parts[1]));
}

const struct pq_measure_row pq_ratio_row = {
	.name = "ratio",
	.takes = PQ_TAKES_NUMBERS,
	.shows = "float",
	.parts = { PQ_PART_SUM, PQ_PART_SUM },
	.show = show_ratio,
	.ops = { &ratio_ops[0], &ratio_ops[1] },
};
