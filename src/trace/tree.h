/*
 * What libtraceevent made of a print fmt: its arguments as trees, which it will walk for each sample. They are looked at
 * once, node by node; what depends on a sample is noted, and asked of each sample before it is given.
 */
#ifndef PERFLUA_TRACE_TREE_H
#define PERFLUA_TRACE_TREE_H

#include "fmt.h"

#ifdef PERFLUA_TRACEEVENT

#include <event-parse.h>

/* The raw data of a sample, of the tracepoint. */
struct pt_sample {
	const struct pd_tracepoint *tracepoint;
	const uint8_t *raw;
	uint32_t n;
};

enum pt_guard_kind {
	PT_AT_MOST, /* a number is not larger than `limit` */
	PT_BYTES,   /* an array has so many items of that size */
	PT_FILLED,  /* what has a place of its own is not empty */
};

struct pt_guard {
	enum pt_guard_kind kind;
	const struct tep_print_arg *count, *size; /* size: NULL: 1 */
	uint32_t limit;
	uint32_t field; /* place among the tracepoint's */
};

struct pt_tree {
	const struct pd_tracepoint *tracepoint;
	struct pt_guard *guards;
	size_t n, capacity;
};

/* Looks at an event's arguments. False: something is wrong with them, or there is no memory. */
bool pt_tree_check(struct pt_tree *tree, const struct pt_fmt *fmt,
		   const struct tep_event *event);
void pt_tree_deinit(struct pt_tree *tree);

/* May this sample be printed? */
bool pt_tree_allows(const struct pt_tree *tree, const struct pt_sample *sample);

#endif
#endif
