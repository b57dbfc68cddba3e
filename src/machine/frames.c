#include "frames.h"

#include "internal.h"
#include "resolver.h"
#include "perfdata/format/perf_text.h"
#include "perfdata/format/sample.h"
#include "perfdata/format/views.h"

#define BRANCH_CALL_STACK (UINT64_C(1) << 11) /* PERF_SAMPLE_BRANCH_CALL_STACK */

/* Sets *chain to the call chain of a sample. Returns false if it has none. */
static bool open_callchain(const struct pd_record *rec, struct pd_view *chain)
{
	struct pd_value value = { .type = PD_VIEW };
	uint32_t at, size;

	if (!pd_part_find(rec, PD_PART_CALLCHAIN, &at, &size))
		return false;
	value.view = (struct pd_view){ .desc = &pd_view_callchain, .rec = rec, .at = at };
	pd_open_callchain(rec, at, &value);
	if (value.type == PD_VIEW)
		*chain = value.view;
	return value.type == PD_VIEW;
}

static bool samples_user_stack(const struct pd_shape *shape)
{
	return shape->sample_type & PD_SAMPLE_REGS_USER &&
	       shape->sample_type & PD_SAMPLE_STACK_USER;
}

bool pm_has_lbr_stack(const struct pd_record *rec)
{
	return rec->layout->shape->branch_sample_type & BRANCH_CALL_STACK;
}

/*
 * Appends the frames of `chain` that precede its user part to frames[n] and adds their number
 * to *got. Returns false if the chain has no user part.
 */
static bool read_kernel_part(const struct pd_view *chain, struct pd_frame *frames, size_t n,
			     size_t *got)
{
	struct pd_frames walk;
	uint64_t ip;

	pd_frames_init(&walk, chain);
	walk.mode = PD_CPUMODE_UNKNOWN; /* no marker yet */
	while (pd_frames_next(&walk, &ip) && walk.mode != PD_CPUMODE_USER) {
		enum pd_cpumode mode = walk.mode;

		if (mode == PD_CPUMODE_UNKNOWN)
			mode = PD_CPUMODE_USER;
		if (*got < n)
			frames[(*got)++] = (struct pd_frame){ ip, mode, 0 };
	}
	return walk.mode == PD_CPUMODE_USER;
}

/*
 * Returns where the user was after the latest call, whose branch is at `at`: at ip, if that is
 * the user's and the version of perf that is followed says so, or else where the call went.
 */
static uint64_t find_lbr_leaf(const struct pm_resolver *r, const struct pd_record *rec,
			      uint32_t at)
{
	int64_t ip;

	if (r->system->session->text & PD_TEXT_LBR_LEAF &&
	    (rec->misc & PD_MISC_CPUMODE) == PD_CPUMODE_USER &&
	    pm_integer(rec, r->system->ids.ip, &ip))
		return (uint64_t)ip;
	return pd_rec64(rec, at + 8);
}

/*
 * Reads the frames of a sample whose branches are a call stack to r->frames, and stores their
 * number in *got: the kernel's frames of its call chain, then where the user was after the
 * latest call, and the source of each. Returns false if the chain has no user part, which they
 * would replace, or there are no branches. See resolve_lbr_callchain_sample,
 * tools/perf/util/machine.c.
 */
static bool read_lbr_frames(struct pm_resolver *r, const struct pd_view *chain, size_t *got)
{
	const struct ps_chain_options *options = r->system->binaries.options.chains;
	const struct pd_record *rec = chain->rec;
	struct pd_frame *frames = r->frames;
	struct pd_branches branches;
	const uint64_t *callers;
	uint32_t at, size;
	size_t n = PM_MAX_FRAMES, n_callers = 0;

	*got = 0;
	if (!pd_part_find(rec, PD_PART_BRANCH_STACK, &at, &size) ||
	    !pd_branches_read(rec, at, &branches) || !branches.count ||
	    !read_kernel_part(chain, frames, n, got))
		return false;
	at = branches.entries;
	if (*got < n)
		frames[(*got)++] = (struct pd_frame){ find_lbr_leaf(r, rec, at),
						      PD_CPUMODE_USER, 0 };
	for (uint32_t i = 0; i < branches.count && *got < n; i++, at += 24)
		frames[(*got)++] = (struct pd_frame){ pd_rec64(rec, at), PD_CPUMODE_USER, 0 };
	if (options && options->lbr_depth)
		n_callers = pm_stitch(&r->stitches, r->system, rec, options->lbr_depth,
				      &callers);
	for (size_t i = 0; i < n_callers && *got < n; i++)
		frames[(*got)++] = (struct pd_frame){ callers[i], PD_CPUMODE_USER, 0 };
	return true;
}

bool pm_frames_may_differ(const struct pd_record *rec)
{
	const struct pd_shape *shape = rec->layout->shape;
	struct pd_view chain;
	uint64_t cookie;

	if (rec->type != PD_RECORD_SAMPLE || !(shape->sample_type & PD_SAMPLE_CALLCHAIN))
		return false;
	return pm_unwinder_knows_leaf(shape) ||
	       (samples_user_stack(shape) && pm_unwinder_knows(rec)) || pm_has_lbr_stack(rec) ||
	       (shape->defer && open_callchain(rec, &chain) &&
		pd_frames_cookie(&chain, &cookie));
}

