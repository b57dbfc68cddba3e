#include "health_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "perfdata/format/fields.h"

#define ASK_EVERY      16384		   /* records between two reports of progress */
#define WRITE_BACKWARD (UINT64_C(1) << 27) /* bit of attr.flags */
/* bit of misc: PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT */
#define MMAP_TIMEOUT (1u << 12)

static const char *const field_names[PD_HEALTH_FIELDS] = {
	[PD_HEALTH_LOST] = "lost", [PD_HEALTH_ID] = "id",   [PD_HEALTH_STREAM_ID] = "stream_id",
	[PD_HEALTH_TIME] = "time", [PD_HEALTH_CPU] = "cpu", [PD_HEALTH_FLAGS] = "flags",
};

static bool get_field(const struct pd_health_pass *p, const struct pd_record *rec,
		      enum pd_health_field field, uint64_t *out)
{
	unsigned index = rec->layout->slot[p->fields[field]];
	struct pd_value v;

	v.type = PD_NIL;
	if (index)
		pd_record_get(rec, index, &v);
	if (v.type == PD_NIL)
		return false;
	*out = v.u;
	return true;
}

static void set_chain_limit(struct pd_health_event *e, const struct pd_attr *attr)
{
	e->chain_limit = attr->sample_max_stack ? attr->sample_max_stack : PD_MAX_STACK;
}

/* Makes room for events that came late; the entry for no known event stays the last. */
static bool reserve_health_events(struct pd_health_pass *p)
{
	struct pd_health *h = p->health;
	struct pd_health_event unknown = h->events[h->n_events];
	size_t n = h->n_events + 1;

	if (!pb_extend(h->events, n, p->session->n_events + 1)) {
		p->no_memory = true;
		return false;
	}
	h->events[h->n_events] = (struct pd_health_event){ 0 };
	for (; h->n_events < n - 1; h->n_events++)
		set_chain_limit(&h->events[h->n_events],
				&p->session->events[h->n_events]->attr);
	h->events[h->n_events] = unknown;
	return true;
}

/* Returns the index of an event in health->events; NULL is not a known event. */
static size_t find_event_index(struct pd_health_pass *p, const struct pd_event *event)
{
	if (event && (event->number < p->health->n_events || reserve_health_events(p)))
		return event->number;
	return p->health->n_events;
}

struct pd_health_event *pd_health_event_of(struct pd_health_pass *p,
					   const struct pd_record *rec)
{
	size_t index = find_event_index(p, rec->event);

	return &p->health->events[index];
}

bool pd_health_time_of(const struct pd_record *rec, uint64_t *time)
{
	const struct pd_layout *layout = rec->layout;
	uint64_t type = layout->shape->sample_type;
	uint32_t at;

	if (!(type & PD_SAMPLE_TIME))
		return false;
	if (rec->type == PD_RECORD_SAMPLE) {
		at = layout->parts[PD_PART_TIME];
	} else {
		if (!layout->trailer_size || rec->size < layout->trailer_size + 8)
			return false;
		at = rec->size - layout->trailer_size + (type & PD_SAMPLE_TID ? 8 : 0);
	}
	if (!at || rec->size < at + 8)
		return false;
	*time = pd_rec64(rec, at);
	return *time != 0 && *time != UINT64_MAX;
}

static void on_lost(struct pd_health_pass *p, const struct pd_record *rec)
{
	uint64_t lost = 0, time;

	get_field(p, rec, PD_HEALTH_LOST, &lost);
	p->health->lost_records += lost;
	if (pd_health_time_of(rec, &time))
		p->no_memory |= !pd_gaps_lost(&p->gaps, time, lost);
}

static void on_lost_samples(struct pd_health_pass *p, const struct pd_record *rec)
{
	struct pd_health_event *event = pd_health_event_of(p, rec);
	uint64_t lost = 0;

	get_field(p, rec, PD_HEALTH_LOST, &lost);
	if (rec->misc & PD_MISC_LOST_BPF) {
		event->filtered += lost;
		p->health->filtered += lost;
	} else {
		event->lost_samples += lost;
		p->health->lost_samples += lost;
	}
}

/* Returns the counts of the record's cpu; NULL if the cpu is not known or without memory. */
static struct pd_throttled *get_throttled_cpu(struct pd_health_pass *p,
					      const struct pd_record *rec)
{
	struct pd_health *h = p->health;
	uint64_t value;
	size_t cpu;

	if (!get_field(p, rec, PD_HEALTH_CPU, &value) || value >= PD_HEALTH_CPUS)
		return NULL;
	cpu = (size_t)value;
	if (cpu >= h->n_cpus && !pb_extend(h->cpus, h->n_cpus, cpu + 1)) {
		p->no_memory = true;
		return NULL;
	}
	return &h->cpus[cpu];
}

