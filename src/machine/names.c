#include "names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/vector.h"

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

struct wanted {
	const struct pm_names *names;
	struct pd_text text;
};

static bool has_text(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	struct pd_text text = wanted->names->texts[item];

	return text.n == wanted->text.n && memcmp(text.p, wanted->text.p, text.n) == 0;
}

uint32_t pm_names_add(struct pm_names *names, struct pd_text text)
{
	const struct wanted wanted = { names, text };
	struct pb_slot *slot;
	uint64_t h;
	char *copy;

	if (!names->n && getrandom(&names->seed, sizeof(names->seed), GRND_NONBLOCK) < 0)
		names->seed = FACTOR;
	if (!pb_reserve(names->texts, names->n, names->capacity) ||
	    !pb_map_reserve(&names->by_text))
		return PM_NO_NAME;
	h = hash(text, names->seed);
	slot = pb_map_find(&names->by_text, (uint32_t)h, has_text, &wanted);
	if (slot->item)
		return slot->item - 1;
	copy = malloc(text.n + 1);
	if (!copy)
		return PM_NO_NAME;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	pb_map_fill(&names->by_text, slot, (uint32_t)h, (uint32_t)names->n);
	names->texts[names->n] = (struct pd_text){ copy, text.n };
	return (uint32_t)names->n++;
}

void pm_names_deinit(struct pm_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free((char *)names->texts[i].p);
	free(names->texts);
	pb_map_deinit(&names->by_text);
	*names = (struct pm_names){ 0 };
}
