/* Trees of calls as text, as perf report -g prints them. */
#define _GNU_SOURCE /* qsort_r */

#include "tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "writer.h"

#define LEVELS 64 /* of lines beside one another: what branches off further is left out */

/* A tree that is written. */
struct writing {
	const struct pr_tree *tree;
	const struct pr_tree_text *how;
	struct pb_string *text;
	struct pd_print *names;	   /* passes them on to `text` */
	unsigned margin;	   /* blanks before each line */
	bool has_more[LEVELS + 1]; /* more nodes follow at that level */
};

/* A node whose callees are written. */
struct open_node {
	uint32_t number;
	uint32_t next, n; /* of its callees */
	double whole;	  /* what their shares are of */
	double rest;	  /* weight of those that are left out, which have a line; else 0 */
};

static double weight_of(const struct writing *w, uint32_t number)
{
	return pr_to_float(w->tree, w->tree->nodes[number].total);
}

/* Returns the weight of what hangs on a node. */
static double weight_below(const struct writing *w, uint32_t number)
{
	return weight_of(w, number) - pr_to_float(w->tree, w->tree->nodes[number].own);
}

static void add_name(struct writing *w, uint32_t node)
{
	const char *name = pr_tree_name(w->tree, node).p; /* to the NUL */

	pr_print_escaped(w->names, name, strlen(name), false);
	pd_print_flush(w->names);
}

/* Ends a line of branches with the name of a node. */
static void end_line(struct writing *w, uint32_t node)
{
	add_name(w, node);
	if (w->how->add_note)
		w->how->add_note(w->how->arg, node, w->text);
	pb_string_put(w->text, "\n");
}

/* Begins a line with the lines of `n` levels. */
static void add_levels(struct writing *w, unsigned n)
{
	pb_string_fill(w->text, ' ', w->margin);
	for (unsigned i = 0; i < n; i++)
		pb_string_put(w->text, w->has_more[i] ? "|          " : "           ");
}

static void add_value(struct writing *w, double weight, uint64_t count, double whole)
{
	double share = whole > 0 ? 100 * weight / whole : 0;
	const char *color = w->how->is_colored ? pr_share_color(share) : NULL;

	if (color)
		pb_string_format(w->text, "\033[%sm", color);
	switch (w->how->value) {
	case PR_TREE_PERCENT:
		pb_string_format(w->text, "%.2f%%", share);
		break;
	case PR_TREE_WEIGHT:
		pb_string_format(w->text, "%.0f", weight);
		break;
	case PR_TREE_COUNT:
		pb_string_format(w->text, "%" PRIu64, count);
		break;
	}
	if (color)
		pb_string_put(w->text, "\033[0m");
}

/*
 * Returns the only node below a node if all of its stacks go on there; 0: there is none. Others
 * may have been left out.
 */
static uint32_t only_callee(const struct writing *w, uint32_t number)
{
	const struct pr_node *nodes = w->tree->nodes, *node = &nodes[number];
	uint32_t callee = node->n_callees == 1 ? w->tree->order[node->first] : 0;

	return callee && !node->own_count && nodes[callee].count == node->count ? callee : 0;
}

/*
 * Makes the callees of a node those that are written next. `whole` is what their shares are of.
 */
static struct open_node open_callees(const struct writing *w, uint32_t number, double whole)
{
	const struct pr_node *node = &w->tree->nodes[number];
	struct open_node open = { .number = number, .whole = whole };
	double total = w->how->form == PR_TREE_FRACTAL ? weight_below(w, number) :
							 w->how->total;
	double shown = 0;

	while (open.n < node->n_callees && (!w->how->most || open.n < w->how->most)) {
		double weight = weight_of(w, w->tree->order[node->first + open.n]);

		if (weight < w->how->least * total)
			break;
		shown += weight;
		open.n++;
	}
	if (w->how->form == PR_TREE_FRACTAL && open.n && shown < whole)
		open.rest = whole - shown;
	return open;
}

/* Writes what is in line with a node, below `level` lines. Returns the last of it. */
static uint32_t write_run(struct writing *w, uint32_t node, unsigned level, double whole)
{
	add_levels(w, level);
	pb_string_format(w->text, "%c--", w->has_more[level] ? '|' : ' ');
	add_value(w, weight_of(w, node), w->tree->nodes[node].count, whole);
	pb_string_put(w->text, "--");
	end_line(w, node);
	for (uint32_t next; (next = only_callee(w, node)); node = next) {
		add_levels(w, level + 1);
		end_line(w, next);
	}
	return node;
}

static void write_rest(struct writing *w, const struct open_node *node, unsigned level)
{
	w->has_more[level] = false;
	add_levels(w, level);
	pb_string_put(w->text, " --");
	add_value(w, node->rest, 0, node->whole);
	pb_string_put(w->text, "--[...]\n");
}

