#include "ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

struct pd_ahead {
	pthread_t thread;
	struct pd_maker maker;
	/* with the lock held: */
	pthread_mutex_t lock;
	pthread_cond_t more, room;
	void *things[PD_AHEAD_MOST];
	size_t made, taken;
	bool stop, ended;
	struct pd_error error; /* why it ended */
};

/* Waits for room for another thing; false: no more are needed. */
static bool wait_for_room(struct pd_ahead *a)
{
	bool stop;

	pthread_mutex_lock(&a->lock);
	/* woken when half of them are taken: waking for each would cost more than it gains */
	if (a->made - a->taken == a->maker.most)
		while (!a->stop && a->made - a->taken > a->maker.most / 2)
			pthread_cond_wait(&a->room, &a->lock);
	stop = a->stop;
	pthread_mutex_unlock(&a->lock);
	return !stop;
}

static void *run(void *arg)
{
	struct pd_ahead *a = arg;
	void *thing = a;

	for (size_t i = 0; thing && wait_for_room(a); i++) {
		struct pd_error err = { .code = "" };

		thing = a->maker.make(a->maker.arg, i, &err);
		pthread_mutex_lock(&a->lock);
		if (thing) {
			a->things[a->made++ % PD_AHEAD_MOST] = thing;
		} else {
			a->ended = true;
			a->error = err;
		}
		pthread_cond_signal(&a->more);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

static void destroy(struct pd_ahead *a)
{
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->more);
	pthread_cond_destroy(&a->room);
	free(a);
}

struct pd_ahead *pd_ahead_start(struct pd_maker maker)
{
	struct pd_ahead *a = calloc(1, sizeof(*a));
	sigset_t all, before;
	int failed;

	if (!a)
		return NULL;
	a->maker = maker;
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
	destroy(a);
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
	for (; a->maker.drop && a->taken < a->made; a->taken++)
		a->maker.drop(a->things[a->taken % PD_AHEAD_MOST]);
	destroy(a);
}

void *pd_ahead_next(struct pd_ahead *a, struct pd_error *err)
{
	void *thing = NULL;

	pthread_mutex_lock(&a->lock);
	while (a->made == a->taken && !a->ended)
		pthread_cond_wait(&a->more, &a->lock);
	if (a->made > a->taken)
		thing = a->things[a->taken++ % PD_AHEAD_MOST];
	else if (err)
		*err = a->error;
	if (a->made - a->taken == a->maker.most / 2)
		pthread_cond_signal(&a->room);
	pthread_mutex_unlock(&a->lock);
	return thing;
}
