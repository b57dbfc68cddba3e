#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/symbols.h"

const struct pm_thread *pm_thread_find(const struct pm_threads *t, uint32_t system, int32_t tid)
{
	uint32_t i = pd_id_table_find(&t->by_tid, pm_key_of(system, tid));

	return i == UINT32_MAX ? NULL : &t->threads[i];
}

static struct pm_thread *find_or_add(struct pm_threads *t, uint32_t system, int32_t tid)
{
	uint32_t i = pd_id_table_find(&t->by_tid, pm_key_of(system, tid));

	if (i != UINT32_MAX)
		return &t->threads[i];
	if (!pb_reserve(t->threads, t->n, t->capacity) ||
	    !pd_id_table_add(&t->by_tid, pm_key_of(system, tid), (uint32_t)t->n))
		return NULL;
	t->threads[t->n] = (struct pm_thread){ .system = system, .tid = tid };
	return &t->threads[t->n++];
}

#define MAX_BACK 1024 /* moments */

static bool insert(struct pm_thread *thread, const struct pm_moment *moment)
{
	size_t at = thread->n;

	if (!pb_reserve(thread->moments, thread->n, thread->capacity))
		return false;
	/* nearly always it is the last one; so far back as this would take long is nothing but damage */
	while (at && thread->moments[at - 1].time > moment->time && thread->n - at < MAX_BACK)
		at--;
	memmove(&thread->moments[at + 1], &thread->moments[at],
		(thread->n - at) * sizeof(*moment));
	thread->moments[at] = *moment;
	thread->n++;
	return true;
}

ptrdiff_t pm_thread_search(const struct pm_thread *thread, uint64_t time)
{
	size_t low = 0, high = thread->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (thread->moments[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return (ptrdiff_t)low - 1;
}

#define GENERATIONS 64 /* of forks whose names are not known: more are damage */

uint32_t pm_thread_inherited(const struct pm_threads *t, const struct pm_thread *thread,
			     ptrdiff_t at)
{
	int32_t tid = thread->tid;

	for (int i = 0; i < GENERATIONS && at >= 0; i++) {
		const struct pm_moment *m = &thread->moments[at];

		if (m->name != PM_NO_NAME)
			return m->name;
		if (m->kind == PM_EXIT || m->parent == thread->tid) {
			at--; /* what has ended keeps its name */
			continue;
		}
		/* it may have been named, or its name have been read, after this was */
		tid = m->parent;
		thread = pm_thread_find(t, thread->system, tid);
		at = thread ? pm_thread_at(thread, m->time) : -1;
	}
	return tid == 0 ? t->idle : PM_NO_NAME;
}

bool pm_threads_add(struct pm_threads *t, uint32_t system, int32_t tid, struct pm_moment moment,
		    struct pd_text text)
{
	struct pm_thread *thread = find_or_add(t, system, tid);
	const struct pm_thread *parent;

	if (!thread)
		return false;
	if (moment.time == PM_NO_TIME)
		moment.time = thread->n ? thread->moments[thread->n - 1].time : 0;
	if (moment.kind == PM_COMM) {
		moment.name = pm_names_add(t->names, text);
		if (moment.name == PM_NO_NAME)
			return false;
	} else if (moment.kind == PM_FORK && t->in_order) {
		parent = pm_thread_find(t, system, moment.parent);
		if (parent)
			moment.name = pm_thread_name(t, parent,
						     pm_thread_at(parent, moment.time));
	}
	return insert(thread, &moment);
}

void pm_threads_deinit(struct pm_threads *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->threads[i].moments);
	free(t->threads);
	pd_id_table_deinit(&t->by_tid);
	*t = (struct pm_threads){ .names = t->names };
}
