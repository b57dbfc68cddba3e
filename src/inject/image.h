/*
 * ELF files of functions that were made at run time, as perf inject --jit writes them: a
 * library with one function, at the same offset in each. See jit_write_elf,
 * tools/perf/util/genelf.c.
 */
#ifndef PERFLUA_INJECT_IMAGE_H
#define PERFLUA_INJECT_IMAGE_H

#include "base/string_builder.h"

#define PJ_TEXT_AT 0x80u /* offset, and address, of the code in the file */

struct pj_function {
	const char *name;
	size_t name_length;
	const uint8_t *code; /* [size] */
	uint64_t size;
	uint16_t machine; /* EM_… */
	bool is_big;
};

/* Appends the bytes of the file, which has a build-id of its content, to an empty string. */
void pj_make_image(const struct pj_function *function, struct pb_string *out);

#endif
