#include "lines_spans.h"

#include <stdlib.h>
#include <time.h>

#include "base/vector.h"

static uint64_t read_cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void ps_budget_start(struct ps_budget *budget)
{
	budget->until = read_cpu_time() + budget->time;
}

void ps_budget_stop(struct ps_budget *budget)
{
	uint64_t now = read_cpu_time();

	budget->time = now < budget->until ? budget->until - now : 0;
}

bool ps_budget_late(const struct ps_budget *budget)
{
	return ps_interrupted(budget->interrupt) || read_cpu_time() >= budget->until;
}

bool ps_spans_add(struct ps_spans *spans, uint64_t low, uint64_t high, uint32_t owner,
		  struct ps_budget *budget)
{
	if (low >= high)
		return true;
	if (!budget->spans)
		return false;
	budget->spans--;
	if (!pb_reserve(spans->spans, spans->n, spans->capacity))
		return false;
	spans->spans[spans->n++] = (struct ps_span){ low, high, owner };
	return true;
}

static int compare_lows(const void *a, const void *b)
{
	const struct ps_span *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->owner < y->owner ? -1 : x->owner > y->owner;
}

/* A heap of the address ranges over one address, with the greatest owner at the top. */
struct heap {
	struct ps_span *spans;
	size_t n;
};

static void push_owner(struct heap *heap, const struct ps_span *span)
{
	size_t i = heap->n++;

	for (; i && heap->spans[(i - 1) / 2].owner < span->owner; i = (i - 1) / 2)
		heap->spans[i] = heap->spans[(i - 1) / 2];
	heap->spans[i] = *span;
}

static void pop_owner(struct heap *heap)
{
	const struct ps_span last = heap->spans[--heap->n];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < heap->n &&
		    heap->spans[child].owner < heap->spans[child + 1].owner)
			child++;
		if (child >= heap->n || heap->spans[child].owner <= last.owner)
			break;
		heap->spans[i] = heap->spans[child];
		i = child;
	}
	heap->spans[i] = last;
}

static void emit_span(struct ps_spans *out, uint64_t low, uint64_t high, uint32_t owner)
{
	struct ps_span *last = out->n ? &out->spans[out->n - 1] : NULL;

	if (last && last->high == low && last->owner == owner)
		last->high = high;
	else
		out->spans[out->n++] = (struct ps_span){ low, high, owner };
}

/* Sweeps from left to right, between the points where a range begins or the top one ends. */
static void sweep_spans(const struct ps_spans *in, struct ps_spans *out, struct heap *heap)
{
	uint64_t at = 0;

	for (size_t i = 0; i < in->n || heap->n;) {
		uint64_t next;

		if (!heap->n)
			at = in->spans[i].low;
		while (i < in->n && in->spans[i].low <= at)
			push_owner(heap, &in->spans[i++]);
		while (heap->n && heap->spans[0].high <= at)
			pop_owner(heap);
		if (!heap->n)
			continue;
		next = heap->spans[0].high;
		if (i < in->n && in->spans[i].low < next)
			next = in->spans[i].low;
		emit_span(out, at, next, heap->spans[0].owner);
		at = next;
	}
}

bool ps_spans_finish(struct ps_spans *spans)
{
	struct ps_spans out = { 0 };
	struct heap heap = { 0 };

	if (!spans->n)
		return true;
	qsort(spans->spans, spans->n, sizeof(*spans->spans), compare_lows);
	/* each range begins once and ends once */
	out.spans = reallocarray(NULL, spans->n, 2 * sizeof(*out.spans));
	heap.spans = reallocarray(NULL, spans->n, sizeof(*heap.spans));
	if (out.spans && heap.spans) {
		sweep_spans(spans, &out, &heap);
		free(spans->spans);
		spans->spans = reallocarray(out.spans, out.n, sizeof(*out.spans));
		if (!spans->spans)
			spans->spans = out.spans;
		spans->n = spans->capacity = out.n;
		free(heap.spans);
		return true;
	}
	free(out.spans);
	free(heap.spans);
	ps_spans_deinit(spans);
	return false;
}

uint32_t ps_spans_find(const struct ps_spans *spans, uint64_t address)
{
	size_t low = 0, high = spans->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans->spans[middle].high <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == spans->n || address < spans->spans[low].low)
		return PS_NO_OWNER;
	return spans->spans[low].owner;
}

void ps_spans_deinit(struct ps_spans *spans)
{
	free(spans->spans);
	*spans = (struct ps_spans){ 0 };
}
