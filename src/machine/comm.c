/* Looks up the names of threads for records. */
#include <string.h>

#include "internal.h"
#include "resolver.h"

/* Sets *out to ":12", perf's name for a thread 12 without a name. */
static void set_tid_name(struct pd_value *out, int32_t tid)
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

static void set_comm(struct pd_value *out, const struct pd_text *text)
{
	out->type = PD_STR;
	out->s.p = text->p;
	out->s.n = text->n;
}

void pm_set_name(const struct pm_system *sys, int32_t tid, uint32_t name, struct pd_value *out)
{
	if (name == PM_NO_STRING && tid == 0)
		name = sys->threads.idle;
	if (name == PM_NO_STRING)
		set_tid_name(out, tid);
	else
		set_comm(out, &sys->strings.texts[name]);
}

/* Returns the number of the event of a thread that holds for `rec`, whose time is `time`. */
static ptrdiff_t find_thread_event(const struct pm_system *sys, const struct pm_thread *thread,
				   const struct pd_record *rec, uint64_t time)
{
	ptrdiff_t at;

	if (time != PM_NO_TIME)
		return pm_thread_at(thread, time);
	/*
	 * perf synthesized the record: at the beginning, if the thread was there then, else at
	 * the end. A sample whose event has no times may be of any time; mostly the thread had
	 * its last name by then.
	 */
	time = rec->type == PD_RECORD_SAMPLE ?
		       PM_NO_TIME :
		       pm_source_of(&sys->sources, rec)->first_timestamp;
	at = pm_thread_at(thread, time);
	return at >= 0 ? at : (ptrdiff_t)thread->n - 1;
}

/*
 * Returns true if a record of the thread's end was written before `time`, at which its event
 * `at` holds. Each inherited event may write such a record, and one that was interrupted has a
 * later time than that of its writing. `thread` may be NULL. Narrows *range to times
 * around `time` at which the answer is the same.
 */
static bool has_exited(const struct pm_thread *thread, ptrdiff_t at, uint64_t time,
		       struct pd_time_range *range)
{
	const struct pm_thread_event *events = thread ? thread->events : NULL;
	ptrdiff_t first = at + 1;

	if (!events)
		return false;
	while (first > 0 && events[first - 1].kind == PM_EXIT)
		first--;
	for (ptrdiff_t i = first; i <= at + 1 && i < (ptrdiff_t)thread->n; i++) {
		uint64_t written = events[i].time + (uint64_t)(int64_t)events[i].lag;

		if (events[i].kind != PM_EXIT)
			continue;
		if (written < time) {
			range->first = written + 1 > range->first ? written + 1 : range->first;
			return true;
		}
		range->last = written < range->last ? written : range->last;
	}
	return false;
}

/* The event of a thread that holds at a time. */
struct event_at_time {
	const struct pm_thread *thread;
	ptrdiff_t at;
	uint64_t time;
};

/* Returns the fork by another thread that the thread's incarnation began with; NULL: none. */
static struct pm_thread_event *find_fork(const struct event_at_time *a)
{
	struct pm_thread_event *fork;
	ptrdiff_t at = a->at;

	while (at >= 0 && a->thread->events[at].kind == PM_EXIT)
		at--;
	fork = at >= 0 ? &a->thread->events[at] : NULL;
	return fork && fork->kind == PM_FORK && fork->parent != a->thread->tid ? fork : NULL;
}

static void move_to_parent(const struct pm_system *sys, struct event_at_time *a,
			   const struct pm_thread_event *fork)
{
	a->time = fork->time;
	a->thread = pm_thread_find(&sys->threads, a->thread->machine, fork->parent);
	a->at = pm_thread_at(a->thread, a->time);
}

/* Returns true if perf has forgotten `thread` by `time`: it has exited, or its parent had. */
static bool is_thread_forgotten(const struct pm_system *sys, const struct pm_thread *thread,
				ptrdiff_t at, uint64_t time)
{
	struct event_at_time first = { thread, at, time }, a = first;
	uint32_t version = sys->threads.version;
	size_t n = 0, limit = pm_threads_limit(&sys->threads);
	struct pm_thread_event *fork = NULL;
	struct pd_time_range range = { 0 };
	bool forgotten;

	for (;; n++) {
		forgotten = has_exited(a.thread, a.at, a.time, &range);
		fork = forgotten || n >= limit ? NULL : find_fork(&a);
		if (!fork)
			break;
		if (fork->forgotten_version == version) {
			forgotten = fork->forgotten;
			break;
		}
		/* a circle of forks at one time ends where it began */
		fork->forgotten = false;
		fork->forgotten_version = version;
		move_to_parent(sys, &a, fork);
	}
	pm_threads_walked(&sys->threads, n);
	for (a = first; forgotten && n--; move_to_parent(sys, &a, fork)) {
		fork = find_fork(&a);
		fork->forgotten = true;
	}
	return forgotten;
}

void pm_prepare_forgotten(const struct pm_system *sys)
{
	for (size_t i = 0; i < sys->threads.n; i++) {
		const struct pm_thread *thread = &sys->threads.threads[i];

		/* at time 0 no thread has exited, so that its fork is looked at */
		for (size_t k = 0; k < thread->n; k++)
			if (thread->events[k].kind == PM_FORK)
				is_thread_forgotten(sys, thread, (ptrdiff_t)k, 0);
	}
}

