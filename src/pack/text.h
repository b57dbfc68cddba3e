/* The bytes of a bundle in the making: see symbols/bundle.h. */
#ifndef PERFLUA_PACK_TEXT_H
#define PERFLUA_PACK_TEXT_H

#include "base/hash.h"
#include "base/map.h"
#include "base/string_builder.h"

/* The strings of a bundle, each once; all zero: none. */
struct pk_texts {
	struct pb_string bytes; /* each ends with a NUL */
	uint32_t *starts;	/* [n] */
	size_t n, room;
	struct pb_map map; /* numbers of `starts` */
	struct pb_secret secret;
};

void pk_texts_deinit(struct pk_texts *texts);

/* Adds a number as LEB128. */
void pk_put(struct pb_string *out, uint64_t number);

/* Adds the number of a string, 0 for NULL. A failure is one of texts->bytes. */
void pk_put_text(struct pb_string *out, struct pk_texts *texts, const char *text);

/* Adds text that may have failed, or be none. */
void pk_append(struct pb_string *out, const struct pb_string *from);

/* Adds a part with the bytes of `from`, which it empties. Nothing is added of no bytes. */
void pk_put_part(struct pb_string *out, unsigned number, struct pb_string *from);

/*
 * Adds the bundle of the strings, which it empties, and these parts to *out. Returns false and
 * sets *reason, a constant, without memory or if it is too large.
 */
bool pk_seal(struct pk_texts *texts, const struct pb_string *parts, struct pb_string *out,
	     const char **reason);

/* Returns whether `text` is one that packing has for what proved a binary. */
bool pk_is_proof(const char *text);

#endif
