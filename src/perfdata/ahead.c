#include "ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define SLOTS 32 /* chunks that may be open before they are asked for */

struct pd_ahead {
	pthread_t thread;
	struct pd_due *due;
	size_t n;
	/* with the lock held: */
	pthread_mutex_t lock;
	pthread_cond_t more, room;
	struct pd_opened *slots[SLOTS];
	size_t opened, taken; /* chunks so far */
	bool stop, failed;
	struct pd_error error;
	/* the thread's own */
	struct pd_scratch scratch;
};

/* Waits for room for another chunk; false: no more are needed. */
static bool wait_for_room(struct pd_ahead *a)
{
	bool stop;

	pthread_mutex_lock(&a->lock);
	/* woken when half of them are taken: waking for each would cost more than it gains */
	if (a->opened - a->taken == SLOTS)
		while (!a->stop && a->opened - a->taken > SLOTS / 2)
			pthread_cond_wait(&a->room, &a->lock);
	stop = a->stop;
	pthread_mutex_unlock(&a->lock);
	return !stop;
}

static void *run(void *arg)
{
	struct pd_ahead *a = arg;
	struct pd_error err;

	for (size_t i = 0; i < a->n && wait_for_room(a); i++) {
		struct pd_opened *opened = pd_chunk_open(a->due[i].chunk, a->due[i].stream,
							 &a->scratch, &err);

		pthread_mutex_lock(&a->lock);
		a->slots[i % SLOTS] = opened;
		a->opened = i + 1;
		if (!opened) {
			a->failed = true;
			a->error = err;
		}
		pthread_cond_signal(&a->more);
		pthread_mutex_unlock(&a->lock);
		if (!opened)
			break;
	}
	return NULL;
}

struct pd_ahead *pd_ahead_start(struct pd_due *due, size_t n)
{
	struct pd_ahead *a = calloc(1, sizeof(*a));
	sigset_t all, before;
	int failed;

	if (!a)
		return NULL;
	a->due = due;
	a->n = n;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->more, NULL);
	pthread_cond_init(&a->room, NULL);
	/* signals are for the threads of the program */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&a->thread, NULL, run, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed)
		return a;
	free(a);
	return NULL;
}

void pd_ahead_stop(struct pd_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->room);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	while (a->taken < a->opened)
		pd_opened_destroy(a->slots[a->taken++ % SLOTS]);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->more);
	pthread_cond_destroy(&a->room);
	free(a->scratch.places);
	free(a->due);
	free(a);
}

struct pd_opened *pd_ahead_next(struct pd_ahead *a, struct pd_error *err)
{
	struct pd_opened *opened;

	pthread_mutex_lock(&a->lock);
	while (a->opened == a->taken)
		pthread_cond_wait(&a->more, &a->lock);
	opened = a->slots[a->taken++ % SLOTS];
	if (a->opened - a->taken == SLOTS / 2)
		pthread_cond_signal(&a->room);
	if (!opened && err)
		*err = a->error;
	pthread_mutex_unlock(&a->lock);
	return opened;
}
