#include "sums.h"

#include <stdlib.h>

#include "base/vector.h"

void pt_sums_init(struct pt_sums *sums)
{
	*sums = (struct pt_sums){ 0 };
	pb_set_init(&sums->keys, sizeof(struct pt_sum_key));
}

void pt_sums_deinit(struct pt_sums *sums)
{
	pb_set_deinit(&sums->keys);
	free(sums->list);
}

bool pt_sums_add(struct pt_sums *sums, const struct pt_sum_key *key, uint64_t period,
		 struct pt_sql *sql)
{
	size_t n = sums->keys.n;
	uint32_t number = UINT32_MAX;
	struct pt_sum *sum;

	if (pb_reserve(sums->list, n, sums->room))
		number = pb_set_add(&sums->keys, key);
	if (number == UINT32_MAX)
		return pt_sql_fail(sql, "no memory");
	sum = &sums->list[number];
	if (number == n)
		*sum = (struct pt_sum){ 0 };
	sum->samples++;
	sum->period += period;
	return sum->period <= INT64_MAX ||
	       pt_sql_fail(sql, "the periods of a call chain add up to more than 2^63 - 1");
}

void pt_sums_write(const struct pt_sums *sums, struct pt_sql *sql)
{
	pt_statement *s = pt_sql_prepare(sql, "INSERT INTO profile VALUES (?,?,?,?,?,?)");

	for (uint32_t i = 0; s && i < sums->keys.n && !sql->failed; i++) {
		const struct pt_sum_key *key = pb_set_at(&sums->keys, i);

		pt_sql_number(sql, s, 1, key->event);
		pt_sql_number(sql, s, 2, key->thread);
		pt_sql_number(sql, s, 3, key->symbol);
		pt_sql_number(sql, s, 4, key->stack);
		sql->library->bind_int64(s, 5, (int64_t)sums->list[i].samples);
		sql->library->bind_int64(s, 6, (int64_t)sums->list[i].period);
		pt_sql_step(sql, s);
	}
	sql->library->finalize(s);
}
