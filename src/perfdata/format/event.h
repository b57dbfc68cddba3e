/*
 * One event of a recording: its attribute, name, ids, group, and the layouts of its records.
 */
#ifndef PERFLUA_PERFDATA_EVENT_H
#define PERFLUA_PERFDATA_EVENT_H

#include <stdatomic.h>

#include "attr.h"
#include "base/id_map.h"
#include "layout.h"

struct pd_events_by_id;
struct pd_tracepoint;

struct pd_event {
	const struct pd_events_by_id *recorded_with; /* the events of its recording, by id */
	uint32_t index;				     /* 0-based, as EVENT_DESC counts */
	uint32_t number; /* among the events of all recordings of a session */
	struct pd_attr attr;
	char *name;	 /* as perf calls it */
	bool made_up;	 /* the name: from the attr, as nothing in the recording says it */
	char *unit;	 /* of its counts; NULL: none */
	double scale;	 /* what they are multiplied with; 0: not said */
	uint64_t offset; /* in pipe mode: of the record it came in */
	uint64_t *ids;
	size_t n_ids;
	uint32_t leader; /* index of its group's leader; its own if it leads or has no group */
	uint32_t n_members; /* of a leader: events in the group, itself included; else 1 */
	char *group_name;   /* of a leader whose group has a name; else NULL */
	/*
	 * what its samples' raw data holds; NULL: it is no tracepoint, or its format is not
	 * known
	 */
	const struct pd_tracepoint *tracepoint;
	struct pd_shape shape;
	const struct pd_layout *sample; /* of its samples */
	/*
	 * of its samples, split by counter value (counters.h); NULL: they carry none with ids
	 */
	const struct pd_layout *split;
	atomic_uint
		counters_noted; /* what of its counter values was noted as damage: counters.c */
	const struct pd_layout *const
		*others; /* [PD_RECORD_TYPES], by type; [0] for unknown ones */
};

/* The events of a recording, by index and by id: filled while it is opened. */
struct pd_events_by_id {
	const struct pd_event *list; /* of the recording, by index */
	struct pb_id_map map;	     /* id → index */
};

/* Returns the event of an id, or NULL. */
static inline const struct pd_event *pd_event_by_id(const struct pd_events_by_id *events,
						    uint64_t id)
{
	uint32_t index = pb_id_map_find(&events->map, id);

	return index == UINT32_MAX ? NULL : &events->list[index];
}

#endif
