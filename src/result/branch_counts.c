#include "report_trees.h"

#include <inttypes.h>

#include "perfdata/format/views.h"

#define CONDITIONAL 1  /* PERF_BR_COND */
#define EXTENDED    15 /* PERF_BR_EXTEND_ABI */

void pr_branch_counts_add(struct pr_branch_counts *counts, const struct pq_exact *frame,
			  uint64_t samples)
{
	const struct pm_branch *end = frame ? &frame->branch : NULL;

	if (end && end->end == PM_BRANCH_TARGET) {
		counts->targets += samples;
		counts->predicted += end->predicted * samples;
		counts->aborted += end->aborted * samples;
		if (end->type == EXTENDED)
			counts->new_types[end->new_type] += samples;
		else if (end->type)
			counts->types[end->type] += samples;
		if (end->type == CONDITIONAL)
			*(end->is_forward ? &counts->forward : &counts->backward) += samples;
		counts->crosses_2m += end->crosses_2m * samples;
		counts->crosses_4k += end->crosses_4k * samples;
	} else if (end && end->end == PM_BRANCH_SOURCE) {
		counts->sources += samples;
		counts->cycles += end->cycles * samples;
		counts->iterations += end->iterations * samples;
		counts->iteration_cycles += end->iteration_cycles * samples;
	}
}

/* Begins the next word in the brackets. */
static void begin_word(struct pb_string *text, bool *has_words)
{
	pb_string_put(text, *has_words ? " " : " (");
	*has_words = true;
}

static void add_word(struct pb_string *text, bool *has_words, uint64_t n, const char *word)
{
	if (!n || !word)
		return;
	begin_word(text, has_words);
	pb_string_put(text, word);
}

static void add_number(struct pb_string *text, bool *has_words, const char *name, uint64_t n)
{
	begin_word(text, has_words);
	pb_string_format(text, "%s:%" PRIu64, name, n);
}

static void add_share(struct pb_string *text, bool *has_words, const char *name, uint64_t part,
		      uint64_t whole)
{
	begin_word(text, has_words);
	pb_string_format(text, "%s:%.1f%%", name, (double)part * 100 / (double)whole);
}

static void add_targets(const struct pr_branch_counts *counts, uint64_t n,
			struct pb_string *text, bool *has_words)
{
	add_word(text, has_words, counts->forward, "COND_FWD");
	add_word(text, has_words, counts->backward, "COND_BWD");
	for (unsigned i = CONDITIONAL + 1; i < PR_BRANCH_TYPES; i++)
		add_word(text, has_words, counts->types[i], pd_branch_type_name(i, 0));
	for (unsigned i = 0; i < PR_BRANCH_TYPES; i++)
		add_word(text, has_words, counts->new_types[i],
			 pd_branch_type_name(EXTENDED, i));
	add_word(text, has_words, counts->crosses_2m, "CROSS_2M");
	add_word(text, has_words, counts->crosses_4k, "CROSS_4K");
	if (counts->predicted < n)
		add_share(text, has_words, "predicted", counts->predicted, n);
	if (counts->aborted * 1000 >= n)
		add_share(text, has_words, "abort", counts->aborted, n);
}

static void add_sources(const struct pr_branch_counts *counts, uint64_t n,
			struct pb_string *text, bool *has_words)
{
	/* perf does not count the sample that made the node */
	uint64_t others = counts->targets ? counts->sources : counts->sources - 1;

	if (counts->cycles / n)
		add_number(text, has_words, "cycles", counts->cycles / n);
	if (!others || counts->iterations < others)
		return;
	add_number(text, has_words, "iter", counts->iterations / others);
	add_number(text, has_words, "avg_cycles",
		   counts->iteration_cycles / counts->iterations);
}

void pr_branch_counts_write(const struct pr_branch_counts *counts, struct pb_string *text)
{
	uint64_t n = counts->targets + counts->sources;
	bool has_words = false;

	if (!n) {
		pb_string_put(text, " (calltrace)");
		return;
	}
	/* perf treats a node that is both as the latest sample does */
	if (counts->targets >= counts->sources)
		add_targets(counts, n, text, &has_words);
	else
		add_sources(counts, n, text, &has_words);
	if (has_words)
		pb_string_put(text, ")");
}
