/* Stacks of a profile as a tree of frames, which are told apart by name and caller. */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "stack_steps.h"

struct maker {
	const struct pe_profile *profile;
	const struct pe_tree_asked *asked;
	struct pe_tree *tree;
	size_t room;
	struct pb_map by_name; /* numbers of nodes, by caller and name */
	struct pb_secret secret;
	struct pe_set lines; /* of node_line */
	uint64_t *sums;	     /* [n_sums] what each of them weighs */
	size_t n_sums;
	struct pe_steps steps, last; /* of this stack and of the one before */
};

/* A line of a node, which may have many. */
struct node_line {
	uint32_t node, line;
};

struct wanted {
	const struct pe_node *nodes;
	uint32_t caller, name;
};

static bool is_node(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct pe_node *node = &wanted->nodes[item];

	return node->caller == wanted->caller && node->name == wanted->name;
}

/* Returns the number of a node, added if it is new; PE_NONE: no memory. */
static uint32_t find_node(struct maker *m, uint32_t caller, uint32_t name)
{
	struct pe_tree *tree = m->tree;
	struct wanted wanted = { tree->nodes, caller, name };
	uint32_t hash = pb_hash_pair(&m->secret, caller, name), number;

	if (!pb_reserve(tree->nodes, tree->n, m->room))
		return PE_NONE;
	wanted.nodes = tree->nodes;
	number = pb_map_intern(&m->by_name, hash, is_node, &wanted, (uint32_t)tree->n);
	if (number == tree->n)
		tree->nodes[tree->n++] = (struct pe_node){
			.caller = caller,
			.name = name,
			.depth = caller == PE_NONE ? 0 : tree->nodes[caller].depth + 1,
			.kind = 'u',
			.binary = PE_NONE,
			.line = PE_NONE,
		};
	return number;
}

/* Finds the sum of a step's line. Returns false without memory. */
static bool find_sum(struct maker *m, struct pe_step *step, const struct pe_step *alike)
{
	const struct pe_profile *p = m->profile;
	const struct node_line line = { step->node, step->line };

	if (step->line == PE_NONE || !pe_line_at(p, step->line)->line ||
	    pe_function_at(p, pe_line_at(p, step->line)->function)->file == PE_NONE)
		return true;
	step->sum = alike && alike->line == step->line ? alike->sum :
							 pe_set_add(&m->lines, &line);
	return step->sum != PE_NONE &&
	       (step->sum < m->n_sums ||
		pb_extend(m->sums, m->n_sums, 2 * (size_t)step->sum + 64));
}

/* Finds the nodes of this stack's frames. Returns false without memory. */
static bool place_steps(struct maker *m)
{
	const struct pe_step *alike = m->last.list;
	uint32_t node = PE_NONE;

	for (size_t i = 0; i < m->steps.n; i++) {
		struct pe_step *step = &m->steps.list[i];

		if (alike && (i == m->last.n || alike[i].name != step->name))
			alike = NULL;
		node = alike ? alike[i].node : find_node(m, node, step->name);
		if (node == PE_NONE)
			return false;
		step->node = node;
		if (step->kind < m->tree->nodes[node].kind)
			m->tree->nodes[node].kind = step->kind;
		if (m->asked->has_lines && !find_sum(m, step, alike ? &alike[i] : NULL))
			return false;
	}
	return true;
}

/* Returns true if a name stands in brackets: it is a binary's, or "[unknown]". */
static bool is_bracketed(struct pd_text name)
{
	return name.n >= 2 && name.p[0] == '[' && name.p[name.n - 1] == ']';
}

static bool add_entry_stack(struct maker *m, const struct pe_entry *entry)
{
	struct pe_tree *tree = m->tree;
	struct pe_steps *steps = &m->steps;
	struct pe_node *end;

	pe_steps_swap(&m->last, steps);
	if (!pe_steps_find(steps, m->profile, m->asked, entry) || !place_steps(m))
		return false;
	end = &tree->nodes[steps->list[steps->n - 1].node];
	end->own_samples += entry->count;
	end->own_weight += entry->weight;
	tree->samples += entry->count;
	tree->weight += entry->weight;
	for (size_t i = 0; i < steps->n; i++)
		if (steps->list[i].sum != PE_NONE)
			m->sums[steps->list[i].sum] += entry->weight;
	if (is_bracketed(pe_text(m->profile,
				 steps->list[m->asked->is_reversed ? 0 : steps->n - 1].name)))
		tree->unresolved += entry->weight;
	return true;
}

/*
 * Returns true if a line of a node weighs more than another one; of equal ones the first by
 * file and number does.
 */
static bool is_heavier(const struct maker *m, uint32_t number, uint32_t other)
{
	const struct pe_profile *p = m->profile;
	const struct node_line *lines = (const void *)m->lines.items;
	const struct pe_line *a = pe_line_at(p, lines[number].line);
	const struct pe_line *b = pe_line_at(p, lines[other].line);
	int order;

	if (m->sums[number] != m->sums[other])
		return m->sums[number] > m->sums[other];
	order = strcmp(pe_text(p, pe_function_at(p, a->function)->file).p,
		       pe_text(p, pe_function_at(p, b->function)->file).p);
	return order ? order < 0 : a->line < b->line;
}

