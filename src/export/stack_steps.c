#include "stack_steps.h"

#include "base/vector.h"

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
static bool add_step(struct pe_steps *steps, const struct pe_profile *p, uint32_t name,
		     uint32_t line, uint8_t kind)
{
	if (!steps->n && !pe_text(p, name).n)
		return true;
	if (!pb_reserve(steps->list, steps->n, steps->room))
		return false;
	steps->list[steps->n++] = (struct pe_step){ name, line, kind, PE_NONE, PE_NONE };
	return true;
}

static uint32_t line_name(const struct pe_profile *p, uint32_t line)
{
	return pe_function_at(p, pe_line_at(p, line)->function)->name;
}

static bool add_frame_steps(struct pe_steps *steps, const struct pe_profile *p, uint32_t frame,
			    bool has_inlined)
{
	uint32_t n;
	const uint32_t *lines = pe_frame_lines(p, frame, &n);
	bool ok;

	n--;
	ok = add_step(steps, p, line_name(p, lines[n]), lines[n], letter_of(&p->frames[frame]));
	while (has_inlined && ok && n--)
		ok = add_step(steps, p, line_name(p, lines[n]), lines[n], 'i');
	return ok;
}

static void reverse_steps(struct pe_steps *steps)
{
	for (size_t i = 0; i < steps->n / 2; i++) {
		struct pe_step step = steps->list[i];

		steps->list[i] = steps->list[steps->n - 1 - i];
		steps->list[steps->n - 1 - i] = step;
	}
}

bool pe_steps_find(struct pe_steps *steps, const struct pe_profile *p,
		   const struct pe_tree_asked *asked, const struct pe_entry *entry)
{
	uint32_t comm = pe_thread_at(p, entry->thread)->comm;
	uint32_t unknown = line_name(p, pe_frame_line(p, p->unknown));
	const uint32_t *frames;
	bool ok = true;
	size_t n;

	steps->n = 0;
	if (asked->has_head)
		ok = add_step(steps, p, comm == PE_NONE ? unknown : comm, PE_NONE, 'n');
	if (entry->stack != PE_NONE) {
		frames = pe_entry_frames(p, entry, &n);
		while (ok && n--)
			ok = add_frame_steps(steps, p, frames[n], asked->has_inlined);
	}
	if (ok && !steps->n)
		ok = add_step(steps, p, unknown, PE_NONE, 'u');
	if (ok && asked->is_reversed)
		reverse_steps(steps);
	return ok;
}
