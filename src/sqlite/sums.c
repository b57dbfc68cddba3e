#include "sums.h"

#include <stdlib.h>

#include "base/vector.h"

void pt_sums_deinit(struct pt_sums *sums)
{
	pb_map_deinit(&sums->by_key);
	free(sums->list);
}

struct wanted {
	const struct pt_sums *sums;
	const struct pt_sum *sum;
};

static bool has_sum_key(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct pt_sum *known = &wanted->sums->list[item], *is = wanted->sum;

	return known->stack == is->stack && known->symbol == is->symbol &&
	       known->thread == is->thread && known->event == is->event;
}

bool pt_sums_add(struct pt_sums *sums, const struct pt_sum *more, struct pt_sql *sql)
{
	const struct wanted wanted = { sums, more };
	uint32_t number = (uint32_t)sums->n, found = UINT32_MAX;
	uint32_t hash = pb_hash_pair(&sums->secret, (uint64_t)more->event << 32 | more->thread,
				     (uint64_t)more->symbol << 32 | more->stack);

	if (pb_reserve(sums->list, sums->n, sums->capacity))
		found = pb_map_intern(&sums->by_key, hash, has_sum_key, &wanted, number);
	if (found == UINT32_MAX)
		return pt_sql_fail(sql, "no memory");
	if (found == number) {
		sums->list[sums->n++] = *more;
		return true;
	}
	sums->list[found].samples += more->samples;
	sums->list[found].period += more->period;
	return sums->list[found].period <= INT64_MAX ||
	       pt_sql_fail(sql, "the periods of a call chain add up to more than 2^63 - 1");
}

void pt_sums_write(const struct pt_sums *sums, struct pt_sql *sql)
{
	pt_statement *s = pt_sql_prepare(sql, "INSERT INTO profile VALUES (?,?,?,?,?,?)");

	for (size_t i = 0; s && i < sums->n && !sql->failed; i++) {
		const struct pt_sum *sum = &sums->list[i];

		pt_sql_number(sql, s, 1, sum->event);
		pt_sql_number(sql, s, 2, sum->thread);
		pt_sql_number(sql, s, 3, sum->symbol);
		pt_sql_number(sql, s, 4, sum->stack);
		sql->library->bind_int64(s, 5, (int64_t)sum->samples);
		sql->library->bind_int64(s, 6, (int64_t)sum->period);
		pt_sql_step(sql, s);
	}
	sql->library->finalize(s);
}
