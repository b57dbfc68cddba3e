/* Orders of a profile's entries, and their times made coarser. */
#define _GNU_SOURCE /* qsort_r */
#include <stdlib.h>

#include "base/radix.h"
#include "base/vector.h"
#include "profile.h"

/*
 * The entries of a profile with times: one for each time of a group; and the last times of its
 * threads.
 */

/*
 * Numbers the groups of one event and thread as a run: sets run_of[g] to the number of group g,
 * in order. `by` has room for a number of each group.
 */
static void number_runs(const struct pe_profile *p, uint32_t *by, uint32_t *run_of)
{
	const struct pe_entry *last = NULL;
	uint32_t run = 0;

	pe_sort_entries(p, PE_BY_RUN, by);
	for (size_t i = 0; i < p->n_entries; i++) {
		const struct pe_entry *group = &p->entries[by[i]];

		run += last && (last->event != group->event || last->thread != group->thread);
		run_of[by[i]] = run;
		last = group;
	}
}

/* Sets ends[run] to the number of times in all runs up to it, of n_runs. */
static void find_ends(const struct pe_profile *p, const uint32_t *run_of, size_t *ends,
		      size_t n_runs)
{
	size_t n, before = 0;
	const struct pq_time *times = pq_groups_times(p->groups, &n);

	for (size_t i = 0; i < n; i++)
		ends[run_of[times[i].group]]++;
	for (size_t run = 0; run < n_runs; run++)
		before = ends[run] += before;
}

#define DROPPED_AT_ONCE ((size_t)1 << 14) /* times */

/*
 * Fills entries[n], those of a run after one another, in the order of the records. The last
 * times come first and are freed, so that they go while entries come. Each end becomes the
 * start of its run.
 */
static void place_times(const struct pe_profile *p, const uint32_t *run_of, size_t *ends,
			struct pe_entry *entries)
{
	size_t n;
	const struct pq_time *times = pq_groups_times(p->groups, &n);

	for (size_t i = n; i-- > 0;) {
		struct pe_entry *entry = &entries[--ends[run_of[times[i].group]]];

		*entry = p->entries[times[i].group];
		entry->time = times[i].time;
		entry->count = 1;
		entry->weight = p->asked->sums ? times[i].weight : 1;
		if (i % DROPPED_AT_ONCE == 0) {
			pq_groups_drop_times(p->groups, i);
			times = pq_groups_times(p->groups, &n);
		}
	}
}

bool pe_times_fill(struct pe_profile *p)
{
	size_t n, n_groups = p->n_entries, *ends = pb_zeros(n_groups + 1, sizeof(*ends));
	uint32_t *by = pb_array(n_groups + 1, sizeof(*by));
	uint32_t *run_of = pb_array(n_groups + 1, sizeof(*run_of));
	struct pe_entry *entries;
	bool ok;

	pq_groups_times(p->groups, &n);
	entries = pb_array(n + 1, sizeof(*entries));
	ok = ends && by && run_of && entries;
	if (ok) {
		number_runs(p, by, run_of);
		find_ends(p, run_of, ends, n_groups);
		place_times(p, run_of, ends, entries);
		free(p->entries);
		p->entries = entries;
		p->n_entries = n;
		pe_sort_neighbours(p, false);
	} else {
		free(entries);
	}
	free(ends);
	free(by);
	free(run_of);
	return ok;
}

size_t pe_profile_threads(const struct pe_profile *p, uint64_t *last)
{
	for (size_t i = 0; last && i < p->threads.n; i++)
		last[i] = 0;
	for (size_t i = 0; last && i < p->n_entries; i++) {
		const struct pe_entry *entry = &p->entries[i];

		if (entry->time > last[entry->thread])
			last[entry->thread] = entry->time;
	}
	return p->threads.n;
}

int32_t pe_profile_tid(const struct pe_profile *p, size_t number)
{
	return pe_thread_at(p, (uint32_t)number)->tid;
}

uint64_t *pe_thread_times(const struct pe_profile *p)
{
	uint64_t *last = calloc(p->threads.n + 1, sizeof(*last));

	if (last)
		pe_profile_threads(p, last);
	return last;
}

