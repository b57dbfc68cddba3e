/* Resolves the call chains of records, those it has not met before frame by frame. */
#include <string.h>

#include "chains_internal.h"
#include "perfdata/format/views.h"

/*
 * Returns the number of frames that count in a stack: outer frames with empty names leave
 * nothing in its text.
 */
static size_t stack_size(const struct pq_chains *c, unsigned kind, const uint32_t *frames,
			 size_t n)
{
	while (n && !c->texts[kind].texts[c->frames[frames[n - 1]].text].n)
		n--;
	return n;
}

/* A chain before it is resolved. */
struct raw {
	const void *words; /* [n] */
	size_t n;
	uint32_t at;   /* offset of the call chain in the record */
	bool recorded; /* `words` are the record's; else those of its frames */
};

static void find_raw(const struct pq_looked *looked, const struct pd_record *rec,
		     struct raw *raw)
{
	uint32_t at, size;

	*raw = (struct raw){ .words = rec->bytes };
	if (pm_adds_branches(looked->resolver, rec) || pm_frames_may_differ(rec)) {
		raw->words = pm_frames_of(looked->resolver, rec, &raw->n);
		raw->n *= sizeof(struct pd_frame) / 8;
	} else if (pd_part_find(rec, PD_PART_CALLCHAIN, &at, &size) && size >= 8) {
		raw->words = rec->bytes + at + 8;
		raw->n = (size - 8) / 8;
		raw->at = at;
		raw->recorded = true;
	}
}

/* Returns true if the first frame is that of ip, even if the call chain begins otherwise. */
static bool begins_with_ip(unsigned kind)
{
	return kind == PQ_CHAIN_FRAMES || kind == PQ_CHAIN_CALLERS ||
	       kind == PQ_CHAIN_FUNCTIONS;
}

/* Returns true if chains of a kind depend on ip. */
static bool needs_ip(unsigned kind)
{
	return begins_with_ip(kind) || pq_is_inlined_kind(kind);
}

/* A walk over the frames of a raw chain. */
struct walk {
	const struct raw *raw;
	struct pd_frames recorded;
	size_t n; /* frames so far */
};

/* Chains of reports have no frames if perf takes none. */
static void walk_init(struct walk *walk, const struct pq_looked *looked, const struct raw *raw)
{
	const struct pd_view view = { .rec = looked->rec, .at = raw->at };

	walk->raw = raw;
	walk->n = 0;
	if (!raw->recorded)
		return;
	pd_frames_init(&walk->recorded, &view);
	if (needs_ip(looked->kind) && looked->kind != PQ_CHAIN_FRAMES &&
	    !pd_frames_are_known(&view))
		walk->recorded.at = walk->recorded.end;
}

static bool walk_next(struct walk *walk, struct pd_frame *frame)
{
	const struct raw *raw = walk->raw;

	if (walk->n == PM_MAX_FRAMES)
		return false;
	if (!raw->recorded) {
		if (walk->n == raw->n / 2)
			return false;
		*frame = ((const struct pd_frame *)raw->words)[walk->n++];
		return true;
	}
	if (!pd_frames_next(&walk->recorded, &frame->ip))
		return false;
	frame->mode = walk->recorded.mode;
	frame->branch = 0;
	walk->n++;
	return true;
}

/* Finds the binary at an address, and loads its symbols if chains of the kind need them. */
static struct pq_seen_binary *meet_binary(struct pq_chains *c, struct pq_looked *looked,
					  const struct pd_frame *at)
{
	bool loads = looked->kind == PQ_CHAIN_BINARIES;
	struct pq_seen_binary *seen;
	struct pm_dso_address found;

	looked->context.mode = (enum pd_cpumode)at->mode;
	pm_dso_at(looked->resolver, &looked->context, at->ip, &found);
	seen = &c->binaries[pb_scatter((uintptr_t)found.dso) >> 40 & (PQ_SEEN_BINARIES - 1)];
	if (seen->dso != found.dso)
		*seen = (struct pq_seen_binary){ .dso = found.dso };
	if (loads && !seen->is_loaded && seen->dso)
		ps_dso_load(seen->dso);
	seen->is_loaded = seen->is_loaded || loads;
	return seen;
}

/* Returns the number of the chain of a kind for which pq_is_binary_kind(). */
static uint32_t resolve_binary(struct pq_chains *c, struct pq_looked *looked,
			       const struct pd_record *rec, const struct raw *raw)
{
	struct pq_origin first = pq_origin_of(rec);
	struct pq_seen_binary *own;
	struct pd_frame frame;
	struct walk walk;
	uint32_t number;

	walk_init(&walk, looked, raw);
	while (looked->kind == PQ_CHAIN_BINARIES && walk_next(&walk, &frame))
		meet_binary(c, looked, &frame);
	if (!looked->has_ip)
		return PQ_NO_CHAIN;
	own = meet_binary(c, looked, &looked->own);
	if (own->chain) {
		pq_chain_meet(c, own->chain - 1, &first);
		return own->chain - 1;
	}
	number = pq_chain_of_binary(c, own->dso, &first);
	if (number != PQ_CHAIN_NO_MEMORY)
		own->chain = number + 1;
	return number;
}

