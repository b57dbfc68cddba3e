#include "machine.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MOST_BYTES  ((size_t)16 << 20) /* of waiting records */
#define MOST_SORTED 65536	       /* records that came out of order */

struct waiting {
	uint64_t time; /* its own, or that of the record before it */
	size_t number; /* position in the order of arrival */
	bool timed;    /* `time` is its own */
	struct pd_record rec;
};

struct pm_incremental {
	struct pm_system *system;
	struct pd_timestamp_locator locator;
	/* [n]: records from `first` on wait; those before `sorted` are sorted by time */
	struct waiting *list;
	size_t first, sorted, n, capacity;
	size_t number, bytes;
	uint64_t until;	  /* samples up to this time may have asked, */
	bool asked;	  /* if any did */
	bool begun;	  /* a record with a time came, even with 0 */
	bool later_names; /* first names hold before their time */
};

bool pm_can_read_incrementally(const struct pd_session *session)
{
	const struct pd_file *file = session->files[0];
	struct pd_timestamp_locator locator;

	if (session->n_files > 1 || file->n_streams > 1)
		return false;
	/*
	 * A chain that comes later belongs to samples of any time. Where records have no room
	 * for a time nothing says when they were written.
	 */
	for (size_t i = 0; i < file->n_events; i++)
		if (file->events[i].shape.defer || !file->events[i].shape.sample_id_all)
			return false;
	pd_timestamp_locator_init(&locator, file);
	return locator.at[PD_RECORD_SAMPLE] > 0;
}

struct pm_incremental *pm_incremental_create(struct pm_system *system, bool later_names)
{
	struct pm_incremental *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->system = system;
	in->later_names = later_names;
	pd_timestamp_locator_init(&in->locator, system->session->files[0]);
	system->threads.in_order = pm_sources_are_timed(&system->sources);
	return in;
}

void pm_incremental_destroy(struct pm_incremental *in)
{
	if (!in)
		return;
	for (size_t i = in->first; i < in->n; i++)
		free((void *)in->list[i].rec.bytes);
	free(in->list);
	free(in);
}

/*
 * Reserves a place for another record. If at least half of the list was added to the system,
 * drops that half. Returns false without memory.
 */
static bool reserve_waiting(struct pm_incremental *in)
{
	if (in->first && in->first >= in->n / 2) {
		memmove(in->list, in->list + in->first,
			(in->n - in->first) * sizeof(*in->list));
		in->n -= in->first;
		in->sorted -= in->first;
		in->first = 0;
	}
	return pb_reserve(in->list, in->n, in->capacity);
}

/*
 * Returns true if it is known when a record was written. A record without a time (which is not
 * the same as a time of 0) was written at the beginning if no record with a time precedes it;
 * otherwise it may have been written at the end.
 */
static bool is_time_known(struct pm_incremental *in, const struct pd_record *rec, uint64_t last)
{
	if (pm_time_of(&in->system->sources, rec) != PM_NO_TIME)
		in->begun = true;
	else if (in->begun || last)
		return false;
	return true;
}

bool pm_incremental_add(struct pm_incremental *in, const struct pd_record *rec, uint64_t last)
{
	struct waiting w = { .time = last, .number = in->number++, .rec = *rec };
	uint8_t *bytes;

	if (rec->type < PD_RECORD_USER && !is_time_known(in, rec, last))
		return false;
	w.timed = pd_timestamp_of(&in->locator, &w.rec, &w.time);
	/* a record without a time belongs to the beginning, or holds at all times */
	if (in->asked && (!w.timed || w.time <= in->until))
		return false;
	in->bytes += sizeof(w) + rec->size;
	bytes = in->bytes > MOST_BYTES ? NULL : malloc(rec->size);
	if (!bytes || !reserve_waiting(in)) {
		free(bytes);
		return false;
	}
	w.rec = *rec;
	w.rec.bytes = memcpy(bytes, rec->bytes, rec->size);
	if (in->sorted == in->n && (in->n == in->first || in->list[in->n - 1].time <= w.time))
		in->sorted++;
	in->list[in->n++] = w;
	return true;
}

static int compare_waiting_times(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Sorts the waiting records by time. Returns false if too many of them came out of order. */
static bool sort_waiting(struct pm_incremental *in)
{
	uint64_t least = UINT64_MAX;
	size_t from = in->sorted;

	for (size_t i = in->sorted; i < in->n; i++)
		if (in->list[i].time < least)
			least = in->list[i].time;
	while (from > in->first && in->list[from - 1].time > least)
		from--;
	if (in->sorted < in->n) {
		if (in->n - from > MOST_SORTED)
			return false;
		qsort(in->list + from, in->n - from, sizeof(*in->list), compare_waiting_times);
	}
	in->sorted = in->n;
	return true;
}

/* Returns true if the thread that `w` names has no name at its time. */
static bool is_first_name(const struct pm_system *sys, const struct waiting *w)
{
	const struct pm_thread *thread;
	int64_t tid;

	if (!pm_integer(&w->rec, sys->ids.tid, &tid))
		return false;
	thread = pm_thread_find(&sys->threads, pm_machine_of(sys, &w->rec), (int32_t)tid);
	return !thread || pm_thread_name(&sys->threads, thread,
					 pm_thread_at(thread, w->time)) == PM_NO_STRING;
}

/* Returns true if the statement of a record holds from its time on, and not before. */
static bool holds_from_its_time(const struct pm_incremental *in, const struct waiting *w)
{
	const struct pm_system *sys = in->system;
	struct pd_value name;
	int64_t pid;

	if (!w->timed)
		return false;
	switch (pd_record_sideband(&w->rec)) {
	case PD_SB_THREAD_NAME:
		return !in->later_names || !is_first_name(sys, w);
	case PD_SB_THREAD_START:
	case PD_SB_THREAD_END:
		return true;
	case PD_SB_MAPPING:
		/*
		 * A kernel's border holds at all times, and so does the jitdump of a process.
		 */
		pm_get(&w->rec, sys->binaries.ids.filename, &name);
		return (w->rec.misc & PD_MISC_CPUMODE) == PD_CPUMODE_USER &&
		       pm_integer(&w->rec, sys->ids.pid, &pid) && name.type == PD_STR &&
		       !ps_is_jitdump(name.s.p, (int32_t)pid);
	default:
		return false;
	}
}

bool pm_incremental_advance(struct pm_incremental *in, uint64_t time)
{
	if (time < in->until)
		time = in->until;
	if (!sort_waiting(in))
		return false;
	for (; in->first < in->n && in->list[in->first].time <= time; in->first++) {
		struct waiting *w = &in->list[in->first];
		bool ok = (!in->asked || holds_from_its_time(in, w)) &&
			  pm_system_add(in->system, &w->rec);

		in->bytes -= sizeof(*w) + w->rec.size;
		free((void *)w->rec.bytes);
		if (!ok) {
			in->first++;
			return false;
		}
	}
	/* a record without a time of its own may belong before `time` */
	for (size_t i = in->first; !in->asked && i < in->n; i++)
		if (!in->list[i].timed)
			return false;
	in->until = time;
	in->asked = true;
	return true;
}