/*
 * Finds the slot of the last THROTTLE for a THROTTLE or UNTHROTTLE record, which have a time,
 * id and stream id of their own; the stream id is that of the event on that cpu. Sets *time and
 * *event.
 */
static struct pd_bounded_slot *find_throttled(struct pd_health_pass *p,
					      const struct pd_record *rec, uint64_t *time,
					      size_t *event)
{
	const struct pd_file *file = p->session->files[rec->source ? rec->source - 1 : 0];
	uint64_t id = 0, stream_id = 0;
	const struct pd_event *of;

	if (!get_field(p, rec, PD_HEALTH_TIME, time))
		return NULL;
	get_field(p, rec, PD_HEALTH_ID, &id);
	get_field(p, rec, PD_HEALTH_STREAM_ID, &stream_id);
	of = file->n_events > 1 ? pd_event_by_id(&file->ids, id) : rec->event;
	*event = find_event_index(p, of);
	return pd_bounded_map_find(&p->throttled, id << 32 ^ stream_id);
}

static void on_throttle(struct pd_health_pass *p, const struct pd_record *rec)
{
	struct pd_throttled *cpu = get_throttled_cpu(p, rec);
	size_t event = p->health->n_events;
	uint64_t time;
	struct pd_bounded_slot *since = find_throttled(p, rec, &time, &event);

	if (since) {
		since->time = time;
		since->used = true;
	}
	p->health->events[event].throttled.count++;
	if (cpu)
		cpu->count++;
}

static void on_unthrottle(struct pd_health_pass *p, const struct pd_record *rec)
{
	struct pd_throttled *cpu = get_throttled_cpu(p, rec);
	size_t event;
	uint64_t time;
	struct pd_bounded_slot *since = find_throttled(p, rec, &time, &event);

	p->health->unthrottled++;
	if (!since || !since->used)
		return;
	since->used = false;
	if (time < since->time)
		return;
	p->health->events[event].throttled.time += time - since->time;
	if (cpu)
		cpu->time += time - since->time;
}

static void on_round(struct pd_health_pass *p, const struct pd_record *rec)
{
	(void)rec;
	pd_rounds_finish(&p->health->rounds);
}

static void on_aux(struct pd_health_pass *p, const struct pd_record *rec)
{
	uint64_t flags = 0;

	get_field(p, rec, PD_HEALTH_FLAGS, &flags);
	p->health->aux_truncated += flags & 1;
	p->health->aux_partial += flags >> 2 & 1;
	p->health->aux_collided += flags >> 3 & 1;
}

static void on_mmap2(struct pd_health_pass *p, const struct pd_record *rec)
{
	p->health->maps_cut += (rec->misc & MMAP_TIMEOUT) != 0;
	p->health->maps_with_ids += pd_mmap2_has_build_id(rec);
}

static void (*const on[PD_RECORD_TYPES])(struct pd_health_pass *p,
					 const struct pd_record *rec) = {
	[PD_RECORD_SAMPLE] = pd_health_add_sample,
	[PD_RECORD_LOST] = on_lost,
	[PD_RECORD_LOST_SAMPLES] = on_lost_samples,
	[PD_RECORD_THROTTLE] = on_throttle,
	[PD_RECORD_UNTHROTTLE] = on_unthrottle,
	[PD_RECORD_MMAP2] = on_mmap2,
	[PD_RECORD_AUX] = on_aux,
	[PD_RECORD_FINISHED_ROUND] = on_round,
};

static void count_unknown(struct pd_health *h, uint32_t type)
{
	size_t i = 0;

	while (i < h->n_unknown && h->unknown[i].type != type)
		i++;
	if (i == PD_HEALTH_UNKNOWN)
		i--;
	else if (i == h->n_unknown)
		h->unknown[h->n_unknown++] = (struct pd_health_type){ .type = type };
	h->unknown[i].records++;
}

/* Counts a kernel record that is not a sample. Its time matters for rounds. */
static void count_other(struct pd_health_pass *p, const struct pd_record *rec)
{
	uint64_t time;

	if (pd_health_time_of(rec, &time))
		pd_rounds_add(&p->health->rounds, time);
	else if (!rec->layout->trailer_size ||
		 !(rec->layout->shape->sample_type & PD_SAMPLE_TIME))
		p->health->untimed++;
}

