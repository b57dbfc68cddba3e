/*
 * Rows of a report over groups whose measures are a count and a sum.
 *
 * Without callers the keys are the columns, and each group has one row. With callers the last
 * key is a chain of PQ_CHAIN_CALLERS, and a sample counts once for every distinct row that a
 * frame of its call chain belongs to: a row has the other keys, and the names that are asked
 * for of a frame. Binaries have their short names, as in perf report.
 */
#ifndef PERFLUA_QUERY_REPORT_H
#define PERFLUA_QUERY_REPORT_H

#include "group.h"

struct pq_report;

/* A column: rows are told apart, and sorted, by columns. */
struct pq_report_column {
	enum pq_report_from {
		PQ_FROM_KEY,	/* the key as it is */
		PQ_FROM_DSO,	/* the short name of a binary */
		PQ_FROM_SYMBOL, /* the name of a function, or its address in its binary */
		PQ_FROM_MODE	/* the cpumode */
	} from;
	size_t key;	/* number of the key: for PQ_FROM_KEY; without callers for all */
	bool is_signed; /* integers of the key are signed */
};

struct pq_report_asked {
	const struct pq_report_column *columns; /* [n_columns] */
	size_t n_columns, n_keys;
	size_t event_key; /* SIZE_MAX: none */
	bool callers;
	const struct pm_system *system; /* has the binaries; NULL: no column shows them */
	uint32_t n_machines;		/* number of machines in the system */
};

struct pq_report_row {
	/* has the keys of the row, except for binary, function and cpumode */
	size_t group;
	const char *dso; /* NULL: not asked for */
	struct pd_text
		/*
		 * p is NULL: not asked for, or not known; then `address` is that in the binary
		 */
		symbol;
	uint64_t address;
	bool placed;	   /* false: the samples have no address */
	uint8_t mode;	   /* enum pd_cpumode */
	uint64_t samples;  /* samples in its own function */
	uint64_t period;   /* period of these samples */
	uint64_t children; /* period of the samples that have it anywhere in their call chain */
};

/* Stands for all periods that are as large or larger, which do not fit an integer of Lua. */
#define PQ_TOO_LARGE (UINT64_C(1) << 63)

/*
 * Makes the rows, sorted: by event, those without one last; the greatest `children` first; then
 * column by column, in the order of spec/support/model/report/order.lua. The groups and the
 * columns must outlive them; nothing may be added to the groups any more. Returns NULL without
 * memory.
 *
 * `interrupt`, which may be NULL, may end the adding up of the groups: pq_report_taken says how
 * many were.
 */
struct pq_report *pq_report_create(struct pq_groups *groups,
				   const struct pq_report_asked *asked,
				   struct ps_interrupt *interrupt);
void pq_report_destroy(struct pq_report *report);

/* The rows of an event: from … from + n - 1. */
struct pq_report_section {
	const struct pd_event *event; /* NULL: unknown */
	size_t from, n;
	uint64_t samples, period; /* sums; PQ_TOO_LARGE as above */
	uint64_t unresolved;	  /* samples of rows without a symbol's name */
};

/* Returns the sections in the order of their rows, and sets *n to their number. */
const struct pq_report_section *pq_report_sections(const struct pq_report *report, size_t *n);

size_t pq_report_taken(const struct pq_report *report);
size_t pq_report_size(const struct pq_report *report);

/* Sets *row to row `i` < pq_report_size(). Its texts are the report's and the groups'. */
void pq_report_row(const struct pq_report *report, size_t i, struct pq_report_row *row);

#endif
