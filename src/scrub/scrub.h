/*
 * Scrubs a recording: drops or hashes what its rules (rules.h) say, record by record, and in
 * the header. What no rule knows is dropped. Bytes between and after what is known are zeros.
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

#include "machine/machine.h"
#include "names.h"
#include "perfdata/container/session.h"
#include "perfdata/format/record.h"
#include "write/description.h"

/* The data of a kind that was met. */
struct pv_found {
	uint64_t n;	/* how often */
	uint64_t bytes; /* size of data that are not names */
};

struct pv_scrubber {
	struct pd_file *file;
	/* of the file: set by the caller if its records can be read again, else NULL */
	struct pd_session *session;
	struct pv_rules rules;
	struct pv_names names;
	struct pv_found found[PV_KINDS];
	uint64_t left_out;	  /* records that were not written */
	uint64_t unreadable;	  /* how many of these cannot be read as their type */
	bool unread[PD_FEATURES]; /* features that cannot be read, and were left out */
	bool failed;		  /* no memory */
	/* private: */
	uint8_t *room;		  /* a record in the making */
	struct pv_places *places; /* NULL: addresses stay */
	struct pv_mapped *mapped; /* where processes had mappings */
	struct {
		uint64_t from, to; /* no address lies in from <= word < to */
	} impossible;
	uint64_t described[PD_FEATURES]; /* sizes of the features that were described, and 1 */
	/* [n_plans], by event: how its raw data is scrubbed */
	struct pv_plan **plans;
	size_t n_plans;
	bool has_formats;   /* the scrubbed recording has those of tracepoints */
	bool has_described; /* pv_describe() was called */
	unsigned filename, comm, path, name; /* numbers of field names */
};

/*
 * Creates a scrubber for the records of `file`, which must outlive it, with a key of `n` bytes
 * for its hashes. If addresses become relative, `system` knows of what the records before one
 * tell; else it may be NULL. Returns NULL without memory.
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
