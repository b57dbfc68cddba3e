#include "frames.h"

#include <string.h>

#include "internal.h"
#include "resolver.h"
#include "perfdata/format/sample.h"
#include "perfdata/format/views.h"

/*
 * Branches of a stack, at most: others are not those of a processor, and are left out. See
 * PERF_MAX_BRANCH_DEPTH.
 */
#define MAX_BRANCHES 127
#define MAX_CALLS    127 /* PERF_MAX_STACK_DEPTH, perf's default */

_Static_assert(2 * MAX_BRANCHES + MAX_CALLS <= PM_MAX_FRAMES, "frames have no room");
_Static_assert(sizeof(struct pm_branch) == 24, "it has padding");

/* A branch, and the loops that were left out before it. */
struct branch {
	uint64_t from, to, flags;
	uint32_t iterations, cycles;
};

/* The branches of a sample, in the order of the call chain. */
struct branches {
	const struct pd_record *rec;
	bool from_caller; /* the oldest is first */
	size_t max;	  /* of branches, and of calls */
	struct branch list[MAX_BRANCHES];
	size_t n;
	size_t skipped; /* entries of the call chain that the branches stand for */
};

static uint32_t cycles_of(const struct branch *branch)
{
	return branch->flags >> 4 & UINT16_MAX;
}

bool pm_adds_branches(const struct pm_resolver *r, const struct pd_record *rec)
{
	const struct ps_chain_options *options = r->system->binaries.options.chains;

	return options && options->branches && rec->type == PD_RECORD_SAMPLE &&
	       rec->layout->shape->sample_type & PD_SAMPLE_BRANCH_STACK &&
	       !pm_has_lbr_stack(rec);
}

const struct pm_branch *pm_branch_of(const struct pm_resolver *r, const struct pd_frame *frame)
{
	static const struct pm_branch none, own = { .end = PM_BRANCH_OWN };

	if (frame->branch == PM_OWN_FRAME)
		return &own;
	return frame->branch ? pb_set_at(&r->branches, frame->branch - 1) : &none;
}

/*
 * Returns how many branches from number `i` on do what those from number `first` on did, whose
 * source is the same; 0: they go another way.
 */
static size_t find_loop(const struct branches *b, size_t first, size_t i)
{
	for (size_t k = 0; first + k < i && i + k < b->n; k++)
		if (b->list[first + k].from != b->list[i + k].from)
			return 0;
	return i + (i - first) < b->n ? i - first : b->n - i;
}

/* Returns the place of a source in a table that is as small as perf's, without collisions. */
static size_t place_of(uint64_t from)
{
	return (from * UINT64_C(0x61c8864680b583eb) >> 57) % MAX_BRANCHES;
}

/*
 * Leaves out iterations of loops, and counts them in the branch after them. Like perf, it knows
 * one source at each place of the table, so that loops of others stay.
 */
static void remove_loops(struct branches *b)
{
	uint8_t places[MAX_BRANCHES] = { 0 }; /* 1 + number of a branch */

	for (size_t i = 0; i < b->n; i++) {
		uint8_t *place = &places[place_of(b->list[i].from)];
		size_t n, rest;

		if (!*place) {
			*place = (uint8_t)(i + 1);
			continue;
		}
		if (b->list[*place - 1].from != b->list[i].from)
			continue;
		n = find_loop(b, *place - 1, i);
		rest = b->n - i - n;
		if (n && rest) {
			struct branch *next = &b->list[i + n];

			next->iterations++;
			next->cycles = 0;
			for (size_t k = 0; k < n; k++)
				next->cycles += cycles_of(&b->list[i + k]);
			memmove(&b->list[i], next, rest * sizeof(*next));
		}
		b->n -= n;
	}
}

/*
 * Counts the entries at the head of a call chain, of n at `chain`, that branches stand for:
 * those that return to just after the source of one. An instruction takes eight bytes at most.
 */
static void skip_calls(struct branches *b, uint32_t chain, uint32_t n, const struct branch *at)
{
	uint64_t ip;

	if (b->from_caller || b->skipped >= n)
		return;
	ip = pd_rec64(b->rec, chain + 8 * (uint32_t)b->skipped);
	if (pd_is_chain_marker(ip) || (at->from < ip && at->from >= ip - 8))
		b->skipped++;
}

static void read_branches(struct branches *b, uint32_t chain, uint32_t n_chain)
{
	struct pd_branches stack;
	uint32_t at, size;

	if (!pd_part_find(b->rec, PD_PART_BRANCH_STACK, &at, &size) ||
	    !pd_branches_read(b->rec, at, &stack) || stack.count > MAX_BRANCHES)
		return;
	b->n = stack.count < b->max ? stack.count : b->max;
	for (size_t i = 0; i < b->n; i++) {
		uint32_t number = (uint32_t)(b->from_caller ? stack.count - 1 - i : i);
		uint32_t entry = stack.entries + 24 * number;

		b->list[i] = (struct branch){
			.from = pd_rec64(b->rec, entry),
			.to = pd_rec64(b->rec, entry + 8),
			.flags = pd_rec64(b->rec, entry + 16),
		};
		skip_calls(b, chain, n_chain, &b->list[i]);
	}
	remove_loops(b);
}

