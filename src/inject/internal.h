/* Internal to the module: what the kinds of injections share. */
#ifndef PERFLUA_INJECT_INTERNAL_H
#define PERFLUA_INJECT_INTERNAL_H

#include "inject.h"

/*
 * Returns what is known of a binary, which is identified when it is first met; NULL without
 * memory. It is valid until the next call.
 */
struct pj_binary *pj_binary_of(struct pj_injector *injector, struct ps_dso *dso);

/* Adds the build-ids of the binaries that a record meets. Returns false with *err. */
bool pj_add_ids(struct pj_injector *injector, struct pw_writer *writer,
		const struct pd_record *rec, struct pd_error *err);

/*
 * Gives a record of a build-id the one that the caller knows; its bytes are the injector's
 * then. Returns false with *err.
 */
bool pj_correct_id(struct pj_injector *injector, struct pd_record *rec, struct pd_error *err);

/*
 * Makes the table of build-ids of the recording's own rows and those that were added. Returns
 * false with *err.
 */
bool pj_make_table(struct pj_injector *injector, struct pd_error *err);

/*
 * Makes the record of a mapping one with a build-id; its bytes are the injector's then. Returns
 * 1; 0 if the record is to be left out; -1 with *err.
 */
int pj_identify_mapping(struct pj_injector *injector, struct pd_record *rec,
			struct pd_error *err);

/* Returns false, with *err set: there is no memory. */
bool pj_fail_memory(const struct pj_injector *injector, struct pd_error *err);

/*
 * Makes *rec a record of `bytes`, which are in the byte order of the recording, beside another
 * one of its stream.
 */
void pj_make_record(const struct pj_injector *injector, const struct pb_string *bytes,
		    struct pd_record *rec);

/* Add a number to the bytes of a record, in the byte order of the recording. */
static inline void pj_add16(struct pb_string *s, uint16_t value, bool swap)
{
	value = swap ? __builtin_bswap16(value) : value;
	pb_string_add(s, (const char *)&value, sizeof(value));
}

static inline void pj_add32(struct pb_string *s, uint32_t value, bool swap)
{
	value = swap ? __builtin_bswap32(value) : value;
	pb_string_add(s, (const char *)&value, sizeof(value));
}

static inline void pj_add64(struct pb_string *s, uint64_t value, bool swap)
{
	value = swap ? __builtin_bswap64(value) : value;
	pb_string_add(s, (const char *)&value, sizeof(value));
}

#endif
