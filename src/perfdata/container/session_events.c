/*
 * The events of several recordings that are read as one: equal ones have one number.
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata/format/format.h"
#include "perfdata/tracepoint/tracepoint.h"
#include "session.h"

#define MAX_COMPARED \
	10000000 /* events, and fields of theirs: more than any real recordings need */

static bool same_field(const struct pd_tracepoint_field *a, const struct pd_tracepoint_field *b)
{
	return a->offset == b->offset && a->size == b->size && a->element == b->element &&
	       a->kind == b->kind && a->place == b->place && a->is_signed == b->is_signed &&
	       strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0;
}

/* Kernels may differ in what they record of a tracepoint. */
static bool same_fields(const struct pd_tracepoint *a, const struct pd_tracepoint *b,
			size_t *compared)
{
	if (!a || !b || a->n_fields != b->n_fields)
		return a == b;
	for (uint32_t i = 0; i < a->n_fields; i++)
		if ((*compared)++ >= MAX_COMPARED || !same_field(&a->fields[i], &b->fields[i]))
			return false;
	return true;
}

/* Is all that can be seen of them the same, but for their ids? */
static bool same_event(const struct pd_event *a, const struct pd_event *b, size_t *compared)
{
	struct pd_attr x = a->attr, y = b->attr;

	if (strcmp(a->name, b->name) != 0)
		return false;
	/* a tracepoint's number is another one on each kernel */
	if (x.type == PD_TYPE_TRACEPOINT && y.type == PD_TYPE_TRACEPOINT)
		x.config = y.config;
	for (unsigned m = 0; pd_attr_members[m].name; m++) {
		struct pd_value v = { .type = PD_NIL }, w = { .type = PD_NIL };

		pd_attr_member(&x, m, &v);
		pd_attr_member(&y, m, &w);
		if (v.type != w.type || (v.type != PD_NIL && v.u != w.u))
			return false;
	}
	return same_fields(a->tracepoint, b->tracepoint, compared);
}

/* The number of the event of another recording that it is one with; n_events: there is none. */
static size_t find_event(const struct pd_session *s, const struct pd_event *event,
			 size_t *compared)
{
	/* it is mostly at the same place in each file */
	if (event->index < s->n_events &&
	    s->events[event->index]->recorded_with != event->recorded_with &&
	    same_event(s->events[event->index], event, compared))
		return event->index;
	for (size_t i = 0; i < s->n_events && (*compared)++ < MAX_COMPARED; i++)
		if (s->events[i]->recorded_with != event->recorded_with &&
		    same_event(s->events[i], event, compared))
			return i;
	return s->n_events;
}

bool pd_session_add_event(struct pd_session *s, struct pd_event *event, size_t *compared)
{
	const struct pd_event **grown = s->events;
	size_t n = s->n_events, at = find_event(s, event, compared);

	/* a power of two of places is full: twice as many */
	if (at == n && (n & (n - 1)) == 0) {
		grown = realloc(grown, (n ? 2 * n : 1) * sizeof(*grown));
		if (!grown)
			return false;
		s->events = grown;
	}
	if (at == n)
		grown[s->n_events++] = event;
	event->number = (uint32_t)at;
	return true;
}
