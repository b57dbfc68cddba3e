#include "stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "perfdata/format/views.h"

struct stack {
	uint64_t at; /* index in `numbers` */
	uint32_t n;
};

struct pq_stacks {
	struct pm_string_pool texts;
	struct pb_secret secret;
	struct pq_stack_frame *frames; /* [n_frames] */
	size_t n_frames, frames_room;
	struct pb_map by_value; /* numbers of frames */
	struct stack *list;	/* [n] */
	size_t n, room;
	uint32_t *numbers; /* [n_numbers]: numbers of frames, callee first, stack after stack */
	size_t n_numbers, numbers_room;
	struct pb_map by_frames;  /* numbers of stacks in the list */
	struct ps_store **stores; /* [n_stores]: kept; of the binaries of frames */
	size_t n_stores, stores_room;
};

const char *pq_frame_kind_name(unsigned kind)
{
	return kind == PQ_FRAME_JIT ? "jit" : pd_cpumode_name(kind);
}

unsigned pq_frame_kind(const struct pq_frame *frame)
{
	if (frame->mode == PD_CPUMODE_USER && frame->dso && pm_is_jit_name(frame->dso->name))
		return PQ_FRAME_JIT;
	return frame->mode;
}

struct pq_stacks *pq_stacks_create(void)
{
	struct pq_stacks *s = calloc(1, sizeof(*s));

	if (s)
		pb_secret_make(&s->secret);
	return s;
}

void pq_stacks_destroy(struct pq_stacks *s)
{
	if (!s)
		return;
	pm_string_pool_deinit(&s->texts);
	pb_map_deinit(&s->by_value);
	pb_map_deinit(&s->by_frames);
	for (size_t i = 0; i < s->n_stores; i++)
		ps_store_release(s->stores[i]);
	free(s->stores);
	free(s->frames);
	free(s->list);
	free(s->numbers);
	free(s);
}

static bool same_function(const struct pq_stack_frame *a, const struct pq_stack_frame *b)
{
	if (!a->symbol.p || !b->symbol.p)
		return a->symbol.p == b->symbol.p;
	return a->symbol.n == b->symbol.n && memcmp(a->symbol.p, b->symbol.p, a->symbol.n) == 0;
}

bool pq_stack_frame_equal(const struct pq_stack_frame *a, const struct pq_stack_frame *b)
{
	if (a->address != b->address || a->kind != b->kind || !a->binary.p != !b->binary.p)
		return false;
	return (!a->binary.p ||
		pq_binary_equal(&a->build_id, a->binary, &b->build_id, b->binary)) &&
	       same_function(a, b);
}

struct wanted_frame {
	const struct pq_stacks *stacks;
	const struct pq_stack_frame *frame;
};

static bool is_frame(const void *arg, uint32_t item)
{
	const struct wanted_frame *wanted = arg;

	return pq_stack_frame_equal(&wanted->stacks->frames[item], wanted->frame);
}

static bool copy_text(struct pq_stacks *s, struct pd_text *text)
{
	uint32_t number;

	if (!text->p)
		return true;
	number = pm_string_pool_add(&s->texts, *text);
	if (number == PM_NO_STRING)
		return false;
	*text = s->texts.texts[number];
	return true;
}

/* Keeps the source lines of a binary. Returns false without memory. */
static bool keep_store(struct pq_stacks *s, struct ps_store *store)
{
	size_t i = s->n_stores; /* mostly the last one */

	while (i && s->stores[i - 1] != store)
		i--;
	if (i)
		return true;
	if (!pb_reserve(s->stores, s->n_stores, s->stores_room))
		return false;
	ps_store_keep(store);
	s->stores[s->n_stores++] = store;
	return true;
}

bool pq_stacks_were_cut(const struct pq_stacks *s)
{
	bool were = false;

	for (size_t i = 0; i < s->n_stores; i++)
		were |= ps_store_was_cut(s->stores[i]);
	return were;
}