/* Returns the number of the chain that is the address at ip. */
static uint32_t resolve_address(struct pq_chains *c, struct pq_looked *looked)
{
	struct pq_origin first = pq_origin_of(looked->rec);
	uint32_t own;

	if (!looked->has_ip)
		return PQ_NO_CHAIN;
	looked->kind = PQ_CHAIN_MAPPED;
	own = pq_frame_at(c, looked, &looked->own);
	return own == UINT32_MAX ? PQ_CHAIN_NO_MEMORY :
				   pq_chain_intern(c, PQ_CHAIN_MAPPED, &own, 1, &first);
}

/*
 * Returns true if the first frame of a call chain stands for ip. A call stack of branches
 * begins where the latest call went to, in the function that ip is in; where frames are
 * addresses, these are two.
 */
static bool is_own_frame(const struct pq_looked *looked, const struct pd_record *rec,
			 const struct pd_frame *frame)
{
	return frame->mode == looked->own.mode &&
	       (frame->ip == looked->own.ip ||
		(frame->mode == PD_CPUMODE_USER && looked->kind != PQ_CHAIN_EXACT &&
		 pm_has_lbr_stack(rec)));
}

/*
 * Returns at which frames of a chain functions that were inlined are frames, too:
 * PS_INLINED_UNWOUND: at those of users.
 */
static enum ps_inlined inlined_of(const struct pq_looked *looked, const struct pd_record *rec,
				  const struct raw *raw)
{
	enum ps_inlined inlined = looked->kind == PQ_CHAIN_EXACT ?
					  pm_exact_inlined(looked->resolver) :
				  looked->kind == PQ_CHAIN_INLINED ? PS_INLINED_ALL :
								     PS_INLINED_UNWOUND;

	if (pm_has_lbr_stack(rec) || (inlined == PS_INLINED_UNWOUND && raw->recorded))
		return PS_INLINED_NONE;
	return inlined;
}

static bool has_inlined(enum ps_inlined inlined, const struct pd_frame *frame)
{
	return !frame->branch &&
	       (inlined == PS_INLINED_ALL ||
		(inlined == PS_INLINED_UNWOUND && frame->mode == PD_CPUMODE_USER));
}

/*
 * Leaves out the callers without a function of a chain of `n` frames where a report shows none
 * (perf report --hide-unresolved), and those that --max-stack leaves out, which counts the
 * frames without a function, too. The first `kept` frames stay. Returns how many are left.
 */
static size_t drop_unnamed(struct pq_chains *c, const struct pq_looked *looked,
			   uint32_t *numbers, size_t n, size_t kept)
{
	const struct ps_chain_options *options = pm_named_callers(looked->resolver);
	/* where chains are of branches, they were cut when these were read */
	size_t max = options && !options->branches ? options->max_frames : 0;

	if (!options)
		return n;
	for (size_t i = kept; i < n; i++)
		if (pq_counts_frame(i, n, max, !options->from_caller) &&
		    pq_code_at(c, numbers[i])->symbol)
			numbers[kept++] = numbers[i];
	return kept;
}

/*
 * Returns the frame farthest from the callee that call chains begin with: perf report
 * --ignore-callees; 0: the callee.
 */
static size_t find_root(struct pq_chains *c, const struct pq_looked *looked,
			const uint32_t *numbers, size_t n)
{
	if (pm_has_roots(looked->resolver))
		while (n-- > 1)
			if (pm_is_root(looked->resolver, pq_code_at(c, numbers[n])->symbol))
				return n;
	return 0;
}

/*
 * Returns the number of the chain of a record's frames with the functions inlined there, and
 * the frame of ip at the end.
 */
