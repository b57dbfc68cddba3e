/*
 * The events of several recordings as those of one. See evlist__valid_sample_type,
 * tools/perf/util/evlist.c, for the ids that perf wants.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "merge.h"
#include "perfdata/format/format.h"

/* Offsets of members of an attr. */
#define SIZE_AT	       4
#define SAMPLE_TYPE_AT 24
#define FLAGS_AT       40
#define CLOCKID_AT     92

#define MAX_COMPARED 10000000 /* comparisons of events; recordings need far fewer */

static bool fail_memory(const struct pw_part *part, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", part->file->path, PD_NO_OFFSET,
			    "no memory to join it");
}

/* Returns the part whose clock is that of the whole. */
static struct pd_file *find_base(const struct pw_merge *m)
{
	for (size_t i = 0; i < m->session->n_files; i++)
		if (!m->session->files[i]->shift)
			return m->session->files[i];
	return m->session->files[0];
}

/* Makes an attr say that times are those of the clock of `base`. */
static void set_clock(const struct pd_file *base, struct pd_event *event)
{
	bool uses = base->n_events && base->events[0].attr.flags & PD_ATTR_USE_CLOCKID;
	uint64_t bit = base->big ? UINT64_C(1) << 63 >> 25 : PD_ATTR_USE_CLOCKID;
	uint64_t flags = pb_load64(event->attr_bytes + FLAGS_AT, base->swap);
	uint32_t clockid = uses ? (uint32_t)base->events[0].attr.clockid : 0;

	pw_store64(event->attr_bytes + FLAGS_AT, uses ? flags | bit : flags & ~bit, base->swap);
	clockid = base->swap ? __builtin_bswap32(clockid) : clockid;
	if (event->attr_size >= CLOCKID_AT + sizeof(clockid))
		memcpy(event->attr_bytes + CLOCKID_AT, &clockid, sizeof(clockid));
}

/* Returns whether two events can be one: they have the same name, and but for size, attr. */
static bool are_equal(const struct pd_event *a, const struct pd_event *b)
{
	const struct pd_event *longer = a->attr_size > b->attr_size ? a : b;
	uint32_t n = longer == a ? b->attr_size : a->attr_size;

	if (strcmp(a->name, b->name) != 0 ||
	    memcmp(a->attr_bytes, b->attr_bytes, SIZE_AT) != 0 ||
	    memcmp(a->attr_bytes + 8, b->attr_bytes + 8, n - 8) != 0)
		return false;
	for (uint32_t i = n; i < longer->attr_size; i++)
		if (longer->attr_bytes[i])
			return false;
	return true;
}

/* Returns how many events a group has whose leader has a number; 1 of one without a group. */
static size_t count_members(const struct pw_description *d, size_t number)
{
	size_t n = d->events[number].n_members;

	return d->events[number].leader == number && n && n <= d->n_events - number ? n : 1;
}

/* Joins what one part has with what the parts before it have. */
struct joint {
	struct pw_description *whole;
	struct pw_description own; /* of the part */
	size_t before;		   /* events of the whole without those of the part */
	bool *taken;		   /* [before]: one of the part's was joined with it */
	size_t compared;
};

