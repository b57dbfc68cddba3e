/* Stacks of a profile as a tree of calls. */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "profile.h"

struct maker {
	const struct pe_profile *profile;
	const struct pe_tree_asked *asked;
	struct pr_step *steps; /* [n]: those of a stack */
	size_t n, room;
};

static uint8_t letter_of(const struct pe_frame *frame)
{
	switch (frame->kind) {
	case PD_CPUMODE_KERNEL:
	case PD_CPUMODE_GUEST_KERNEL:
	case PD_CPUMODE_HYPERVISOR:
		return 'k';
	case PQ_FRAME_JIT:
		return 'j';
	default:
		return 'u';
	}
}

/*
 * Adds a step. Outer ones with empty names leave nothing, as in the field `stack`. Returns
 * false without memory.
 */
static bool add_step(struct maker *m, uint32_t name, uint32_t place, uint8_t kind)
{
	if (!m->n && !pe_text(m->profile, name).n)
		return true;
	if (!pb_reserve(m->steps, m->n, m->room))
		return false;
	m->steps[m->n++] = (struct pr_step){ name, place, kind };
	return true;
}

static const struct pe_function *function_of(const struct pe_profile *p, uint32_t line)
{
	return pe_function_at(p, pe_line_at(p, line)->function);
}

/* Adds the step of a line of a function. Returns false without memory. */
static bool add_line_step(struct maker *m, uint32_t line, uint8_t kind)
{
	const struct pe_function *function = function_of(m->profile, line);
	bool is_known = pe_line_at(m->profile, line)->line && function->file != PE_NONE;

	return add_step(m, function->name, m->asked->has_lines && is_known ? line : PR_NO_PLACE,
			kind);
}

static bool add_frame_steps(struct maker *m, uint32_t frame)
{
	uint32_t n;
	const uint32_t *lines = pe_frame_lines(m->profile, frame, &n);
	bool ok = add_line_step(m, lines[--n], letter_of(&m->profile->frames[frame]));

	while (m->asked->has_inlined && ok && n--)
		ok = add_line_step(m, lines[n], 'i');
	return ok;
}

/* Sets the steps to those of an entry, at least one. Returns false without memory. */
static bool find_steps(struct maker *m, const struct pe_entry *entry)
{
	const struct pe_profile *p = m->profile;
	uint32_t comm = pe_thread_at(p, entry->thread)->comm;
	uint32_t unknown = function_of(p, pe_frame_line(p, p->unknown))->name;
	const uint32_t *frames;
	bool ok = true;
	size_t n;

	m->n = 0;
	if (m->asked->has_head)
		ok = add_step(m, comm == PE_NONE ? unknown : comm, PR_NO_PLACE, 'n');
	if (entry->stack != PE_NONE) {
		frames = pe_entry_frames(p, entry, &n);
		while (ok && n--)
			ok = add_frame_steps(m, frames[n]);
	}
	return ok && (m->n || add_step(m, unknown, PR_NO_PLACE, 'u'));
}

/* Returns true if a name stands in brackets: it is a binary's, or "[unknown]". */
static bool is_bracketed(struct pd_text name)
{
	return name.n >= 2 && name.p[0] == '[' && name.p[name.n - 1] == ']';
}

/* Compares the source lines of two places. */
static int compare_lines(const void *arg, uint32_t a, uint32_t b)
{
	const struct pe_profile *p = arg;
	int order = strcmp(pe_text(p, function_of(p, a)->file).p,
			   pe_text(p, function_of(p, b)->file).p);
	uint32_t x = pe_line_at(p, a)->line, y = pe_line_at(p, b)->line;

	return order ? order : (x > y) - (x < y);
}

struct pr_tree *pe_tree_create(const struct pe_profile *p, const struct pe_tree_asked *asked,
			       uint64_t *unresolved)
{
	const struct pr_shape_of_tree shape = {
		.from_callee = asked->is_reversed,
		.max_depth = asked->max_depth,
		.compare_places = compare_lines,
		.arg = p,
	};
	struct maker m = { .profile = p, .asked = asked };
	struct pr_tree *tree = pr_tree_create(&shape, &p->texts);
	bool ok = tree;

	*unresolved = 0;
	for (size_t i = 0; ok && i < p->n_entries; i++) {
		const struct pe_entry *entry = &p->entries[i];

		if (asked->event != PE_NONE && entry->event != asked->event)
			continue;
		ok = find_steps(&m, entry) &&
		     pr_tree_add(tree, m.steps, m.n, entry->count,
				 (union pr_amount){ (int64_t)entry->weight });
		if (ok && is_bracketed(pe_text(p, m.steps[m.n - 1].frame)))
			*unresolved += entry->weight;
	}
	free(m.steps);
	if (!ok) {
		pr_tree_destroy(tree);
		return NULL;
	}
	return tree;
}

#define SEVERAL (PE_NONE - 1) /* binaries */

uint32_t *pe_profile_binaries(const struct pe_profile *p)
{
	uint32_t *of_name = malloc((p->texts.n + 1) * sizeof(*of_name));
	uint32_t nothing = p->frames[p->unknown].binary;

	if (!of_name)
		return NULL;
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
	for (size_t i = 0; i < p->texts.n; i++)
		if (of_name[i] == SEVERAL)
			of_name[i] = PE_NONE;
	return of_name;
}

void pe_profile_line(const struct pe_profile *p, uint32_t place, struct pd_text *file,
		     uint32_t *line)
{
	*line = pe_line_at(p, place)->line;
	*file = pe_text(p, function_of(p, place)->file);
}

struct pd_text pe_profile_text(const struct pe_profile *p, uint32_t number)
{
	return pe_text(p, number);
}
