/*
 * ELF files of functions that were made at run time, as perf inject --jit writes them: a
 * library with one function, at the same offset in each. See jit_write_elf,
 * tools/perf/util/genelf.c.
 */
#ifndef PERFLUA_INJECT_IMAGE_H
#define PERFLUA_INJECT_IMAGE_H

#include <sys/stat.h>

#include "base/string_builder.h"
#include "perfdata/format/error.h"
#include "symbols/elf/build_id.h"

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

#endif
