/*
 * What the header features say of the events: their names, groups and architecture; from that the
 * layouts of their records.
 */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "format.h"
#include "regs.h"

#define EVENT_TYPE_ENTRY 72 /* u64 id, char name[64]: see struct perf_trace_event_type */

/* The bytes of a feature in memory of their own, NULL if it is absent or cannot be read. */
static uint8_t *feature_bytes(struct pd_file *file, unsigned bit, struct pd_cursor *c)
{
	const struct pd_feature_section *s = pd_file_feature(file, bit);
	uint8_t *bytes = NULL;

	if (s && s->at.size && s->at.size <= file->input.size) {
		bytes = malloc(s->at.size);
		if (bytes && !pd_file_read(file, s->at, bytes, NULL)) {
			free(bytes);
			bytes = NULL;
		}
	}
	if (bytes)
		pd_cursor_init(c, bytes, s->at.size, file->swap);
	return bytes;
}

static bool set_name(struct pd_event *event, struct pd_text name)
{
	if (event->name || !name.n)
		return true;
	event->name = strndup(name.p, name.n);
	return event->name != NULL;
}

static void on_event_desc(void *arg, uint32_t index, struct pd_text name)
{
	struct pd_file *file = arg;

	if (index < file->n_events)
		set_name(&file->events[index], name);
}

struct pmu {
	uint32_t type;
	struct pd_text name;
};

struct pmus {
	struct pmu *pmu;
	size_t n;
};

static void on_pmu(void *arg, uint32_t type, struct pd_text name)
{
	struct pmus *pmus = arg;

	pmus->pmu[pmus->n++] = (struct pmu){ type, name };
}

/* Recorders before Linux 3.4 kept the names of tracepoints in a section of their own. */
static void name_from_event_types(struct pd_file *file)
{
	struct pd_section at = file->event_types;
	struct pd_cursor c;
	uint8_t *bytes;

	if (!at.size || at.offset > file->input.size || at.size > file->input.size - at.offset)
		return;
	bytes = malloc(at.size);
	if (bytes && pd_file_read(file, at, bytes, NULL)) {
		pd_cursor_init(&c, bytes, at.size, file->swap);
		while (pd_cursor_left(&c) >= EVENT_TYPE_ENTRY) {
			uint64_t id = pd_take64(&c);
			struct pd_text name = pd_text_in(pd_take(&c, 64), 64);

			for (size_t i = 0; i < file->n_events; i++)
				if (file->events[i].attr.type == PD_TYPE_TRACEPOINT &&
				    file->events[i].attr.config == id)
					set_name(&file->events[i], name);
		}
	}
	free(bytes);
}

/* Names what is left as perf does when it has only the attr. */
static bool name_from_attrs(struct pd_file *file)
{
	struct pd_cursor c;
	struct pmus pmus = { 0 };
	uint8_t *bytes = feature_bytes(file, PD_FEATURE_PMU_MAPPINGS, &c);
	bool ok = true;

	if (bytes) {
		/* an entry is at least 8 bytes: a type and the length of its name */
		pmus.pmu = calloc(pd_cursor_left(&c) / 8 + 1, sizeof(*pmus.pmu));
		if (pmus.pmu)
			pd_feature_pmu_mappings(&c, on_pmu, &pmus);
	}
	for (size_t i = 0; i < file->n_events && ok; i++) {
		struct pd_event *event = &file->events[i];
		char pmu[64] = "", name[256];

		for (size_t k = 0; k < pmus.n; k++)
			if (pmus.pmu[k].type == pd_event_pmu(&event->attr) &&
			    pmus.pmu[k].name.n < sizeof(pmu)) {
				memcpy(pmu, pmus.pmu[k].name.p, pmus.pmu[k].name.n);
				pmu[pmus.pmu[k].name.n] = '\0';
			}
		if (event->name)
			continue;
		pd_event_name(&event->attr, pmu[0] ? pmu : NULL, name, sizeof(name));
		ok = set_name(event, (struct pd_text){ name, strlen(name) });
	}
	free(pmus.pmu);
	free(bytes);
	return ok;
}

static void on_group(void *arg, uint32_t leader, uint32_t members, struct pd_text name)
{
	struct pd_file *file = arg;

	if (leader >= file->n_events || members > file->n_events - leader)
		return;
	for (uint32_t i = 0; i < members; i++)
		file->events[leader + i].leader = leader;
	file->events[leader].n_members = members ? members : 1;
	if (name.n && !file->events[leader].group_name)
		file->events[leader].group_name = strndup(name.p, name.n);
}

static void read_machine(struct pd_file *file)
{
	struct pd_cursor c;
	uint8_t *bytes = feature_bytes(file, PD_FEATURE_NRCPUS, &c);
	uint32_t e_machine = 0;
	char arch[32] = "";

	if (bytes) {
		file->context.nr_cpus_avail = pd_take32(&c);
		file->context.nr_cpus_online = pd_take32(&c);
		free(bytes);
	}
	bytes = feature_bytes(file, PD_FEATURE_E_MACHINE, &c);
	if (bytes) {
		e_machine = pd_take32(&c);
		free(bytes);
	}
	bytes = feature_bytes(file, PD_FEATURE_ARCH, &c);
	if (bytes) {
		struct pd_text text = pd_take_string(&c);

		if (text.n < sizeof(arch))
			memcpy(arch, text.p, text.n);
		free(bytes);
	}
	file->arch = pd_arch_find(arch, e_machine);
}

