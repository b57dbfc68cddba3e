/* Chains as a result: their frames, texts and tree, and merging those of several workers. */
#define _GNU_SOURCE /* qsort_r */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "base/vector.h"
#include "chains_internal.h"

#define MERGED_AT_ONCE 4096 /* chains between two reports of progress */

uint32_t pq_chains_size(const struct pq_chains *c)
{
	return (uint32_t)c->n;
}

enum pq_chain_kind pq_chains_kind(const struct pq_chains *c, uint32_t chain)
{
	return (enum pq_chain_kind)c->list[chain].kind;
}

const uint32_t *pq_chains_frames(const struct pq_chains *c, uint32_t chain, size_t *n)
{
	*n = c->list[chain].n - pq_is_inlined_kind(c->list[chain].kind);
	return c->numbers + c->list[chain].at;
}

uint32_t pq_chains_leaf(const struct pq_chains *c, uint32_t chain)
{
	const struct pq_chain *found = &c->list[chain];

	return c->numbers[found->at + (pq_is_inlined_kind(found->kind) ? found->n - 1 : 0)];
}

struct pq_frame pq_chains_frame(const struct pq_chains *c, uint32_t number)
{
	const struct pq_kept_frame *frame = &c->frames[number];
	const struct pq_code *code = pq_code_at(c, number);

	return (struct pq_frame){
		.dso = code->dso,
		.symbol = code->symbol,
		.address = frame->address,
		.text = frame->text,
		.mode = (uint8_t)code->mode,
		.kind = (uint8_t)code->kind,
	};
}

const struct pq_exact *pq_chains_exact(const struct pq_chains *c, uint32_t frame)
{
	return pq_code_at(c, frame)->kind == PQ_CHAIN_EXACT ?
		       pb_set_at(&c->exact, c->frames[frame].text) :
		       NULL;
}

void pq_chains_add_srcline(const struct pq_chains *c, uint32_t number, bool has_address,
			   struct pb_string *text)
{
	const struct pq_frame frame = pq_chains_frame(c, number);
	bool is_own = pq_chains_exact(c, number)->branch.end == PM_BRANCH_OWN;
	const struct ps_line *lines;

	if (frame.dso && ps_dso_lines(frame.dso, frame.address, &lines) && lines->srcline) {
		pb_string_put(text, lines->srcline);
	} else if (!frame.dso || !has_address) {
		pb_string_put(text, "??:0");
	} else if (frame.symbol) {
		if (is_own)
			pb_string_add(text, frame.symbol->name, frame.symbol->length);
		pb_string_format(text, "+%" PRIu64, frame.address - frame.symbol->start);
	} else {
		pb_string_format(text, "%s[%" PRIx64 "]", frame.dso->short_name, frame.address);
	}
}

uint64_t pq_chains_ip(const struct pq_chains *c, uint32_t frame)
{
	return c->frame_values[frame].ip;
}

uint32_t pq_chains_n_frames(const struct pq_chains *c)
{
	return (uint32_t)c->n_frames;
}

bool pq_chains_drop_frames(struct pq_chains *c, uint32_t n)
{
	struct pq_kept_frame *kept;

	for (size_t i = 0; i < c->n; i++)
		if (c->list[i].kind < PQ_CHAIN_MAPPED || c->list[i].kind > PQ_CHAIN_UNWOUND)
			return false;
	kept = realloc(c->frames, (n + 1) * sizeof(*kept));
	if (kept)
		c->frames = kept;
	c->n_frames = n;
	c->frames_room = n + 1;
	return true;
}

/*
 * Writes the text of a frame to `to` without a NUL. Returns its size in bytes. If `to` is NULL,
 * it only returns the size.
 */
static size_t add_chain_text(const struct pq_chains *c, unsigned kind, uint32_t number,
			     char *to)
{
	const struct pq_frame frame = pq_chains_frame(c, number);
	struct pd_text text;

	if (frame.text == PQ_NO_TEXT)
		return pm_frames_address(to, frame.dso ? frame.dso->name : PM_UNKNOWN,
					 frame.address, (enum pd_cpumode)frame.mode);
	text = c->texts[kind].texts[frame.text];
	if (to)
		memcpy(to, text.p, text.n);
	return text.n;
}