/* Writes the calls that all of the weight is in. Returns the last of them, or `top`. */
static uint32_t write_trunk(struct writing *w, uint32_t top)
{
	uint32_t node = top;
	size_t n = 0; /* written */

	if (weight_of(w, top) != w->how->whole || w->how->whole < w->how->least * w->how->total)
		return top;
	for (uint32_t next; (next = only_callee(w, node)); node = next) {
		if ((node == top && w->how->skips_top) || (w->how->most && n == w->how->most))
			continue;
		if (!n) {
			pb_string_fill(w->text, ' ', w->how->margin);
			pb_string_put(w->text, "|\n");
		}
		pb_string_fill(w->text, ' ', w->how->margin);
		pb_string_put(w->text, n ? "   " : "---");
		end_line(w, next);
		n++;
		w->margin = w->how->margin + 3;
	}
	return node;
}

static void write_branches(struct writing *w, uint32_t top)
{
	struct open_node open[LEVELS + 1];
	unsigned level = 0;

	open[0] = open_callees(w, write_trunk(w, top), w->how->total);
	for (;;) {
		struct open_node *node = &open[level];
		uint32_t callee;

		if (node->next == node->n && node->rest <= 0) {
			if (!level--)
				return;
			continue;
		}
		if (node->next == node->n) {
			write_rest(w, node, level);
			node->rest = 0;
			continue;
		}
		w->has_more[level] = true;
		add_levels(w, level);
		pb_string_put(w->text, "|          \n");
		callee = w->tree->order[w->tree->nodes[node->number].first + node->next++];
		w->has_more[level] = node->next < node->n || node->rest > 0;
		callee = write_run(w, callee, level, node->whole);
		if (level == LEVELS - 1)
			continue;
		open[++level] = open_callees(w, callee,
					     w->how->form == PR_TREE_FRACTAL ?
						     weight_below(w, callee) :
						     w->how->total);
	}
}

static int compare_ends(const void *left, const void *right, void *tree)
{
	return pr_tree_compare_ends(tree, *(const uint32_t *)left, *(const uint32_t *)right);
}

/* Writes the frames of the stack that ends in a node. */
static void write_stack(struct writing *w, uint32_t end, uint32_t *frames)
{
	const struct pr_node *nodes = w->tree->nodes;
	uint32_t n = nodes[end].depth;

	for (uint32_t node = end; node; node = nodes[node].caller)
		frames[nodes[node].depth - 1] = node;
	for (uint32_t i = 0; i < n; i++) {
		if (w->how->form == PR_TREE_FLAT)
			pb_string_fill(w->text, ' ', w->how->margin + 4);
		add_name(w, frames[i]);
		if (w->how->form == PR_TREE_FLAT || i + 1 == n)
			pb_string_put(w->text, "\n");
		else
			pb_string_put(w->text, ";");
	}
}

/* Writes all stacks, the heaviest first. */
static void write_stacks(struct writing *w)
{
	const struct pr_tree *tree = w->tree;
	uint32_t *ends = malloc(tree->n * sizeof(*ends)), n = 0, depth = 1;
	uint32_t *frames;
	double least = w->how->least * w->how->total;

	for (uint32_t i = 1; ends && i < tree->n; i++) {
		depth = tree->nodes[i].depth > depth ? tree->nodes[i].depth : depth;
		if (tree->nodes[i].own_count && pr_to_float(tree, tree->nodes[i].own) >= least)
			ends[n++] = i;
	}
	frames = malloc(depth * sizeof(*frames));
	if (!ends || !frames) {
		w->text->failed = true;
	} else {
		qsort_r(ends, n, sizeof(*ends), compare_ends, (void *)tree);
		for (uint32_t i = 0; i < n && (!w->how->most || i < w->how->most); i++) {
			const struct pr_node *node = &tree->nodes[ends[i]];

			if (w->how->form == PR_TREE_FLAT) {
				/* with what goes on from it */
				pb_string_fill(w->text, ' ', w->how->margin - 1);
				add_value(w, weight_of(w, ends[i]), node->count, w->how->total);
			} else {
				add_value(w, pr_to_float(tree, node->own), node->own_count,
					  w->how->total);
			}
			pb_string_put(w->text, w->how->form == PR_TREE_FLAT ? "\n" : " ");
			write_stack(w, ends[i], frames);
			if (w->how->form == PR_TREE_FLAT)
				pb_string_put(w->text, "\n");
		}
	}
	free(ends);
	free(frames);
}

void pr_tree_write(const struct pr_tree *tree, uint32_t top, const struct pr_tree_text *how,
		   struct pb_string *text)
{
	struct pd_print names;
	struct writing w = {
		.tree = tree, .how = how, .text = text, .names = &names, .margin = how->margin
	};

	if (how->total <= 0)
		return;
	pd_print_init(&names, pd_print_to_string, text);
	if (how->form == PR_TREE_GRAPH || how->form == PR_TREE_FRACTAL)
		write_branches(&w, top);
	else
		write_stacks(&w);
}