uint32_t pq_stacks_add_frame(struct pq_stacks *s, const struct pq_stack_frame *frame)
{
	const struct wanted_frame wanted = { s, frame };
	uint64_t binary = frame->binary.p ?
				  pq_binary_hash(&s->secret, &frame->build_id, frame->binary) :
				  0;
	uint32_t hash = pb_hash_pair(&s->secret, frame->address, binary << 8 | frame->kind);
	struct pq_stack_frame own = *frame;
	struct pb_slot *slot;

	if (!pb_reserve(s->frames, s->n_frames, s->frames_room) ||
	    !pb_map_reserve(&s->by_value))
		return UINT32_MAX;
	slot = pb_map_find(&s->by_value, hash, is_frame, &wanted);
	if (own.dso && !keep_store(s, own.dso->store))
		return UINT32_MAX;
	if (slot->item) {
		/* an equal frame of a saved table has no lines */
		if (!s->frames[slot->item - 1].dso)
			s->frames[slot->item - 1].dso = own.dso;
		return slot->item - 1;
	}
	if (!copy_text(s, &own.symbol) || !copy_text(s, &own.binary))
		return UINT32_MAX;
	pb_map_fill(&s->by_value, slot, hash, (uint32_t)s->n_frames);
	s->frames[s->n_frames] = own;
	return (uint32_t)s->n_frames++;
}

struct wanted_stack {
	const struct pq_stacks *stacks;
	const uint32_t *frames;
	size_t n;
};

static bool is_stack(const void *arg, uint32_t item)
{
	const struct wanted_stack *wanted = arg;
	const struct stack *stack = &wanted->stacks->list[item];

	return stack->n == wanted->n &&
	       memcmp(wanted->stacks->numbers + stack->at, wanted->frames,
		      wanted->n * sizeof(*wanted->frames)) == 0;
}

uint32_t pq_stacks_add(struct pq_stacks *s, const uint32_t *frames, size_t n)
{
	const struct wanted_stack wanted = { s, frames, n };
	uint64_t hash = s->secret.b ^ n;
	struct pb_slot *slot;

	for (size_t i = 0; i < n; i++)
		hash = pb_mix(frames[i] ^ s->secret.a, hash);
	if (n > UINT32_MAX || !pb_reserve(s->list, s->n, s->room) ||
	    !pb_reserve_more(s->numbers, s->n_numbers, n + 1, s->numbers_room) ||
	    !pb_map_reserve(&s->by_frames))
		return UINT32_MAX;
	slot = pb_map_find(&s->by_frames, (uint32_t)hash, is_stack, &wanted);
	if (slot->item)
		return slot->item - 1;
	pb_map_fill(&s->by_frames, slot, (uint32_t)hash, (uint32_t)s->n);
	if (n)
		memcpy(s->numbers + s->n_numbers, frames, n * sizeof(*frames));
	s->list[s->n] = (struct stack){ s->n_numbers, (uint32_t)n };
	s->n_numbers += n;
	return (uint32_t)s->n++;
}

uint32_t pq_stacks_add_from(struct pq_stacks *s, const struct pq_stacks *from, uint32_t number)
{
	uint32_t frames[PM_MAX_FRAMES + 1];
	const struct stack *stack = &from->list[number];

	if (from == s)
		return number;
	/* no stack has more: a record's are cut off there, and saved ones are refused */
	for (uint32_t i = 0; i < stack->n; i++) {
		frames[i] = pq_stacks_add_frame(s, &from->frames[from->numbers[stack->at + i]]);
		if (frames[i] == UINT32_MAX)
			return UINT32_MAX;
	}
	return pq_stacks_add(s, frames, stack->n);
}

static void describe_symbol(struct pq_stack_frame *out, const struct ps_symbol *symbol)
{
	if (!symbol)
		return;
	out->symbol = (struct pd_text){ symbol->name, symbol->length };
	out->symoff = out->address - symbol->start;
	out->has_symoff = true;
}

/* Adds a frame of chains. Returns its number, or UINT32_MAX without memory. */
static uint32_t add_chain_frame(struct pq_stacks *s, const struct pq_chains *chains,
				uint32_t number, struct pm_resolver *resolver)
{
	const struct pq_frame frame = pq_chains_frame(chains, number);
	struct pq_stack_frame own = {
		.dso = frame.dso,
		.address = frame.address,
		.ip = pq_chains_ip(chains, number),
		.has_ip = true,
		.kind = (uint8_t)pq_frame_kind(&frame),
	};

	if (frame.dso) {
		own.binary = (struct pd_text){ frame.dso->name, strlen(frame.dso->name) };
		own.build_id = frame.dso->id.build_id;
		/*
		 * symbols of a jitdump depend on the time: keep the one found at the time of
		 * the record
		 */
		describe_symbol(&own, frame.dso->jitdump ?
					      frame.symbol :
					      pm_symbol_at(resolver, frame.dso, frame.address,
							   PM_NO_TIME));
	}
	return pq_stacks_add_frame(s, &own);
}

