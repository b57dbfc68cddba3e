/* Internal to the module: what the kinds of injections share. */
#ifndef PERFLUA_INJECT_INTERNAL_H
#define PERFLUA_INJECT_INTERNAL_H

#include <sys/stat.h>

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
 * Adds the build-id of a binary, of user space or of the kernel as `mode` tells, to the table,
 * or writes its record. Returns false with *err.
 */
bool pj_add_id(struct pj_injector *injector, struct pw_writer *writer, const char *name,
	       enum pd_cpumode mode, const struct ps_build_id *id, struct pd_error *err);

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

/*
 * Jitdumps. pj_jit_take() takes a record of a mapping: returns 1; 0 if it is to be left out; -1
 * with *err. pj_jit_write() writes the mappings up to a time (ns), and their files; returns
 * false with *err.
 */
struct pj_jit;
struct pj_jit *pj_jit_create(const struct pj_injector *injector);
void pj_jit_destroy(struct pj_jit *jit);
int pj_jit_take(struct pj_injector *injector, const struct pd_record *rec,
		struct pd_error *err);
bool pj_jit_write(struct pj_injector *injector, struct pw_writer *writer, uint64_t time,
		  struct pd_error *err);

/*
 * The scheduler's tracepoints. pj_merge_sched() returns 1 if a sample is to be written, maybe
 * with bytes of the injector's; 0 if it is left out; -1 with *err.
 */
struct pj_sched;
struct pj_sched *pj_sched_create(void);
void pj_sched_destroy(struct pj_sched *sched);
int pj_merge_sched(struct pj_injector *injector, struct pd_record *rec, struct pd_error *err);

#define PJ_READ_EXEC 5u /* PROT_READ | PROT_EXEC */
#define PJ_PRIVATE   2u /* MAP_PRIVATE */

/* Returns false, with *err set: there is no memory. */
bool pj_fail_memory(const struct pj_injector *injector, struct pd_error *err);

/*
 * Makes *rec a record of `bytes`, which are in the byte order of the recording, beside another
 * one of its stream.
 */
void pj_make_record(const struct pj_injector *injector, const struct pb_string *bytes,
		    struct pd_record *rec);

/* Adds the build-id of a binary to the bytes of its mapping, in the place of the inode. */
void pj_add_mapped_id(struct pb_string *out, const struct ps_build_id *id);

/*
 * ELF files of functions that were made at run time, as perf inject --jit writes them: a
 * library with one function, at the same offset in each. See jit_write_elf,
 * tools/perf/util/genelf.c.
 */
#define PJ_TEXT_AT 0x80u /* offset, and address, of the code in the file */

struct pj_function {
	const char *name;
	size_t name_length;
	const uint8_t *code; /* [size] */
	uint64_t size;
	uint16_t machine; /* EM_… */
	bool is_big;
};

/* Appends the bytes of the file to an empty string, and sets *id to the hash of its content. */
void pj_make_image(const struct pj_function *function, struct pb_string *out,
		   struct ps_build_id *id);

/*
 * Writes the bytes to a file, unless it has them, and sets *status to its status. A file with
 * other bytes is an error, unless it `replaces` that. Returns false with *err.
 */
bool pj_write_image(const struct pb_string *image, const char *path, bool replaces,
		    struct stat *status, struct pd_error *err);

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
