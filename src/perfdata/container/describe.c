/*
 * Applies the header features to the events: names, groups, architecture and the formats of
 * tracepoints, and with these computes the layouts of their records.
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata/format/format.h"
#include "perfdata/format/record.h"
#include "perfdata/tracepoint/syscalls.h"
#include "perfdata/tracepoint/tracepoint.h"
#include "perfdata/tracepoint/tracing.h"
#include "open_internal.h"

/*
 * Android's simpleperf keeps tracing data in its first record, of perf's type or of its own
 * SIMPLE_PERF_RECORD_TRACING_DATA.
 */
#define SIMPLEPERF_TRACING_DATA 0x8009
#define HEAD			12 /* bytes: the record's header and the u32 size of the data */

static struct pd_section find_simpleperf_tracing(struct pd_file *file)
{
	struct pd_section none = { 0, 0 }, head = { file->data.offset, HEAD };
	uint8_t bytes[HEAD];
	struct pd_record rec;
	uint32_t n;

	if (file->pipe || file->data.size < HEAD || !pd_file_read(file, head, bytes, NULL))
		return none;
	pd_record_header(&rec, bytes, file->swap, file->simpleperf);
	n = pb_load32(bytes + 8, file->swap);
	if ((rec.type != SIMPLEPERF_TRACING_DATA && rec.type != PD_RECORD_TRACING_DATA) ||
	    rec.size < HEAD || rec.size > file->data.size || n > rec.size - HEAD)
		return none;
	return (struct pd_section){ head.offset + HEAD, n };
}

/*
 * Returns the bytes of the tracing data, which the caller frees; NULL if they cannot be read.
 */
static uint8_t *read_tracing_bytes(struct pd_file *file,
				   const struct pd_feature_section *section,
				   struct pd_section at)
{
	struct pb_cursor c;
	uint8_t *bytes;

