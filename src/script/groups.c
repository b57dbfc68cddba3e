/*
 * Samples that carry counters (PERF_SAMPLE_READ): of the group's events each is a sample of its own, whose period is
 * what it counted since its last one.
 */
#include <stdlib.h>

#include "line.h"

struct px_groups {
	struct pd_id_table *last; /* [n_files]: id → number in values */
	size_t n_files;
	struct pd_id_table by_thread; /* that number and a tid → number in values */
	uint64_t *values;	      /* [n] */
	size_t n, capacity;
};

void px_groups_destroy(struct px_groups *groups)
{
	if (!groups)
		return;
	for (size_t i = 0; groups->last && i < groups->n_files; i++)
		pd_id_table_deinit(&groups->last[i]);
	pd_id_table_deinit(&groups->by_thread);
	free(groups->last);
	free(groups->values);
	free(groups);
}

static struct px_groups *make(const struct pd_session *session)
{
	struct px_groups *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return NULL;
	groups->n_files = session->n_files;
	groups->last = calloc(session->n_files, sizeof(*groups->last));
	if (!groups->last) {
		free(groups);
		return NULL;
	}
	return groups;
}

/* The value of a key, 0 at first; NULL: no memory. */
static uint64_t *value_of(struct px_groups *groups, struct pd_id_table *table, uint64_t key)
{
	uint32_t at = pd_id_table_find(table, key);

	if (at != UINT32_MAX)
		return &groups->values[at];
	if (!ps_reserve(groups->values, groups->n, groups->capacity) ||
	    !pd_id_table_add(table, key, (uint32_t)groups->n))
		return NULL;
	groups->values[groups->n] = 0;
	return &groups->values[groups->n++];
}

/*
 * Returns true if each thread has a count of its own. See
 * perf_evsel__attr_has_per_thread_sample_period, tools/lib/perf/evsel.c.
 */
static bool counts_by_thread(const struct px_script *script, const struct pd_attr *attr)
{
	return script->text & PD_TEXT_READ_BY_THREAD && attr->sample_type & PD_SAMPLE_TID &&
	       attr->flags & PD_ATTR_INHERIT;
}

/*
 * Returns the last value of the counter of an id, 0 at first. Returns NULL if there is no
 * memory.
 */
static uint64_t *last_of(struct px_script *script, const struct pd_record *rec, uint64_t id)
{
	struct px_groups *groups = script->groups;
	uint64_t *value = value_of(groups, &groups->last[rec->source ? rec->source - 1u : 0],
				   id);
	int64_t tid;

	if (!value || !counts_by_thread(script, &rec->event->attr) ||
	    !pm_integer(rec, script->ids.tid, &tid))
		return value;
	return value_of(groups, &groups->by_thread,
			(uint64_t)(value - groups->values) << 32 | (uint32_t)tid);
}

static bool one(struct px_script *script, const struct pd_record *rec, uint64_t id,
		uint64_t value, px_group_fn *fn)
{
	const struct pd_event *event = pd_event_by_id(rec->event->file, id);
	uint64_t *last, period;

	if (!event)
		return true;
	last = last_of(script, rec, id);
	if (!last)
		return false;
	period = value - *last;
	*last = value;
	/* perf does not show an event that counted nothing */
	return !period || fn(script, rec, event, &period);
}

bool px_groups_each(struct px_script *script, const struct pd_record *rec, px_group_fn *fn)
{
	struct pd_value read, id, value;
	const struct pd_view_desc *desc;

	pm_get(rec, script->ids.read, &read);
	if (read.type != PD_VIEW || !(rec->layout->shape->read_format & PD_READ_ID))
		return fn(script, rec, rec->event, NULL);
	if (!script->groups)
		script->groups = make(script->options.session);
	if (!script->groups)
		return false;
	desc = read.view.desc;
	if (!(rec->layout->shape->read_format & PD_READ_GROUP)) {
		desc->member(&read.view, pd_member_find(desc->members, "id"), &id);
		desc->member(&read.view, pd_member_find(desc->members, "value"), &value);
		return one(script, rec, id.u, value.u, fn);
	}
	for (uint32_t i = 0; i < read.view.count; i++) {
		desc->item(&read.view, i, pd_member_find(desc->items, "id"), &id);
		desc->item(&read.view, i, pd_member_find(desc->items, "value"), &value);
		if (!one(script, rec, id.u, value.u, fn))
			return false;
	}
	return true;
}
