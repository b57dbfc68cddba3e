/*
 * The names of threads, as records ask for them.
 */
#include <string.h>

#include "internal.h"
#include "resolver.h"

/* ":12", as perf calls what has no name. */
static void set_number(struct pd_value *out, int32_t tid)
{
	uint32_t left = tid < 0 ? -(uint32_t)tid : (uint32_t)tid;
	char *end = out->text + sizeof(out->text) - 1, *at = end;

	*at = '\0';
	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (tid < 0)
		*--at = '-';
	*--at = ':';
	memmove(out->text, at, (size_t)(end - at) + 1);
	out->type = PD_STR;
	out->s.p = out->text;
	out->s.n = (size_t)(end - at);
}

static void set_text(struct pd_value *out, const struct pd_text *text)
{
	out->type = PD_STR;
	out->s.p = text->p;
	out->s.n = text->n;
}

void pm_set_name(const struct pm_machine *m, int32_t tid, uint32_t name, struct pd_value *out)
{
	if (name == PM_NO_NAME && tid == 0)
		name = m->threads.idle;
	if (name == PM_NO_NAME)
		set_number(out, tid);
	else
		set_text(out, &m->names.texts[name]);
}

/* The moment of a thread that holds for a record of that time. */
static ptrdiff_t moment_of(const struct pm_machine *m, const struct pm_thread *thread,
			   const struct pd_record *rec, uint64_t time)
{
	ptrdiff_t at;

	if (time != PM_NO_TIME)
		return pm_thread_at(thread, time);
	/*
	 * perf wrote it itself: at the beginning, if the thread was there then, else at the
	 * end. A sample whose event has no times may be of any; most of them are when the
	 * thread has its last name.
	 */
	time = rec->type == PD_RECORD_SAMPLE ? PM_NO_TIME :
					       pm_source_of(&m->sources, rec)->floor;
	at = pm_thread_at(thread, time);
	return at >= 0 ? at : (ptrdiff_t)thread->n - 1;
}

/*
 * Returns true if a record of the thread's end was written before `time`, whose moment is `at`.
 * Each inherited event may have written one, and one that was interrupted has a later time than
 * it was written at. `thread` is NULL if nothing is known of it.
 */
static bool has_exited(const struct pm_thread *thread, ptrdiff_t at, uint64_t time)
{
	const struct pm_moment *m = thread ? thread->moments : NULL;
	ptrdiff_t first = at + 1;

	if (!m)
		return false;
	while (first > 0 && m[first - 1].kind == PM_EXIT)
		first--;
	for (ptrdiff_t i = first; i <= at + 1 && i < (ptrdiff_t)thread->n; i++)
		if (m[i].kind == PM_EXIT && m[i].time + (uint64_t)(int64_t)m[i].lag < time)
			return true;
	return false;
}

/* A moment of a thread, as it is asked for at a time. */
struct asked_moment {
	const struct pm_thread *thread;
	ptrdiff_t at;
	uint64_t time;
};

/* Returns the fork by another thread that the life of a moment began with, or NULL. */
static struct pm_moment *fork_of(const struct asked_moment *a)
{
	struct pm_moment *fork;
	ptrdiff_t at = a->at;

	while (at >= 0 && a->thread->moments[at].kind == PM_EXIT)
		at--;
	fork = at >= 0 ? &a->thread->moments[at] : NULL;
	return fork && fork->kind == PM_FORK && fork->parent != a->thread->tid ? fork : NULL;
}

static void go_to_parent(const struct pm_machine *m, struct asked_moment *a,
			 const struct pm_moment *fork)
{
	a->time = fork->time;
	a->thread = pm_thread_find(&m->threads, a->thread->system, fork->parent);
	a->at = pm_thread_at(a->thread, a->time);
}

/*
 * Returns true if perf has forgotten a thread at that moment: it has exited, or the thread that
 * forked it had.
 */