bool pm_is_forgotten(const struct pm_system *sys, const struct pd_record *rec, int32_t tid)
{
	const struct pm_thread *thread = pm_thread_find(&sys->threads, pm_machine_of(sys, rec),
							tid);
	uint64_t time = pm_time_of(&sys->sources, rec);

	return thread && time != PM_NO_TIME &&
	       is_thread_forgotten(sys, thread, pm_thread_at(thread, time), time);
}

void pm_comm_of(const struct pm_system *sys, const struct pd_record *rec, bool forgets,
		struct pd_value *out)
{
	uint64_t time = pm_time_of(&sys->sources, rec);
	const struct pm_thread *thread;
	uint32_t name = PM_NO_STRING;
	ptrdiff_t at = -1;
	int64_t tid;

	if (!pm_integer(rec, sys->ids.tid, &tid))
		return;
	thread = pm_thread_find(&sys->threads, pm_machine_of(sys, rec), (int32_t)tid);
	if (thread)
		at = find_thread_event(sys, thread, rec, time);
	forgets = forgets && thread && time != PM_NO_TIME &&
		  is_thread_forgotten(sys, thread, at, time);
	if (thread && !forgets)
		name = pm_thread_name(&sys->threads, thread, at);
	pm_set_name(sys, (int32_t)tid, name, out);
}

struct pd_time_range pm_comm_times(const struct pm_system *sys, const struct pd_record *rec,
				   bool forgets)
{
	struct pd_time_range range = { .known = true, .first = 0, .last = PM_NO_TIME - 1 };
	uint64_t time = pm_time_of(&sys->sources, rec);
	const struct pm_thread *thread;
	ptrdiff_t at;
	int64_t tid;

	if (!pm_source_of(&sys->sources, rec)->timed || time == PM_NO_TIME ||
	    !pm_integer(rec, sys->ids.tid, &tid))
		return (struct pd_time_range){ .known = false };
	thread = pm_thread_find(&sys->threads, pm_machine_of(sys, rec), (int32_t)tid);
	at = thread ? pm_thread_at(thread, time) : -1;
	if (at >= 0)
		range.first = thread->events[at].time;
	if (thread && at + 1 < (ptrdiff_t)thread->n)
		range.last = thread->events[at + 1].time - 1;
	if (forgets)
		has_exited(thread, at, time, &range);
	return range;
}

/*
 * Returns the name that a thread without one at event `at` gets before its next fork or exit;
 * PM_NO_STRING: none. See ____thread__set_comm, tools/perf/util/thread.c: a first name replaces
 * the thread's id also in what was added up before.
 */
static uint32_t find_later_name(const struct pm_thread *thread, ptrdiff_t at)
{
	const struct pm_thread_event *next = &thread->events[at + 1];

	return (size_t)(at + 1) < thread->n && next->kind == PM_COMM ? next->name :
								       PM_NO_STRING;
}

/* Looks up the name of a thread at `time`, and the time range in which it has it. */
static void fill_comm_memo(const struct pm_resolver *r, struct pm_comm_memo *memo,
			   uint32_t machine, int32_t tid, uint64_t time)
{
	const struct pm_system *sys = r->system;
	const struct pm_thread *thread = pm_thread_find(&sys->threads, machine, tid);
	ptrdiff_t at = thread ? pm_thread_at(thread, time) : -1;
	uint32_t name = thread ? pm_thread_name(&sys->threads, thread, at) : PM_NO_STRING;

	*memo = (struct pm_comm_memo){
		.revision = sys->revision + 1,
		.key = pm_key_of(machine, tid),
		.from = at >= 0 ? thread->events[at].time : 0,
		.last = UINT64_MAX,
	};
	if (thread && (size_t)(at + 1) < thread->n)
		memo->last = thread->events[at + 1].time - 1;
	if (name == PM_NO_STRING && tid == 0)
		name = sys->threads.idle;
	if (name == PM_NO_STRING && thread && r->later_names)
		name = find_later_name(thread, at);
	if (name != PM_NO_STRING)
		memo->text = sys->strings.texts[name];
}

/* Returns the name of a thread at `time`. */
static const struct pm_comm_memo *get_comm_memo(struct pm_resolver *r, uint32_t machine,
						int32_t tid, uint64_t time)
{
	const struct pm_system *sys = r->system;
	uint64_t key = pm_key_of(machine, tid);
	struct pm_comm_memo *memo = &r->comms[(key ^ key >> 32) % PM_COMM_MEMOS];

	/* a record added since may be of that time */
	if (memo->key != key || memo->revision != sys->revision + 1 || time < memo->from ||
	    time > memo->last)
		fill_comm_memo(r, memo, machine, tid, time);
	return memo;
}

const struct pm_comm_memo *pm_comm_at(struct pm_resolver *r, const struct pd_record *rec,
				      int32_t tid, uint64_t time)
{
	const struct pm_source *source = pm_source_of(&r->system->sources, rec);

	if (!source->timed || time == PM_NO_TIME)
		return NULL;
	return get_comm_memo(r, source->machine, tid, time);
}

void pm_comm(struct pm_resolver *r, const struct pd_record *rec, struct pd_value *out)
{
	const struct pm_system *sys = r->system;
	uint64_t time = pm_time_of(&sys->sources, rec);
	const struct pd_text *text;
	int64_t tid;

	if (time == PM_NO_TIME) {
		pm_comm_of(sys, rec, false, out);
		return;
	}
	if (!pm_integer(rec, sys->ids.tid, &tid))
		return;
	text = &get_comm_memo(r, pm_machine_of(sys, rec), (int32_t)tid, time)->text;
	if (text->p)
		set_comm(out, text);
	else
		set_tid_name(out, (int32_t)tid);
}
