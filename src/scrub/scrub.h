/*
 * Scrubs a recording: drops or hashes its data by rules, record by record, and in the header.
 * Data that no rule knows are dropped. Bytes between and after known data are zeros.
 *
 *	struct pv_scrubber *s = pv_scrubber_create(file, &rules, key, n);
 *
 *	pw_description_init(&description);
 *	if (!s || !pv_describe(s, &description, &err)) …
 *	while (… reads a record …)
 *		if (pv_record(s, &rec))
 *			… writes it …
 *	if (pv_failed(s) || !pv_describe(s, &description, &err)) …
 *	pv_scrubber_destroy(s);
 */
#ifndef PERFLUA_SCRUB_SCRUB_H
#define PERFLUA_SCRUB_SCRUB_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/sha256.h"
#include "machine/machine.h"
#include "perfdata/container/session.h"
#include "perfdata/format/record.h"
#include "perfdata/format/text.h"
#include "write/description.h"

/*
 * The kinds of data that a recording has beside times and counts. One table drives scrubbing
 * and what doctor --sharing says.
 */
enum pv_kind {
	PV_COMM,
	PV_BINARY,
	PV_FUNCTION,
	PV_PATH,
	PV_STRING,
	PV_RAW,
	PV_EVENT,
	PV_ALIAS,
	PV_PROBE,
	PV_CMDLINE,
	PV_HOST,
	PV_KERNEL,
	PV_CPU,
	PV_HARDWARE,
	PV_CLOCK,
	PV_CGROUP,
	PV_NAMESPACE,
	PV_BUILDID,
	PV_BPF,
	PV_CODE,
	PV_SOURCE,
	PV_TEXT,
	PV_REGISTERS,
	PV_STACKS,
	PV_AUX,
	PV_ADDRESSES,
	PV_BASICS,
	PV_UNKNOWN,
	PV_KINDS,
};

enum pv_action {
	PV_DROP,
	PV_HASH, /* a keyed hash takes the place of a name */
	PV_BASE, /* the name of a file stays, a keyed hash takes the place of its directory */
	PV_RELATIVE, /* addresses become relative to their binary */
	PV_KEEP,
	PV_ACTIONS,
};

struct pv_kind_desc {
	const char *name, *doc;
	uint8_t can;		  /* actions that fit the kind: a bit for each enum pv_action */
	uint8_t share, anonymous; /* enum pv_action of the kind in each preset */
};

extern const struct pv_kind_desc pv_kinds[PV_KINDS];
extern const char *const pv_actions[PV_ACTIONS]; /* their names */

struct pv_rules {
	enum pv_action of[PV_KINDS];
};

#define PV_HASH_SIZE  13 /* characters of a hash: an x, and digits */
#define PV_SHOWN_DROP "[dropped]"

struct pv_name {
	enum pv_kind kind;
	struct pd_text text, shown; /* both end with a NUL */
	uint64_t n;		    /* number of times it was met */
};

/*
 * The names that scrubbing met, with what took their place: one name has one hash, whatever its
 * kind.
 */
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

/* Counts of the data of a kind that were met. */
struct pv_found {
	uint64_t n;	/* number of names and other data */
	uint64_t bytes; /* size of data that are not names */
};

struct pv_scrubber {
	struct pd_file *file;
	/* session of the file; the caller sets it if records can be read again, else NULL */
	struct pd_session *session;
	struct pv_rules rules;
	struct pv_names names;
	struct pv_found found[PV_KINDS];
	uint64_t left_out;	  /* records that were not written */
	uint64_t unreadable;	  /* those among them that cannot be read as their type */
	bool unread[PD_FEATURES]; /* features that cannot be read, and were left out */
	bool failed;		  /* no memory */
	/* private: */
	uint8_t *room;		  /* bytes of the record in the making */
	struct pv_places *places; /* NULL: addresses stay */
	struct pv_mapped *mapped; /* addresses at which processes had mappings */
	struct {
		uint64_t from, to; /* no address lies in from <= word < to */
	} impossible;
	uint64_t described[PD_FEATURES]; /* sizes of the features that were described, and 1 */
	/* [n_plans]: the plan for the raw data of each event */
	struct pv_plan **plans;
	size_t n_plans;
	bool has_formats;   /* the scrubbed recording has formats of tracepoints */
	bool has_described; /* pv_describe() was called */
	unsigned filename, comm, path, name; /* numbers of field names */
};

/*
 * Creates a scrubber for the records of `file`, which must outlive it, with a key of `n` bytes
 * for its hashes. If addresses become relative, `system` must have all records before the one
 * that is scrubbed; else it may be NULL. Returns NULL without memory.
 */
struct pv_scrubber *pv_scrubber_create(struct pd_file *file, struct pm_system *system,
				       const struct pv_rules *rules, const void *key, size_t n);
void pv_scrubber_destroy(struct pv_scrubber *s);

/* Returns whether memory ran out: then what was written lacks names. */
bool pv_failed(const struct pv_scrubber *s);

/*
 * Scrubs a record: *rec then may point to bytes of the scrubber's, which are valid until the
 * next call. Returns false if the record is to be left out.
 */
bool pv_record(struct pv_scrubber *s, struct pd_record *rec);

/*
 * Describes the scrubbed recording: its events and features. Called again after the records, it
 * adds what only these told. Returns false with *err.
 */
bool pv_describe(struct pv_scrubber *s, struct pw_description *d, struct pd_error *err);

#endif
