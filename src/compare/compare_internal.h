/* The parts of a comparison. */
#ifndef PERFLUA_COMPARE_COMPARE_INTERNAL_H
#define PERFLUA_COMPARE_COMPARE_INTERNAL_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/helpers.h"
#include "base/map.h"
#include "compare.h"
#include "result/view.h"
#include "stats/stats.h"

/* bytes of the text of an address in a binary, with its build-id, and of one in memory */
#define PC_ADDRESS_SIZE (2 * UINT8_MAX + 32)
#define PC_IP_SIZE	32

#define PC_MIN_SAMPLES 20 /* samples of both sides that a verdict needs */

#define N_COUNTS (PC_SIDES + 1) /* measures of rows that follow those of the runs */

/*
 * An amount of a row in a slice of time. If the amounts of a row do not just add up, the
 * divisor of each is a cell of its own, at PC_UNDER + slice.
 */
struct slice_cell {
	uint32_t row, slice;
	double amount;
};
#define PC_UNDER PN_MAX_SLICES

struct slice_cells {
	struct slice_cell *list; /* [n]; the first n_joined are one for each row and slice */
	size_t n, room, n_joined;
};

/* All rows of an event on one side. */
struct event_total {
	bool has;	    /* there are rows */
	bool lacks_samples; /* the samples of a row are not known */
	bool has_no_slices; /* `over` is not known by slice */
	uint64_t samples, unnamed;
	double *over;	/* [n_runs of the side]: the sum of each run */
	double *slices; /* [PN_MAX_SLICES]: sums of the slices; NULL: all are 0 */
};

struct compared_event {
	struct event_total totals[PC_SIDES];
};

/* A key of a row that is shown otherwise than it is matched. */
struct shown_key {
	struct pq_value value;
	bool is_set;
	bool is_after; /* `value` is that of the side after */
};

/* A run that was added. */
struct added_run {
	double seconds;
	bool has_count;
};

struct pc_comparison {
	struct pc_options options; /* its arrays are copies */
	bool is_amount;
	size_t n_runs;		/* number of runs of both sides */
	struct added_run *runs; /* [n_runs]: those of the side before come first */
	size_t n_slices[PC_SIDES];
	/*
	 * Its keys are those of the options, with stacks by their text, and the address in a
	 * binary, where no function is known. Its measures are that of each run, the number of
	 * samples of each side, and the number of samples of both that a kernel has.
	 */
	struct pr_result *rows;
	uint8_t *has;		 /* [n_rows * n_runs]: 1 if the run has the row */
	struct shown_key *shown; /* [n_rows * n_special] */
	size_t n_rows;
	size_t *special; /* [n_keys]: index of a key in `shown`, or PR_NONE */
	size_t n_special;
	/*
	 * The stacks of all rows as a tree, whose first nodes are the events. Row i is that of
	 * node i + 1, whose number is its key. NULL: rows are not beginnings of stacks.
	 */
	struct pr_tree *tree;
	struct pm_string_pool frames; /* texts of the frames of the tree */
	struct slice_cells cells[PC_SIDES];
	struct compared_event *events; /* [n_events] */
	size_t n_events;
	struct pq_stacks *stacks;
	struct pb_arena texts; /* texts of shown keys */
	struct pc_row *judged; /* [n_judged]: the rows as they were judged */
	size_t n_judged, n_tested;
	enum pc_load load;
};

/* Returns the number of a run among those of both sides. */
static inline size_t run_number(const struct pc_comparison *c, enum pc_which side, size_t r)
{
	return side == PC_AFTER ? c->options.n_runs[PC_BEFORE] + r : r;
}

/* Returns the number of the measure that counts the samples of a side. */
static inline size_t samples_measure(const struct pc_comparison *c, enum pc_which side)
{
	return c->n_runs + side;
}

static inline size_t kernel_measure(const struct pc_comparison *c)
{
	return c->n_runs + PC_SIDES;
}

static inline double to_double(const struct pq_value *value)
{
	return value->type == PQ_FLOAT ? value->f : (double)value->i;
}

/* Returns an unsigned value of the measure above INT64_MAX as a float, others unchanged. */
static inline struct pq_value pc_wide_to_float(const struct pc_comparison *c,
					       struct pq_value value)
{
	if (value.type == PQ_INT && value.i < 0 && c->options.measure.kind != PR_SIGNED)
		value = (struct pq_value){ .type = PQ_FLOAT, .f = (double)value.u };
	return value;
}

/* The parts of a state that add up: an amount, and its divisor. */
struct amount {
	struct pq_value over;
	double under;
};
struct amount pc_amount_of(enum pq_measure_kind measure, const struct pq_state *state);