uint32_t pe_find_names(const struct pe_profile *p, const uint64_t *last, uint32_t i,
		       uint32_t *named)
{
	const struct pe_thread *thread = pe_thread_at(p, i);

	*named = i;
	while (++i < p->threads.n && pe_thread_at(p, i)->pid == thread->pid &&
	       pe_thread_at(p, i)->tid == thread->tid)
		if (last[i] > last[*named])
			*named = i;
	return i;
}

/* Compares `n` numbers, the first one first. */
static int compare_keys(const uint64_t *a, const uint64_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static uint64_t pair_of(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static int compare_by_chain(const void *left, const void *right, void *arg)
{
	const struct pe_entry *entries = arg;
	uint32_t a = entries[*(const uint32_t *)left].stack;
	uint32_t b = entries[*(const uint32_t *)right].stack;

	return (a > b) - (a < b);
}

static int compare_by_stack(const void *left, const void *right, void *arg)
{
	const struct pe_entry *entries = arg;
	const struct pe_entry *a = &entries[*(const uint32_t *)left];
	const struct pe_entry *b = &entries[*(const uint32_t *)right];

	return compare_keys((uint64_t[]){ pair_of(a->thread, a->stack), a->event },
			    (uint64_t[]){ pair_of(b->thread, b->stack), b->event }, 2);
}

static int compare_by_thread(const void *left, const void *right, void *arg)
{
	const struct pe_entry *entries = arg;
	const struct pe_entry *a = &entries[*(const uint32_t *)left];
	const struct pe_entry *b = &entries[*(const uint32_t *)right];

	return compare_keys((uint64_t[]){ pair_of(a->thread, a->event), a->time, a->stack },
			    (uint64_t[]){ pair_of(b->thread, b->event), b->time, b->stack }, 3);
}

static int compare_by_event(const void *left, const void *right, void *arg)
{
	const struct pe_entry *entries = arg;
	const struct pe_entry *a = &entries[*(const uint32_t *)left];
	const struct pe_entry *b = &entries[*(const uint32_t *)right];

	return compare_keys((uint64_t[]){ a->event, a->time, pair_of(a->thread, a->stack) },
			    (uint64_t[]){ b->event, b->time, pair_of(b->thread, b->stack) }, 3);
}

static int compare_by_run(const void *left, const void *right, void *arg)
{
	const struct pe_entry *entries = arg;
	const struct pe_entry *a = &entries[*(const uint32_t *)left];
	const struct pe_entry *b = &entries[*(const uint32_t *)right];

	return compare_keys((uint64_t[]){ pair_of(a->event, a->thread) },
			    (uint64_t[]){ pair_of(b->event, b->thread) }, 1);
}

/*
 * Sorts by[n], n successive numbers of entries of one event, which are in their own order, by
 * time. Returns false if times are too far apart, see pb_radix_number(), or without memory.
 */
static bool sort_by_time(const struct pe_profile *p, uint32_t *by, size_t n)
{
	uint64_t *times = pb_array(2 * n, sizeof(*times));
	uint32_t first = *by;
	bool sorted;

	if (!times)
		return false;
	for (size_t i = 0; i < n; i++)
		times[i] = p->entries[first + i].time;
	sorted = pb_radix_number(times, n, by);
	for (size_t i = 0; sorted && i < n; i++)
		by[i] += first;
	free(times);
	return sorted;
}

/*
 * Sorts in PE_BY_EVENT the numbers of all entries, which are in their own order. Returns false
 * as sort_by_time() does.
 */
static bool sort_by_event(const struct pe_profile *p, uint32_t *by)
{
	for (size_t from = 0, to = 0; from < p->n_entries; from = to) {
		while (to < p->n_entries && p->entries[to].event == p->entries[from].event)
			to++;
		if (!sort_by_time(p, by + from, to - from))
			return false;
	}
	return true;
}

void pe_sort_entries(const struct pe_profile *p, enum pe_order order, uint32_t *by)
{
	static int (*const compare[])(const void *, const void *, void *) = {
		[PE_BY_CHAIN] = compare_by_chain,   [PE_BY_STACK] = compare_by_stack,
		[PE_BY_THREAD] = compare_by_thread, [PE_BY_EVENT] = compare_by_event,
		[PE_BY_RUN] = compare_by_run,
	};
	/* without several events it is their own order */
	bool own = order == PE_BY_THREAD && p->n_events < 2, sorted = true;

	for (uint32_t i = 0; i < p->n_entries; i++) {
		by[i] = i;
		sorted = sorted &&
			 (own || !i || compare[order](&by[i - 1], &by[i], p->entries) <= 0);
	}
	if (!sorted && (order != PE_BY_EVENT || !sort_by_event(p, by)))
		qsort_r(by, p->n_entries, sizeof(*by), compare[order], p->entries);
}

static int compare_entries(const void *left, const void *right)
{
	const struct pe_entry *a = left, *b = right;

	if (a->event == b->event && a->thread == b->thread && a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return compare_keys((uint64_t[]){ pair_of(a->event, a->thread),
					  pair_of(a->stack, a->cpu) },
			    (uint64_t[]){ pair_of(b->event, b->thread),
					  pair_of(b->stack, b->cpu) },
			    2);
}

void pe_sort_profile(struct pe_profile *p)
{
	if (p->n_entries)
		qsort(p->entries, p->n_entries, sizeof(*p->entries), compare_entries);
}

/* Adds up equal entries, which are neighbours. */
static void add_equal(struct pe_profile *p)
{
	struct pe_entry *last = p->entries;

	for (size_t i = 1; i < p->n_entries; i++) {
		const struct pe_entry *entry = &p->entries[i];

		if (compare_entries(last, entry)) {
			*++last = *entry;
			continue;
		}
		last->count += entry->count;
		last->weight += entry->weight;
	}
	if (p->n_entries)
		p->n_entries = (size_t)(last - p->entries) + 1;
}

/* Moves entries[n] to where by[n] has their numbers, from `from` on, which it overwrites. */
static void move_entries(struct pe_entry *entries, uint32_t from, uint32_t *by, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct pe_entry first = entries[i];
		size_t to = i;

		for (size_t next = by[to] - from; next != i; next = by[to] - from) {
			entries[to] = entries[next];
			by[to] = from + (uint32_t)to;
			to = next;
		}
		entries[to] = first;
		by[to] = from + (uint32_t)to;
	}
}

/* Sorts `n` entries of one event and thread, which are in no order. */
static void sort_entries(struct pe_profile *p, size_t from, size_t n)
{
	struct pe_entry *entries = &p->entries[from];
	uint32_t *by = pb_array(n, sizeof(*by));
	size_t next = n;

	for (size_t i = 0; by && i < n; i++)
		by[i] = (uint32_t)(from + i);
	if (by && sort_by_time(p, by, n)) {
		move_entries(entries, (uint32_t)from, by, n);
		next = 1;
	}
	free(by);
	/* what has one time, or all if it could not be sorted by time */
	for (size_t at = 0; at < n; at = next, next++) {
		while (next < n && entries[next].time == entries[at].time)
			next++;
		if (next - at > 1)
			qsort(&entries[at], next - at, sizeof(*entries), compare_entries);
	}
}

/* Sorts the entries from `from` on with the same event and thread. Returns their end. */
static size_t sort_run(struct pe_profile *p, size_t from, bool same_time)
{
	const struct pe_entry *first = &p->entries[from], *entry = first;
	bool sorted = true;
	size_t to = from;

	while (++to < p->n_entries) {
		entry = &p->entries[to];
		if (entry->thread != first->thread || entry->event != first->event ||
		    (same_time && entry->time != first->time))
			break;
		sorted = sorted && compare_entries(entry - 1, entry) <= 0;
	}
	if (!sorted)
		sort_entries(p, from, to - from);
	return to;
}

void pe_sort_neighbours(struct pe_profile *p, bool same_time)
{
	for (size_t at = 0; at < p->n_entries;)
		at = sort_run(p, at, same_time);
	add_equal(p);
}

void pe_coarsen_times(struct pe_profile *p, uint64_t step)
{
	p->is_coarse = true;
	for (size_t i = 0; i < p->n_entries; i++)
		p->entries[i].time &= ~(step - 1);
	pe_sort_neighbours(p, true);
}
