#include "health_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "perfdata/format/fields.h"

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

bool pd_health_reserve_events(struct pd_health_pass *p)
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

/*
 * Notes a THROTTLE or UNTHROTTLE record, which have a time, id and stream id of their own; the
 * stream id is that of the event on that cpu.
 */
static void note_throttle(struct pd_health_pass *p, const struct pd_record *rec)
{
	const struct pd_file *file = p->session->files[rec->source ? rec->source - 1 : 0];
	struct pd_moment moment = {
		.kind = rec->type == PD_RECORD_THROTTLE ? PD_MOMENT_THROTTLE :
							  PD_MOMENT_UNTHROTTLE,
		.cpu = PD_HEALTH_CPUS,
	};
	uint64_t id = 0, stream_id = 0, cpu;
	const struct pd_event *event;

	moment.is_timed = get_field(p, rec, PD_HEALTH_TIME, &moment.time);
	get_field(p, rec, PD_HEALTH_ID, &id);
	get_field(p, rec, PD_HEALTH_STREAM_ID, &stream_id);
	event = file->n_events > 1 ? pd_event_by_id(&file->ids, id) : rec->event;
	moment.key = id << 32 ^ stream_id;
	moment.event = event && moment.is_timed ? event->number : PD_HEALTH_NO_EVENT;
	if (get_field(p, rec, PD_HEALTH_CPU, &cpu) && cpu < PD_HEALTH_CPUS)
		moment.cpu = (uint16_t)cpu;
	pd_health_note(p, &moment);
}

static void note_round(struct pd_health_pass *p, const struct pd_record *rec)
{
	(void)rec;
	pd_health_note(p, &(struct pd_moment){ .kind = PD_MOMENT_ROUND });
}

static void on_aux(struct pd_health_pass *p, const struct pd_record *rec)
{
	uint64_t flags = 0;

	get_field(p, rec, PD_HEALTH_FLAGS, &flags);
	p->health->aux_truncated += flags & 1;
	p->health->aux_partial += flags >> 2 & 1;
	p->health->aux_collided += flags >> 3 & 1;
}

static void count_restated(struct pd_health_pass *p, const struct pd_record *rec)
{
	p->health->restated += pd_record_restated(rec);
}

static void on_mmap2(struct pd_health_pass *p, const struct pd_record *rec)
{
	count_restated(p, rec);
	p->health->maps_cut += (rec->misc & MMAP_TIMEOUT) != 0;
	p->health->maps_with_ids += pd_mmap2_has_build_id(rec);
}

static void (*const on[PD_RECORD_TYPES])(struct pd_health_pass *p,
					 const struct pd_record *rec) = {
	[PD_RECORD_SAMPLE] = pd_health_add_sample,
	[PD_RECORD_LOST] = on_lost,
	[PD_RECORD_LOST_SAMPLES] = on_lost_samples,
	[PD_RECORD_THROTTLE] = note_throttle,
	[PD_RECORD_UNTHROTTLE] = note_throttle,
	[PD_RECORD_MMAP] = count_restated,
	[PD_RECORD_MMAP2] = on_mmap2,
	[PD_RECORD_COMM] = count_restated,
	[PD_RECORD_FORK] = count_restated,
	[PD_RECORD_NAMESPACES] = count_restated,
	[PD_RECORD_AUX] = on_aux,
	[PD_RECORD_FINISHED_ROUND] = note_round,
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
	struct pd_moment moment = { .kind = PD_MOMENT_RECORD };

	if (pd_health_time_of(rec, &moment.time))
		pd_health_note(p, &moment);
	else if (!rec->layout->trailer_size ||
		 !(rec->layout->shape->sample_type & PD_SAMPLE_TIME))
		p->health->untimed++;
}

void pd_health_add(struct pd_health_pass *p, const struct pd_record *rec)
{
	struct pd_health *h = p->health;

	if (rec->source != p->source) {
		p->source = rec->source;
		pd_health_note(p, &(struct pd_moment){ .kind = PD_MOMENT_SOURCE,
						       .key = rec->source });
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

bool pd_health_pass_init(struct pd_health_pass *p, struct pd_health *health,
			 const struct pd_session *session)
{
	*p = (struct pd_health_pass){ .health = health, .session = session };
	*health = (struct pd_health){ .n_events = session->n_events, .part = 1 };
	health->events = calloc(health->n_events + 1, sizeof(*health->events));
	if (!health->events || !pd_gaps_init(&p->gaps))
		return false;
	prepare_events(p);
	return true;
}

void pd_health_pass_deinit(struct pd_health_pass *p)
{
	pd_gaps_deinit(&p->gaps);
	free(p->moments);
}

static void merge_longest(struct pd_longest *to, const struct pd_longest *from)
{
	if (from->length > to->length)
		*to = *from;
	else if (from->length == to->length)
		to->samples += from->samples;
}

static void merge_event(struct pd_health_event *to, const struct pd_health_event *from)
{
	to->samples += from->samples;
	to->delivered += from->delivered;
	to->untimed += from->untimed;
	to->odd += from->odd;
	to->of_pid_zero += from->of_pid_zero;
	to->lost_samples += from->lost_samples;
	to->filtered += from->filtered;
	to->chains += from->chains;
	to->chains_cut += from->chains_cut;
	to->deferred += from->deferred;
	to->stacks += from->stacks;
	to->stacks_full += from->stacks_full;
	to->branches += from->branches;
	merge_longest(&to->chain, &from->chain);
	merge_longest(&to->branch, &from->branch);
	merge_longest(&to->stack, &from->stack);
}

bool pd_health_merge(struct pd_health_pass *p, const struct pd_health_pass *added)
{
	struct pd_health *h = p->health;
	const struct pd_health *from = added->health;

	for (size_t i = 0; i < PD_RECORD_TYPES; i++)
		h->types[i] += from->types[i];
	for (size_t i = 0; i <= h->n_events; i++)
		merge_event(&h->events[i], &from->events[i]);
	h->kernel += from->kernel;
	h->lost_records += from->lost_records;
	h->lost_samples += from->lost_samples;
	h->filtered += from->filtered;
	h->untimed += from->untimed;
	h->aux_truncated += from->aux_truncated;
	h->aux_partial += from->aux_partial;
	h->aux_collided += from->aux_collided;
	h->maps_cut += from->maps_cut;
	h->maps_with_ids += from->maps_with_ids;
	h->restated += from->restated;
	if (from->times.known)
		pd_time_range_widen(&h->times, from->times.first, from->times.last);
	return pd_gaps_merge(&p->gaps, &added->gaps);
}

void pd_health_deinit(struct pd_health *h)
{
	free(h->events);
	free(h->cpus);
	h->events = NULL;
	h->cpus = NULL;
}
