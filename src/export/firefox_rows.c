/*
 * The rows of a profile of the Firefox Profiler: one for each thread and event, and which of
 * them are seen at first.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "firefox.h"

/*
 * Returns the thread that a process is named after: its main thread under its last name, or
 * thread `number` of the process, if no sample is of the main thread.
 */
static uint32_t find_leader(const struct firefox *w, uint32_t number)
{
	const struct pe_profile *p = w->profile;
	const struct pe_thread *thread = pe_thread_at(p, number);
	uint32_t from = 0, to = (uint32_t)p->threads.n;

	/* threads are in the order of pid and tid */
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		const struct pe_thread *at = pe_thread_at(p, middle);

		if (at->pid < thread->pid || (at->pid == thread->pid && at->tid < thread->pid))
			from = middle + 1;
		else
			to = middle;
	}
	if (from < p->threads.n && pe_thread_at(p, from)->pid == thread->pid &&
	    pe_thread_at(p, from)->tid == thread->pid)
		pe_find_names(p, w->last, from, &number);
	return number;
}

/* Sets *row to that whose entries begin at `at`. */
static void fill_row(const struct firefox *w, size_t at, struct firefox_row *row)
{
	const struct pe_entry *first = pe_firefox_entry(w, at);

	*row = (struct firefox_row){
		.from = at,
		.to = at,
		.thread = first->thread,
		.event = first->event,
		.leader = find_leader(w, first->thread),
	};
	for (; row->to < w->profile->n_entries; row->to++) {
		const struct pe_entry *entry = pe_firefox_entry(w, row->to);

		if (entry->thread != first->thread || entry->event != first->event)
			break;
		row->weight += entry->weight;
	}
}

/* Sets what the rows of one thread, rows[0 … n - 1], know of each other. */
static void mark_rows(const struct firefox *w, struct firefox_row *rows, size_t n)
{
	const struct pe_thread *thread = pe_thread_at(w->profile, rows->thread);
	uint32_t event = pe_main_event(w->profile);
	size_t leading = 0;

	for (size_t i = 0; i < n; i++) {
		rows[i].all_from = rows[0].from;
		rows[i].all_to = rows[n - 1].to;
		if (rows[i].event == event)
			leading = i;
	}
	rows[leading].is_leading = true;
	rows[leading].is_main = thread->pid == thread->tid && rows->leader == rows->thread;
}

bool pe_firefox_rows(struct firefox *w)
{
	size_t room = 0, first = 0;

	for (size_t at = 0; at < w->profile->n_entries; at = w->rows[w->n_rows++].to) {
		if (!pb_reserve(w->rows, w->n_rows, room))
			return false;
		fill_row(w, at, &w->rows[w->n_rows]);
	}
	for (size_t i = 1; i <= w->n_rows; i++) {
		if (i < w->n_rows && w->rows[i].thread == w->rows[first].thread)
			continue;
		mark_rows(w, &w->rows[first], i - first);
		first = i;
	}
	return true;
}

size_t pe_firefox_shown(const struct firefox *w, size_t *shown)
{
	uint32_t event = pe_main_event(w->profile);
	size_t n = 0;

	for (size_t i = 0; i < w->n_rows; i++) {
		size_t at = n;

		if (w->rows[i].event != event)
			continue;
		/* heaviest first */
		while (at && w->rows[shown[at - 1]].weight < w->rows[i].weight)
			at--;
		if (at == PE_FIREFOX_SHOWN)
			continue;
		n += n < PE_FIREFOX_SHOWN;
		memmove(&shown[at + 1], &shown[at], (n - at - 1) * sizeof(*shown));
		shown[at] = i;
	}
	return n;
}
