#include "helpers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct pb_helpers {
	void (*work)(void *item, unsigned worker);
	pthread_t threads[PB_HELPERS_MAX];
	unsigned n_threads;
	/* with the lock held: */
	pthread_mutex_t lock;
	pthread_cond_t more, done;
	void *items[PB_ITEMS_MAX];
	bool is_done[PB_ITEMS_MAX];
	size_t given, begun, taken; /* taken <= begun <= given */
	unsigned n_running;
	bool stop;
};

/* Works on the next item, which was given. The lock is held, but not while it works. */
static void work_on_item(struct pb_helpers *h, unsigned worker)
{
	size_t at = h->begun++ % PB_ITEMS_MAX;

	pthread_mutex_unlock(&h->lock);
	h->work(h->items[at], worker);
	pthread_mutex_lock(&h->lock);
	h->is_done[at] = true;
	pthread_cond_signal(&h->done);
}

static void *run_helper(void *arg)
{
	struct pb_helpers *h = arg;
	unsigned worker;

	pthread_mutex_lock(&h->lock);
	worker = ++h->n_running;
	while (!h->stop) {
		if (h->begun < h->given)
			work_on_item(h, worker);
		else
			pthread_cond_wait(&h->more, &h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

struct pb_helpers *pb_helpers_start(unsigned n, void (*work)(void *item, unsigned worker))
{
	struct pb_helpers *h = calloc(1, sizeof(*h));
	sigset_t all, before;

	if (!h)
		return NULL;
	h->work = work;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->more, NULL);
	pthread_cond_init(&h->done, NULL);
	/* signals are for the threads of the program */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (h->n_threads < n && h->n_threads < PB_HELPERS_MAX &&
	       !pthread_create(&h->threads[h->n_threads], NULL, run_helper, h))
		h->n_threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return h;
}

void pb_helpers_give(struct pb_helpers *h, void *item)
{
	pthread_mutex_lock(&h->lock);
	h->is_done[h->given % PB_ITEMS_MAX] = false;
	h->items[h->given++ % PB_ITEMS_MAX] = item;
	pthread_cond_signal(&h->more);
	pthread_mutex_unlock(&h->lock);
}

bool pb_helpers_are_ready(struct pb_helpers *h)
{
	bool ready;

	pthread_mutex_lock(&h->lock);
	ready = h->taken < h->given && h->is_done[h->taken % PB_ITEMS_MAX];
	pthread_mutex_unlock(&h->lock);
	return ready;
}

void *pb_helpers_take(struct pb_helpers *h)
{
	void *item = NULL;

	pthread_mutex_lock(&h->lock);
	if (h->taken < h->given) {
		while (!h->is_done[h->taken % PB_ITEMS_MAX]) {
			if (h->begun < h->given)
				work_on_item(h, 0);
			else
				pthread_cond_wait(&h->done, &h->lock);
		}
		item = h->items[h->taken++ % PB_ITEMS_MAX];
	}
	pthread_mutex_unlock(&h->lock);
	return item;
}

void pb_helpers_stop(struct pb_helpers *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->stop = true;
	pthread_cond_broadcast(&h->more);
	pthread_mutex_unlock(&h->lock);
	for (unsigned i = 0; i < h->n_threads; i++)
		pthread_join(h->threads[i], NULL);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->more);
	pthread_cond_destroy(&h->done);
	free(h);
}
