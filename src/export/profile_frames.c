/*
 * The frames of a profile: their binaries, functions and source lines; its call chains as a
 * tree of lines, callers first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/string_builder.h"
#include "base/vector.h"
#include "symbols/lines/lines.h"
#include "profile.h"

#define UNKNOWN ((struct pd_text){ PM_UNKNOWN, sizeof(PM_UNKNOWN) - 1 })

static struct pd_text to_text(const char *p)
{
	return p ? (struct pd_text){ p, strlen(p) } : UNKNOWN;
}

static uint32_t add_binary(struct pe_profile *p, const struct ps_dso *dso)
{
	struct pe_binary binary = { pe_text_add(p, to_text(dso ? dso->name : NULL)), PE_NONE };
	char id[PS_BUILD_ID_TEXT];

	if (binary.name == PE_NONE)
		return PE_NONE;
	if (dso && dso->id.build_id.size) {
		binary.build_id = pe_text_add(p,
					      to_text(ps_build_id_text(&dso->id.build_id, id)));
		if (binary.build_id == PE_NONE)
			return PE_NONE;
	}
	return pb_set_add(&p->binaries, &binary);
}

#define BINARY_MEMOS 64 /* a power of two */

/* Binaries that were found last, by their dso. */
struct binary_memo {
	const struct ps_dso *dso;
	uint32_t number; /* + 1; 0: free */
};

/* Does what add_binary() does, but writes a build-id mostly once. */
static uint32_t find_binary(struct pe_profile *p, struct binary_memo *memos,
			    const struct ps_dso *dso)
{
	uint64_t hash = pb_scatter((uintptr_t)dso) >> 40;
	struct binary_memo *memo = &memos[hash & (BINARY_MEMOS - 1)];

	if (!memo->number || memo->dso != dso)
		*memo = (struct binary_memo){ dso, add_binary(p, dso) + 1 };
	return memo->number - 1;
}

/* Returns the number of the name of a frame without a function: that of its binary. */
static uint32_t name_binary(struct pe_profile *p, const struct ps_dso *dso)
{
	const char *binary = dso ? dso->name : NULL;
	struct pd_text none = { 0 };
	char *text = malloc(pm_frame_name(none, binary, NULL) + 1);
	uint32_t number = PE_NONE;

	if (text)
		number = pe_text_add(p, (struct pd_text){ text,
							  pm_frame_name(none, binary, text) });
	free(text);
	return number;
}

/*
 * Adds a line to those of the frame that is being filled: of function `name`, a text's number.
 * `file` is NULL if it is not known. Returns false without memory.
 */
static bool add_line(struct pe_profile *p, struct pe_frame *frame, uint32_t name,
		     const char *file, uint32_t line_number)
{
	struct pe_function function = { name, frame->binary, PE_NONE };
	struct pe_line line = { .line = line_number };
	uint32_t number;

	if (file) {
		function.file = pe_text_add(p, to_text(file));
		if (function.file == PE_NONE)
			return false;
	}
	line.function = name == PE_NONE ? PE_NONE : pb_set_add(&p->functions, &function);
	if (line.function == PE_NONE)
		return false;
	number = pb_set_add(&p->lines, &line);
	if (number == PE_NONE ||
	    !pb_reserve(p->frame_lines, p->n_frame_lines, p->frame_lines_room))
		return false;
	p->frame_lines[p->n_frame_lines++] = number;
	frame->n_lines++;
	return true;
}

/* The function and lines of a frame of the chains. */
struct pe_resolved {
	const struct ps_symbol *symbol; /* NULL: it is not known */
	const struct ps_line *lines;	/* [n] */
	size_t n;
};

/* A frame of a binary. */
struct binary_frame {
	struct ps_dso *dso;
	uint64_t address;
	uint32_t number;
};

