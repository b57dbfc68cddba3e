/*
 * Reads jit-PID.dump files, in which programs that make code at run time record what they made,
 * and when. See tools/perf/Documentation/jitdump-specification.txt.
 */
#ifndef PERFLUA_SYMBOLS_JITDUMP_H
#define PERFLUA_SYMBOLS_JITDUMP_H

#include <stdio.h>

#include "symbols/elf/table.h"

/* The address range of a function, from a time on. */
struct ps_jit_span {
	uint64_t start, end, from;
	uint64_t reach;	 /* largest end of this range and those before it */
	uint64_t code;	 /* the program's number for the function */
	uint64_t bytes;	 /* where its code is in the file; 0: it is not there */
	uint32_t order;	 /* position in the file */
	uint32_t symbol; /* number in the table; PS_JIT_MOVED: that of the same code before */
};

#define PS_JIT_MOVED UINT32_MAX

struct ps_jitdump {
	const char *path;	   /* path as recorded; owned by the store */
	bool monotonic;		   /* the dump has the clock of the recording */
	bool timed;		   /* its ranges have times of that clock */
	bool is_cut;		   /* it does not end with a whole record */
	uint16_t machine;	   /* EM_… of the code */
	bool is_big;		   /* the dump is big-endian */
	struct ps_table table;	   /* not finished: several symbols may have one address */
	struct ps_jit_span *spans; /* [n], by start */
	size_t n;
};

/* Sorts the ranges, which are found only then. */
void ps_jitdump_sort(struct ps_jitdump *dump);

/* Reads `file`, up to where it is damaged. Returns false and sets *reason if it has nothing. */
bool ps_jitdump_parse(struct ps_jitdump *dump, FILE *file, const char **reason);

void ps_jitdump_destroy(struct ps_jitdump *dump);

/* Returns the function that was at `address` at `time`; NULL: none known. */
const struct ps_symbol *ps_jitdump_find(const struct ps_jitdump *dump, uint64_t address,
					uint64_t time);

/* Returns the range whose function `symbol` is, one of the dump's; NULL: it is not one. */
const struct ps_jit_span *ps_jitdump_span(const struct ps_jitdump *dump,
					  const struct ps_symbol *symbol);

/* Returns the last time at which ps_jitdump_find() still returns what it returns at `time`. */
uint64_t ps_jitdump_last(const struct ps_jitdump *dump, uint64_t address, uint64_t time);

#endif