static void append_frame(struct pm_resolver *r, size_t *n, uint64_t ip, enum pd_cpumode mode)
{
	if (*n < PM_MAX_FRAMES)
		r->frames[(*n)++] = (struct pd_frame){ ip, mode, 0 };
}

/* Returns the unwinder, and sets *context to that of `rec`; NULL: no memory. */
static struct pm_unwinder *prepare_unwinder(struct pm_resolver *r, const struct pd_record *rec,
					    struct pm_addr_context *context)
{
	pm_addr_context_of(r->system, rec, context);
	if (!r->unwinder)
		r->unwinder = pm_unwinder_create(r->system);
	return r->unwinder;
}

/*
 * Appends the caller of a leaf function on arm64. A leaf has no frame record, so its caller is
 * taken from the link register, unless it equals `next`, the first recorded caller.
 */
static void append_leaf_caller(struct pm_resolver *r, const struct pd_record *rec, uint64_t ip,
			       uint64_t next, size_t *n)
{
	struct pm_addr_context context;
	struct pm_unwinder *unwinder = prepare_unwinder(r, rec, &context);
	uint64_t caller;

	if (unwinder && pm_unwind_leaf(unwinder, rec, &context, ip, &caller) && caller != next)
		append_frame(r, n, caller, PD_CPUMODE_USER);
}

static void append_recorded(struct pm_resolver *r, const struct pd_view *chain, size_t *n)
{
	bool leaf = pm_unwinder_knows_leaf(chain->rec->layout->shape);
	struct pd_frames walk;
	uint64_t ip, first = 0;
	size_t user = 0;

	pd_frames_init(&walk, chain);
	while (pd_frames_next(&walk, &ip)) {
		if (walk.mode == PD_CPUMODE_USER && user++ == 0)
			first = ip;
		else if (walk.mode == PD_CPUMODE_USER && leaf && user == 2)
			append_leaf_caller(r, chain->rec, first, ip, n);
		append_frame(r, n, ip, walk.mode);
	}
}

bool pm_deferred_frames(struct pm_resolver *r, const struct pd_record *rec, uint64_t cookie,
			uint64_t *ips, size_t *n)
{
	const struct pm_system *sys = r->system;
	int64_t tid;

	return pm_integer(rec, sys->ids.tid, &tid) &&
	       pm_deferred_find(&sys->deferred, pm_machine_of(sys, rec), (int32_t)tid, cookie,
				ips, PM_MAX_FRAMES, n);
}

/* Returns false if the deferred frames are not known yet; they may come later. */
static bool append_deferred(struct pm_resolver *r, const struct pd_record *rec, uint64_t cookie,
			    size_t *n)
{
	uint64_t ips[PM_MAX_FRAMES];
	size_t got;

	if (!pm_deferred_frames(r, rec, cookie, ips, &got))
		return false;
	for (size_t i = 0; i < got; i++)
		append_frame(r, n, ips[i], PD_CPUMODE_USER);
	return true;
}

size_t pm_unwound_frames(struct pm_resolver *r, const struct pd_record *rec, uint64_t *ips,
			 bool *is_whole)
{
	struct pm_addr_context context;
	struct pm_unwinder *unwinder = prepare_unwinder(r, rec, &context);

	*is_whole = false;
	return unwinder ? pm_unwind(unwinder, rec, &context, ips, PM_MAX_UNWOUND, is_whole) : 0;
}

static void append_unwound(struct pm_resolver *r, const struct pd_record *rec, size_t *n)
{
	uint64_t ips[PM_MAX_UNWOUND];
	bool is_whole;
	size_t got = pm_unwound_frames(r, rec, ips, &is_whole);

	for (size_t i = 0; i < got; i++)
		append_frame(r, n, ips[i], PD_CPUMODE_USER);
}

const struct pd_frame *pm_frames_of(struct pm_resolver *r, const struct pd_record *rec,
				    size_t *n)
{
	struct pd_view chain;
	uint64_t cookie;
	bool whole = true;
	size_t got = 0;

	*n = 0;
	if (pm_is_at_position(&r->latest.position, rec)) {
		*n = r->latest.n;
		return r->frames;
	}
	r->latest.position.is_set = false;
	if (pm_adds_branches(r, rec)) {
		*n = pm_branch_frames(r, rec, r->frames);
		return r->frames;
	}
	if (!open_callchain(rec, &chain))
		return r->frames;
	if (!pm_has_lbr_stack(rec) || !read_lbr_frames(r, &chain, &got)) {
		got = 0;
		append_recorded(r, &chain, &got);
	}
	if (pd_frames_cookie(&chain, &cookie))
		whole = append_deferred(r, rec, cookie, &got);
	if (samples_user_stack(rec->layout->shape))
		append_unwound(r, rec, &got);
	pm_set_position(&r->latest.position, rec);
	r->latest.position.is_set = whole;
	r->latest.n = got;
	*n = got;
	return r->frames;
}
