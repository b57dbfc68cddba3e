/*
 * The threads of the recorded system, indexed by time.
 *
 * A pm_thread is all that one tid of a machine was in the recording, one incarnation after
 * another. Its events are in the order of time: the last event that is not later than a time
 * says what the thread was at that time.
 */
#ifndef PERFLUA_MACHINE_THREADS_H
#define PERFLUA_MACHINE_THREADS_H

#include "string_pool.h"
#include "sources.h"

enum pm_thread_event_kind {
	PM_FORK, /* began, with the name of thread `parent` */
	PM_COMM, /* got a name */
	PM_EXIT,
};

struct pm_thread_event {
	uint64_t time; /* ns; or what stands for it (sources.h); PM_NO_TIME: the end */
	uint32_t name; /* number in the string pool; PM_NO_STRING: inherited */
	int32_t pid;
	union {
		int32_t parent;
		int32_t lag; /* for PM_EXIT: ns from `time` until the record was written */
	};
	uint8_t kind;
	/* written by perf for a thread that it found: true at `time` and before */
	bool synthesized;
	/*
	 * Cached results of walking to ancestors. Each holds for one version of the threads;
	 * version 0: not computed yet.
	 */
	bool forgotten;		    /* for PM_FORK: perf has forgotten the parent */
	uint32_t forgotten_version; /* that of `forgotten` */
	uint32_t inherited;	    /* the name, if `name` is PM_NO_STRING */
	uint32_t inherited_version; /* that of `inherited` */
};

struct pm_thread {
	uint32_t machine; /* tids and clocks are those of a machine */
	int32_t tid;
	struct pm_thread_event *events;
	size_t n, capacity; /* n is 0 if it is known as a parent only */
	uint64_t forked;    /* an event added before this time may change what was inherited */
};

struct pm_threads {
	struct pb_id_map by_tid;
	struct pm_thread *threads; /* [n]: in the order in which they were met */
	size_t n, capacity;
	struct pm_string_pool *strings;
	uint32_t idle; /* number of the name of tid 0 */
	/*
	 * Events are added in the order of time, so that the name of a parent is final when a
	 * thread is forked.
	 */
	bool in_order;
	uint32_t version; /* grows when inherited names may have changed */
	size_t credit;	  /* steps that long walks may take: see pm_threads_limit() */
};

/* Frees the threads, but not the string pool. */
void pm_threads_deinit(struct pm_threads *threads);

/* Initializes *threads without any. The caller sets `strings`, before or after, and `idle`. */
void pm_threads_init(struct pm_threads *threads);

/*
 * Looks up all inherited names now. Until the next pm_threads_add() any number of workers may
 * then call pm_thread_name().
 */
void pm_threads_settle(struct pm_threads *threads);

/*
 * Returns how many ancestors a walk may visit; the walk then reports to pm_threads_walked() how
 * many it did. Walks remember their answers, so a chain of forks is walked once. Late events
 * may invalidate the answers: each added event pays for a fixed number of further steps, so
 * that damaged input cannot make walks quadratic.
 */
size_t pm_threads_limit(const struct pm_threads *threads);
void pm_threads_walked(const struct pm_threads *threads, size_t steps);

/* Returns a thread; NULL: no record named it. It is the threads' until the next addition. */
const struct pm_thread *pm_thread_find(const struct pm_threads *threads, uint32_t machine,
				       int32_t tid);

/*
 * Adds an event to thread `tid` of `machine`. `text` is the name that a PM_COMM brings, and
 * copied. A time of PM_NO_TIME stands for the end of the recording; if the thread has no other
 * event, for 0, and if it has exited, for its last event's time. Returns false without memory.
 */
bool pm_threads_add(struct pm_threads *threads, uint32_t machine, int32_t tid,
		    struct pm_thread_event event, struct pd_text text);

/*
 * Returns true if an incarnation of `thread` begins with `event`. A tid that goes on after its
 * exit was taken over by an exec() of another thread of its process.
 */
static inline bool pm_incarnation_begins(const struct pm_thread *thread,
					 const struct pm_thread_event *event)
{
	if (event == thread->events)
		return true;
	if (event[-1].kind == PM_EXIT)
		return event->kind != PM_EXIT;
	return event->kind == PM_FORK && !event->synthesized;
}

/* Does what pm_thread_at() does, by binary search. */
ptrdiff_t pm_thread_search(const struct pm_thread *thread, uint64_t time);

/* Returns the number of the last event that is not later than `time`; -1: none. */
static inline ptrdiff_t pm_thread_at(const struct pm_thread *thread, uint64_t time)
{
	/* most records are later than all events of their thread */
	if (thread->n && thread->events[thread->n - 1].time <= time)
		return (ptrdiff_t)thread->n - 1;
	return pm_thread_search(thread, time);
}

/* Does what pm_thread_name() does, by walking to ancestors. */
uint32_t pm_thread_inherited(const struct pm_threads *threads, const struct pm_thread *thread,
			     ptrdiff_t at);

/*
 * Returns the number of the name that `thread` had after its event `at`; PM_NO_STRING: not
 * known. The name that it had at the end counts before only if no other is known.
 */
static inline uint32_t pm_thread_name(const struct pm_threads *threads,
				      const struct pm_thread *thread, ptrdiff_t at)
{
	if (at >= 0 && thread->events[at].name != PM_NO_STRING)
		return thread->events[at].name;
	return pm_thread_inherited(threads, thread, at);
}

#endif