static bool is_group_at(struct joint *j, size_t at, size_t own, size_t n)
{
	if (at >= j->before || j->taken[at] || count_members(j->whole, at) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (j->compared++ >= MAX_COMPARED ||
		    !are_equal(&j->whole->events[at + i], &j->own.events[own + i]))
			return false;
	return true;
}

/* Returns where the whole has an equal group that is free; `before` if nowhere. */
static size_t find_group(struct joint *j, size_t own, size_t n)
{
	if (is_group_at(j, own, own, n)) /* mostly it has the same place */
		return own;
	for (size_t at = 0; at < j->before && j->compared < MAX_COMPARED; at++)
		if (is_group_at(j, at, own, n))
			return at;
	return j->before;
}

/* Moves an event of the part to the whole. Returns false without memory. */
static bool move_event(struct joint *j, size_t own, size_t leader)
{
	struct pw_description *d = j->whole;
	struct pd_event *event;

	if (!pb_reserve(d->events, d->n_events, d->room))
		return false;
	event = &d->events[d->n_events];
	*event = j->own.events[own];
	event->index = (uint32_t)d->n_events++;
	event->leader = (uint32_t)leader;
	event->n_ids = 0;
	j->own.events[own].attr_bytes = NULL;
	j->own.events[own].ids = NULL;
	j->own.events[own].name = NULL;
	return true;
}

/* Joins the events of a part, group by group, without their ids. */
static bool join_events(struct joint *j, struct pw_part *part)
{
	size_t n;

	for (size_t i = 0; i < j->own.n_events; i += n) {
		size_t at, base = j->whole->n_events;

		n = count_members(&j->own, i);
		at = find_group(j, i, n);
		for (size_t k = 0; k < n; k++) {
			if (at == j->before && !move_event(j, i + k, base))
				return false;
			if (at != j->before)
				j->taken[at + k] = true;
			part->joined[i + k] = (uint32_t)((at == j->before ? base : at) + k);
		}
	}
	return true;
}

static bool join_part(struct pw_merge *m, struct pw_part *part, struct pd_error *err)
{
	struct joint j = { .whole = &m->description, .before = m->description.n_events };
	bool ok;

	pw_description_init(&j.own);
	part->n_events = part->file->n_events;
	part->joined = calloc(part->n_events + 1, sizeof(*part->joined));
	j.taken = calloc(j.before + 1, sizeof(*j.taken));
	ok = pw_add_events(&j.own, part->file, err);
	for (size_t i = 0; ok && !m->session->one_clock && i < part->n_events; i++)
		set_clock(find_base(m), &j.own.events[i]);
	if (ok && !(part->joined && j.taken && join_events(&j, part)))
		ok = fail_memory(part, err);
	free(j.taken);
	pw_description_deinit(&j.own);
	return ok;
}

/* Gives an event an id. Returns false without memory. */
static bool add_id(struct pw_merge *m, uint32_t number, uint64_t id)
{
	struct pd_event *event = &m->description.events[number];
	uint64_t *ids = realloc(event->ids, (event->n_ids + 1) * sizeof(*ids));

	if (!ids)
		return false;
	event->ids = ids;
	ids[event->n_ids++] = id;
	return pb_id_map_add(&m->ids, id, number);
}

/* Gives an id of a part a number that no other event has. Returns false without memory. */
static bool renumber(struct pw_merge *m, struct pw_part *part, uint32_t number, uint64_t id)
{
	size_t n = part->edits.renumbered.n;
	uint64_t *ids = realloc(part->edits.new_ids, (n + 1) * sizeof(*ids));

	if (!ids)
		return false;
	part->edits.new_ids = ids;
	ids[n] = ++m->highest;
	return pb_id_map_add(&part->edits.renumbered, id, (uint32_t)n) &&
	       add_id(m, number, ids[n]);
}

/*
 * Gives the joined events the ids of a part. Recordings of one clock have an id in common only
 * if it is that of one event, as parts of a recording have.
 */
static bool add_ids(struct pw_merge *m, struct pw_part *part)
{
	for (size_t i = 0; i < part->n_events; i++) {
		const struct pd_event *event = &part->file->events[i];
		uint32_t number = part->joined[i];

		for (size_t k = 0; k < event->n_ids; k++) {
			uint64_t id = event->ids[k];
			uint32_t there = pb_id_map_find(&m->ids, id);
			bool ok = true;

			if (pb_id_map_find(&part->file->ids.map, id) != i)
				continue; /* it is that of another event of the part */
			if (there == UINT32_MAX)
				ok = add_id(m, number, id);
			else if (there != number || !m->session->one_clock)
				ok = renumber(m, part, number, id);
			if (!ok)
				return false;
		}
	}
	return true;
}

/* Finds the position of the id in samples, and in trailers from their end; -1: none. */
static void find_id(uint64_t type, int at[2])
{
	at[0] = at[1] = type & PD_SAMPLE_ID ? 0 : -1;
	if (type & PD_SAMPLE_IDENTIFIER) {
		at[0] = at[1] = 100;
	} else if (type & PD_SAMPLE_ID) {
		at[0] = __builtin_popcountll(type & (PD_SAMPLE_IP | PD_SAMPLE_TID |
						     PD_SAMPLE_TIME | PD_SAMPLE_ADDR));
		at[1] = __builtin_popcountll(type & (PD_SAMPLE_CPU | PD_SAMPLE_STREAM_ID));
	}
}

/* Returns whether ids lie at one place in the records of all events. */
static bool have_ids(const struct pw_description *d)
{
	int first[2], next[2];

	if (d->n_events < 2)
		return true;
	find_id(d->events[0].attr.sample_type, first);
	for (size_t i = 1; i < d->n_events && first[0] >= 0; i++) {
		find_id(d->events[i].attr.sample_type, next);
		if (next[0] != first[0] || next[1] != first[1])
			return false;
	}
	return first[0] >= 0;
}

/*
 * Makes the records of a part get ids, if its samples do not begin with one. Returns false with
 * *err if it cannot be said which.
 */
static bool add_identifiers(struct pw_merge *m, struct pw_part *part, struct pd_error *err)
{
	const struct pd_event *event = part->file->events;
	uint32_t number;

	if (!part->n_events || event->attr.sample_type & PD_SAMPLE_IDENTIFIER)
		return true;
	if (part->n_events > 1 && !(event->attr.sample_type & PD_SAMPLE_ID))
		return pd_error_set(err, "FORMAT", part->file->path, PD_NO_OFFSET,
				    "its attrs cannot be joined with those of the others: no "
				    "id tells whose its samples are");
	number = part->joined[0];
	if (!m->description.events[number].n_ids && !add_id(m, number, ++m->highest))
		return fail_memory(part, err);
	part->edits.adds_id = true;
	part->edits.id = m->description.events[number].ids[0];
	return true;
}

static bool add_all_identifiers(struct pw_merge *m, struct pd_error *err)
{
	struct pw_description *d = &m->description;
	bool swap = m->session->files[0]->swap;

	for (size_t i = 0; i < m->session->n_files; i++)
		if (!add_identifiers(m, &m->parts[i], err))
			return false;
	for (size_t i = 0; i < d->n_events; i++) {
		struct pd_event *event = &d->events[i];

		event->attr.sample_type |= PD_SAMPLE_IDENTIFIER;
		pw_store64(event->attr_bytes + SAMPLE_TYPE_AT, event->attr.sample_type, swap);
	}
	return true;
}

bool pw_merge_events(struct pw_merge *m, struct pd_error *err)
{
	size_t n = m->session->n_files;

	for (size_t i = 0; i < n; i++) {
		const struct pd_file *file = m->session->files[i];

		for (size_t k = 0; k < file->n_events; k++)
			for (size_t id = 0; id < file->events[k].n_ids; id++)
				if (file->events[k].ids[id] > m->highest)
					m->highest = file->events[k].ids[id];
	}
	for (size_t i = 0; i < n; i++) {
		if (!join_part(m, &m->parts[i], err))
			return false;
		if (!add_ids(m, &m->parts[i]))
			return fail_memory(&m->parts[i], err);
	}
	return have_ids(&m->description) || add_all_identifiers(m, err);
}
