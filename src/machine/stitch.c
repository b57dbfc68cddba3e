#include "resolver.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vector.h"
#include "internal.h"
#include "frames.h"
#include "perfdata/format/sample.h"

#define ENTRY 24 /* bytes of a branch: from, to, flags */

/* The latest sample of a thread. */
struct pm_stitched_thread {
	uint32_t machine;
	int32_t tid;
	uint64_t hw_idx;
	uint32_t count;
	uint64_t *entries; /* [3 * count]: from, to and flags of each branch, newest first */
	size_t entries_room;
	uint64_t *callers; /* [n_callers]: sources of calls outside these, innermost first */
	size_t n_callers, callers_room;
};

void pm_stitches_deinit(struct pm_stitches *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->threads[i].entries);
		free(s->threads[i].callers);
	}
	free(s->threads);
	pb_map_deinit(&s->by_thread);
	*s = (struct pm_stitches){ 0 };
}

static bool is_thread(const void *arg, uint32_t item)
{
	const struct pm_stitches *s = arg;
	const struct pm_stitched_thread *a = &s->threads[item], *b = &s->threads[s->n];

	return a->machine == b->machine && a->tid == b->tid;
}

/* Returns the thread of a sample; NULL: it has none, or there is no memory. */
static struct pm_stitched_thread *find_thread(struct pm_stitches *s,
					      const struct pm_system *system,
					      const struct pd_record *rec)
{
	uint32_t machine = pm_machine_of(system, rec), number;
	int64_t tid;

	if (!pm_integer(rec, system->ids.tid, &tid) || !pb_reserve(s->threads, s->n, s->room))
		return NULL;
	if (!s->n)
		pb_secret_make(&s->secret);
	s->threads[s->n] = (struct pm_stitched_thread){ .machine = machine,
							.tid = (int32_t)tid };
	number = pb_map_intern(&s->by_thread, pb_hash_pair(&s->secret, machine, (uint64_t)tid),
			       is_thread, s, (uint32_t)s->n);
	if (number == UINT32_MAX)
		return NULL;
	s->n += number == s->n;
	return &s->threads[number];
}

/* Returns true if branch `i` of a sample is branch `j` of the one before it. */
static bool is_same_branch(const struct pd_record *rec, const struct pd_branches *branches,
			   uint32_t i, const struct pm_stitched_thread *thread, uint32_t j)
{
	uint32_t at = branches->entries + i * ENTRY;
	const uint64_t *entry = thread->entries + 3 * (size_t)j;

	return pd_rec64(rec, at) == entry[0] && pd_rec64(rec, at + 8) == entry[1] &&
	       pd_rec64(rec, at + 16) == entry[2];
}

/*
 * Finds the branch of the thread's last sample that lies in the register of the oldest branch
 * of this one. Returns its number; UINT32_MAX: there is none, or it is another branch.
 */
static uint32_t find_base(const struct pm_stitched_thread *thread, const struct pd_record *rec,
			  const struct pd_branches *branches, uint32_t depth)
{
	uint64_t base, distance;

	if (!branches->count || branches->count > depth || branches->hw_idx >= depth ||
	    thread->hw_idx >= depth || !thread->count)
		return UINT32_MAX;
	base = depth - branches->count + branches->hw_idx + 1;
	distance = thread->hw_idx > base ? thread->hw_idx - base :
					   depth + thread->hw_idx - base;
	/* base may be a whole round too high */
	if (distance >= thread->count ||
	    !is_same_branch(rec, branches, branches->count - 1, thread, (uint32_t)distance))
		return UINT32_MAX;
	return (uint32_t)distance;
}

/*
 * Puts the callers of the thread's last sample that lie outside its branch `base` before those
 * that it was stitched to. Returns false without memory.
 */
static bool add_callers(struct pm_stitched_thread *thread, uint32_t base)
{
	size_t more = thread->count - 1 - base;

	/* the outermost of endless recursion have no room in a call chain */
	if (thread->n_callers + more > PM_MAX_FRAMES)
		thread->n_callers = more > PM_MAX_FRAMES ? 0 : PM_MAX_FRAMES - more;
	if (!pb_reserve_more(thread->callers, thread->n_callers, more, thread->callers_room))
		return false;
	if (thread->n_callers)
		memmove(thread->callers + more, thread->callers,
			thread->n_callers * sizeof(*thread->callers));
	for (size_t i = 0; i < more; i++)
		thread->callers[i] = thread->entries[3 * (base + 1 + i)];
	thread->n_callers += more;
	return true;
}

/* Makes a sample the thread's last one. Returns false without memory. */
static bool take_sample(struct pm_stitched_thread *thread, const struct pd_record *rec,
			const struct pd_branches *branches)
{
	size_t n = 3 * (size_t)branches->count;

	thread->count = 0;
	if (!pb_reserve_more(thread->entries, 0, n, thread->entries_room))
		return false;
	for (size_t i = 0; i < n; i++)
		thread->entries[i] = pd_rec64(rec, branches->entries + 8 * (uint32_t)i);
	thread->count = branches->count;
	thread->hw_idx = branches->hw_idx;
	return true;
}

size_t pm_stitch(struct pm_stitches *s, const struct pm_system *system,
		 const struct pd_record *rec, uint32_t depth, const uint64_t **callers)
{
	struct pm_stitched_thread *thread;
	struct pd_branches branches;
	uint32_t at, size, base;

	if (!pd_part_find(rec, PD_PART_BRANCH_STACK, &at, &size) ||
	    !pd_branches_read(rec, at, &branches) || !branches.has_hw_idx)
		return 0;
	thread = find_thread(s, system, rec);
	if (!thread)
		return 0;
	base = find_base(thread, rec, &branches, depth);
	if (base == UINT32_MAX || !add_callers(thread, base))
		thread->n_callers = 0;
	if (!branches.count || branches.count > depth || !take_sample(thread, rec, &branches)) {
		thread->count = 0;
		thread->n_callers = 0;
	}
	*callers = thread->callers;
	return thread->n_callers;
}