static int compare_binary_frames(const void *a, const void *b)
{
	const struct binary_frame *x = a, *y = b;

	if (x->dso != y->dso)
		return (uintptr_t)x->dso < (uintptr_t)y->dso ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/*
 * Sets the lines of `n` frames, binary after binary: only one debug file is open. Returns false
 * without memory.
 */
static bool resolve_lines(struct pe_profile *p, uint32_t n)
{
	struct binary_frame *list = malloc(((size_t)n + 1) * sizeof(*list));
	size_t n_list = 0;

	if (!list)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct pq_frame frame = pq_chains_frame(p->chains, i);

		if (frame.dso)
			list[n_list++] = (struct binary_frame){ frame.dso, frame.address, i };
	}
	qsort(list, n_list, sizeof(*list), compare_binary_frames);
	for (size_t i = 0; i < n_list; i++) {
		struct pe_resolved *resolved = &p->resolved[list[i].number];

		resolved->n = ps_dso_lines(list[i].dso, list[i].address, &resolved->lines);
		if (i + 1 == n_list || list[i + 1].dso != list[i].dso)
			ps_dso_close_lines(list[i].dso);
	}
	free(list);
	return true;
}

bool pe_frames_resolve(struct pe_profile *p)
{
	uint32_t n = p->chains ? pq_chains_n_frames(p->chains) : 0;

	p->resolved = pb_zeros((size_t)n + 1, sizeof(*p->resolved));
	if (!p->resolved)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct pq_frame chain_frame = pq_chains_frame(p->chains, i);
		struct pe_resolved *resolved = &p->resolved[i];

		resolved->symbol = chain_frame.symbol;
		/* frames by name or start have their functions, as has code made at run time */
		if (chain_frame.dso && !chain_frame.symbol && !chain_frame.dso->jitdump &&
		    chain_frame.kind != PQ_CHAIN_STARTS)
			resolved->symbol = pm_symbol_at(p->resolver, chain_frame.dso,
							chain_frame.address, PM_NO_TIME);
	}
	return !p->asked->lines || resolve_lines(p, n);
}

/* Fills the next frame. Returns false without memory. */
static bool add_frame(struct pe_profile *p, struct binary_memo *memos, struct ps_dso *dso,
		      uint64_t address, uint8_t kind, const struct pe_resolved *resolved)
{
	struct pe_frame *frame = &p->frames[p->n_frames++];
	const struct ps_symbol *symbol = resolved->symbol;
	const struct ps_line *lines = resolved->lines;
	size_t n = resolved->n;
	uint32_t name;

	*frame = (struct pe_frame){
		.address = address,
		.binary = find_binary(p, memos, dso),
		.kind = kind,
		.lines_at = (uint32_t)p->n_frame_lines,
	};
	if (frame->binary == PE_NONE)
		return false;
	for (size_t i = 0; i + 1 < n; i++)
		if (!add_line(p, frame, pe_text_add(p, to_text(lines[i].function)),
			      lines[i].file, lines[i].line))
			return false;
	name = symbol ? pe_text_add(p, (struct pd_text){ symbol->name, symbol->length }) :
			name_binary(p, dso);
	return add_line(p, frame, name, n ? lines[n - 1].file : NULL,
			n ? lines[n - 1].line : 0);
}

bool pe_frames_fill(struct pe_profile *p)
{
	uint32_t n = p->chains ? pq_chains_n_frames(p->chains) : 0;
	struct binary_memo memos[BINARY_MEMOS] = { 0 };
	bool ok;

	p->frames = pb_zeros((size_t)n + 1, sizeof(*p->frames));
	ok = p->frames != NULL;
	for (uint32_t i = 0; ok && i < n; i++) {
		const struct pq_frame chain_frame = pq_chains_frame(p->chains, i);

		ok = add_frame(p, memos, chain_frame.dso, chain_frame.address,
			       (uint8_t)pq_frame_kind(&chain_frame), &p->resolved[i]);
	}
	p->unknown = n;
	ok = ok && add_frame(p, memos, NULL, 0, PD_CPUMODE_UNKNOWN, &p->resolved[n]);
	free(p->resolved);
	p->resolved = NULL;
	return ok;
}

