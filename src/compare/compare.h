/*
 * Comparisons of two sides, each of several runs of the same work: the results of the runs
 * (result/result.h) side by side, joined by the names that rows are matched by, and how their
 * values differ.
 *
 * First the results are added, run by run (pc_add); then the rows are judged (pc_judge), and
 * shown (pc_make_result; pc_row and pc_row_key for one of them). With runs on one side only
 * there is nothing to compare, but values have intervals.
 */
#ifndef PERFLUA_COMPARE_COMPARE_H
#define PERFLUA_COMPARE_COMPARE_H

#include "result/tree.h"
#include "result/view.h"

enum pc_which {
	PC_BEFORE,
	PC_AFTER,
	PC_SIDES
};

/* Says what amounts are divided by. */
enum pc_per {
	PC_PER_RUN,
	PC_PER_SHARE,
	PC_PER_SECOND,
	PC_PER_EVENT,
};

struct pc_options {
	const struct pr_key *keys; /* [n_keys]: rows are matched by */
	size_t n_keys;
	struct pr_measure measure; /* measure 0 of all results */
	enum pc_per per;
	double quantile; /* of PQ_M_QUANTILE: which one */
	size_t n_runs[PC_SIDES];
	size_t symbol; /* the key that has functions; PR_NONE: there is none */
	size_t binary; /* the key that has binaries, likewise */
	/*
	 * Sets *to, which is valid until the next call, to the name by which `from`, a text of
	 * a key or the text of a stack, is matched. Returns false if that failed.
	 */
	bool (*match)(void *arg, size_t key, bool is_stack, struct pd_text from,
		      struct pd_text *to);
	const bool *is_matched; /* [n_keys]: match() is called for the texts of a key */
	bool are_stacks_matched;
};

struct pc_comparison;

/*
 * Creates a comparison without rows. The options are copied. Stacks that are shown are added to
 * `stacks`, which must outlive it. Returns NULL without memory.
 */
struct pc_comparison *pc_create(const struct pc_options *options, struct pq_stacks *stacks);
void pc_destroy(struct pc_comparison *c);

/* Slices of time, the values of a key, are joined to `n` and numbered after `offset`. */
struct pc_slices {
	size_t key; /* PR_NONE: the run is not sliced */
	int64_t least;
	uint64_t joined; /* how many values of the key are one slice */
	size_t n, offset;
};

struct pc_binaries;

/* Names for addresses that stand where no function is known: see binaries.h. */
struct pc_naming {
	const struct pc_binaries *own, *theirs; /* NULL: addresses are not named */
	size_t build_id; /* key: of the binary; PR_NONE: no address stands for a function */
};

struct pc_run {
	const struct pr_result *result; /* its first keys are those of the comparison */
	enum pc_which side;
	size_t number;
	size_t count;	/* the measure that counts samples; PR_NONE: they are not known */
	size_t kernel;	/* the sum that counts those of a kernel, likewise */
	double seconds; /* NAN: not known */
	struct pc_slices slices;
	const uint32_t *events; /* [n_events]: the event of a section, by number */
	size_t n_events;
	struct pc_naming naming;
};

enum pc_problem {
	PC_FINE,
	PC_NO_MEMORY,
	PC_NOT_MATCHED, /* match() failed */
	PC_BAD_SLICE,	/* a slice has no such number */
	PC_TOO_HEAVY,	/* weights of stacks add up to more than 64 bits */
};

/*
 * Returns true if pc_add() can take a run: its result has the keys and the measure of the
 * comparison first, and rows were not turned into beginnings of stacks.
 */
bool pc_fits(const struct pc_comparison *c, const struct pc_run *run);

/* Adds the result of a run, which fits, to its side. `arg` is passed to options.match(). */
enum pc_problem pc_add(struct pc_comparison *c, const struct pc_run *run, void *arg);

/*
 * Replace the amounts that a run's rows are divided by. pc_divide_by() takes those of a result
 * whose only key is the slice, for all events. pc_divide_by_sum() takes `sum`, of which the
 * slices are not known, and adds it to those before unless it is the first one of the event.
 */
enum pc_problem pc_divide_by(struct pc_comparison *c, const struct pc_run *run);
enum pc_problem pc_divide_by_sum(struct pc_comparison *c, enum pc_which side, size_t run,
				 uint32_t event, double sum, bool is_first);

/* Returns true if a side has that many runs. */
bool pc_has_run(const struct pc_comparison *c, enum pc_which side, size_t run);

/* Returns how many bytes the comparison holds, except for what states of its rows own. */
size_t pc_memory(const struct pc_comparison *c);

/* Returns the rows: their first keys are those they are matched by. */
const struct pr_result *pc_rows(const struct pc_comparison *c);

/* Returns the number of events, which are numbered from 0 on, that any row or sum has. */
size_t pc_n_events(const struct pc_comparison *c);

struct pc_event_facts {
	bool has;		   /* the side has rows of the event */
	bool has_samples;	   /* the number of samples is known */
	uint64_t samples, unnamed; /* `unnamed`: of those, without a function */
};
void pc_event_facts(const struct pc_comparison *c, uint32_t event,
		    struct pc_event_facts facts[PC_SIDES]);

