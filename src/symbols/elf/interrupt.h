/*
 * Lets a signal end the loading of symbols and lines, which may take seconds for one file.
 *
 * Loading goes on for a second after the signal, so that a result does not lack the names of a
 * few small files. The loader also says now and then that it is at work.
 */
#ifndef PERFLUA_SYMBOLS_INTERRUPT_H
#define PERFLUA_SYMBOLS_INTERRUPT_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ps_interrupt {
	unsigned n_users; /* of one that was created; they are of one thread */
	/* set by a signal handler; NULL: never */
	const volatile sig_atomic_t *flag;
	atomic_uint_least64_t until; /* ns; loading may go on until then; 0: no signal yet */
	/* called with `arg` by each thread that asks; NULL: nobody is told */
	void (*tick)(void *arg);
	void *arg;
	/* something was not loaded, and its names are missing only for that reason */
	atomic_bool cut;
};

/*
 * Creates an interrupt with one user. Each store of which it is an option is another one, as it
 * may outlive its creator. Returns NULL without memory.
 */
struct ps_interrupt *ps_interrupt_create(const volatile sig_atomic_t *flag);

/* Add a user, and take one away: the last one frees it. Both do nothing for NULL. */
void ps_interrupt_keep(struct ps_interrupt *interrupt);
void ps_interrupt_release(struct ps_interrupt *interrupt);

/*
 * Returns true if loading must end, and notes that in `interrupt->cut`, which the caller that
 * reports it clears. `interrupt` may be NULL. Any number of threads may ask.
 */
bool ps_interrupted(struct ps_interrupt *interrupt);

/*
 * Returns, once, whether something was not loaded because of the signal. Later attempts, at a
 * prompt, may load it. `interrupt` may be NULL.
 */
bool ps_interrupt_was_cut(struct ps_interrupt *interrupt);

#endif
