/*
 * Events of several recordings that are read as one session: equal events get one number.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "perfdata/format/format.h"
#include "perfdata/tracepoint/tracepoint.h"
#include "session.h"

/* comparisons of events and of their fields; real recordings need far fewer */
#define MAX_COMPARED 10000000

static bool are_fields_equal(const struct pd_tracepoint_field *a,
			     const struct pd_tracepoint_field *b)
{
	return a->offset == b->offset && a->size == b->size && a->element == b->element &&
	       a->kind == b->kind && a->storage == b->storage && a->is_signed == b->is_signed &&
	       strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0;
}

/*
 * Returns whether two formats of a tracepoint are equal: kernels may differ in the fields they
 * record.
 */
static bool are_formats_equal(const struct pd_tracepoint *a, const struct pd_tracepoint *b,
			      size_t *compared)
{
	if (!a || !b || a->n_fields != b->n_fields)
		return a == b;
	for (uint32_t i = 0; i < a->n_fields; i++)
		if ((*compared)++ >= MAX_COMPARED ||
		    !are_fields_equal(&a->fields[i], &b->fields[i]))
			return false;
	return true;
}

/* Returns whether two events are equal in all that can be seen of them, except their ids. */
static bool are_events_equal(const struct pd_event *a, const struct pd_event *b,
			     size_t *compared)
{
	struct pd_attr x = a->attr, y = b->attr;

	if (strcmp(a->name, b->name) != 0)
		return false;
	/* the number of a tracepoint differs between kernels */
	if (x.type == PD_TYPE_TRACEPOINT && y.type == PD_TYPE_TRACEPOINT)
		x.config = y.config;
	for (unsigned m = 0; pd_attr_members[m].name; m++) {
		struct pd_value v = { .type = PD_NIL }, w = { .type = PD_NIL };

		pd_attr_member(&x, m, &v);
		pd_attr_member(&y, m, &w);
		if (v.type != w.type || (v.type != PD_NIL && v.u != w.u))
			return false;
	}
	return are_formats_equal(a->tracepoint, b->tracepoint, compared);
}

/* Returns the number of an equal event of another recording; n_events if there is none. */
static size_t find_equal_event(const struct pd_session *s, const struct pd_event *event,
			       size_t *compared)
{
	/* mostly it has the same index in each file */
	if (event->index < s->n_events &&
	    s->events[event->index]->recorded_with != event->recorded_with &&
	    are_events_equal(s->events[event->index], event, compared))
		return event->index;
	for (size_t i = 0; i < s->n_events && (*compared)++ < MAX_COMPARED; i++)
		if (s->events[i]->recorded_with != event->recorded_with &&
		    are_events_equal(s->events[i], event, compared))
			return i;
	return s->n_events;
}

bool pd_session_add_event(struct pd_session *s, struct pd_event *event, size_t *compared)
{
	size_t at = find_equal_event(s, event, compared);

	if (at == s->n_events) {
		if (!pb_reserve(s->events, s->n_events, s->events_room))
			return false;
		s->events[s->n_events++] = event;
	}
	event->number = (uint32_t)at;
	return true;
}
