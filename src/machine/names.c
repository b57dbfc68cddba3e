#include "names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "symbols/symbols.h"

#define FACTOR UINT64_C(0xff51afd7ed558ccd)

static uint64_t hash(struct pd_text text, uint64_t h)
{
	while (text.n) {
		size_t n = text.n < 8 ? text.n : 8;
		uint64_t word = n;

		memcpy(&word, text.p, n);
		h = (h ^ word) * FACTOR;
		h ^= h >> 32;
		text.p += n;
		text.n -= n;
	}
	return h;
}

uint32_t pm_names_add(struct pm_names *names, struct pd_text text)
{
	uint64_t key;
	uint32_t found;
	char *copy;

	if (!names->n && getrandom(&names->seed, sizeof(names->seed), GRND_NONBLOCK) < 0)
		names->seed = FACTOR;
	if (!pb_reserve(names->texts, names->n, names->capacity))
		return PM_NO_NAME;
	key = hash(text, names->seed);
	while ((found = pd_id_table_find(&names->by_hash, key)) != UINT32_MAX) {
		if (names->texts[found].n == text.n &&
		    memcmp(names->texts[found].p, text.p, text.n) == 0)
			return found;
		key = key * FACTOR + 1;
	}
	copy = malloc(text.n + 1);
	if (!copy || !pd_id_table_add(&names->by_hash, key, (uint32_t)names->n)) {
		free(copy);
		return PM_NO_NAME;
	}
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	names->texts[names->n] = (struct pd_text){ copy, text.n };
	return (uint32_t)names->n++;
}

void pm_names_deinit(struct pm_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free((char *)names->texts[i].p);
	free(names->texts);
	pd_id_table_deinit(&names->by_hash);
	*names = (struct pm_names){ 0 };
}