	if (section)
		return pd_file_feature_bytes(file, PD_FEATURE_TRACING_DATA, &c);
	bytes = pd_section_alloc(at);
	if (bytes && !pd_file_read(file, at, bytes, NULL)) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

/*
 * Reads the formats of tracepoints, before events are named. What cannot be read is noted as
 * damage. Returns false without memory.
 */
static bool read_formats(struct pd_file *file)
{
	const struct pd_feature_section *s = pd_file_feature(file, PD_FEATURE_TRACING_DATA);
	struct pd_section at = s ? s->at : find_simpleperf_tracing(file);
	size_t offset;
	uint8_t *bytes;

	if (!at.size)
		return true;
	bytes = read_tracing_bytes(file, s, at);
	if (!bytes)
		return true; /* reading the feature reports the error */
	file->tracing = malloc(sizeof(*file->tracing));
	if (!file->tracing) {
		free(bytes);
		return false;
	}
	file->context.tracing = file->tracing;
	if (!pd_tracing_parse(file->tracing, bytes, (size_t)at.size, &offset))
		pd_file_damaged(
			file, at.offset + offset, at.size - offset,
			"tracing data: found bytes from %zu on that cannot be read as such",
			offset);
	file->tracing->offset = at.offset;
	file->tracing->abi = file->abi;
	return true;
}

/* Gives an event the format of its tracepoint. One that cannot be read is noted as damage. */
static void bind_tracepoint(struct pd_file *file, struct pd_event *event)
{
	const struct pd_tracing *tracing = file->tracing;
	struct pd_format *format = NULL;

	if (tracing && event->attr.type == PD_TYPE_TRACEPOINT)
		format = pd_tracing_find(tracing, event->attr.config);
	if (!format)
		return;
	event->tracepoint = pd_tracepoint_of(tracing, format);
	if (!event->tracepoint)
		pd_file_damaged(file,
				tracing->offset + (size_t)((const uint8_t *)format->text.p -
							   tracing->bytes),
				format->text.n, "format of tracepoint %s: %s", event->name,
				format->wrong);
}

struct groups {
	struct pd_file *file;
	uint32_t next; /* the first event that can lead the next group */
};

/* Returns true for the name that perf gives to a group without one: see write_group_desc(). */
static bool is_no_name(struct pd_text name)
{
	static const char none[] = "{anon_group}";

	return name.n == sizeof(none) - 1 && memcmp(name.p, none, name.n) == 0;
}

/*
 * Reads a group. Groups come in the order of their leaders, and no event is in two: see
 * process_group_desc.
 */
static void take_group(void *arg, uint32_t leader, uint32_t members, struct pd_text name)
{
	struct groups *groups = arg;
	struct pd_file *file = groups->file;

	if (leader < groups->next || leader >= file->n_events || !members ||
	    members > file->n_events - leader)
		return;
	groups->next = leader + members;
	for (uint32_t i = 0; i < members; i++)
		file->events[leader + i].leader = leader;
	file->events[leader].n_members = members;
	if (name.n && !is_no_name(name))
		file->events[leader].group_name = strndup(name.p, name.n);
}

static void read_machine(struct pd_file *file)
{
	struct pb_cursor c;
	uint8_t *bytes = pd_file_feature_bytes(file, PD_FEATURE_NRCPUS, &c);
	uint32_t e_machine = 0;
	char arch[32] = "";

	if (bytes) {
		file->context.nr_cpus_avail = pb_take32(&c);
		file->context.nr_cpus_online = pb_take32(&c);
		free(bytes);
	}
	bytes = pd_file_feature_bytes(file, PD_FEATURE_E_MACHINE, &c);
	if (bytes) {
		e_machine = pb_take32(&c);
		free(bytes);
	}
	bytes = pd_file_feature_bytes(file, PD_FEATURE_ARCH, &c);
	if (bytes) {
		struct pd_text text = pd_take_string(&c);

		if (text.n < sizeof(arch))
			memcpy(arch, text.p, text.n);
		free(bytes);
	}
	file->arch = pd_arch_find(arch, e_machine);
	file->abi = pd_abi_find(arch, e_machine);
	if (file->tracing)
		file->tracing->abi = file->abi;
}

/* Chooses the texts of the version of perf that was asked for, or made the recording. */
static void choose_texts(struct pd_file *file)
{
	struct pb_cursor c;
	uint8_t *bytes = NULL;
	char version[32] = "";

	if (file->perf == PD_PERF_RECORDED)
		bytes = pd_file_feature_bytes(file, PD_FEATURE_VERSION, &c);
	if (bytes) {
		struct pd_text text = pd_take_string(&c);

		if (text.n < sizeof(version))
			memcpy(version, text.p, text.n);
		free(bytes);
	}
	if (file->perf == PD_PERF_RECORDED)
		file->perf = pd_perf_closest(version);
	file->text = pd_perf_text_of(file->perf);
}

static void skip_strings(struct pb_cursor *c)
{
	for (uint32_t n = pb_take32(c); n && !c->failed; n--)
		pd_take_string(c);
}

/*
 * Reads the socket of each processor: they follow two lists of processors as text, where the
 * recorder wrote them. See process_cpu_topology, tools/perf/util/header.c.
 */
static void read_sockets(struct pd_file *file)
{
	uint32_t n = file->context.nr_cpus_avail;
	struct pb_cursor c;
	uint8_t *bytes = pd_file_feature_bytes(file, PD_FEATURE_CPU_TOPOLOGY, &c);

	if (!bytes || file->sockets.n) {
		free(bytes);
		return;
	}
	skip_strings(&c);
	skip_strings(&c);
	if (!c.failed && n && pb_cursor_left(&c) / 8 >= n)
		file->sockets.list = malloc(n * sizeof(*file->sockets.list));
	for (uint32_t i = 0; file->sockets.list && i < n; i++) {
		pb_take32(&c); /* the core */
		file->sockets.list[i] = (int32_t)pb_take32(&c);
	}
	file->sockets.n = file->sockets.list ? n : 0;
	free(bytes);
}

static void read_times(struct pd_file *file)
{
	struct pb_cursor c;
	uint8_t *bytes = pd_file_feature_bytes(file, PD_FEATURE_SAMPLE_TIME, &c);

	if (!bytes)
		return;
	file->times.first = pb_take64(&c);
	file->times.last = pb_take64(&c);
	/* if both are zero the recorder did not read the samples back */
	file->times.known = !c.failed && file->times.last != 0;
	if (file->times.known)
		pd_clock_begin(&file->clock, file->times.first);
	free(bytes);
}

/*
 * Returns whether samples of the event have branch counters: they do if any event of its group
 * asks for them. The leader comes first, so its shape has the answer for the others.
 */
static bool has_group_counters(const struct pd_file *file, const struct pd_event *event)
{
	if (event->leader != event->index)
		return file->events[event->leader].shape.counters;
	for (uint32_t i = 0; i < event->n_members; i++)
		if (event[i].attr.branch_sample_type & PD_BRANCH_COUNTERS)
			return true;
	return false;
}

/*
 * Returns the number of the shape's kind of sample_id trailer, which alone decides the layouts
 * of records other than samples.
 */
static unsigned get_trailer_kind(const struct pd_shape *shape)
{
	uint64_t t = shape->sample_type;

	if (!shape->sample_id_all)
		return 0;
	return 1u | (t & PD_SAMPLE_TID ? 2u : 0) | (t & PD_SAMPLE_TIME ? 4u : 0) |
	       (t & PD_SAMPLE_ID ? 8u : 0) | (t & PD_SAMPLE_STREAM_ID ? 16u : 0) |
	       (t & PD_SAMPLE_CPU ? 32u : 0) | (t & PD_SAMPLE_IDENTIFIER ? 64u : 0);
}

/*
 * Returns the layouts of all records but samples; they are made once for each kind of trailer.
 */
static const struct pd_layout *const *get_other_layouts(struct pd_file *file,
							const struct pd_shape *shape)
{
	const struct pd_layout ***known = &file->trailers[get_trailer_kind(shape)];
	const struct pd_layout **table = *known;

	if (table)
		return table;
	table = calloc(PD_RECORD_TYPES, sizeof(*table));
	for (uint32_t type = 0; table && type < PD_RECORD_TYPES; type++) {
		const struct pd_record_desc *desc = pd_record_desc(type);

		if (type && !desc)
			continue;
		table[type] = pd_layout_create(&file->field_names, shape, desc);
		if (!table[type]) {
			pd_destroy_other_layouts(table);
			return NULL;
		}
	}
	*known = table;
	return table;
}

#define LOOK_BACK 64 /* events; those of one shape mostly follow each other */

/* Returns whether samples of the shape carry counter values with their ids. */
static bool has_counters(const struct pd_shape *shape)
{
	return shape->sample_type & PD_SAMPLE_READ && shape->read_format & PD_READ_ID;
}

/*
 * Sets the layouts of event `i`, which it shares with an earlier event of the same shape.
 * Returns false without memory.
 */
static bool set_event_layouts(struct pd_file *file, size_t i)
{
	struct pd_event *event = &file->events[i];
	struct pd_shape *shape = &event->shape;

	/* also the padding, as shapes are compared as bytes */
	memset(shape, 0, sizeof(*shape));
	pd_shape_set(shape, &event->attr);
	shape->counters = has_group_counters(file, event);
	shape->swap = file->swap;
	shape->big = file->big;
	shape->arch = file->arch;
	shape->clock = &file->clock;
	shape->sockets = &file->sockets;
	for (size_t k = i; k-- > 0 && i - k <= LOOK_BACK && !event->sample;) {
		if (memcmp(&file->events[k].shape, &event->shape, sizeof(event->shape)) != 0)
			continue;
		event->sample = file->events[k].sample;
		event->split = file->events[k].split;
	}
	if (!event->sample) {
		event->sample = pd_layout_create(&file->field_names, &event->shape,
						 pd_record_desc(PD_RECORD_SAMPLE));
		if (has_counters(&event->shape) &&
		    !(event->split = pd_split_layout_create(&file->field_names, &event->shape)))
			return false;
	}
	event->others = get_other_layouts(file, &event->shape);
	return event->sample && event->others;
}

/*
 * Chooses the layout for samples of unknown events: the common one if all events agree;
 * otherwise only the header can be read.
 */
static void choose_unknown_sample(struct pd_file *file)
{
	file->unknown_sample = file->n_events ? file->events[0].sample : NULL;
	for (size_t i = 0; i < file->n_events; i++)
		if (file->events[i].sample != file->unknown_sample)
			file->unknown_sample = NULL;
	if (!file->unknown_sample)
		file->unknown_sample = file->bare_layouts[PD_RECORD_SAMPLE];
}

static bool make_layouts(struct pd_file *file)
{
	file->bare.swap = file->swap;
	file->bare.big = file->big;
	file->bare.clock = &file->clock;
	file->bare.sockets = &file->sockets;
	file->bare_layouts = get_other_layouts(file, &file->bare);
	if (!file->bare_layouts)
		return false;
	for (size_t i = 0; i < file->n_events; i++)
		if (!set_event_layouts(file, i))
			return false;
	choose_unknown_sample(file);
	return true;
}

bool pd_describe(struct pd_file *file, struct pd_error *err)
{
	struct pb_cursor c;
	uint8_t *bytes;
	bool ok = true;

	file->context.swap = file->swap;
	choose_texts(file);
	read_machine(file);
	read_times(file);
	read_sockets(file);
	bytes = pd_file_feature_bytes(file, PD_FEATURE_GROUP_DESC, &c);
	if (bytes)
		pd_feature_group_desc(&c, take_group, &(struct groups){ file, 0 });
	free(bytes);
	ok = read_formats(file) && pd_events_name(file);
	for (size_t i = 0; i < file->n_events && ok; i++)
		bind_tracepoint(file, &file->events[i]);
	for (size_t i = 0; i < file->n_events && ok; i++)
		for (size_t k = 0; k < file->events[i].n_ids && ok; k++)
			ok = pb_id_map_add(&file->ids.map, file->events[i].ids[k], (uint32_t)i);
	if (!ok || !make_layouts(file))
		return pd_error_set(err, "ENOMEM", file->path, PD_NO_OFFSET,
				    "no memory for the description of %zu events",
				    file->n_events);
	return true;
}

bool pd_describe_late_event(struct pd_file *file)
{
	if (!pd_events_name(file) || !set_event_layouts(file, file->n_events - 1))
		return false;
	bind_tracepoint(file, &file->events[file->n_events - 1]);
	choose_unknown_sample(file);
	return true;
}

void pd_forget_late_event(struct pd_file *file)
{
	pd_event_deinit(&file->events[--file->n_events]);
	choose_unknown_sample(file);
}

void pd_describe_late_feature(struct pd_file *file, unsigned bit)
{
	read_machine(file); /* layouts that exist keep their architecture */
	if (bit == PD_FEATURE_SAMPLE_TIME)
		read_times(file);
	if (bit == PD_FEATURE_CPU_TOPOLOGY)
		read_sockets(file);
}