/* Sets the facts of a branch with a type. */
static void set_type(struct pm_branch *end, const struct branch *branch)
{
	uint64_t differs = branch->from ^ branch->to;

	end->type = branch->flags >> 20 & 15;
	if (!end->type)
		return;
	end->new_type = branch->flags >> 26 & 15;
	end->is_forward = branch->to > branch->from;
	end->crosses_2m = differs >> 21 != 0;
	end->crosses_4k = !end->crosses_2m && differs >> 12 != 0;
}

/* Adds an end of a branch to frames[*n]. Returns false without memory. */
static bool add_end(struct pm_resolver *r, const struct pm_addr_context *context,
		    const struct branch *branch, bool is_target, struct pd_frame *frames,
		    size_t *n)
{
	uint64_t ip = is_target ? branch->to : branch->from;
	struct pm_branch end = { .end = PM_BRANCH_SOURCE, .cycles = cycles_of(branch) };
	uint32_t number;

	if (is_target && branch->from) { /* else perf takes it for a source */
		end = (struct pm_branch){
			.end = PM_BRANCH_TARGET,
			.predicted = branch->flags >> 1 & 1,
			.aborted = branch->flags >> 3 & 1,
		};
		set_type(&end, branch);
	} else if (!is_target) {
		end.iterations = branch->iterations;
		end.iteration_cycles = branch->cycles;
	}
	if (!r->branches.size)
		pb_set_init(&r->branches, sizeof(end));
	number = pb_set_add(&r->branches, &end);
	if (number == UINT32_MAX)
		return false;
	frames[(*n)++] = (struct pd_frame){ ip, pm_implied_mode(r->system, context, ip),
					    number + 1 };
	return true;
}

/*
 * Adds the calls of a chain of n entries, without those that branches stand for: as perf has
 * it, as many entries as there are branches are left out at the other end.
 */
static void add_calls(const struct branches *b, uint32_t chain, uint32_t n,
		      struct pd_frame *frames, size_t *got)
{
	uint32_t n_left = b->n < n ? n - (uint32_t)b->n : 0;
	uint32_t first = (uint32_t)b->skipped, end = n_left;
	struct pd_frames walk = { .rec = b->rec, .mode = PD_CPUMODE_USER };
	size_t begin = *got;
	uint64_t ip;

	if (b->from_caller) {
		first = n - n_left;
		end = n;
	}
	walk.at = chain + (b->from_caller ? 0 : 8 * first);
	walk.end = chain + 8 * end;
	while (pd_frames_next(&walk, &ip)) {
		if (walk.at <= chain + 8 * first)
			continue;
		if (*got - begin == b->max) {
			if (!b->from_caller)
				break;
			memmove(&frames[begin], &frames[begin + 1],
				(b->max - 1) * sizeof(*frames));
			--*got;
		}
		frames[(*got)++] = (struct pd_frame){ ip, (uint32_t)walk.mode, 0 };
	}
}

size_t pm_branch_frames(struct pm_resolver *r, const struct pd_record *rec,
			struct pd_frame *frames)
{
	const struct ps_chain_options *options = r->system->binaries.options.chains;
	struct branches b = {
		.rec = rec,
		.from_caller = options->branches == PS_BRANCHES_CALLER,
		.max = options->max_frames && options->max_frames < MAX_CALLS ?
			       options->max_frames :
			       MAX_CALLS,
	};
	uint32_t at, size, chain = 0, n_chain = 0;
	struct pm_addr_context context;
	size_t n = 0;

	pm_addr_context_of(r->system, rec, &context);
	if (pd_part_find(rec, PD_PART_CALLCHAIN, &at, &size) && size >= 8) {
		chain = at + 8;
		n_chain = (size - 8) / 8;
	}
	read_branches(&b, chain, n_chain);
	if (b.from_caller)
		add_calls(&b, chain, n_chain, frames, &n);
	/* targets come before sources, in either order */
	for (size_t i = 0; i < b.n; i++) {
		const struct branch *branch = &b.list[b.from_caller ? b.n - 1 - i : i];

		if (!add_end(r, &context, branch, !b.from_caller, frames, &n) ||
		    !add_end(r, &context, branch, b.from_caller, frames, &n))
			return 0;
	}
	if (!b.from_caller)
		add_calls(&b, chain, n_chain, frames, &n);
	return n;
}
