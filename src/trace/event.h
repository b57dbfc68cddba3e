/*
 * A tracepoint as libtraceevent knows it.
 */
#ifndef PERFLUA_TRACE_EVENT_H
#define PERFLUA_TRACE_EVENT_H

#include "tree.h"

#ifdef PERFLUA_TRACEEVENT

struct pt_event {
	const struct pd_tracepoint *tracepoint;
	bool printable;	 /* what follows holds; else only its fields can be printed */
	uint32_t extent; /* bytes of raw data that its fields need */
	struct pt_tree tree;
};

/* NULL: no memory. The handle has parsed it afterwards, if it is printable. */
struct pt_event *pt_event_create(struct tep_handle *tep,
				 const struct pd_tracepoint *tracepoint);
void pt_event_destroy(struct pt_event *event);

/* May libtraceevent have this sample? */
bool pt_event_allows(const struct pt_event *event, const uint8_t *raw, uint32_t n);

#endif
#endif