static void check_record(struct pd_health_pass *p, const struct pd_record *rec)
{
	struct pd_health *h = p->health;

	if (rec->source != p->source) {
		p->source = rec->source;
		pd_rounds_restart(&h->rounds);
		memset(&p->streams, 0, sizeof(p->streams));
		memset(&p->throttled, 0, sizeof(p->throttled));
	}
	h->kernel += rec->type < PD_RECORD_USER;
	if (rec->type >= PD_RECORD_TYPES || !rec->layout->desc) {
		count_unknown(h, rec->type);
		return;
	}
	h->types[rec->type]++;
	if (rec->type < PD_RECORD_USER && rec->type != PD_RECORD_SAMPLE)
		count_other(p, rec);
	if (on[rec->type])
		on[rec->type](p, rec);
}

static void prepare_events(struct pd_health_pass *p)
{
	struct pd_health *h = p->health;
	const struct pd_session *session = p->session;

	h->ordered = h->n_events > 0;
	for (size_t i = 0; i < h->n_events; i++) {
		const struct pd_attr *attr = &session->events[i]->attr;

		set_chain_limit(&h->events[i], attr);
		h->backward |= (attr->flags & WRITE_BACKWARD) != 0;
		h->ordered &= (attr->flags & PD_ATTR_SAMPLE_ID_ALL) != 0 &&
			      (attr->sample_type & PD_SAMPLE_TIME) != 0;
	}
	h->events[h->n_events].chain_limit = PD_MAX_STACK;
	for (size_t i = 0; i < session->n_files; i++)
		h->unfinished |= session->files[i]->unfinished;
	for (unsigned i = 0; i < PD_HEALTH_FIELDS; i++)
		p->fields[i] = pd_field_name_id(&session->files[0]->field_names, field_names[i],
						strlen(field_names[i]));
}

static bool set_health_no_memory(const struct pd_session *session, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", session->files[0]->path, PD_NO_OFFSET, "no memory");
}

/* Reports that the pass has come to `rec`. Returns false if it is to end there. */
static bool continue_health(struct pd_health_pass *p, const struct pd_record *rec,
			    const struct pb_progress *progress)
{
	uint64_t size = pd_session_size(p->session);
	double part = pd_session_part(p->session, rec);
	uint64_t done = part > 0 ? (uint64_t)(part * (double)size) : 0;

	if (pb_goes_on(progress, done, size))
		return true;
	p->health->part = part;
	return false;
}

static bool run_health_pass(struct pd_health_pass *p, struct pd_session *session,
			    const struct pb_progress *progress, struct pd_error *err)
{
	struct pd_walk walk;
	struct pd_record rec;
	unsigned asked = 0;
	int got;

	if (!pd_walk_init(&walk, session, PD_ORDER_FILE, err))
		return false;
	while ((got = pd_walk_next(&walk, &rec, err)) > 0) {
		if (asked++ % ASK_EVERY == 0 && !continue_health(p, &rec, progress))
			break;
		check_record(p, &rec);
	}
	pd_walk_deinit(&walk);
	if (got < 0 && pd_error_interrupted(err)) {
		p->health->part = -1;
		got = 0;
	}
	if (got >= 0 && p->session->n_events > p->health->n_events)
		reserve_health_events(p);
	if (got >= 0 && p->no_memory)
		return set_health_no_memory(session, err);
	return got >= 0;
}

bool pd_health_collect(struct pd_health *h, struct pd_session *session,
		       const struct pb_progress *progress, struct pd_error *err)
{
	struct pd_health_pass *p = calloc(1, sizeof(*p));
	bool ok;

	*h = (struct pd_health){ .n_events = session->n_events, .part = 1 };
	h->events = calloc(h->n_events + 1, sizeof(*h->events));
	if (p)
		p->counters = pd_counters_create(session);
	if (!p || !p->counters || !h->events || !pd_gaps_init(&p->gaps)) {
		ok = set_health_no_memory(session, err);
	} else {
		p->health = h;
		p->session = session;
		prepare_events(p);
		ok = run_health_pass(p, session, progress, err);
		pd_gaps_find(&p->gaps, &h->gaps);
	}
	if (p) {
		pd_gaps_deinit(&p->gaps);
		pd_counters_destroy(p->counters);
	}
	free(p);
	if (!ok)
		pd_health_deinit(h);
	return ok;
}

void pd_health_deinit(struct pd_health *h)
{
	free(h->events);
	free(h->cpus);
	h->events = NULL;
	h->cpus = NULL;
}
