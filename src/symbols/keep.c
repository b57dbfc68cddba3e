#include "keep.h"

#include <stdlib.h>

#define FIRST_SIZE 64

static size_t hash(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);

	return (size_t)(h ^ (h >> 31));
}

/* Where it is, or where it would be put. */
static struct ps_kept *place(const struct ps_keep *keep, uint64_t a, uint64_t b)
{
	size_t i = hash(a, b) & (keep->size - 1);

	while (keep->kept[i].value && (keep->kept[i].a != a || keep->kept[i].b != b))
		i = (i + 1) & (keep->size - 1);
	return &keep->kept[i];
}

const void *ps_keep_get(const struct ps_keep *keep, uint64_t a, uint64_t b)
{
	return keep->size ? place(keep, a, b)->value : NULL;
}

static bool grow(struct ps_keep *keep)
{
	struct ps_keep grown = { .n = keep->n,
				 .size = keep->size ? keep->size * 2 : FIRST_SIZE };

	grown.kept = calloc(grown.size, sizeof(*grown.kept));
	if (!grown.kept)
		return false;
	for (size_t i = 0; i < keep->size; i++)
		if (keep->kept[i].value)
			*place(&grown, keep->kept[i].a, keep->kept[i].b) = keep->kept[i];
	free(keep->kept);
	*keep = grown;
	return true;
}

bool ps_keep_put(struct ps_keep *keep, uint64_t a, uint64_t b, const void *value)
{
	if (keep->n >= keep->size / 2 && !grow(keep))
		return false;
	*place(keep, a, b) = (struct ps_kept){ a, b, value };
	keep->n++;
	return true;
}

void ps_keep_deinit(struct ps_keep *keep)
{
	free(keep->kept);
	*keep = (struct ps_keep){ 0 };
}
