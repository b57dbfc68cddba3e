#include "text.h"

#include <stdlib.h>

#include "base/vector.h"

void pk_texts_deinit(struct pk_texts *texts)
{
	pb_string_deinit(&texts->bytes);
	pb_map_deinit(&texts->map);
	free(texts->starts);
	*texts = (struct pk_texts){ .n = 0 };
}

void pk_put(struct pb_string *out, uint64_t number)
{
	char bytes[10];
	size_t n = 0;

	do {
		bytes[n] = (char)(number & 0x7f);
		number >>= 7;
		bytes[n++] |= (char)(number ? 0x80 : 0);
	} while (number);
	pb_string_add(out, bytes, n);
}

struct wanted {
	const struct pk_texts *texts;
	const char *text;
};

static bool is_text(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;

	return strcmp(wanted->texts->bytes.p + wanted->texts->starts[item], wanted->text) == 0;
}

/* Returns the number of a string, which is added if it is new; UINT32_MAX: no memory. */
static uint32_t intern_text(struct pk_texts *texts, const char *text)
{
	const struct wanted wanted = { texts, text };
	size_t length = strlen(text);
	uint32_t number;

	if (!texts->n)
		pb_secret_make(&texts->secret);
	if (!pb_reserve(texts->starts, texts->n, texts->room) ||
	    texts->bytes.n + length >= UINT32_MAX)
		return UINT32_MAX;
	number = pb_map_intern(&texts->map, pb_hash_bytes(&texts->secret, text, length),
			       is_text, &wanted, (uint32_t)texts->n);
	if (number != texts->n)
		return number;
	texts->starts[texts->n++] = (uint32_t)texts->bytes.n;
	pb_string_add(&texts->bytes, text, length + 1);
	return texts->bytes.failed ? UINT32_MAX : number;
}

void pk_put_text(struct pb_string *out, struct pk_texts *texts, const char *text)
{
	uint32_t number = text ? intern_text(texts, text) : 0;

	if (number == UINT32_MAX)
		texts->bytes.failed = true;
	else
		pk_put(out, text ? number + UINT64_C(1) : 0);
}

void pk_append(struct pb_string *out, const struct pb_string *from)
{
	out->failed |= from->failed;
	if (from->n)
		pb_string_add(out, from->p, from->n);
}

void pk_put_part(struct pb_string *out, unsigned number, struct pb_string *from)
{
	if (from->n) {
		pk_put(out, number);
		pk_put(out, from->n);
	}
	pk_append(out, from);
	pb_string_clear(from);
}
