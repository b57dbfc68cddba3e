/*
 * Samples as instants of Chrome's trace events, with call chains as stack frames; names of
 * threads, and what is drawn of other samples, are written in Lua.
 * "Trace Event Format": https://chromium.googlesource.com/catapult, tracing/docs.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "chrome.h"
#include "perfdata/format/print_scalar.h"
#include "profile.h"
#include "stack_order.h"

struct chrome {
	const struct pe_profile *profile;
	struct pd_print *out;
	struct pe_stack_order *stacks;
};

static void print_text(const struct chrome *w, uint32_t number)
{
	struct pd_text text = pe_text(w->profile, number);

	pd_print_json_string(w->out, text.p, text.n);
}

void pe_chrome_time(struct pd_print *out, uint64_t ns)
{
	char digits[] = { '.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10),
			  (char)('0' + ns % 10) };

	pd_print_uint(out, ns / 1000);
	pd_print_bytes(out, digits, sizeof(digits));
}

/* Returns true if a name stands for what is not known: it is a binary's in brackets. */
static bool is_unnamed(struct pd_text name)
{
	return name.n && name.p[0] == '[';
}

/*
 * Prints the callee of an entry, and what it weighs. Where events were too many, a function has
 * its binary in the frame only.
 */
static void print_args(const struct chrome *w, const struct pe_entry *entry)
{
	const struct pe_profile *p = w->profile;
	size_t n;
	const struct pe_frame *frame = &p->frames[*pe_entry_frames(p, entry, &n)];
	const struct pe_line *line = pe_line_at(p, p->frame_lines[frame->lines_at]);
	uint32_t function = pe_function_at(p, line->function)->name;
	uint32_t binary = pe_binary_at(p, frame->binary)->name;
	bool has_binary = (uint32_t)(frame - p->frames) != p->unknown;

	pd_print_const(w->out, "\"args\":{");
	if (!is_unnamed(pe_text(p, function))) {
		pd_print_const(w->out, "\"symbol\":");
		print_text(w, function);
		pd_print_char(w->out, ',');
		has_binary = has_binary && !p->is_coarse;
	}
	if (has_binary) {
		pd_print_const(w->out, "\"dso\":");
		print_text(w, binary);
		pd_print_char(w->out, ',');
	}
	if (entry->count != 1) {
		pd_print_const(w->out, "\"samples\":");
		pd_print_uint(w->out, entry->count);
		pd_print_char(w->out, ',');
	}
	pd_print_const(w->out, "\"period\":");
	pd_print_uint(w->out, entry->weight);
	pd_print_char(w->out, '}');
}

/* Prints an entry after other events. Returns false without memory. */
static bool print_instant(const struct chrome *w, const struct pe_entry *entry)
{
	const struct pe_profile *p = w->profile;
	const struct pe_thread *thread = pe_thread_at(p, entry->thread);
	int32_t pid = thread->pid == PE_NO_ID ? 0 : thread->pid;
	int32_t tid = thread->tid == PE_NO_ID ? 0 : thread->tid;
	uint32_t stack = pe_stack_order_find(w->stacks, entry);

	if (!tid) { /* what happens while a processor idles is its own */
		pid = 0;
		tid = entry->cpu == PE_NONE ? 0 : (int32_t)entry->cpu;
	}
	pd_print_const(w->out, ",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":");
	pd_print_int(w->out, pid);
	pd_print_const(w->out, ",\"tid\":");
	pd_print_int(w->out, tid);
	pd_print_const(w->out, ",\"ts\":");
	/* of a time that was made coarser the first one may be before the start */
	pe_chrome_time(w->out,
		       entry->time > p->asked->start ? entry->time - p->asked->start : 0);
	pd_print_const(w->out, ",\"name\":");
	print_text(w, p->events[entry->event].name);
	pd_print_char(w->out, ',');
	print_args(w, entry);
	pd_print_const(w->out, ",\"sf\":\"s");
	pd_print_uint(w->out, stack);
	pd_print_const(w->out, "\"}");
	return stack != PE_NONE;
}

static void print_frames(const struct chrome *w)
{
	const struct pe_profile *p = w->profile;
	size_t n;
	const struct pq_call_node *calls = pe_stack_order_calls(w->stacks, &n);

	for (size_t i = 0; i < n; i++) {
		const struct pe_line *line = pe_line_at(p, calls[i].frame);
		const struct pe_function *function = pe_function_at(p, line->function);

		pd_print_name(w->out, i ? ",\n\"s" : "\n\"s");
		pd_print_uint(w->out, i);
		pd_print_const(w->out, "\":{\"name\":");
		print_text(w, function->name);
		pd_print_const(w->out, ",\"category\":");
		print_text(w, pe_binary_at(p, function->binary)->name);
		if (calls[i].caller != PE_NONE) {
			pd_print_const(w->out, ",\"parent\":\"s");
			pd_print_uint(w->out, calls[i].caller);
			pd_print_char(w->out, '"');
		}
		pd_print_char(w->out, '}');
	}
}

bool pe_chrome_unify(struct pe_profile *p)
{
	struct pe_stack_order *stacks = pe_stack_order_create(p);
	/* [stacks]: the first call chain of those functions, plus 1; 0: none yet */
	uint32_t *chains = NULL;
	size_t n_chains = 0, n;
	bool ok = stacks;

	for (size_t i = 0; ok && i < p->n_entries; i++)
		ok = pe_stack_order_find(stacks, &p->entries[i]) != PE_NONE;
	if (ok) {
		pe_stack_order_calls(stacks, &n);
		ok = pb_extend(chains, n_chains, n + 1);
	}
	for (size_t i = 0; ok && i < p->n_entries; i++) {
		struct pe_entry *entry = &p->entries[i];
		uint32_t number = pe_stack_order_find(stacks, entry);
		int32_t tid;

		tid = pe_thread_at(p, entry->thread)->tid;
		if (tid && tid != PE_NO_ID)
			entry->cpu = PE_NONE;
		if (entry->stack == PE_NONE)
			continue;
		if (!chains[number])
			chains[number] = entry->stack + 1;
		entry->stack = chains[number] - 1;
	}
	free(chains);
	pe_stack_order_destroy(stacks);
	return ok;
}

bool pe_write_chrome(const struct pe_profile *p, const char *title, struct pd_print *out)
{
	struct chrome w = { .profile = p, .out = out, .stacks = pe_stack_order_create(p) };
	bool ok = w.stacks;

	(void)title; /* the format has no room for it */
	for (size_t i = 0; ok && i < p->n_entries; i++)
		ok = print_instant(&w, &p->entries[i]);
	if (ok) {
		pd_print_const(out, PE_CHROME_FRAMES);
		print_frames(&w);
	}
	pe_stack_order_destroy(w.stacks);
	return ok;
}
