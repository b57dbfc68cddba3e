/*
 * The entries of a profile with times: one for each time of a group; and the last times of its
 * threads.
 */
#include <stdlib.h>

#include "profile.h"

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

/* Sets starts[run] to the number of times in the runs before it, of n_runs. */
static void find_starts(const struct pq_time *times, size_t n, const uint32_t *run_of,
			size_t *starts, size_t n_runs)
{
	size_t before = 0;

	for (size_t i = 0; i < n; i++)
		starts[run_of[times[i].group]]++;
	for (size_t run = 0; run < n_runs; run++) {
		size_t size = starts[run];

		starts[run] = before;
		before += size;
	}
}

/*
 * Fills entries[n], those of a run after one another, in the order of the records. Each start
 * becomes the end of its run.
 */
static void place_times(const struct pe_profile *p, const struct pq_time *times, size_t n,
			const uint32_t *run_of, size_t *starts, struct pe_entry *entries)
{
	for (size_t i = 0; i < n; i++) {
		struct pe_entry *entry = &entries[starts[run_of[times[i].group]]++];

		*entry = p->entries[times[i].group];
		entry->time = times[i].time;
		entry->count = 1;
		entry->weight = p->asked->sums ? times[i].weight : 1;
	}
}

bool pe_times_fill(struct pe_profile *p)
{
	size_t n, n_groups = p->n_entries, *starts = calloc(n_groups + 1, sizeof(*starts));
	const struct pq_time *times = pq_groups_times(p->groups, &n);
	uint32_t *by = malloc((n_groups + 1) * sizeof(*by));
	uint32_t *run_of = malloc((n_groups + 1) * sizeof(*run_of));
	struct pe_entry *entries = malloc((n + 1) * sizeof(*entries));
	bool ok = starts && by && run_of && entries;

	if (ok) {
		number_runs(p, by, run_of);
		find_starts(times, n, run_of, starts, n_groups);
		place_times(p, times, n, run_of, starts, entries);
		free(p->entries);
		p->entries = entries;
		p->n_entries = n;
		pq_groups_forget_times(p->groups);
		pe_sort_neighbours(p, false);
	} else {
		free(entries);
	}
	free(starts);
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