const char *pq_chains_text(struct pq_chains *c, uint32_t number, size_t *n)
{
	const struct pq_chain *chain = &c->list[number];
	const uint32_t *frames = c->numbers + chain->at;
	bool stack = chain->kind != PQ_CHAIN_FRAMES;
	size_t size = 0;

	for (size_t i = 0; i < chain->n; i++)
		size += add_chain_text(c, chain->kind, frames[i], NULL) + 1;
	pb_string_clear(&c->text);
	if (!pb_string_reserve(&c->text, size))
		return NULL;
	for (size_t i = 0; i < chain->n; i++) {
		if (stack && i)
			pb_string_add(&c->text, ";", 1);
		c->text.n += add_chain_text(c, chain->kind,
					    frames[stack ? chain->n - 1 - i : i],
					    c->text.p + c->text.n);
	}
	*n = c->text.n;
	return pb_string_end(&c->text);
}

/*
 * Returns the number here of another table's frame, added if it is new; UINT32_MAX: no memory.
 */
static uint32_t same_frame(struct pq_chains *c, const struct pq_chains *from, unsigned kind,
			   uint32_t number, uint32_t *known)
{
	struct pq_frame frame = pq_chains_frame(from, number);
	const struct pq_frame_value *seen = NULL;
	uint32_t found;

	if (known[number])
		return known[number] - 1;
	if (kind == PQ_CHAIN_VALUES)
		seen = &from->frame_values[number];
	if (frame.kind == PQ_CHAIN_EXACT) {
		if (!c->exact.size)
			pb_set_init(&c->exact, from->exact.size);
		frame.text = pb_set_add(&c->exact, pb_set_at(&from->exact, frame.text));
		if (frame.text == UINT32_MAX)
			return UINT32_MAX;
	}
	if (pq_is_value_kind(kind))
		found = pq_frame_of_value(c, &frame, seen);
	else if (frame.text == PQ_NO_TEXT)
		found = pq_frame_of_address(c, &frame);
	else
		found = pq_frame_of_text(c, kind, from->texts[kind].texts[frame.text], &frame);
	if (found != UINT32_MAX)
		known[number] = found + 1;
	return found;
}

/* Frees the chains from number `n` on, which is not 0. */
static void drop_chains(struct pq_chains *c, size_t n)
{
	c->n_numbers = c->list[n - 1].at + c->list[n - 1].n;
	c->n = n;
	pb_shrink(c->list, n, c->room);
	pb_shrink(c->numbers, c->n_numbers + 1, c->numbers_room);
}

bool pq_chains_merge(struct pq_chains *c, struct pq_chains *from, uint32_t *numbers,
		     const struct pb_progress *progress, bool *ended)
{
	uint32_t *known = calloc(from->n_frames + 1, sizeof(*known)), *frames = NULL;
	size_t all = from->n, room = 0;
	bool done = known;

	pq_chains_forget(c);
	pq_chains_seal(from);
	for (size_t i = all; done && i--;) {
		const struct pq_chain *chain;
		unsigned kind;

		if ((all - 1 - i) % MERGED_AT_ONCE == 0) {
			drop_chains(from, i + 1);
			*ended = !pb_goes_on(progress, 0, 0);
			if (*ended)
				break;
		}
		chain = &from->list[i];
		kind = chain->kind;
		done = pb_reserve_more(frames, 0, chain->n + 1, room);
		for (size_t k = 0; done && k < chain->n; k++) {
			frames[k] = same_frame(c, from, kind, from->numbers[chain->at + k],
					       known);
			done = frames[k] != UINT32_MAX;
		}
		if (done)
			numbers[i] = pq_chain_intern(c, kind, frames, chain->n, &chain->first);
		done = done && numbers[i] != PQ_CHAIN_NO_MEMORY;
	}
	free(known);
	free(frames);
	return done;
}

static int compare_firsts(const void *left, const void *right, void *arg)
{
	const struct pq_chain *list = arg;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (pq_is_earlier(&list[a].first, &list[b].first))
		return -1;
	if (pq_is_earlier(&list[b].first, &list[a].first))
		return 1;
	return (a > b) - (a < b);
}

/*
 * Sorts the numbers of chains by their first records. Returns false if that takes a comparison,
 * or without memory.
 */
static bool sort_firsts(const struct pq_chains *c, uint32_t *by)
{
	uint64_t *keys = pb_array(2 * c->n + 1, sizeof(*keys)), offsets = 1, streams = 0;
	unsigned shift;
	bool sorted;

	for (size_t i = 0; i < c->n; i++) {
		offsets |= c->list[i].first.offset;
		streams |= (uint64_t)c->list[i].first.source << 16 | c->list[i].first.stream;
	}
	shift = 64 - (unsigned)__builtin_clzll(offsets);
	sorted = keys && shift < 64 && !(streams >> (64 - shift));
	for (size_t i = 0; sorted && i < c->n; i++) {
		const struct pq_origin *first = &c->list[i].first;

		keys[i] = ((uint64_t)first->source << 16 | first->stream) << shift |
			  first->offset;
	}
	sorted = sorted && pb_radix_number(keys, c->n, by);
	free(keys);
	return sorted;
}

