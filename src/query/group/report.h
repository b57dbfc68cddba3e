/*
 * Rows of a report: what is shown of the keys of groups, whose measures are a count and a sum.
 *
 * Without callers the keys are what columns are of, each group is of one row. With callers the
 * last key is a chain of PQ_CHAIN_FRAMES: a sample counts once for every different row that a
 * frame of its call chain belongs to. A row is then the other keys, and of a frame the names
 * that are asked for. Binaries have their short names, as perf report has them.
 */
#ifndef PERFLUA_QUERY_REPORT_H
#define PERFLUA_QUERY_REPORT_H

#include "group.h"

struct pq_report;

/* A column: rows are told apart, and sorted, by them. */
struct pq_report_column {
	enum pq_report_from {
		PQ_FROM_KEY,	/* the key as it is */
		PQ_FROM_DSO,	/* the short name of a binary */
		PQ_FROM_SYMBOL, /* the name of a function, or its address in its binary */
		PQ_FROM_MODE	/* the cpumode */
	} from;
	size_t key;	/* of PQ_FROM_KEY; without callers of all */
	bool is_signed; /* of integers */
};

struct pq_report_asked {
	const struct pq_report_column *columns; /* [n_columns] */
	size_t n_columns, n_keys;
	size_t event_key; /* SIZE_MAX: there is none */
	bool callers;
	const struct pm_system *system; /* that binaries are of; NULL: no column is of them */
	uint32_t n_machines;		/* of the system */
};

struct pq_report_row {
	/* whose keys the row has, but for those of binary, function and cpumode */
	size_t group;
	const char *dso; /* NULL: not asked for */
	struct pd_text
		/* p is NULL: not asked for, or not known: then it is `address` in the binary */
		symbol;
	uint64_t address;
	bool placed;	   /* false: the samples have no address */
	uint8_t mode;	   /* enum pd_cpumode */
	uint64_t samples;  /* whose own function it is */
	uint64_t period;   /* of these */
	uint64_t children; /* period of those that have it anywhere in their chain */
};

/* Stands for all periods that are as large or larger: no integer of Lua's is. */
#define PQ_TOO_LARGE (UINT64_C(1) << 63)

/*
 * Makes the rows, sorted: by event, those without one last; the greatest `children` first; then
 * by column after column, as lua/perflua/report/order.lua says. The groups and the columns must
 * outlive them; nothing is added to the groups any more. Returns NULL without memory.
 *
 * `interrupt` (NULL: nobody) may end the adding up of the groups: pq_report_taken says how many
 * were. Once it came, only the first PQ_REPORT_FIRST rows of each event are sorted, and of many
 * rows only by `children`; the others are behind them in any order.
 */
#define PQ_REPORT_FIRST 1000
struct pq_report *pq_report_create(struct pq_groups *groups,
				   const struct pq_report_asked *asked,
				   struct ps_interrupt *interrupt);
void pq_report_destroy(struct pq_report *report);

/* The rows of an event, from..from + n. */
struct pq_report_section {
	const struct pd_event *event; /* NULL: unknown */
	size_t from, n;
	uint64_t samples, period; /* their sums; PQ_TOO_LARGE as above */
	uint64_t unresolved;	  /* samples of rows without a symbol's name */
};

/* Returns the sections in the order of their rows, and stores their number in *n. */
const struct pq_report_section *pq_report_sections(const struct pq_report *report, size_t *n);

size_t pq_report_taken(const struct pq_report *report);
size_t pq_report_size(const struct pq_report *report);

/* Gives row i, below pq_report_size. Its texts are the report's and the groups'. */
void pq_report_row(const struct pq_report *report, size_t i, struct pq_report_row *row);

#endif
