#include "interrupt.h"

#include <stdlib.h>
#include <time.h>

#define MOMENT UINT64_C(1000000000) /* ns */

static uint64_t read_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct ps_interrupt *ps_interrupt_create(const volatile sig_atomic_t *flag)
{
	struct ps_interrupt *interrupt = calloc(1, sizeof(*interrupt));

	if (interrupt)
		*interrupt = (struct ps_interrupt){ .n_users = 1, .flag = flag };
	return interrupt;
}

void ps_interrupt_keep(struct ps_interrupt *interrupt)
{
	if (interrupt)
		interrupt->n_users++;
}

void ps_interrupt_release(struct ps_interrupt *interrupt)
{
	if (interrupt && !--interrupt->n_users)
		free(interrupt);
}

bool ps_interrupted(struct ps_interrupt *interrupt)
{
	uint64_t none = 0, until;

	if (interrupt && interrupt->tick)
		interrupt->tick(interrupt->arg);
	if (!interrupt || !interrupt->flag)
		return false;
	if (!*interrupt->flag) {
		/* a prompt clears the flag before it reads the next line */
		if (atomic_load(&interrupt->until))
			atomic_store(&interrupt->until, 0);
		return false;
	}
	until = read_clock() + MOMENT;
	if (atomic_compare_exchange_strong(&interrupt->until, &none, until) ||
	    until - MOMENT < none)
		return false;
	atomic_store(&interrupt->cut, true);
	return true;
}

bool ps_interrupt_was_cut(struct ps_interrupt *interrupt)
{
	if (!interrupt || !atomic_load_explicit(&interrupt->cut, memory_order_relaxed))
		return false;
	atomic_store(&interrupt->cut, false);
	atomic_store(&interrupt->until, 0);
	return true;
}
