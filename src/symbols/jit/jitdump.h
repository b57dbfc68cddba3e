/*
 * The files jit-PID.dump in which programs that make code at run time say what they made, and
 * when. See tools/perf/Documentation/jitdump-specification.txt.
 */
#ifndef PERFLUA_SYMBOLS_JITDUMP_H
#define PERFLUA_SYMBOLS_JITDUMP_H

#include <stdio.h>

#include "symbols/elf/table.h"

/* Where a function was from a time on. */
struct ps_jit_span {
	uint64_t start, end, from;
	uint64_t reach;	 /* the furthest end of this span and those before it */
	uint64_t code;	 /* the program's number for the function */
	uint32_t order;	 /* in the file */
	uint32_t symbol; /* of the table; PS_JIT_MOVED: that of the same code before */
};

#define PS_JIT_MOVED UINT32_MAX

struct ps_jitdump {
	const char *path;	   /* as it was recorded; the store's */
	bool monotonic;		   /* its times are those of the recording */
	struct ps_table table;	   /* not finished: several symbols may be at one place */
	struct ps_jit_span *spans; /* [n]: by start */
	size_t n;
};

/* Reads it all, or up to where it is damaged. False: *reason says why there is nothing. */
bool ps_jitdump_parse(struct ps_jitdump *dump, FILE *file, const char **reason);

void ps_jitdump_destroy(struct ps_jitdump *dump);

/* The function that was at an address then; NULL: none that is known. */
const struct ps_symbol *ps_jitdump_find(const struct ps_jitdump *dump, uint64_t address,
					uint64_t time);

/* Returns the last time up to which ps_jitdump_find() gives what it gives at `time`. */
uint64_t ps_jitdump_last(const struct ps_jitdump *dump, uint64_t address, uint64_t time);

#endif
