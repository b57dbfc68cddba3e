#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/symbols.h"

const struct pm_thread *pm_thread_find(const struct pm_threads *t, uint32_t system, int32_t tid)
{
	uint32_t i = pb_id_map_find(&t->by_tid, pm_key_of(system, tid));

	return i == UINT32_MAX ? NULL : &t->threads[i];
}

static struct pm_thread *find_or_add(struct pm_threads *t, uint32_t system, int32_t tid)
{
	uint32_t i = pb_id_map_find(&t->by_tid, pm_key_of(system, tid));

	if (i != UINT32_MAX)
		return &t->threads[i];
	if (!pb_reserve(t->threads, t->n, t->capacity) ||
	    !pb_id_map_add(&t->by_tid, pm_key_of(system, tid), (uint32_t)t->n))
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
	/*
	 * nearly always it is the last one; so far back as this would take long is nothing but
	 * damage
	 */
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

#define SHORT  64 /* steps of a walk that are always allowed */
#define CREDIT 64 /* further ones, for each moment that is added */

size_t pm_threads_limit(const struct pm_threads *t)
{
	return SHORT + t->credit;
}

void pm_threads_walked(const struct pm_threads *t, size_t steps)
{
	if (steps > SHORT)
		((struct pm_threads *)t)->credit -= steps - SHORT;
}

/* Goes to the moment that a name is inherited from; *at becomes -1 where nothing is known. */
static const struct pm_thread *step_back(const struct pm_threads *t,
					 const struct pm_thread *thread, ptrdiff_t *at)
{
	const struct pm_moment *m = &thread->moments[*at];

	if (m->kind == PM_EXIT || m->parent == thread->tid) {
		--*at; /* what has ended keeps its name */
		return thread;
	}
	/* it may have been named, or its name have been read, after this was */
	thread = pm_thread_find(t, thread->system, m->parent);
	*at = pm_thread_at(thread, m->time);
	return thread;
}

uint32_t pm_thread_inherited(const struct pm_threads *t, const struct pm_thread *thread,
			     ptrdiff_t at)
{
	const struct pm_thread *first = thread;
	ptrdiff_t first_at = at;
	uint32_t name = PM_NO_NAME;
	size_t n = 0, limit = pm_threads_limit(t);

	for (; at >= 0 && n < limit; thread = step_back(t, thread, &at), n++) {
		struct pm_moment *m = &thread->moments[at];

		name = m->name;
		if (name == PM_NO_NAME && m->inherited_version == t->version)
			name = m->inherited;
		if (name != PM_NO_NAME || m->inherited_version == t->version)
			break;
		/* a circle of forks at one time ends where it began */
		m->inherited = PM_NO_NAME;
		m->inherited_version = t->version;
	}
	if (at < 0 && thread->tid == 0)
		name = t->idle;
	pm_threads_walked(t, n);
	for (; name != PM_NO_NAME && n--; first = step_back(t, first, &first_at))
		first->moments[first_at].inherited = name;
	return name;
}

void pm_threads_settle(struct pm_threads *t)
{
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->threads[i].n; k++)
			pm_thread_name(t, &t->threads[i], (ptrdiff_t)k);
}

/* Something of a time is added to a thread: what was inherited from it may change. */
static void note_change(struct pm_threads *t, const struct pm_thread *thread,
			const struct pm_moment *moment)
{
	uint64_t time = moment->time;

	/* what was written before it was may count then */
	if (moment->kind == PM_EXIT && moment->lag < 0)
		time += (uint64_t)(int64_t)moment->lag;
	t->credit += CREDIT;
	t->version += time < thread->forked;
}

bool pm_threads_add(struct pm_threads *t, uint32_t system, int32_t tid, struct pm_moment moment,
		    struct pd_text text)
{
	struct pm_thread *thread, *parent = NULL;

	thread = find_or_add(t, system, tid);
	if (thread && moment.kind == PM_FORK) {
		parent = find_or_add(t, system, moment.parent);
		if (!parent)
			return false;
		thread = find_or_add(t, system, tid); /* threads may have moved */
	}
	if (!thread)
		return false;
	if (moment.time == PM_NO_TIME)
		moment.time = thread->n ? thread->moments[thread->n - 1].time : 0;
	if (moment.kind == PM_COMM) {
		moment.name = pm_names_add(t->names, text);
		if (moment.name == PM_NO_NAME)
			return false;
	} else if (parent) {
		if (moment.time >= parent->forked)
			parent->forked = moment.time + 1;
		if (t->in_order && parent->n)
			moment.name = pm_thread_name(t, parent,
						     pm_thread_at(parent, moment.time));
	}
	note_change(t, thread, &moment);
	return insert(thread, &moment);
}

void pm_threads_init(struct pm_threads *t)
{
	*t = (struct pm_threads){ .names = t->names, .version = 1 };
}

void pm_threads_deinit(struct pm_threads *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->threads[i].moments);
	free(t->threads);
	pb_id_map_deinit(&t->by_tid);
	*t = (struct pm_threads){ .names = t->names };
}