/*
 * Adds a chain of `chains` as a stack. known[i] is 1 plus the number here of the chains' frame
 * i, or 0 while it is not added yet. Returns false without memory.
 */
static bool add_chain(struct pq_stacks *s, const struct pq_chains *chains, uint32_t chain,
		      struct pm_resolver *resolver, uint32_t *known, uint32_t *number)
{
	uint32_t numbers[PM_MAX_FRAMES + 1];
	size_t n;
	const uint32_t *frames = pq_chains_frames(chains, chain, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t *here = &known[frames[i]];

		if (!*here)
			*here = add_chain_frame(s, chains, frames[i], resolver) + 1;
		if (!*here)
			return false;
		numbers[i] = *here - 1;
	}
	*number = pq_stacks_add(s, numbers, n);
	return *number != UINT32_MAX;
}

bool pq_stacks_add_chains(struct pq_stacks *s, const struct pq_chains *chains,
			  struct pm_resolver *resolver, uint32_t *numbers)
{
	uint32_t *known = calloc(pq_chains_n_frames(chains) + (size_t)1, sizeof(*known));
	bool ok = known;

	for (uint32_t i = 0; ok && i < pq_chains_size(chains); i++)
		if (pq_chains_kind(chains, i) == PQ_CHAIN_VALUES)
			ok = add_chain(s, chains, i, resolver, known, &numbers[i]);
	free(known);
	return ok;
}

const uint32_t *pq_stacks_frames(const struct pq_stacks *s, uint32_t stack, size_t *n)
{
	*n = s->list[stack].n;
	return s->numbers + s->list[stack].at;
}

uint32_t pq_stacks_n_frames(const struct pq_stacks *s)
{
	return (uint32_t)s->n_frames;
}

const struct pq_stack_frame *pq_stacks_frame(const struct pq_stacks *s, uint32_t frame)
{
	return &s->frames[frame];
}

static int compare_text(struct pd_text a, struct pd_text b)
{
	int c;

	if (!a.p || !b.p)
		return (b.p == NULL) - (a.p == NULL);
	c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
	return c ? c : (a.n > b.n) - (a.n < b.n);
}

static struct pd_text shown_name(const struct pq_stack_frame *frame)
{
	return frame->symbol.p ? frame->symbol : frame->binary;
}

static int compare_frames(const struct pq_stack_frame *a, const struct pq_stack_frame *b)
{
	int c = compare_text(shown_name(a), shown_name(b));

	if (!c)
		c = compare_text(a->binary, b->binary);
	if (!c && a->address != b->address)
		c = a->address < b->address ? -1 : 1;
	if (!c)
		c = (a->kind > b->kind) - (a->kind < b->kind);
	return c ? c : memcmp(&a->build_id, &b->build_id, sizeof(a->build_id));
}

bool pq_stacks_equal(const struct pq_stacks *s, uint32_t i, const struct pq_stacks *theirs,
		     uint32_t k)
{
	size_t n, m;
	const uint32_t *a = pq_stacks_frames(s, i, &n), *b = pq_stacks_frames(theirs, k, &m);

	if (s == theirs || n != m)
		return s == theirs && i == k;
	while (n && pq_stack_frame_equal(&s->frames[a[n - 1]], &theirs->frames[b[n - 1]]))
		n--;
	return !n;
}

int pq_stacks_compare(const struct pq_stacks *s, uint32_t i, const struct pq_stacks *theirs,
		      uint32_t k)
{
	size_t n, m;
	const uint32_t *a = pq_stacks_frames(s, i, &n), *b = pq_stacks_frames(theirs, k, &m);

	while (n && m) {
		int c = s == theirs && a[n - 1] == b[m - 1] ?
				0 :
				compare_frames(&s->frames[a[n - 1]], &theirs->frames[b[m - 1]]);

		if (c)
			return c;
		n--;
		m--;
	}
	return (n > 0) - (m > 0);
}

size_t pq_stacks_text(const struct pq_stacks *s, uint32_t stack, char *to)
{
	size_t n, used = 0;
	const uint32_t *frames = pq_stacks_frames(s, stack, &n);

	while (n--) {
		const struct pq_stack_frame *frame = &s->frames[frames[n]];

		/* frames with empty names that are called first leave nothing */
		if (used && to)
			to[used] = ';';
		used += used || !to;
		used += pm_frame_name(frame->symbol, frame->binary.p, to ? to + used : NULL);
	}
	return used;
}
