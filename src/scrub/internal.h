/* Shared by the files of this module. */
#ifndef PERFLUA_SCRUB_INTERNAL_H
#define PERFLUA_SCRUB_INTERNAL_H

#include "base/string_builder.h"
#include "perfdata/tracepoint/tracepoint.h"
#include "scrub.h"

#define PV_RECORD_MOST	 (UINT16_MAX - 7u) /* bytes: a multiple of 8 */
#define PV_BUILD_ID_MOST 20
#define PV_BUILD_ID_HEAD 36 /* bytes before the name in a table of build-ids */
#define PV_INODE_SIZE	 24 /* bytes of the device, inode and generation of a mapping */

static inline void pv_store16(uint8_t *p, uint16_t value, bool swap)
{
	value = swap ? __builtin_bswap16(value) : value;
	memcpy(p, &value, sizeof(value));
}

static inline void pv_store32(uint8_t *p, uint32_t value, bool swap)
{
	value = swap ? __builtin_bswap32(value) : value;
	memcpy(p, &value, sizeof(value));
}

static inline void pv_store64(uint8_t *p, uint64_t value, bool swap)
{
	value = swap ? __builtin_bswap64(value) : value;
	memcpy(p, &value, sizeof(value));
}

/* Adds a number of 4 or 8 bytes. */
static inline void pv_put_number(struct pb_string *out, uint64_t value, unsigned bytes,
				 bool swap)
{
	uint8_t p[8];

	if (bytes == 8)
		pv_store64(p, value, swap);
	else
		pv_store32(p, (uint32_t)value, swap);
	pb_string_add(out, (const char *)p, bytes);
}

/* Counts bytes of a kind that are not a name. Returns whether they stay. */
static inline bool pv_meet(struct pv_scrubber *s, enum pv_kind kind, uint64_t bytes)
{
	s->found[kind].n++;
	s->found[kind].bytes += bytes;
	return s->rules.of[kind] == PV_KEEP;
}

/* Counts a name of a kind, and returns what takes its place. */
static inline struct pd_text pv_meet_name(struct pv_scrubber *s, enum pv_kind kind,
					  struct pd_text text)
{
	s->found[kind].n++;
	return pv_show(&s->names, kind, text);
}

/*
 * Makes *rec point to the record of `size` bytes in s->room, whose header gets that size.
 * Returns false if it is too large.
 */
bool pv_finish(struct pv_scrubber *s, struct pd_record *rec, uint32_t size);

/*
 * Scrubs the content of a header feature. Returns the new content, which the caller frees, and
 * sets *size; NULL if the feature is to be left out: by a rule, or because it cannot be read.
 */
uint8_t *pv_feature(struct pv_scrubber *s, unsigned bit, const uint8_t *bytes, size_t n,
		    size_t *size);

/*
 * Scrubs a bundle of names, and adds what is left to `out`, which stays empty if that is
 * nothing. Returns false if it cannot be read.
 */
bool pv_bundle(struct pv_scrubber *s, const uint8_t *bytes, size_t n, struct pb_string *out);

/*
 * Makes the device, inode and generation of a mapped file, as records have them, a hash of
 * these: equal ones stay equal.
 */
void pv_inode(const struct pv_scrubber *s, uint8_t *id);

/* Returns the name of an event, which ends with a NUL; it is the scrubber's. */
struct pd_text pv_event_name(struct pv_scrubber *s, const struct pd_event *event);

/* Makes zeros of the bytes of an attr that are not known, and of an address that is to go. */
void pv_attr(const struct pv_scrubber *s, uint8_t *bytes, size_t n);

/*
 * Scrubs the `n` bytes of a build-id, at most 20, in place. Returns false if build-ids are
 * dropped.
 */
bool pv_build_id(struct pv_scrubber *s, uint8_t *id, size_t n);

/*
 * Writes the PV_BUILD_ID_HEAD bytes of a perf_record_header_build_id before its name to `head`,
 * with the build-id scrubbed. Returns false if build-ids are dropped.
 */
bool pv_build_id_entry(struct pv_scrubber *s, const uint8_t *entry, uint16_t misc,
		       uint8_t *head);

/*
 * Makes zeros of those of `n` words of a call chain, from offset `at` of the record on, that
 * cannot be addresses, or are letters and lie in no mapping of a process: see sample.c. *rec
 * then may be in s->room.
 */
void pv_clean_chain(struct pv_scrubber *s, struct pd_record *rec, uint32_t at, uint64_t n);

/* Notes where a record with the fixed part of a mapping says that something is mapped. */
void pv_note_mapping(struct pv_scrubber *s, const struct pd_record *rec);

/* The mappings that were noted. */
struct pv_mapped *pv_mapped_create(void);
void pv_mapped_destroy(struct pv_mapped *mapped);

/* Scrubs a sample, as pv_record(). */
bool pv_sample(struct pv_scrubber *s, struct pd_record *rec);

/* The places of addresses that are relative to their binary: see addresses.c. */
struct pv_places *pv_places_create(struct pm_system *system);
void pv_places_destroy(struct pv_places *places);

/*
 * Move the addresses of a record, which then is in s->room; those of a mapping called `name`,
 * which is there already.
 */
void pv_move_sample(struct pv_scrubber *s, struct pd_record *rec);
void pv_move_deferred(struct pv_scrubber *s, struct pd_record *rec);
void pv_move_symbol(struct pv_scrubber *s, struct pd_record *rec);
void pv_move_mapping(struct pv_scrubber *s, const struct pd_record *rec, struct pd_text name);

/*
 * Moves an address of a process, or of the kernel and its modules (pid PM_KERNEL), at the end
 * of the recording. Returns false if nothing was mapped there.
 */
bool pv_move(struct pv_scrubber *s, int32_t pid, uint64_t *address);

/* How the raw data of a tracepoint is scrubbed: see raw.c. */
struct pv_plan;

/*
 * Writes the `n` bytes of raw data at `raw` of a sample to `out`, scrubbed, which has room for
 * `room` bytes. Returns their number.
 */
uint32_t pv_raw(struct pv_scrubber *s, const struct pd_record *rec, const uint8_t *raw,
		uint32_t n, uint8_t *out, uint32_t room);

/*
 * Returns the plan of raw data of `n` bytes whose fields are all there, as numbers and texts of
 * fixed size; NULL: it is not so.
 */
const struct pv_plan *pv_plain_plan(struct pv_scrubber *s, const struct pd_record *rec,
				    uint32_t n);

/* Returns whether all of such raw data stays: it has numbers alone, and zeros between them. */
bool pv_plain_stays(const struct pv_plan *plan, const uint8_t *raw, uint32_t n);

/* Scrubs such raw data in their copy at `out`. */
void pv_put_plain(struct pv_scrubber *s, const struct pv_plan *plan, const uint8_t *raw,
		  uint32_t n, uint8_t *out);
void pv_plan_destroy(struct pv_plan *plan);

/* Returns what takes the place of a word of a probe: of its system, its name, an argument's. */
struct pd_text pv_probe_word(struct pv_scrubber *s, const char *word);

/* Returns whether a tracepoint is a probe, or another whose names a user gave. */
bool pv_is_probe(const struct pd_tracepoint *tracepoint);

/*
 * Scrubs tracing data, which begin at `bytes`, and adds them to `out`. Returns false if they
 * cannot be read.
 */
bool pv_tracing(struct pv_scrubber *s, const uint8_t *bytes, size_t n, struct pb_string *out);

#endif
