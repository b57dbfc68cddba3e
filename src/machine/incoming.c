#include "incoming.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MOST_BYTES  ((size_t)16 << 20) /* of records that wait */
#define MOST_SORTED 65536	       /* records that came out of order */

struct waiting {
	uint64_t time; /* its own, or that of the record before it */
	size_t number; /* as they came */
	bool timed;    /* it is its own */
	struct pd_record rec;
};

struct pm_incoming {
	struct pm_machine *machine;
	struct pd_timestamp_locator locator;
	struct waiting *
		/*
		 * [n]: those from `first` on wait, of which those before `sorted` are in order
		 */
		list;
	size_t first, sorted, n, capacity;
	size_t number, bytes;
	uint64_t until; /* samples up to this time may have asked; */
	bool asked;	/* if any did */
	bool begun;	/* a record came with a time, if only 0 */
};

bool pm_can_come(const struct pd_session *session)
{
	const struct pd_file *file = session->files[0];
	struct pd_timestamp_locator locator;

	if (session->n_files > 1 || file->n_streams > 1)
		return false;
	/*
	 * chains that come later are of no time; where records have no place for one nothing
	 * says when they were
	 */
	for (size_t i = 0; i < file->n_events; i++)
		if (file->events[i].shape.defer || !file->events[i].shape.sample_id_all)
			return false;
	pd_timestamp_locator_init(&locator, file);
	return locator.at[PD_RECORD_SAMPLE] > 0;
}

struct pm_incoming *pm_incoming_create(struct pm_machine *machine)
{
	struct pm_incoming *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->machine = machine;
	pd_timestamp_locator_init(&in->locator, machine->session->files[0]);
	machine->threads.in_order = pm_sources_are_timed(&machine->sources);
	return in;
}

void pm_incoming_destroy(struct pm_incoming *in)
{
	if (!in)
		return;
	for (size_t i = in->first; i < in->n; i++)
		free((void *)in->list[i].rec.bytes);
	free(in->list);
	free(in);
}

/* Makes room for another one, where others have gone if there is. */
static bool make_room(struct pm_incoming *in)
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
 * Is it known when it was? What has no time, not even 0, is of the beginning if it is the
 * first, else perhaps of the end.
 */
static bool is_placed(struct pm_incoming *in, const struct pd_record *rec, uint64_t last)
{
	if (pm_time_of(&in->machine->sources, rec) != PM_NO_TIME)
		in->begun = true;
	else if (in->begun || last)
		return false;
	return true;
}

bool pm_incoming_meet(struct pm_incoming *in, const struct pd_record *rec, uint64_t last)
{
	struct waiting w = { .time = last, .number = in->number++, .rec = *rec };
	uint8_t *bytes;

	if (rec->type < PD_RECORD_USER && !is_placed(in, rec, last))
		return false;
	w.timed = pd_timestamp_of(&in->locator, &w.rec, &w.time);
	/* what says nothing of its time is of the beginning, or of all times */
	if (in->asked && (!w.timed || w.time <= in->until))
		return false;
	in->bytes += sizeof(w) + rec->size;
	bytes = in->bytes > MOST_BYTES ? NULL : malloc(rec->size);
	if (!bytes || !make_room(in)) {
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

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Puts what waits in order. False: too much of it came out of order. */
static bool sort(struct pm_incoming *in)
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
		qsort(in->list + from, in->n - from, sizeof(*in->list), by_time);
	}
	in->sorted = in->n;
	return true;
}

/* Does what a record says hold from its time on, and not before? */
static bool is_of_its_time(const struct pm_machine *m, const struct waiting *w)
{
	struct pd_value name;
	int64_t pid;

	if (!w->timed)
		return false;
	switch (pd_record_sideband(&w->rec)) {
	case PD_SB_THREAD_NAME:
	case PD_SB_THREAD_START:
	case PD_SB_THREAD_END:
		return true;
	case PD_SB_MAPPING:
		/* a kernel's border is of all times, and so is the jitdump of a process */
		pm_get(&w->rec, m->binaries.ids.filename, &name);
		return (w->rec.misc & PD_MISC_CPUMODE) == PD_CPUMODE_USER &&
		       pm_integer(&w->rec, m->ids.pid, &pid) && name.type == PD_STR &&
		       !ps_is_jitdump(name.s.p, (int32_t)pid);
	default:
		return false;
	}
}

bool pm_incoming_until(struct pm_incoming *in, uint64_t time)
{
	if (time < in->until)
		time = in->until;
	if (!sort(in))
		return false;
	for (; in->first < in->n && in->list[in->first].time <= time; in->first++) {
		struct waiting *w = &in->list[in->first];
		bool ok = (!in->asked || is_of_its_time(in->machine, w)) &&
			  pm_machine_add(in->machine, &w->rec);

		in->bytes -= sizeof(*w) + w->rec.size;
		free((void *)w->rec.bytes);
		if (!ok) {
			in->first++;
			return false;
		}
	}
	/* what is left is later, if its time is its own */
	for (size_t i = in->first; !in->asked && i < in->n; i++)
		if (!in->list[i].timed)
			return false;
	in->until = time;
	in->asked = true;
	return true;
}
