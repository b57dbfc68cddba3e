#include "openings.h"

#include <stdlib.h>

#include "base/producer.h"

#define MOST 8 /* chunks that may wait: with these they stay in the L2 cache */

struct pd_openings {
	struct pb_producer *producer;
	struct pd_error error; /* why no more is opened: the producer's */
	struct pd_opening *due;
	size_t n;
	struct pd_scratch scratch; /* the thread's */
};

static int by_need(const void *a, const void *b)
{
	const struct pd_opening *x = a, *y = b;

	if (x->chunk->min != y->chunk->min)
		return x->chunk->min < y->chunk->min ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void *open_next(void *arg, size_t i)
{
	struct pd_openings *o = arg;

	return i < o->n ? pd_chunk_open(o->due[i].chunk, o->due[i].stream, &o->scratch,
					&o->error) :
			  NULL;
}

static void drop(void *opened)
{
	pd_opened_destroy(opened);
}

struct pd_openings *pd_openings_start(struct pd_opening *due, size_t n)
{
	struct pd_openings *o = calloc(1, sizeof(*o));

	if (!o) {
		free(due);
		return NULL;
	}
	qsort(due, n, sizeof(*due), by_need);
	o->due = due;
	o->n = n;
	o->error.code = "";
	o->producer = pb_producer_start((struct pb_producing){ open_next, drop, o, MOST });
	if (o->producer)
		return o;
	pd_openings_stop(o);
	return NULL;
}

void pd_openings_stop(struct pd_openings *o)
{
	if (!o)
		return;
	pb_producer_stop(o->producer);
	free(o->scratch.places);
	free(o->due);
	free(o);
}

struct pd_opened *pd_openings_next(struct pd_openings *o, struct pd_error *err)
{
	struct pd_opened *opened = pb_producer_next(o->producer);

	if (!opened && err)
		*err = o->error;
	return opened;
}