/* Sets the line of each node to the one that weighs most. */
static void choose_lines(struct maker *m)
{
	const struct node_line *lines = (const void *)m->lines.items;

	for (uint32_t i = 0; i < m->lines.n; i++) {
		struct pe_node *node = &m->tree->nodes[lines[i].node];

		if (node->line == PE_NONE || is_heavier(m, i, node->line))
			node->line = i; /* for now: number of its sum */
	}
	for (size_t i = 0; i < m->tree->n; i++)
		if (m->tree->nodes[i].line != PE_NONE)
			m->tree->nodes[i].line = lines[m->tree->nodes[i].line].line;
}

/* Adds up what frames called. */
static void add_callees(struct pe_tree *tree)
{
	for (size_t i = tree->n; i--;) {
		struct pe_node *node = &tree->nodes[i], *caller;

		node->samples += node->own_samples;
		node->weight += node->own_weight;
		if (node->caller == PE_NONE)
			continue;
		caller = &tree->nodes[node->caller];
		caller->samples += node->samples;
		caller->weight += node->weight;
	}
}

struct pe_tree *pe_tree_create(const struct pe_profile *p, const struct pe_tree_asked *asked)
{
	struct maker m = { .profile = p, .asked = asked };
	bool ok;

	pe_set_init(&m.lines, sizeof(struct node_line));
	pb_secret_make(&m.secret);
	m.tree = calloc(1, sizeof(*m.tree));
	ok = m.tree;
	if (ok)
		m.tree->profile = p;
	for (size_t i = 0; ok && i < p->n_entries; i++)
		if (asked->event == PE_NONE || p->entries[i].event == asked->event)
			ok = add_entry_stack(&m, &p->entries[i]);
	if (ok) {
		add_callees(m.tree);
		choose_lines(&m);
	} else {
		pe_tree_destroy(m.tree);
		m.tree = NULL;
	}
	pb_map_deinit(&m.by_name);
	pe_set_deinit(&m.lines);
	free(m.sums);
	free(m.steps.list);
	free(m.last.list);
	return m.tree;
}

void pe_tree_destroy(struct pe_tree *tree)
{
	if (!tree)
		return;
	free(tree->nodes);
	free(tree);
}

bool pe_tree_cut(struct pe_tree *tree, double least, uint32_t max_depth)
{
	uint32_t *moved = malloc((tree->n + 1) * sizeof(*moved)), n = 0;

	if (!moved)
		return false;
	for (size_t i = 0; i < tree->n; i++) {
		struct pe_node node = tree->nodes[i];
		bool is_below = node.caller != PE_NONE && moved[node.caller] == PE_NONE;
		bool is_small = !node.weight || (double)node.weight < least;

		moved[i] = PE_NONE;
		tree->n_deep += node.depth >= max_depth && node.own_samples;
		if (is_below || node.depth >= max_depth)
			continue;
		if (is_small) {
			tree->n_small++;
			tree->small_weight += node.weight;
			continue;
		}
		if (node.caller != PE_NONE)
			node.caller = moved[node.caller];
		if (node.depth == max_depth - 1)
			node.own_weight = node.weight;
		tree->nodes[n] = node;
		moved[i] = n++;
	}
	tree->n = n;
	free(moved);
	return true;
}

#define SEVERAL (PE_NONE - 1) /* binaries */

bool pe_tree_find_binaries(struct pe_tree *tree)
{
	const struct pe_profile *p = tree->profile;
	uint32_t *of_name = malloc((p->texts.n + 1) * sizeof(*of_name));
	uint32_t nothing = p->frames[p->unknown].binary;

	if (!of_name)
		return false;
	for (size_t i = 0; i < p->texts.n; i++)
		of_name[i] = PE_NONE;
	for (uint32_t i = 0; i < p->functions.n; i++) {
		const struct pe_function *function = pe_function_at(p, i);
		uint32_t binary = pe_binary_at(p, function->binary)->name;
		uint32_t *known = &of_name[function->name];

		if (*known == PE_NONE && function->binary != nothing)
			*known = binary;
		else if (*known != binary)
			*known = SEVERAL;
	}
	for (size_t i = 0; i < tree->n; i++)
		if (of_name[tree->nodes[i].name] != SEVERAL)
			tree->nodes[i].binary = of_name[tree->nodes[i].name];
	free(of_name);
	return true;
}

bool pe_profile_line(const struct pe_profile *p, uint32_t number, struct pd_text *file,
		     uint32_t *line)
{
	const struct pe_function *function;

	if (number == PE_NONE)
		return false;
	function = pe_function_at(p, pe_line_at(p, number)->function);
	*line = pe_line_at(p, number)->line;
	*file = pe_text(p, function->file);
	return true;
}

struct pd_text pe_profile_text(const struct pe_profile *p, uint32_t number)
{
	return pe_text(p, number);
}
