/*
 * An event of a recording: its attribute, name, ids and group, and the layouts of its records.
 */
#ifndef PERFLUA_PERFDATA_EVENT_H
#define PERFLUA_PERFDATA_EVENT_H

#include <stdatomic.h>

#include "attr.h"
#include "base/map.h"
#include "layout.h"

struct pd_events_by_id;
struct pd_tracepoint;

struct pd_event {
	const struct pd_events_by_id *recorded_with; /* all events of its recording, by id */
	/* 0-based, in the order of the attrs, as in EVENT_DESC */
	uint32_t index;
	uint32_t number; /* among the events of all recordings of a session */
	struct pd_attr attr;
	uint32_t attr_size;  /* bytes that the file has for the attr; attr.size may differ */
	uint64_t attr_at;    /* offset of the attr in the file */
	uint8_t *attr_bytes; /* [attr_size], in pipe mode; NULL: the file has them */
	char *name;	     /* perf's name of the event */
	bool made_up;	     /* the name is derived from the attr, as the recording has none */
	char *unit;	     /* unit of the counts; NULL: none */
	double scale;	     /* factor for its counts; 0: not recorded */
	uint64_t offset;     /* in pipe mode, of the record that described it; else 0 */
	uint64_t *ids;
	size_t n_ids;
	uint32_t leader; /* index of its group's leader; its own if it leads or has no group */
	/* of a leader: the number of events in its group, itself included; else 1 */
	uint32_t n_members;
	char *group_name; /* name of the group that the event leads; NULL: none */
	/*
	 * format of the raw data of its samples; NULL: it is not a tracepoint, or the format is
	 * not known
	 */
	const struct pd_tracepoint *tracepoint;
	struct pd_shape shape;
	const struct pd_layout *sample; /* for its samples */
	/*
	 * for its samples when they are split by counter value (counters.h); NULL: they carry
	 * no values with ids
	 */
	const struct pd_layout *split;
	/* the kinds of damage to its counter values that were noted, see counters.c */
	atomic_uint counters_noted;
	/* [PD_RECORD_TYPES], by type; [0] for unknown types */
	const struct pd_layout *const *others;
};

/* The events of a recording, by index and by id; filled while the recording is opened. */
struct pd_events_by_id {
	const struct pd_event *list; /* events by index */
	struct pb_id_map map;	     /* id → index */
};

/* Returns the event that has an id, or NULL. */
static inline const struct pd_event *pd_event_by_id(const struct pd_events_by_id *events,
						    uint64_t id)
{
	uint32_t index = pb_id_map_find(&events->map, id);

	return index == UINT32_MAX ? NULL : &events->list[index];
}

#endif