const uint32_t *pe_entry_frames(const struct pe_profile *p, const struct pe_entry *entry,
				size_t *n)
{
	const uint32_t *frames;

	if (entry->stack != PE_NONE) {
		frames = pq_chains_frames(p->chains, entry->stack, n);
		if (*n)
			return frames;
	}
	*n = 1;
	return &p->unknown;
}

bool pe_thread_name(const struct pe_profile *p, uint32_t number, struct pb_string *out)
{
	const struct pe_thread *thread = pe_thread_at(p, number);
	struct pd_text comm = thread->comm == PE_NONE ? UNKNOWN : pe_text(p, thread->comm);

	pb_string_clear(out);
	pb_string_add(out, comm.p, comm.n);
	if (thread->pid != PE_NO_ID && thread->tid != PE_NO_ID && thread->tid != thread->pid)
		pb_string_format(out, " (pid %d, tid %d)", thread->pid, thread->tid);
	else if (thread->pid != PE_NO_ID)
		pb_string_format(out, " (pid %d)", thread->pid);
	return pb_string_end(out);
}

/* The number of chains: what entries without a chain have in their place. */
static size_t count_chains(const struct pe_profile *p)
{
	return p->chains ? pq_chains_size(p->chains) : 0;
}

bool pe_stacks_find(struct pe_profile *p)
{
	/* the number after those of its frames is that of the one that is not known */
	uint32_t unknown = p->chains ? pq_chains_n_frames(p->chains) : 0;

	return pq_call_nodes_init(&p->calls, p->chains, unknown);
}

/* Adds the call that entries without a chain have, if there are any. */
static bool add_unknown(struct pe_profile *p)
{
	uint32_t *end = &p->calls.ends[count_chains(p)];

	*end = PE_NONE;
	for (size_t i = 0; i < p->n_entries; i++)
		if (p->entries[i].stack == PE_NONE) {
			*end = pb_set_add(&p->calls.nodes,
					  &(struct pq_call_node){ PQ_NO_CALLER, p->unknown });
			return *end != PE_NONE;
		}
	return true;
}

/* Makes a stack of each line of each call, and sets last[call] to the last of them. */
static void make_stacks(struct pe_profile *p, uint32_t *last)
{
	for (uint32_t i = 0; i < p->calls.nodes.n; i++) {
		const struct pq_call_node *call = pq_call_node_at(&p->calls, i);
		uint32_t stack = call->caller == PQ_NO_CALLER ? PE_NONE : last[call->caller];

		for (uint32_t row = p->rows_at[call->frame]; row < p->rows_at[call->frame + 1];
		     row++) {
			p->stacks[p->n_stacks] = (struct pe_stack){ stack, row };
			stack = (uint32_t)p->n_stacks++;
		}
		last[i] = stack;
	}
}

bool pe_stacks_fill(struct pe_profile *p)
{
	size_t n = 0;
	uint32_t *last;
	bool ok = add_unknown(p);

	p->rows_at = pb_zeros(p->n_frames + 1, sizeof(*p->rows_at));
	last = pb_array(p->calls.nodes.n + 1, sizeof(*last));
	ok = ok && p->rows_at && last;
	for (uint32_t i = 0; ok && i < p->n_frames; i++)
		p->rows_at[i + 1] = p->rows_at[i] + p->frames[i].n_lines;
	for (uint32_t i = 0; ok && i < p->calls.nodes.n; i++)
		n += p->frames[pq_call_node_at(&p->calls, i)->frame].n_lines;
	p->stacks = ok && n < PE_NONE ? pb_array(n + 1, sizeof(*p->stacks)) : NULL;
	if (p->stacks) {
		make_stacks(p, last);
		for (size_t i = 0; i <= count_chains(p); i++)
			if (p->calls.ends[i] != PE_NONE)
				p->calls.ends[i] = last[p->calls.ends[i]];
		p->chain_stacks = p->calls.ends;
		p->calls.ends = NULL;
	}
	free(last);
	pq_call_nodes_deinit(&p->calls);
	return p->stacks;
}

void pe_stacks_free(struct pe_profile *p)
{
	pq_call_nodes_deinit(&p->calls);
	free(p->rows_at);
	free(p->chain_stacks);
	free(p->stacks);
}