/* Puts the chains in order, and sets numbers[] as pq_chains_sort() does. */
static bool sort_list(struct pq_chains *c, uint32_t *numbers)
{
	uint32_t *by = pb_array(c->n + 1, sizeof(*by));
	struct pq_chain *sorted = pb_array(c->n + 1, sizeof(*sorted));

	if (!by || !sorted) {
		free(by);
		free(sorted);
		return false;
	}
	if (!sort_firsts(c, by)) {
		for (uint32_t i = 0; i < c->n; i++)
			by[i] = i;
		qsort_r(by, c->n, sizeof(*by), compare_firsts, c->list);
	}
	for (uint32_t i = 0; i < c->n; i++) {
		sorted[i] = c->list[by[i]];
		numbers[by[i]] = i;
	}
	free(by);
	free(c->list);
	c->list = sorted;
	c->room = c->n + 1;
	return true;
}

/*
 * Numbers the frames, and those of chains, as the chains in their order have them first; those
 * of no chain come last. Returns false without memory.
 */
static bool sort_frames(struct pq_chains *c)
{
	uint32_t *numbers = calloc(c->n_frames + 1, sizeof(*numbers)), n = 0; /* from 1 on */
	struct pq_kept_frame *sorted = pb_array(c->n_frames + 1, sizeof(*sorted));
	bool ok = numbers && sorted;

	for (size_t i = 0; ok && i < c->n; i++) {
		uint32_t *frames = c->numbers + c->list[i].at;

		for (size_t k = 0; k < c->list[i].n; k++) {
			if (!numbers[frames[k]])
				numbers[frames[k]] = ++n;
			frames[k] = numbers[frames[k]] - 1;
		}
	}
	for (size_t i = 0; ok && i < c->n_frames; i++) {
		if (!numbers[i])
			numbers[i] = ++n;
		sorted[numbers[i] - 1] = c->frames[i];
	}
	free(numbers);
	if (!ok) {
		free(sorted);
		return false;
	}
	free(c->frames);
	c->frames = sorted;
	c->frames_room = c->n_frames + 1;
	return true;
}

bool pq_chains_sort(struct pq_chains *c, uint32_t *numbers)
{
	return sort_list(c, numbers) && sort_frames(c);
}

/* Nodes while they are found. */
struct finding {
	struct pq_call_nodes *of;
	/* the last chain, callers first: its frames, and the node of each */
	uint32_t frames[PM_MAX_FRAMES + 1], nodes[PM_MAX_FRAMES + 1];
	size_t n;
};

/* Returns the number of the last node of `n` frames, callee first; UINT32_MAX: no memory. */
static uint32_t find_end(struct finding *f, const uint32_t *frames, size_t n)
{
	struct pq_call_node node = { .caller = PQ_NO_CALLER };
	size_t depth = 0;

	/* chains that are met one after the other mostly have their first callers in common */
	while (depth < n && depth < f->n && f->frames[depth] == frames[n - 1 - depth])
		node.caller = f->nodes[depth++];
	for (; depth < n; depth++) {
		node.frame = frames[n - 1 - depth];
		node.caller = pb_set_add(&f->of->nodes, &node);
		if (node.caller == UINT32_MAX)
			return UINT32_MAX;
		f->frames[depth] = node.frame;
		f->nodes[depth] = node.caller;
	}
	f->n = n;
	return node.caller;
}

bool pq_call_nodes_init(struct pq_call_nodes *nodes, const struct pq_chains *chains,
			uint32_t unknown)
{
	size_t n_chains = chains ? pq_chains_size(chains) : 0;
	struct finding *f = calloc(1, sizeof(*f));
	bool ok;

	pb_set_init(&nodes->nodes, sizeof(struct pq_call_node));
	nodes->ends = pb_array(n_chains + 1, sizeof(*nodes->ends));
	ok = f && nodes->ends;
	if (ok)
		f->of = nodes;
	for (uint32_t i = 0; ok && i < n_chains; i++) {
		size_t n;
		const uint32_t *frames = pq_chains_frames(chains, i, &n);

		nodes->ends[i] = find_end(f, n ? frames : &unknown, n ? n : 1);
		ok = nodes->ends[i] != UINT32_MAX;
	}
	free(f);
	return ok;
}

void pq_call_nodes_deinit(struct pq_call_nodes *nodes)
{
	pb_set_deinit(&nodes->nodes);
	free(nodes->ends);
	nodes->ends = NULL;
}
