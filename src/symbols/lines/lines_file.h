/* The open file with the debug information of a binary. */
#ifndef PERFLUA_SYMBOLS_LINES_FILE_H
#define PERFLUA_SYMBOLS_LINES_FILE_H

#include "lines_image.h"

struct ps_debug {
	struct ps_image image;
	/* the part that several debug files share (dwz); may be closed */
	struct ps_image shared;
	struct ps_dso *dso;
	struct ps_elf runtime; /* for programs and libraries: has the program headers */
	/* addresses of the dso are offsets in `runtime`, or go by dso->segments */
	bool offsets;
	uint64_t bias; /* else: address in the file + bias = address in the dso */
	uint64_t size; /* bytes of all debug information */
};

/*
 * Finds and opens the debug file of `dso`. Returns false if there is none; nothing stays open
 * then.
 */
bool ps_debug_open(struct ps_debug *debug, struct ps_dso *dso);
void ps_debug_close(struct ps_debug *debug);

/*
 * Turns an address of the dso into that of the debug information. Returns false if it has none
 * for it.
 */
bool ps_debug_address(struct ps_debug *debug, uint64_t address, uint64_t *file_address);

#endif
