#include "measure.h"

static const struct pq_measure_row *const rows[] = {
#define ROW(NAME, name) [PQ_M_##NAME] = &pq_##name##_row,
	PQ_MEASURES(ROW)
#undef ROW
};

const struct pq_measure_row *pq_measure_row(enum pq_measure_kind kind)
{
	return rows[kind];
}

const struct pq_measure_ops *pq_measure_ops(const struct pq_measure *measure, enum pq_kind kind,
					    bool is_put)
{
	bool integers = pq_is_unsigned(kind) || kind == PQ_K_SIGNED || kind == PQ_K_NATURAL ||
			kind == PQ_K_BITS;
	const struct pq_measure_ops *ops;

	/* counts of many tables may add up to more than 2^63 - 1 */
	if (measure->kind == PQ_M_COUNT)
		integers = !measure->weight && !is_put;
	ops = rows[measure->kind]->ops[!integers];
	return ops->of_unsigned && pq_is_unsigned(kind) ? ops->of_unsigned : ops;
}

const char *pq_measure_serial(const struct pq_measure *measure)
{
	enum pq_kind kind = measure->value ? measure->value->kind : PQ_K_NIL;

	return pq_measure_ops(measure, kind, false)->serial;
}
