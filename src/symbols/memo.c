#include "memo.h"

#include <stdlib.h>

#include "base/vector.h"

struct wanted {
	const struct ps_memo *memo;
	uint64_t a, b;
};

static bool has_numbers(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct ps_memo_entry *entry = &wanted->memo->entries[item];

	return entry->a == wanted->a && entry->b == wanted->b;
}

const void *ps_memo_get(const struct ps_memo *memo, uint64_t a, uint64_t b)
{
	const struct wanted wanted = { memo, a, b };
	const struct pb_slot *slot = pb_map_find(&memo->map, pb_hash_pair(&memo->secret, a, b),
						 has_numbers, &wanted);

	return slot && slot->item ? memo->entries[slot->item - 1].value : NULL;
}

bool ps_memo_put(struct ps_memo *memo, uint64_t a, uint64_t b, const void *value)
{
	if (!memo->n)
		pb_secret_make(&memo->secret);
	if (!pb_reserve(memo->entries, memo->n, memo->capacity) ||
	    !pb_map_add(&memo->map, pb_hash_pair(&memo->secret, a, b), (uint32_t)memo->n))
		return false;
	memo->entries[memo->n++] = (struct ps_memo_entry){ a, b, value };
	return true;
}

void ps_memo_deinit(struct ps_memo *memo)
{
	free(memo->entries);
	pb_map_deinit(&memo->map);
	*memo = (struct ps_memo){ 0 };
}