static void read_times(struct pd_file *file)
{
	struct pd_cursor c;
	uint8_t *bytes = feature_bytes(file, PD_FEATURE_SAMPLE_TIME, &c);

	if (!bytes)
		return;
	file->times.first = pd_take64(&c);
	file->times.last = pd_take64(&c);
	/* both zero: the recorder made no pass of its own over the samples */
	file->times.known = !c.failed && file->times.last != 0;
	free(bytes);
}

/* Branch counters are in every sample of a group if any of its events asks for them. */
static bool counters_in_group(const struct pd_file *file, const struct pd_event *event)
{
	const struct pd_event *leader = &file->events[event->leader];

	for (uint32_t i = 0; i < leader->n_members; i++)
		if (leader[i].attr.branch_sample_type & PD_BRANCH_COUNTERS)
			return true;
	return (event->attr.branch_sample_type & PD_BRANCH_COUNTERS) != 0;
}

static void set_shape(const struct pd_file *file, struct pd_event *event)
{
	struct pd_shape *shape = &event->shape;

	memset(shape, 0, sizeof(*shape)); /* padding too: shapes are compared as bytes */
	shape->sample_type = event->attr.sample_type & PD_SAMPLE_KNOWN;
	shape->read_format = event->attr.read_format;
	shape->branch_sample_type = event->attr.branch_sample_type;
	shape->regs_user = event->attr.sample_regs_user;
	shape->regs_intr = event->attr.sample_regs_intr;
	shape->sample_id_all = (event->attr.flags & PD_ATTR_SAMPLE_ID_ALL) != 0;
	shape->counters = counters_in_group(file, event);
	shape->defer = (event->attr.flags & PD_ATTR_DEFER_CALLCHAIN) != 0;
	shape->swap = file->swap;
	shape->big = file->big;
	shape->arch = file->arch;
}

/* Which sample_id trailer: what else an event has does not change the layout of other records. */
static unsigned trailer_kind(const struct pd_shape *shape)
{
	uint64_t t = shape->sample_type;

	if (!shape->sample_id_all)
		return 0;
	return 1u | (t & PD_SAMPLE_TID ? 2u : 0) | (t & PD_SAMPLE_TIME ? 4u : 0) |
	       (t & PD_SAMPLE_ID ? 8u : 0) | (t & PD_SAMPLE_STREAM_ID ? 16u : 0) |
	       (t & PD_SAMPLE_CPU ? 32u : 0) | (t & PD_SAMPLE_IDENTIFIER ? 64u : 0);
}

/* The layouts of all records but samples, made once for each kind of trailer. */
static const struct pd_layout *const *other_layouts(struct pd_file *file,
						    const struct pd_shape *shape)
{
	const struct pd_layout ***table = &file->trailers[trailer_kind(shape)];

	if (*table)
		return *table;
	*table = calloc(PD_RECORD_TYPES, sizeof(**table));
	for (uint32_t type = 0; *table && type < PD_RECORD_TYPES; type++) {
		const struct pd_record_desc *desc = pd_record_desc(type);

		if (type && !desc)
			continue;
		(*table)[type] = pd_layout_create(&file->names, shape, desc);
		if (!(*table)[type])
			return NULL;
	}
	return *table;
}

#define LOOK_BACK 64 /* events of one shape usually follow each other */

static bool make_layouts(struct pd_file *file)
{
	file->bare.swap = file->swap;
	file->bare.big = file->big;
	file->bare_layouts = other_layouts(file, &file->bare);
	if (!file->bare_layouts)
		return false;
	for (size_t i = 0; i < file->n_events; i++) {
		struct pd_event *event = &file->events[i];

		set_shape(file, event);
		for (size_t k = i; k-- > 0 && i - k <= LOOK_BACK && !event->sample;)
			if (!memcmp(&file->events[k].shape, &event->shape,
				    sizeof(event->shape)))
				event->sample = file->events[k].sample;
		if (!event->sample)
			event->sample = pd_layout_create(&file->names, &event->shape,
							 pd_record_desc(PD_RECORD_SAMPLE));
		event->others = other_layouts(file, &event->shape);
		if (!event->sample || !event->others)
			return false;
	}
	/*
	 * A sample of an unknown event can be read all the same if all events agree on the layout; else
	 * only its header can.
	 */
	file->unknown_sample = file->n_events ? file->events[0].sample : NULL;
	for (size_t i = 0; i < file->n_events; i++)
		if (file->events[i].sample != file->unknown_sample)
			file->unknown_sample = NULL;
	if (!file->unknown_sample)
		file->unknown_sample = file->bare_layouts[PD_RECORD_SAMPLE];
	return true;
}

bool pd_describe(struct pd_file *file, struct pd_error *err)
{
	struct pd_cursor c;
	uint8_t *bytes;
	bool ok = true;

	file->context.swap = file->swap;
	read_machine(file);
	read_times(file);
	bytes = feature_bytes(file, PD_FEATURE_EVENT_DESC, &c);
	if (bytes)
		pd_feature_event_desc(&c, on_event_desc, file);
	free(bytes);
	bytes = feature_bytes(file, PD_FEATURE_GROUP_DESC, &c);
	if (bytes)
		pd_feature_group_desc(&c, on_group, file);
	free(bytes);
	name_from_event_types(file);
	ok = name_from_attrs(file);
	for (size_t i = 0; i < file->n_events && ok; i++)
		for (size_t k = 0; k < file->events[i].n_ids && ok; k++)
			ok = pd_id_table_add(&file->ids, file->events[i].ids[k], (uint32_t)i);
	if (!ok || !make_layouts(file))
		return pd_error_set(err, "ENOMEM", file->path, PD_NO_OFFSET,
				    "no memory for the description of %zu events",
				    file->n_events);
	return true;
}