/*
 * Replaces judged rows, whose last key is a folded stack, by rows of what stacks begin with,
 * each with all that it called. path() is like options.match() and makes the folded stack of a
 * row of its keys.
 */
enum pc_problem pc_add_up_stacks(struct pc_comparison *c,
				 bool (*path)(void *arg, const struct pq_value *keys,
					      struct pd_text *to),
				 void *arg);

/*
 * Returns the tree of these rows: nodes weigh as much as both sides, the first ones are the
 * events, and row i is that of node i + 1. NULL: rows were not replaced.
 */
const struct pr_tree *pc_tree(const struct pc_comparison *c);

/* Returns the node of an event; 0: there is none. */
uint32_t pc_event_node(const struct pc_comparison *c, uint32_t event);

/* Says what intervals are made of. */
enum pc_method {
	PC_BY_NOTHING, /* there are none */
	PC_BY_RUNS,
	PC_BY_SLICES,
	PC_BY_ORDER, /* of the values of a quantile */
};

/* The kinds of rows, which vary differently. */
enum pc_kind {
	PC_PROGRAM,
	PC_KERNEL, /* most samples of the row are of a kernel */
	PC_KINDS
};

/* The variance of amounts of a kind from run to run. */
struct pc_prior {
	double dispersion; /* variance of samples in that by chance: 1 or more */
	double drift;	   /* standard deviation besides, as a part of the amount */
	double freedom;	   /* degrees of freedom that this is worth: above 0 */
};

/* The loads of the machine under which that was measured. */
enum pc_load {
	PC_IDLE,
	PC_LOADED, /* other programs ran beside */
	PC_LOADS
};

struct pc_judging {
	enum pc_method method;
	double confidence;
	struct pc_prior priors[PC_LOADS][PC_KINDS];
	const bool *is_sampled; /* [n_events]: priors hold for amounts of the event */
	size_t n_events;
	size_t family; /* the key whose values may lack names; PR_NONE: none does */
	const struct pq_value *only; /* value of key 0 of rows that get a verdict; NULL: all */
	unsigned workers;	     /* 1 or more threads; the answer does not depend on it */
};

/*
 * Sets values, intervals and verdicts of all rows. Sets *tested to the number of rows that were
 * tested together. Returns false without memory.
 */
bool pc_judge(struct pc_comparison *c, const struct pc_judging *judging, size_t *tested);

enum pc_verdict {
	PC_NO_VERDICT,
	PC_NO_SYMBOLS,
	PC_NEW,
	PC_GONE,
	PC_LESS,
	PC_MORE,
	PC_NOISE,
	PC_VARIES,
	PC_TOO_FEW,
};

/* One side of a row. */
struct pc_part {
	struct pq_value value; /* PQ_NIL: it has none */
	double error, freedom; /* standard error of the value, and degrees of freedom of that */
	double run_error;      /* that of the variation between runs; 0 of one run */
	uint32_t n;	       /* runs that have a value */
	bool has_row, has_samples;
	uint64_t samples;
};

struct pc_row {
	uint32_t event;
	struct pc_part parts[PC_SIDES];
	struct pq_value delta; /* PQ_NIL: a side has no value */
	double low, high;      /* of delta, or of the value of a single side; NAN: unknown */
	double p, q;	       /* NAN: not tested */
	double least_p;	       /* p if one side had all of the row; 0: not known */
	double freedom;	       /* of the errors of both sides together; 0: each has its own */
	double counting;       /* standard error of delta by counting alone; 0: not known */
	bool has_samples, is_unknown;
	uint64_t samples;
	enum pc_verdict verdict;
};

/* Return the number of rows, and row i; NULL if only one side has its event. */
size_t pc_size(const struct pc_comparison *c);

/* Returns the load under which runs vary as those that were judged. */
enum pc_load pc_load_of(const struct pc_comparison *c);

/* Returns true if the rows are judged, and nothing was added since. */
bool pc_is_judged(const struct pc_comparison *c);
const struct pc_row *pc_row(const struct pc_comparison *c, size_t i);

/* Returns the weight of a row, added up over both sides. */
double pc_row_weight(const struct pc_row *row);

/* Sets *out to key `k` of row i as it is shown: a PQ_CHAIN is one of the stacks. */
void pc_row_key(const struct pc_comparison *c, size_t i, size_t k, struct pq_value *out);

/* Returns the verdict of a row, of a fixed set of words; "": it has none. */
const char *pc_verdict_word(const struct pc_comparison *c, const struct pc_row *row);

#define PC_VERDICT_SIZE 64
/*
 * Writes the verdict of a row for people: with the number of rows that it is corrected for, or
 * of samples that it is of. Returns its size in bytes; 0: it has none.
 */
size_t pc_verdict_text(const struct pc_comparison *c, const struct pc_row *row,
		       char text[PC_VERDICT_SIZE]);

/* The kinds of values, of their difference, and of the bounds of that. */
struct pc_kinds {
	enum pr_kind value, delta, bound;
};
void pc_kinds(const struct pc_comparison *c, struct pc_kinds *kinds);

/*
 * Returns the rows as a result with the measures before, after, delta, low, high, verdict and
 * the verdict for people; those of event e have section sections[e]. Returns NULL without
 * memory.
 */
struct pr_result *pc_make_result(const struct pc_comparison *c, const uint32_t *sections);

#endif