static uint32_t resolve_inlined(struct pq_chains *c, struct pq_looked *looked,
				const struct pd_record *rec, const struct raw *raw)
{
	uint32_t numbers[PM_MAX_FRAMES + 1], own;
	enum ps_inlined inlined = inlined_of(looked, rec, raw);
	struct pq_origin first = pq_origin_of(rec);
	struct pd_frame frame;
	struct walk walk;
	size_t n = 0, from;

	walk_init(&walk, looked, raw);
	while (n < PM_MAX_FRAMES && walk_next(&walk, &frame)) {
		if (walk.n == 1 && !frame.branch && is_own_frame(looked, rec, &frame))
			frame = looked->own;
		if (has_inlined(inlined, &frame))
			n += pq_frames_at(c, looked, &frame, numbers + n, PM_MAX_FRAMES - n);
		else
			numbers[n++] = pq_frame_at(c, looked, &frame);
	}
	looked->alone = !walk.n;
	if (!n && looked->kind != PQ_CHAIN_EXACT)
		numbers[n++] = pq_frame_at(c, looked, &looked->own);
	frame = looked->own;
	if (looked->kind == PQ_CHAIN_EXACT)
		frame.branch = PM_OWN_FRAME;
	own = pq_frame_at(c, looked, &frame);
	numbers[n++] = own;
	for (size_t i = 0; i < n; i++)
		if (numbers[i] == UINT32_MAX)
			return PQ_CHAIN_NO_MEMORY;
	n = drop_unnamed(c, looked, numbers, n - 1, 0);
	numbers[n++] = own;
	from = find_root(c, looked, numbers, n - 1);
	if (from)
		numbers[n - 1] = numbers[from];
	return pq_chain_intern(c, looked->kind, numbers + from, n - from, &first);
}

/* Returns the number of the chain of a record's frames, which it resolves. */
static uint32_t resolve_chain(struct pq_chains *c, struct pq_looked *looked,
			      const struct pd_record *rec, const struct raw *raw)
{
	uint32_t numbers[PM_MAX_FRAMES + 1];
	struct pq_origin first;
	struct pd_frame frame;
	struct walk walk;
	size_t n = 0, from = 0;

	walk_init(&walk, looked, raw);
	if (begins_with_ip(looked->kind))
		numbers[n++] = pq_frame_at(c, looked, &looked->own);
	while (walk_next(&walk, &frame)) {
		if (n == 1 && walk.n == 1 && is_own_frame(looked, rec, &frame))
			continue;
		numbers[n++] = pq_frame_at(c, looked, &frame);
	}
	looked->alone = !walk.n;
	if (!n && !looked->has_ip)
		return PQ_NO_CHAIN;
	if (!n)
		numbers[n++] = pq_frame_at(c, looked, &looked->own);
	for (size_t i = 0; i < n; i++)
		if (numbers[i] == UINT32_MAX)
			return PQ_CHAIN_NO_MEMORY;
	if (looked->kind < PQ_CHAIN_FRAMES)
		n = stack_size(c, looked->kind, numbers, n);
	if (looked->kind == PQ_CHAIN_CALLERS) {
		n = drop_unnamed(c, looked, numbers, n, 1);
		from = find_root(c, looked, numbers, n);
	}
	first = pq_origin_of(rec);
	return pq_chain_intern(c, looked->kind, numbers + from, n - from, &first);
}

/*
 * words: resolving these takes no longer than looking them up. A frame of which only the binary
 * counts takes less time.
 */
#define FEW	     4
#define FEW_BINARIES 32

/*
 * Hashes a raw chain and all that decides its frames. Returns false if that is not known, or
 * not worth it.
 */
static bool hash_raw(const struct pq_chains *c, const struct pq_looked *looked,
		     const struct pd_record *rec, const struct raw *raw, struct pq_hash *hash)
{
	const uint64_t head[PQ_HEAD_WORDS] = {
		looked->tags[0],
		looked->tags[1],
		needs_ip(looked->kind) || looked->kind == PQ_CHAIN_BINARIES ? looked->own.ip :
									      0,
		(uint64_t)looked->kind | looked->own.mode << 8 |
			(uint64_t)rec->layout->swap << 16 | (uint64_t)raw->recorded << 17,
	};

	if (!looked->known ||
	    raw->n <= (looked->kind == PQ_CHAIN_BINARIES ? FEW_BINARIES : FEW) ||
	    raw->n > PQ_HASH_WORDS)
		return false;
	*hash = pq_hash_of(&c->keys, head, raw->words, raw->n);
	return true;
}

/* Sets c->own. Returns false without memory. */
static bool find_own(struct pq_chains *c, struct pq_looked *looked)
{
	unsigned kind = looked->kind;

	looked->kind = PQ_CHAIN_CALLERS;
	c->own = pq_frame_at(c, looked, &looked->own);
	looked->kind = kind;
	return c->own != UINT32_MAX;
}

static void begin_look(struct pq_chains *c, struct pm_resolver *resolver,
		       const struct pd_record *rec, struct pq_looked *looked, struct raw *raw)
{
	const struct pm_system *system = pm_resolver_system(resolver);
	int64_t ip;

	looked->resolver = resolver;
	looked->rec = rec;
	looked->has_ip = pm_integer(rec, pm_system_field_ids(system)->ip, &ip);
	pm_addr_context_of(system, rec, &looked->context);
	looked->own = (struct pd_frame){ looked->has_ip ? (uint64_t)ip : 0,
					 looked->context.mode, 0 };
	*raw = (struct raw){ 0 };
	if (looked->kind != PQ_CHAIN_BINARY && looked->kind != PQ_CHAIN_ADDRESS)
		find_raw(looked, rec, raw);
	/* a binary is found without the tags */
	if (!pq_is_binary_kind(looked->kind) || raw->n > FEW_BINARIES)
		pq_look_when(c, looked);
}

