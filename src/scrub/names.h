/*
 * The names that scrubbing met, with what took their place: one name has one hash, whatever its
 * kind.
 */
#ifndef PERFLUA_SCRUB_NAMES_H
#define PERFLUA_SCRUB_NAMES_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/sha256.h"
#include "perfdata/format/text.h"
#include "rules.h"

#define PV_HASH_SIZE  13 /* characters of a hash: an x, and digits */
#define PV_SHOWN_DROP "[dropped]"

struct pv_name {
	enum pv_kind kind;
	struct pd_text text, shown; /* both end with a NUL */
	uint64_t n;		    /* how often it was met */
};

struct pv_names {
	const struct pv_rules *rules;
	struct pv_name *list; /* [n], in the order in which they were met */
	size_t n, room;
	bool failed; /* no memory: names were shown as dropped */
	/* private: */
	struct pb_hmac hmac;
	struct pb_secret secret;
	struct pb_map map;
	struct pb_arena arena;
};

/*
 * Prepares names by `rules`, which must outlive them; their hashes have a `key` of `n` bytes.
 */
void pv_names_init(struct pv_names *names, const struct pv_rules *rules, const void *key,
		   size_t n);
void pv_names_deinit(struct pv_names *names);

/*
 * Returns the text that takes the place of a name of a kind, by its rule; a name that is
 * dropped becomes PV_SHOWN_DROP. It ends with a NUL, and belongs to `names`.
 */
struct pd_text pv_show(struct pv_names *names, enum pv_kind kind, struct pd_text text);

/* Makes `shown` take the place of a name; the first one for a name counts. */
struct pd_text pv_show_as(struct pv_names *names, enum pv_kind kind, struct pd_text text,
			  struct pd_text shown);

/*
 * Returns whether a mapping has a name that the kernel or perf gives to all of its kind. See
 * is_anon_memory and is_no_dso_memory, tools/perf/util/map.c.
 */
bool pv_is_common_mapping(struct pd_text text);

/* Returns the keyed hash of bytes as a number, for what is not a name. */
uint64_t pv_hash_number(const struct pv_names *names, const void *bytes, size_t n);

#endif
