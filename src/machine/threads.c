#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/symbols.h"

const struct pm_thread *pm_thread_find(const struct pm_threads *t, uint32_t machine,
				       int32_t tid)
{
	uint32_t i = pb_id_map_find(&t->by_tid, pm_key_of(machine, tid));

	return i == UINT32_MAX ? NULL : &t->threads[i];
}

static struct pm_thread *find_or_add_thread(struct pm_threads *t, uint32_t machine, int32_t tid)
{
	uint32_t i = pb_id_map_find(&t->by_tid, pm_key_of(machine, tid));

	if (i != UINT32_MAX)
		return &t->threads[i];
	if (!pb_reserve(t->threads, t->n, t->capacity) ||
	    !pb_id_map_add(&t->by_tid, pm_key_of(machine, tid), (uint32_t)t->n))
		return NULL;
	t->threads[t->n] = (struct pm_thread){ .machine = machine, .tid = tid };
	return &t->threads[t->n++];
}

#define MAX_BACK 1024 /* events */

static bool insert_event(struct pm_thread *thread, const struct pm_thread_event *event)
{
	size_t at = thread->n;

	if (!pb_reserve(thread->events, thread->n, thread->capacity))
		return false;
	/*
	 * Nearly always it is the last one. Only damaged input goes back so far that this takes
	 * long.
	 */
	while (at && thread->events[at - 1].time > event->time && thread->n - at < MAX_BACK)
		at--;
	memmove(&thread->events[at + 1], &thread->events[at],
		(thread->n - at) * sizeof(*event));
	thread->events[at] = *event;
	thread->n++;
	return true;
}

ptrdiff_t pm_thread_search(const struct pm_thread *thread, uint64_t time)
{
	size_t low = 0, high = thread->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (thread->events[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return (ptrdiff_t)low - 1;
}

#define SHORT  64 /* steps that every walk may take */
#define CREDIT 64 /* further steps that each added event pays for */

size_t pm_threads_limit(const struct pm_threads *t)
{
	return SHORT + t->credit;
}

void pm_threads_walked(const struct pm_threads *t, size_t steps)
{
	if (steps > SHORT)
		((struct pm_threads *)t)->credit -= steps - SHORT;
}

/* Goes to the event that a name is inherited from. Sets *at to -1 if there is none. */
static const struct pm_thread *step_to_inherited(const struct pm_threads *t,
						 const struct pm_thread *thread, ptrdiff_t *at)
{
	const struct pm_thread_event *m = &thread->events[*at];

	if (m->kind == PM_EXIT || m->parent == thread->tid) {
		--*at; /* after its end a thread keeps its name */
		return thread;
	}
	/* its name as of the fork, whatever it was called later */
	thread = pm_thread_find(t, thread->machine, m->parent);
	*at = pm_thread_at(thread, m->time);
	return thread;
}

/* Returns the name of the end if event `at` is the last one before; else PM_NO_STRING. */
static uint32_t find_name_of_end(const struct pm_thread *thread, ptrdiff_t at)
{
	ptrdiff_t next = at + 1, last = (ptrdiff_t)thread->n - 1;

	return next <= last && thread->events[next].time == PM_NO_TIME ?
		       thread->events[last].name :
		       PM_NO_STRING;
}

uint32_t pm_thread_inherited(const struct pm_threads *t, const struct pm_thread *thread,
			     ptrdiff_t at)
{
	const struct pm_thread *first = thread;
	ptrdiff_t first_at = at;
	uint32_t name = PM_NO_STRING, name_of_end = PM_NO_STRING;
	size_t n = 0, n_end = 0, limit = pm_threads_limit(t);

	for (; at >= 0 && n < limit; thread = step_to_inherited(t, thread, &at), n++) {
		struct pm_thread_event *m = &thread->events[at];

		name = m->name;
		if (name == PM_NO_STRING && m->inherited_version == t->version)
			name = m->inherited;
		if (name != PM_NO_STRING || m->inherited_version == t->version)
			break;
		/* a circle of forks at one time ends where it began */
		m->inherited = PM_NO_STRING;
		m->inherited_version = t->version;
		if (find_name_of_end(thread, at) != PM_NO_STRING) {
			name_of_end = find_name_of_end(thread, at);
			n_end = n + 1;
		}
	}
	if (at < 0 && thread->tid == 0)
		name = t->idle;
	pm_threads_walked(t, n);
	if (name == PM_NO_STRING) {
		name = name_of_end;
		n = n_end;
	}
	for (; name != PM_NO_STRING && n--; first = step_to_inherited(t, first, &first_at))
		first->events[first_at].inherited = name;
	return name;
}

void pm_threads_settle(struct pm_threads *t)
{
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->threads[i].n; k++)
			pm_thread_name(t, &t->threads[i], (ptrdiff_t)k);
}

/* Notes that `event` is added to `thread`: what was inherited from it may change. */
static void note_thread_change(struct pm_threads *t, const struct pm_thread *thread,
			       const struct pm_thread_event *event)
{
	uint64_t time = event->time;

	/* perf goes by the time of writing */
	if (event->kind == PM_EXIT && event->lag < 0)
		time += (uint64_t)(int64_t)event->lag;
	if (event->time == PM_NO_TIME)
		time = 0; /* a name of the end may be that of any time before */
	t->credit += CREDIT;
	t->version += time < thread->forked;
}

/*
 * Returns the time of what perf found when it ended. The name and the parent of a thread
 * without other records hold at all times, and what follows an exit holds from that on.
 */
static uint64_t find_time_of_end(const struct pm_thread *thread)
{
	const struct pm_thread_event *last = thread->n ? &thread->events[thread->n - 1] : NULL;

	if (!last)
		return 0;
	if (last->kind == PM_EXIT || (last->kind == PM_FORK && last->synthesized))
		return last->time;
	return PM_NO_TIME;
}

bool pm_threads_add(struct pm_threads *t, uint32_t machine, int32_t tid,
		    struct pm_thread_event event, struct pd_text text)
{
	struct pm_thread *thread, *parent = NULL;

	thread = find_or_add_thread(t, machine, tid);
	if (thread && event.kind == PM_FORK) {
		parent = find_or_add_thread(t, machine, event.parent);
		if (!parent)
			return false;
		thread = find_or_add_thread(t, machine, tid); /* the threads may have moved */
	}
	if (!thread)
		return false;
	if (event.time == PM_NO_TIME)
		event.time = find_time_of_end(thread);
	if (event.kind == PM_COMM) {
		event.name = pm_string_pool_add(t->strings, text);
		if (event.name == PM_NO_STRING)
			return false;
	} else if (parent) {
		if (event.time >= parent->forked)
			parent->forked = event.time + (event.time != PM_NO_TIME);
		if (t->in_order && parent->n)
			event.name = pm_thread_name(t, parent,
						    pm_thread_at(parent, event.time));
	}
	note_thread_change(t, thread, &event);
	return insert_event(thread, &event);
}

void pm_threads_init(struct pm_threads *t)
{
	*t = (struct pm_threads){ .strings = t->strings, .version = 1 };
}

void pm_threads_deinit(struct pm_threads *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->threads[i].events);
	free(t->threads);
	pb_id_map_deinit(&t->by_tid);
	*t = (struct pm_threads){ .strings = t->strings };
}
