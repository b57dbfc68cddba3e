/*
 * The threads of the recorded system: what became of each, and when.
 *
 * A thread is all that a tid was in the recording, one life after another. Its moments are in
 * the order of time; what is asked for a time is answered by the last one that is not later.
 */
#ifndef PERFLUA_MACHINE_THREADS_H
#define PERFLUA_MACHINE_THREADS_H

#include "names.h"
#include "sources.h"

enum pm_moment_kind {
	PM_FORK, /* it began, with the name of the thread `parent` */
	PM_COMM, /* it was named */
	PM_EXIT,
};

struct pm_moment {
	uint64_t time; /* ns; or what stands for it (sources.h) */
	uint32_t name; /* PM_NO_NAME, of PM_FORK: ask for the parent's */
	int32_t pid;
	union {
		int32_t parent;
		int32_t lag; /* of PM_EXIT: ns from `time` until the record of it was written */
	};
	uint8_t kind;
	bool found; /* perf wrote it: it was so at that time, and before */
	/* found in its ancestors, as of a version of the threads; 0: not known */
	bool forgotten; /* of PM_FORK: see is_forgotten */
	uint32_t forgotten_version;
	uint32_t inherited, inherited_version; /* its name, if it brings none */
};

struct pm_thread {
	uint32_t system; /* threads of one system share their clock; a tid is of one */
	int32_t tid;
	struct pm_moment *moments;
	size_t n, capacity; /* n is 0 of what is known as a parent only */
	uint64_t forked;    /* an addition before this time may change what was inherited */
};

struct pm_threads {
	struct pb_id_map by_tid;
	struct pm_thread *threads; /* [n]: as they were met */
	size_t n, capacity;
	struct pm_names *names;
	uint32_t idle; /* the name of tid 0 */
	/* moments are added in the order of time: a parent's name is known at once */
	bool in_order;
	uint32_t version; /* grows when what was inherited may have changed */
	size_t credit;	  /* steps of long walks: see pm_threads_limit */
};

void pm_threads_deinit(struct pm_threads *threads);

/* Without threads; the names are set by the caller. */
void pm_threads_init(struct pm_threads *threads);

/*
 * Finds now the names that moments inherit: until something is added, any number of threads may
 * then ask for names at a time.
 */
void pm_threads_settle(struct pm_threads *threads);

/*
 * Returns how many steps a walk through ancestors may take; pm_threads_walked says how many it
 * took. What it finds is remembered on the way, so a chain of forks is walked once. Late
 * records may make it be walked again: then only so far as their number allows.
 */
size_t pm_threads_limit(const struct pm_threads *threads);
void pm_threads_walked(const struct pm_threads *threads, size_t steps);

/* NULL: there is none. */
const struct pm_thread *pm_thread_find(const struct pm_threads *threads, uint32_t system,
				       int32_t tid);

/*
 * Adds a moment; `text` is the name it brings, of PM_COMM only. A time of PM_NO_TIME is that of
 * the thread's last moment, or before the recording began. False: no memory.
 */
bool pm_threads_add(struct pm_threads *threads, uint32_t system, int32_t tid,
		    struct pm_moment moment, struct pd_text text);

/*
 * Does a life of the thread begin with this moment? A tid that goes on after its end was taken
 * over by exec.
 */
static inline bool pm_life_begins(const struct pm_thread *thread,
				  const struct pm_moment *moment)
{
	if (moment == thread->moments)
		return true;
	if (moment[-1].kind == PM_EXIT)
		return moment->kind != PM_EXIT;
	return moment->kind == PM_FORK && !moment->found;
}

ptrdiff_t pm_thread_search(const struct pm_thread *thread, uint64_t time);

/* The place of the last moment that is not later than time; -1: there is none. */
static inline ptrdiff_t pm_thread_at(const struct pm_thread *thread, uint64_t time)
{
	/* most records are behind all moments of their thread */
	if (thread->n && thread->moments[thread->n - 1].time <= time)
		return (ptrdiff_t)thread->n - 1;
	return pm_thread_search(thread, time);
}

uint32_t pm_thread_inherited(const struct pm_threads *threads, const struct pm_thread *thread,
			     ptrdiff_t at);

/* The number of a thread's name at a moment; PM_NO_NAME: it is not known. */
static inline uint32_t pm_thread_name(const struct pm_threads *threads,
				      const struct pm_thread *thread, ptrdiff_t at)
{
	if (at >= 0 && thread->moments[at].name != PM_NO_NAME)
		return thread->moments[at].name;
	return pm_thread_inherited(threads, thread, at);
}

#endif
