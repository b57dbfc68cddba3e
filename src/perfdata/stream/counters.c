#include "counters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "perfdata/format/views.h"

struct pd_counters {
	struct pd_session *session;
	struct pb_id_map *by_id;    /* [session->n_files]: id → index in last */
	struct pb_id_map by_thread; /* such an index and a tid → index in last */
	uint64_t *last;		    /* [n]: previous values */
	size_t n, capacity;
	unsigned read_name, tid_name;		 /* numbers of the names of the fields */
	unsigned id, value, item_id, item_value; /* numbers of members and items of `read` */

	struct pd_record rec; /* the record that is split */
	struct pd_value read; /* its values */
	uint32_t next, count; /* index of the next value, and their number */
	bool whole;	      /* it has no values: the record is delivered unchanged */
};

bool pd_session_has_counters(const struct pd_session *session)
{
	for (size_t i = 0; i < session->n_events; i++)
		if (session->events[i]->split)
			return true;
	return false;
}

struct pd_counters *pd_counters_create(struct pd_session *session)
{
	const struct pd_field_names *names = &session->files[0]->field_names;
	struct pd_counters *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->by_id = calloc(session->n_files, sizeof(*c->by_id));
	if (!c->by_id) {
		free(c);
		return NULL;
	}
	c->session = session;
	c->read_name = pd_field_name_id(names, "read", 4);
	c->tid_name = pd_field_name_id(names, "tid", 3);
	c->id = pd_member_find(pd_view_read.members, "id");
	c->value = pd_member_find(pd_view_read.members, "value");
	c->item_id = pd_member_find(pd_view_read.items, "id");
	c->item_value = pd_member_find(pd_view_read.items, "value");
	return c;
}

void pd_counters_destroy(struct pd_counters *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->session->n_files; i++)
		pb_id_map_deinit(&c->by_id[i]);
	pb_id_map_deinit(&c->by_thread);
	free(c->by_id);
	free(c->last);
	free(c);
}

static size_t find_source_index(const struct pd_record *rec)
{
	return rec->source ? rec->source - 1u : 0;
}

void pd_counters_split(struct pd_counters *c, const struct pd_record *rec)
{
	c->rec = *rec;
	c->read.type = PD_NIL;
	c->next = 0;
	pd_record_get(&c->rec, rec->layout->slot[c->read_name], &c->read);
	c->whole = c->read.type != PD_VIEW;
	if (c->whole || !(rec->layout->shape->read_format & PD_READ_GROUP))
		c->count = 1;
	else
		c->count = c->read.view.count;
}

/* Stores the index in c->last of a key's value, 0 at first. Returns false without memory. */
static bool find_value(struct pd_counters *c, struct pb_id_map *table, uint64_t key,
		       uint32_t *index)
{
	*index = pb_id_map_find(table, key);
	if (*index != UINT32_MAX)
		return true;
	if (c->n >= UINT32_MAX - 1 || !pb_reserve(c->last, c->n, c->capacity) ||
	    !pb_id_map_add(table, key, (uint32_t)c->n))
		return false;
	*index = (uint32_t)c->n++;
	c->last[*index] = 0;
	return true;
}

/*
 * Returns true if each thread has a count of its own. See
 * perf_evsel__attr_has_per_thread_sample_period, tools/lib/perf/evsel.c.
 */
static bool counts_by_thread(const struct pd_counters *c, const struct pd_attr *attr)
{
	return c->session->text & PD_TEXT_READ_BY_THREAD && attr->sample_type & PD_SAMPLE_TID &&
	       attr->flags & PD_ATTR_INHERIT;
}

/* Stores the index in c->last of the counter of an id. Returns false without memory. */
static bool find_counter(struct pd_counters *c, uint64_t id, uint32_t *index)
{
	const struct pd_record *rec = &c->rec;
	int64_t tid;

	if (!find_value(c, &c->by_id[find_source_index(rec)], id, index))
		return false;
	if (!counts_by_thread(c, &rec->event->attr) ||
	    !pd_record_integer(rec, rec->layout->slot[c->tid_name], &tid))
		return true;
	return find_value(c, &c->by_thread, (uint64_t)*index << 32 | (uint32_t)tid, index);
}

/* Bits of event->counters_noted. */
enum {
	COUNTED_BACK = 1,
	UNKNOWN_ID = 2
};

/* Returns true if that was not noted of the event before. */
static bool is_first_note(const struct pd_counters *c, const struct pd_event *event,
			  unsigned what)
{
	struct pd_file *file = c->session->files[find_source_index(&c->rec)];

	return !(atomic_fetch_or(&file->events[event->index].counters_noted, what) & what);
}

static void note_counted_back(const struct pd_counters *c, const struct pd_event *event,
			      uint64_t value, uint64_t last)
{
	const struct pd_record *rec = &c->rec;

	if (is_first_note(c, event, COUNTED_BACK))
		pd_stream_damaged(pd_session_stream(c->session, rec), rec->offset, rec->size,
				  "counter values of '%.60s' go back: found %" PRIu64
				  ", expected at least %" PRIu64,
				  event->name, value, last);
}

static void note_unknown_id(const struct pd_counters *c, uint64_t id)
{
	const struct pd_record *rec = &c->rec;

	if (is_first_note(c, rec->event, UNKNOWN_ID))
		pd_stream_damaged(pd_session_stream(c->session, rec), rec->offset, rec->size,
				  "counter values of '%.60s': found the id %" PRIu64
				  ", expected one of an event",
				  rec->event->name, id);
}

/*
 * Stores the sample of a value in `out`. Returns 1, 0 if it gives none, and -1 without memory.
 */
static int split_value(struct pd_counters *c, uint64_t id, uint64_t value,
		       struct pd_record *out)
{
	const struct pd_event *event = pd_event_by_id(c->rec.event->recorded_with, id);
	uint32_t index;
	uint64_t last;

	if (!event) {
		note_unknown_id(c, id);
		return 0;
	}
	if (!find_counter(c, id, &index))
		return -1;
	last = c->last[index];
	c->last[index] = value;
	if (value < last)
		note_counted_back(c, event, value, last);
	if (value <= last)
		return 0;
	*out = c->rec;
	out->layout = c->rec.event->split;
	out->recorded = c->rec.event;
	out->event = event;
	out->counter = id;
	out->counted = value - last;
	return 1;
}

int pd_counters_next(struct pd_counters *c, struct pd_record *out)
{
	bool group = c->rec.layout->shape->read_format & PD_READ_GROUP;
	struct pd_value id, value;
	int got = 0;

	while (!got && c->next < c->count) {
		uint32_t i = c->next++;

		if (c->whole) {
			*out = c->rec;
			return 1;
		}
		if (group) {
			pd_view_read.item(&c->read.view, i, c->item_id, &id);
			pd_view_read.item(&c->read.view, i, c->item_value, &value);
		} else {
			pd_view_read.member(&c->read.view, c->id, &id);
			pd_view_read.member(&c->read.view, c->value, &value);
		}
		got = split_value(c, id.u, value.u, out);
	}
	return got;
}
