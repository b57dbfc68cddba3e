/*
 * Differences between the texts of perf's versions. The table (perf_text.c) is the only place
 * that knows versions; all other code asks for a difference by its name.
 */
#ifndef PERFLUA_PERFDATA_PERF_TEXT_H
#define PERFLUA_PERFDATA_PERF_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of a set of differences. */
enum pd_perf_text {
	PD_TEXT_WIDE_IDS = 1 << 0,
	PD_TEXT_RECORDED_ADDRESSES = 1 << 1,
	PD_TEXT_FORGETS_EXITED = 1 << 2,
	PD_TEXT_ONE_LEVEL = 1 << 3,
	PD_TEXT_BRANCH_SPECULATION = 1 << 4,
	PD_TEXT_BRANCH_NOT_TAKEN = 1 << 5,
	PD_TEXT_PLAIN_MODIFIERS = 1 << 6,
	PD_TEXT_UNKNOWN_EVENTS = 1 << 7,
	PD_TEXT_READ_BY_THREAD = 1 << 8,
	PD_TEXT_BRANCH_DSO_APART = 1 << 9,
	PD_TEXT_RETIRE_LAT = 1 << 10,
	PD_TEXT_INLINED_ALWAYS = 1 << 11,
	PD_TEXT_OUTERMOST_LINE = 1 << 12,
	PD_TEXT_ARRAY_AS_KERNEL = 1 << 13,
	PD_TEXT_CONVERSIONS = 1 << 14,
	PD_TEXT_LBR_LEAF = 1 << 23,
	PD_TEXT_CODE_FRAMES = 1 << 24,
	/* of report, which asks for them by name */
	PD_TEXT_SKIPS_EMPTY = 1 << 15,
	PD_TEXT_WIDE_COUNTS = 1 << 16,
	PD_TEXT_TASK_ORDER = 1 << 17,
	PD_TEXT_AVERAGE_WEIGHTS = 1 << 18,
	PD_TEXT_SHOWS_LATENCY = 1 << 19,
	PD_TEXT_EXACT_SHARES = 1 << 20,
	PD_TEXT_SPLIT_SHARES = 1 << 22,
	PD_TEXT_AS_FIELDS = 1 << 21, /* texts of tracepoints are name=value; no version's */
};

/* Versions are PD_PERF(6, 12). */
#define PD_PERF(major, minor) ((unsigned)(major) << 16 | (unsigned)(minor))
#define PD_PERF_OLDEST	      PD_PERF(6, 1)
#define PD_PERF_NEWEST	      PD_PERF(7, 3)
#define PD_PERF_RECORDED      0u /* the version that the recording's header names */

struct pd_perf_difference {
	const char *name;
	const char *doc;
	/* enum pd_perf_text; 0: perflua prints one text for all versions */
	unsigned bit;
	unsigned since, before; /* it holds for versions with since <= version < before */
};
extern const struct pd_perf_difference pd_perf_differences[]; /* ends with a NULL name */

/* Returns the bits of the differences that hold for a version. */
unsigned pd_perf_text_of(unsigned version);

/* Reads a version as "6.12", with or without a patch level. Returns 0 if it is none. */
unsigned pd_perf_version(const char *text);

/*
 * Returns the known version that is closest to a recorder's: PD_PERF_OLDEST for "5.15.68.1",
 * PD_PERF(6, 18) for "6.18-1". Returns PD_PERF_NEWEST if the text begins with no version.
 */
unsigned pd_perf_closest(const char *text);

#endif
