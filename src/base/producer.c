#include "producer.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

struct pb_producer {
	pthread_t thread;
	struct pb_producing producing;
	/* with the lock held: */
	pthread_mutex_t lock;
	pthread_cond_t more, room;
	void *items[PB_PRODUCER_MAX];
	size_t made, taken;
	bool stop, ended;
};

/* Waits until another item may be made. Returns false if no more are needed. */
static bool wait_for_room(struct pb_producer *p)
{
	bool stop;

	pthread_mutex_lock(&p->lock);
	/* woken when half of them are taken: waking for each would cost more than it gains */
	if (p->made - p->taken == p->producing.most)
		while (!p->stop && p->made - p->taken > p->producing.most / 2)
			pthread_cond_wait(&p->room, &p->lock);
	stop = p->stop;
	pthread_mutex_unlock(&p->lock);
	return !stop;
}

static void *run_producer(void *arg)
{
	struct pb_producer *p = arg;
	void *item = p;

	for (size_t i = 0; item && wait_for_room(p); i++) {
		item = p->producing.make(p->producing.arg, i);
		pthread_mutex_lock(&p->lock);
		if (item)
			p->items[p->made++ % PB_PRODUCER_MAX] = item;
		else
			p->ended = true;
		pthread_cond_signal(&p->more);
		pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

static void free_producer(struct pb_producer *p)
{
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->more);
	pthread_cond_destroy(&p->room);
	free(p);
}

struct pb_producer *pb_producer_start(struct pb_producing producing)
{
	struct pb_producer *p = calloc(1, sizeof(*p));
	sigset_t all, before;
	int failed;

	if (!p)
		return NULL;
	p->producing = producing;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	pthread_cond_init(&p->room, NULL);
	/* signals are for the threads of the program */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&p->thread, NULL, run_producer, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed)
		return p;
	free_producer(p);
	return NULL;
}

void pb_producer_stop(struct pb_producer *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_signal(&p->room);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	for (; p->producing.drop && p->taken < p->made; p->taken++)
		p->producing.drop(p->items[p->taken % PB_PRODUCER_MAX]);
	free_producer(p);
}

void *pb_producer_next(struct pb_producer *p)
{
	void *item = NULL;

	pthread_mutex_lock(&p->lock);
	while (p->made == p->taken && !p->ended)
		pthread_cond_wait(&p->more, &p->lock);
	if (p->made > p->taken)
		item = p->items[p->taken++ % PB_PRODUCER_MAX];
	if (p->made - p->taken == p->producing.most / 2)
		pthread_cond_signal(&p->room);
	pthread_mutex_unlock(&p->lock);
	return item;
}
