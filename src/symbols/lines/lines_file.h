/*
 * The file that has the debug information of a binary, opened.
 */
#ifndef PERFLUA_SYMBOLS_LINES_FILE_H
#define PERFLUA_SYMBOLS_LINES_FILE_H

#include "lines_image.h"

struct ps_debug {
	struct ps_image image;
	struct ps_image shared; /* what several debug files share (dwz); may be closed */
	struct ps_dso *dso;
	struct ps_elf runtime; /* of programs and libraries: has the program headers */
	bool offsets;  /* addresses of the dso are offsets in `runtime`, or by dso->segments */
	uint64_t bias; /* else: added to addresses of the file gives those of the dso */
	uint64_t size; /* of all the debug information, in bytes */
};

/* Looks for it. False: there is none; nothing stays open. */
bool ps_debug_open(struct ps_debug *debug, struct ps_dso *dso);
void ps_debug_close(struct ps_debug *debug);

/* An address of the dso as the debug information has it; false: it has none for that. */
bool ps_debug_address(struct ps_debug *debug, uint64_t address, uint64_t *file_address);

#endif