/* Creates rows of keys with states as in struct pc_comparison. Returns NULL without memory. */
struct pr_result *pc_create_rows(const struct pc_comparison *c, const struct pr_key *keys,
				 size_t n_keys);

/* Makes room for what is known of all rows. Returns false without memory. */
bool pc_extend_rows(struct pc_comparison *c, size_t n_rows);

/* Returns an event by its number, which may be new; NULL: no memory. */
struct compared_event *pc_get_event(struct pc_comparison *c, uint32_t number);

/* Adds an amount to that of a row and slice. Returns false without memory. */
bool pc_add_cell(struct slice_cells *cells, const struct slice_cell *cell);

/*
 * Sorts cells by row and slice, and adds up those that are equal. Returns false without memory.
 */
bool pc_join_cells(struct slice_cells *cells);

/*
 * Returns the cells of a side, which are joined, by row: those of row i are from number
 * result[i] to result[i + 1] - 1. The caller frees it; NULL: no memory.
 */
size_t *pc_index_cells(const struct slice_cells *cells, size_t n_rows);

/* Returns true if a side has the row. */
bool pc_has_row(const struct pc_comparison *c, enum pc_which side, size_t row);

/* Returns true if each run of a side has the row. */
bool pc_is_in_each_run(const struct pc_comparison *c, enum pc_which side, size_t row);

/* Sets the values of both sides of all rows of c->judged, and their difference. */
void pc_set_values(struct pc_comparison *c);

/*
 * Sets the errors of all values, by the variation of runs or over slices of time. Returns false
 * without memory.
 */
bool pc_set_errors(struct pc_comparison *c, enum pc_method method, unsigned workers);

/*
 * Corrects the errors of amounts: they vary at least as much as their samples by chance.
 * Returns false without memory.
 */
bool pc_set_variances(struct pc_comparison *c, const struct pc_judging *judging);

/*
 * Returns the probability of so uneven a division of few samples between the sides, if nothing
 * differs.
 */
double pc_test_few(const struct pc_comparison *c, const struct pc_row *row);

/* Sets the verdict of rows that lack names on one side. Returns false without memory. */
bool pc_mark_unnamed(struct pc_comparison *c, size_t family);

/* Returns true if a row of c->judged can be compared: both sides have its event. */
static inline bool pc_is_compared(const struct pc_comparison *c, const struct pc_row *row)
{
	const struct event_total *totals = c->events[row->event].totals;

	return totals[PC_BEFORE].has && (totals[PC_AFTER].has || !c->options.n_runs[PC_AFTER]);
}

#define PC_AHEAD 32 /* groups that are read together */

/*
 * Groups of a result that were met, by the keys that tell their rows: most groups differ from
 * one that was met in the slice of time alone, and are of its row.
 *
 * Groups are read some at a time, so that the look-ups of all of them wait for memory together.
 */
struct pc_met {
	const struct pr_result *result;
	size_t n_keys;	  /* the first keys, which tell the row */
	size_t extra_key; /* another key that does; PR_NONE: none */
	/* [n * (n_words + 1)]: words of each group, and the number of its row */
	uint64_t *groups;
	size_t n_words, n, room;
	struct pb_map map; /* numbers of groups, by their words */
	struct pb_secret secret;
	/* the groups from number `first` on: words and hashes */
	size_t first;
	uint64_t *ahead; /* [PC_AHEAD * n_words] */
	uint32_t hashes[PC_AHEAD];
};

/* Initializes *met for a result, which must outlive it. Returns false without memory. */
bool pc_met_init(struct pc_met *met, const struct pr_result *result, size_t n_keys,
		 size_t extra_key);
void pc_met_deinit(struct pc_met *met);

/*
 * Reads and hashes the next groups, from number `first` on, for pc_met_find(), and prefetches
 * their rows from `rows`. Returns how many groups, at most PC_AHEAD; 0: there are no more.
 */
size_t pc_met_look_ahead(struct pc_met *met, size_t first, const struct pr_result *rows);

/*
 * Finds group `g`, one of those that pc_met_look_ahead() read last. Sets *row to where its row
 * is, until the next call, and *is_new if the caller has to put it there. Returns false without
 * memory.
 */
bool pc_met_find(struct pc_met *met, size_t g, uint64_t **row, bool *is_new);

/* A part of the rows: `n` of them, from number `first` on. */
struct pc_share {
	void *arg;
	size_t number; /* number of the part, below PB_ITEMS_MAX */
	size_t first, n;
};

/*
 * Calls work() for each part of `n` rows; how they are divided depends on `n` alone. `worker`,
 * from 0 to PB_HELPERS_MAX, is another one in each thread that calls it. Returns false without
 * memory, or if work() did.
 */
bool pc_share_rows(size_t n, unsigned workers,
		   bool (*work)(const struct pc_share *share, unsigned worker), void *arg);

#endif
