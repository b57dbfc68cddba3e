/*
 * Progress of work that may take long: the code that does it reports now and then how far it
 * is, and asks whether to go on; and the outcome of such work.
 */
#ifndef PERFLUA_BASE_PROGRESS_H
#define PERFLUA_BASE_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pb_outcome {
	PB_OK,
	PB_STOPPED, /* progress said no: what was done until then counts */
	/* it cannot be done in this way: nothing counts, one thread is to do it */
	PB_RETRY_SERIAL,
	PB_FAILED, /* see err */
};

/* State that the program's handler of SIGINT and passes over recordings share. */
struct pb_interrupt {
	volatile sig_atomic_t flag;   /* set by the handler: passes end, and none begins */
	volatile sig_atomic_t passes; /* number of passes that have begun and not ended */
};

/* Zero-initialised: nobody is asked. */
struct pb_progress {
	/*
	 * Returns whether to go on. `done` of `size` bytes were read; a size of 0: it is not
	 * known.
	 */
	bool (*goes_on)(void *arg, uint64_t done, uint64_t size);
	void *arg;
	/*
	 * Begins a phase before or after the reading, named for people: "reading names"; `done`
	 * then begins again. A name of NULL: the phase has ended. NULL: nobody shows phases.
	 */
	void (*set_phase)(void *arg, const char *name);
};

static inline bool pb_is_unset(void *flag, uint64_t done, uint64_t size)
{
	(void)done;
	(void)size;
	return !*(const volatile sig_atomic_t *)flag;
}

/* Returns progress that says no once a signal handler has set `flag`. NULL: nobody is asked. */
static inline struct pb_progress pb_until_set(const volatile sig_atomic_t *flag)
{
	return (struct pb_progress){ .goes_on = flag ? pb_is_unset : NULL,
				     .arg = (void *)flag };
}

/* Reports and asks: returns whether to go on. NULL: yes. */
static inline bool pb_goes_on(const struct pb_progress *progress, uint64_t done, uint64_t size)
{
	return !progress || !progress->goes_on || progress->goes_on(progress->arg, done, size);
}

static inline void pb_set_phase(const struct pb_progress *progress, const char *name)
{
	if (progress && progress->set_phase)
		progress->set_phase(progress->arg, name);
}

#endif
