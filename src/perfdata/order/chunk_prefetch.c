#include "chunk_prefetch.h"

#include <stdlib.h>

#include "base/producer.h"

#define LOADED_WAITING 8 /* loaded chunks that may wait; so few stay in the L2 cache */

struct pd_chunk_prefetch {
	struct pb_producer *producer;
	struct pd_error error; /* why loading ended; read after the producer ended */
	struct pd_chunk_request *requests;
	size_t n;
	struct pd_sort_scratch scratch; /* used in the thread only */
	struct pb_pass *pass;		/* that the loading belongs to */
};

static int compare_requests(const void *a, const void *b)
{
	const struct pd_chunk_request *x = a, *y = b;

	if (x->chunk->min != y->chunk->min)
		return x->chunk->min < y->chunk->min ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void *load_next(void *arg, size_t i)
{
	struct pd_chunk_prefetch *o = arg;
	struct pd_loaded_chunk *loaded;
	struct pb_lap lap;

	if (i == o->n)
		return NULL;
	lap = pb_stage_enter(o->requests[i].stream->stream->input->timing, o->pass,
			     PB_STAGE_ORDER);
	loaded = pd_chunk_load(o->requests[i].chunk, o->requests[i].stream, &o->scratch,
			       &o->error);
	pb_stage_leave(&lap);
	return loaded;
}

static void drop_loaded(void *loaded)
{
	pd_loaded_chunk_destroy(loaded);
}

struct pd_chunk_prefetch *pd_chunk_prefetch_start(struct pd_chunk_request *requests, size_t n,
						  struct pb_pass *pass)
{
	struct pd_chunk_prefetch *o = calloc(1, sizeof(*o));

	if (!o) {
		free(requests);
		return NULL;
	}
	qsort(requests, n, sizeof(*requests), compare_requests);
	o->requests = requests;
	o->n = n;
	o->pass = pass ? pass : pb_pass_current(requests->stream->stream->input->timing);
	o->error.code = "";
	o->producer = pb_producer_start(
		(struct pb_producing){ load_next, drop_loaded, o, LOADED_WAITING });
	if (o->producer)
		return o;
	pd_chunk_prefetch_stop(o);
	return NULL;
}

void pd_chunk_prefetch_stop(struct pd_chunk_prefetch *o)
{
	if (!o)
		return;
	pb_producer_stop(o->producer);
	free(o->scratch.positions);
	free(o->requests);
	free(o);
}

struct pd_loaded_chunk *pd_chunk_prefetch_next(struct pd_chunk_prefetch *o,
					       struct pd_error *err)
{
	struct pd_loaded_chunk *loaded = pb_producer_next(o->producer);

	if (!loaded && err)
		*err = o->error;
	return loaded;
}
