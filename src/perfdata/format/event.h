/*
 * One event of a recording: its attribute, name, ids, group, and the layouts of its records.
 */
#ifndef PERFLUA_PERFDATA_EVENT_H
#define PERFLUA_PERFDATA_EVENT_H

#include <stdatomic.h>

#include "attr.h"
#include "layout.h"

struct pd_id_table;
struct pd_tracepoint;

struct pd_event {
	const struct pd_id_table *recorded_with; /* the events of its recording, by id */
	uint32_t index;				 /* 0-based, as EVENT_DESC counts */
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
	/* what its samples' raw data holds; NULL: it is no tracepoint, or its format is not known */
	const struct pd_tracepoint *tracepoint;
	struct pd_shape shape;
	const struct pd_layout *sample; /* of its samples */
	/* of its samples, split by counter value (counters.h); NULL: they carry none with ids */
	const struct pd_layout *split;
	atomic_uint
		counters_noted; /* what of its counter values was noted as damage: counters.c */
	const struct pd_layout *const
		*others; /* [PD_RECORD_TYPES], by type; [0] for unknown ones */
};

/*
 * The events of a recording by id: open addressing, filled while a file is opened, read-only afterwards. The ids are the
 * writer's choice, so what they are hashed with is not for him to know: a factor of this table alone.
 */
struct pd_id_table {
	struct pd_id_slot {
		uint64_t id;
		uint32_t event; /* index + 1; 0: free */
	} * slots;
	const struct pd_event *events; /* of the recording, by index */
	size_t n, capacity;	       /* capacity: a power of two, or 0 */
	uint64_t factor;	       /* odd */
	unsigned shift;		       /* what is left of a product is a place */
};

bool pd_id_table_add(struct pd_id_table *table, uint64_t id, uint32_t event);
void pd_id_table_deinit(struct pd_id_table *table);

/* Where the search for an id begins: multiply-shift, so of any two ids few factors make one place. */
static inline uint64_t pd_id_place(const struct pd_id_table *table, uint64_t id)
{
	return id * table->factor >> table->shift;
}

/* The index of the id's event, or UINT32_MAX. */
static inline uint32_t pd_id_table_find(const struct pd_id_table *table, uint64_t id)
{
	if (!table->capacity)
		return UINT32_MAX;
	for (uint64_t h = pd_id_place(table, id);; h++) {
		const struct pd_id_slot *slot = &table->slots[h & (table->capacity - 1)];

		if (!slot->event)
			return UINT32_MAX;
		if (slot->id == id)
			return slot->event - 1;
	}
}

/* Returns the event of an id, or NULL. */
static inline const struct pd_event *pd_event_by_id(const struct pd_id_table *table,
						    uint64_t id)
{
	uint32_t index = pd_id_table_find(table, id);

	return index == UINT32_MAX ? NULL : &table->events[index];
}

#endif
