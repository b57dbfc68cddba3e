#include "readahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define BLOCK (256 * 1024)
#define SLOTS 4

struct pd_readahead {
	pthread_t thread;
	struct pd_input *input;
	uint64_t offset, limit; /* what is left to read: the thread's */
	uint8_t *blocks;
	/* with the lock held: */
	pthread_mutex_t lock;
	pthread_cond_t more, room;
	size_t sizes[SLOTS];
	size_t read, given; /* blocks so far */
	bool stop, failed;
	struct pd_error error;
};

static uint8_t *block(const struct pd_readahead *a, size_t i)
{
	return a->blocks + i % SLOTS * (PD_AHEAD_ROOM + BLOCK) + PD_AHEAD_ROOM;
}

static bool wait_for_room(struct pd_readahead *a)
{
	bool stop;

	pthread_mutex_lock(&a->lock);
	/* the one that was given last is still looked at, and the end of the one before it */
	while (!a->stop && a->read - a->given == SLOTS - 2)
		pthread_cond_wait(&a->room, &a->lock);
	stop = a->stop;
	pthread_mutex_unlock(&a->lock);
	return !stop;
}

static void *run(void *arg)
{
	struct pd_readahead *a = arg;
	size_t got = 1;

	while (got && wait_for_room(a)) {
		uint64_t left = a->limit - a->offset;
		size_t n = left < BLOCK ? (size_t)left : BLOCK;
		struct pd_error err;
		bool ok = pd_input_read(a->input, a->offset, block(a, a->read), n, n, &got,
					&err);

		pthread_mutex_lock(&a->lock);
		got = ok ? got : 0;
		a->offset += got;
		a->sizes[a->read++ % SLOTS] = got;
		if (!ok) {
			a->failed = true;
			a->error = err;
		}
		pthread_cond_signal(&a->more);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

struct pd_readahead *pd_readahead_start(struct pd_input *input, uint64_t offset, uint64_t limit)
{
	struct pd_readahead *a = calloc(1, sizeof(*a));
	sigset_t all, before;
	bool ok = false;

	if (!a)
		return NULL;
	a->input = input;
	a->offset = offset;
	a->limit = limit;
	a->blocks = malloc((size_t)SLOTS * (PD_AHEAD_ROOM + BLOCK));
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->more, NULL);
	pthread_cond_init(&a->room, NULL);
	/* signals are for the threads of the program */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (a->blocks)
		ok = pthread_create(&a->thread, NULL, run, a) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ok)
		return a;
	free(a->blocks);
	free(a);
	return NULL;
}

void pd_readahead_stop(struct pd_readahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->room);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->more);
	pthread_cond_destroy(&a->room);
	free(a->blocks);
	free(a);
}

uint8_t *pd_readahead_next(struct pd_readahead *a, size_t *size, struct pd_error *err)
{
	uint8_t *bytes;

	pthread_mutex_lock(&a->lock);
	pthread_cond_signal(&a->room);
	while (a->read == a->given)
		pthread_cond_wait(&a->more, &a->lock);
	*size = a->sizes[a->given % SLOTS];
	bytes = block(a, a->given);
	if (*size || !a->failed) {
		a->given += *size != 0; /* the end stays the next one */
	} else {
		bytes = NULL;
		*err = a->error;
	}
	pthread_mutex_unlock(&a->lock);
	return bytes;
}