static bool is_forgotten(const struct pm_machine *m, const struct pm_thread *thread,
			 ptrdiff_t at, uint64_t time)
{
	struct asked_moment first = { thread, at, time }, a = first;
	uint32_t version = m->threads.version;
	size_t n = 0, limit = pm_threads_limit(&m->threads);
	struct pm_moment *fork = NULL;
	bool forgotten;

	for (;; n++) {
		forgotten = has_exited(a.thread, a.at, a.time);
		fork = forgotten || n >= limit ? NULL : fork_of(&a);
		if (!fork)
			break;
		if (fork->forgotten_version == version) {
			forgotten = fork->forgotten;
			break;
		}
		/* a circle of forks at one time ends where it began */
		fork->forgotten = false;
		fork->forgotten_version = version;
		go_to_parent(m, &a, fork);
	}
	pm_threads_walked(&m->threads, n);
	for (a = first; forgotten && n--; go_to_parent(m, &a, fork)) {
		fork = fork_of(&a);
		fork->forgotten = true;
	}
	return forgotten;
}

bool pm_is_forgotten(const struct pm_machine *m, const struct pd_record *rec, int32_t tid)
{
	const struct pm_thread *thread = pm_thread_find(&m->threads, pm_system_of(m, rec), tid);
	uint64_t time = pm_time_of(&m->sources, rec);

	return thread && time != PM_NO_TIME &&
	       is_forgotten(m, thread, pm_thread_at(thread, time), time);
}

void pm_comm_of(const struct pm_machine *m, const struct pd_record *rec, bool forgets,
		struct pd_value *out)
{
	uint64_t time = pm_time_of(&m->sources, rec);
	const struct pm_thread *thread;
	uint32_t name = PM_NO_NAME;
	ptrdiff_t at = -1;
	int64_t tid;

	if (!pm_integer(rec, m->ids.tid, &tid))
		return;
	thread = pm_thread_find(&m->threads, pm_system_of(m, rec), (int32_t)tid);
	if (thread)
		at = moment_of(m, thread, rec, time);
	forgets = forgets && thread && time != PM_NO_TIME && is_forgotten(m, thread, at, time);
	if (thread && !forgets)
		name = pm_thread_name(&m->threads, thread, at);
	pm_set_name(m, (int32_t)tid, name, out);
}

/* Finds the name that a thread has at a time, and for how long. */
static void remember(const struct pm_machine *m, struct pm_called *called, uint32_t system,
		     int32_t tid, uint64_t time)
{
	const struct pm_thread *thread = pm_thread_find(&m->threads, system, tid);
	ptrdiff_t at = thread ? pm_thread_at(thread, time) : -1;
	uint32_t name = thread ? pm_thread_name(&m->threads, thread, at) : PM_NO_NAME;

	*called = (struct pm_called){
		.taken = m->taken + 1,
		.key = pm_key_of(system, tid),
		.from = at >= 0 ? thread->moments[at].time : 0,
		.last = UINT64_MAX,
	};
	if (thread && (size_t)(at + 1) < thread->n)
		called->last = thread->moments[at + 1].time - 1;
	if (name == PM_NO_NAME && tid == 0)
		name = m->threads.idle;
	if (name != PM_NO_NAME)
		called->text = m->names.texts[name];
}

/* The name of a thread at a time, or what stands for it. */
static const struct pm_called *called_at(struct pm_resolver *r, uint32_t system, int32_t tid,
					 uint64_t time)
{
	const struct pm_machine *m = r->machine;
	uint64_t key = pm_key_of(system, tid);
	struct pm_called *called = &r->called[(key ^ key >> 32) % PM_CALLED];

	/* what was taken in since may be of that time, too */
	if (called->key != key || called->taken != m->taken + 1 || time < called->from ||
	    time > called->last)
		remember(m, called, system, tid, time);
	return called;
}

const struct pm_called *pm_comm_then(struct pm_resolver *r, const struct pd_record *rec,
				     int32_t tid, uint64_t time)
{
	const struct pm_source *source = pm_source_of(&r->machine->sources, rec);

	if (!source->timed || time == PM_NO_TIME)
		return NULL;
	return called_at(r, source->system, tid, time);
}

void pm_comm(struct pm_resolver *r, const struct pd_record *rec, struct pd_value *out)
{
	const struct pm_machine *m = r->machine;
	uint64_t time = pm_time_of(&m->sources, rec);
	const struct pd_text *text;
	int64_t tid;

	if (time == PM_NO_TIME) {
		pm_comm_of(m, rec, false, out);
		return;
	}
	if (!pm_integer(rec, m->ids.tid, &tid))
		return;
	text = &called_at(r, pm_system_of(m, rec), (int32_t)tid, time)->text;
	if (text->p)
		set_text(out, text);
	else
		set_number(out, (int32_t)tid);
}
