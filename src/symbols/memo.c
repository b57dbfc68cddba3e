#include "memo.h"

#include <stdlib.h>

#include "base/vector.h"

static uint32_t hash_key(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);

	return (uint32_t)(h ^ (h >> 31));
}

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
	const struct pb_slot *slot = pb_map_find(&memo->map, hash_key(a, b), has_numbers,
						 &wanted);

	return slot && slot->item ? memo->entries[slot->item - 1].value : NULL;
}

bool ps_memo_put(struct ps_memo *memo, uint64_t a, uint64_t b, const void *value)
{
	if (!pb_reserve(memo->entries, memo->n, memo->capacity) ||
	    !pb_map_add(&memo->map, hash_key(a, b), (uint32_t)memo->n))
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