uint32_t pq_chains_of(struct pq_chains *c, struct pm_resolver *resolver,
		      const struct pd_record *rec, enum pq_chain_kind kind)
{
	struct pq_looked looked = { .kind = kind };
	struct pq_hash hash;
	struct raw raw;
	uint32_t chain;
	bool hashed;

	begin_look(c, resolver, rec, &looked, &raw);
	if (kind == PQ_CHAIN_ADDRESS)
		return resolve_address(c, &looked);
	if (needs_ip(kind) && !looked.has_ip)
		return PQ_NO_CHAIN;
	if (kind == PQ_CHAIN_FUNCTIONS && !find_own(c, &looked))
		return PQ_CHAIN_NO_MEMORY;
	hashed = hash_raw(c, &looked, rec, &raw, &hash);
	if (hashed) {
		chain = pq_raw_find(&c->raw, &hash);
		if (chain)
			return chain - 1;
	}
	if (c->n >= c->limit) {
		if (c->n / 2 >= c->limit)
			return PQ_CHAIN_BEYOND;
		raw = (struct raw){ 0 };
		hashed = false;
	}
	chain = pq_is_binary_kind(kind)	 ? resolve_binary(c, &looked, rec, &raw) :
		pq_is_inlined_kind(kind) ? resolve_inlined(c, &looked, rec, &raw) :
					   resolve_chain(c, &looked, rec, &raw);
	/* a chain without frames is its ip, which the hash leaves out */
	if (hashed && !looked.by_time && !looked.alone && chain < PQ_CHAIN_BEYOND)
		pq_raw_keep(&c->raw, &hash, chain + 1);
	return chain;
}

void pq_chains_enter(struct pq_chains *c, struct pm_resolver *resolver,
		     const struct pd_record *rec)
{
	struct raw raw;

	c->entered = (struct pq_looked){ .kind = PQ_CHAIN_VALUES };
	begin_look(c, resolver, rec, &c->entered, &raw);
}

size_t pq_chains_walk(struct pm_resolver *resolver, const struct pd_record *rec,
		      struct pd_frame *frames)
{
	struct pq_looked looked = { .resolver = resolver, .rec = rec };
	struct raw raw;
	struct walk walk;
	size_t n = 0;
	int64_t ip;

	find_raw(&looked, rec, &raw);
	walk_init(&walk, &looked, &raw);
	while (walk_next(&walk, &frames[n]))
		n++;
	if (!n && pm_integer(rec, pm_system_field_ids(pm_resolver_system(resolver))->ip, &ip))
		frames[n++] = (struct pd_frame){ (uint64_t)ip, rec->misc & PD_MISC_CPUMODE, 0 };
	return n;
}

/*
 * Sets *found to whether the function of that number has the name. Returns false without
 * memory.
 */
static bool is_frame_named(const struct pq_chains *c, struct pq_under *under, uint32_t number,
			   bool *found)
{
	struct pd_text text;

	if (number == PQ_NO_SYMBOL)
		return true;
	if (number >= under->n_known &&
	    !pb_extend(under->known, under->n_known, 2 * (size_t)number + 64))
		return false;
	if (!under->known[number]) {
		text = c->texts[PQ_SYMBOLS].texts[c->frames[number].text];
		*found = text.n == under->name.n &&
			 (!text.n || memcmp(text.p, under->name.p, text.n) == 0);
		if (!*found && under->glob &&
		    !pb_pattern_match(under->glob, text.p, text.n, found))
			return false;
		under->known[number] = *found ? 2 : 1;
	}
	*found = under->known[number] == 2;
	return true;
}

bool pq_chains_under(struct pq_chains *c, struct pm_resolver *resolver,
		     const struct pd_record *rec, struct pq_under *under, bool *found)
{
	struct pq_looked looked = { .kind = PQ_SYMBOLS };
	uint32_t number = PQ_NO_SYMBOL;
	struct pd_frame frame;
	struct walk walk;
	struct raw raw;

	*found = false;
	begin_look(c, resolver, rec, &looked, &raw);
	walk_init(&walk, &looked, &raw);
	while (!*found && number != UINT32_MAX && walk_next(&walk, &frame)) {
		number = pq_frame_at(c, &looked, &frame);
		if (number != UINT32_MAX && !is_frame_named(c, under, number, found))
			return false;
	}
	if (!walk.n && looked.has_ip) {
		number = pq_frame_at(c, &looked, &looked.own);
		if (number != UINT32_MAX && !is_frame_named(c, under, number, found))
			return false;
	}
	return number != UINT32_MAX;
}
