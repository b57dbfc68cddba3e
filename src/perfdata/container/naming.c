/*
 * Names of a recording's events: from EVENT_DESC, or from the section where old recorders kept
 * the names of tracepoints, or from format files, or derived from the attr as perf does.
 */
#define _GNU_SOURCE /* for asprintf() */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "open_internal.h"
#include "perfdata/tracepoint/tracing.h"
#include "perfdata/format/format.h"

#define EVENT_TYPE_ENTRY 72 /* u64 id, char name[64]: see struct perf_trace_event_type */

static bool set_name(struct pd_event *event, struct pd_text name)
{
	if (event->name || !name.n)
		return true;
	event->name = strndup(name.p, name.n);
	return event->name != NULL;
}

static void take_event_desc_name(void *arg, uint32_t index, struct pd_text name)
{
	struct pd_file *file = arg;

	if (index < file->n_events)
		set_name(&file->events[index], name);
}

/*
 * Names by number, of PMUs or of tracepoints. They are sorted, as many events look theirs up.
 */
struct named {
	uint64_t number;
	struct pd_text name;
};

struct namings {
	struct named *list;
	size_t n;
};

static void add_naming(struct namings *names, uint64_t number, struct pd_text name)
{
	if (names->list && name.n)
		names->list[names->n++] = (struct named){ number, name };
}

static int compare_namings(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	/* keep the order of the file */
	return x->name.p < y->name.p ? -1 : x->name.p > y->name.p;
}

static void sort_names(struct namings *names)
{
	if (names->n)
		qsort(names->list, names->n, sizeof(*names->list), compare_namings);
}

/* Returns the first name of a number; empty if it has none. */
static struct pd_text find_naming(const struct namings *names, uint64_t number)
{
	size_t low = 0, high = names->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names->list[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < names->n && names->list[low].number == number)
		return names->list[low].name;
	return (struct pd_text){ "", 0 };
}

/* Names tracepoints from a section that recorders before Linux 3.4 wrote. */
static void name_from_event_types(struct pd_file *file)
{
	struct pd_section at = file->event_types;
	struct namings names = { 0 };
	struct pb_cursor c;
	uint8_t *bytes;

	if (!at.size || at.offset > file->input.size || at.size > file->input.size - at.offset)
		return;
	if (at.size > PD_SECTION_MOST) {
		pd_file_damaged(file, at.offset, at.size,
				"event types: found %llu bytes, expected at most %u",
				(unsigned long long)at.size, PD_SECTION_MOST);
		return;
	}
	bytes = pd_section_alloc(at);
	names.list = calloc((size_t)(at.size / EVENT_TYPE_ENTRY) + 1, sizeof(*names.list));
	if (bytes && pd_file_read(file, at, bytes, NULL)) {
		pb_cursor_init(&c, bytes, (size_t)at.size, file->swap);
		while (pb_cursor_left(&c) >= EVENT_TYPE_ENTRY) {
			uint64_t id = pb_take64(&c);

			add_naming(&names, id, pd_text_in(pb_take(&c, 64), 64));
		}
		sort_names(&names);
		for (size_t i = 0; i < file->n_events; i++)
			if (file->events[i].attr.type == PD_TYPE_TRACEPOINT)
				set_name(&file->events[i],
					 find_naming(&names, file->events[i].attr.config));
	}
	free(names.list);
	free(bytes);
}

#define PMU_NAME 64

static void take_pmu(void *arg, uint32_t type, struct pd_text name)
{
	if (name.n < PMU_NAME)
		add_naming(arg, type, name);
}

/* Names tracepoints from their format files. */
static void name_from_formats(struct pd_file *file)
{
	for (size_t i = 0; i < file->n_events; i++) {
		struct pd_event *event = &file->events[i];
		const struct pd_format *format = NULL;
		struct pd_text name;

		if (!event->name && event->attr.type == PD_TYPE_TRACEPOINT)
			format = pd_tracing_find(file->tracing, event->attr.config);
		name = format ? pd_format_name(format) : (struct pd_text){ "", 0 };
		if (name.n && asprintf(&event->name, "%.*s:%.*s", (int)format->system.n,
				       format->system.p, (int)name.n, name.p) < 0)
			event->name = NULL;
	}
}

/* Names the remaining events from their attrs, as perf does. Returns false without memory. */
static bool name_from_attrs(struct pd_file *file)
{
	struct pb_cursor c;
	struct namings pmus = { 0 };
	uint8_t *bytes = pd_file_feature_bytes(file, PD_FEATURE_PMU_MAPPINGS, &c);
	bool ok = true;

	if (bytes) {
		/* an entry has at least 8 bytes: a type and the length of a name */
		pmus.list = calloc(pb_cursor_left(&c) / 8 + 1, sizeof(*pmus.list));
		pd_feature_pmu_mappings(&c, take_pmu, &pmus);
		sort_names(&pmus);
	}
	for (size_t i = 0; i < file->n_events && ok; i++) {
		struct pd_event *event = &file->events[i];
		char pmu[PMU_NAME] = "", name[256];
		struct pd_text found;

		if (event->name)
			continue;
		found = find_naming(&pmus, pd_event_pmu(&event->attr));
		memcpy(pmu, found.p, found.n);
		pd_event_name(&event->attr, found.n ? pmu : NULL, file->text, name,
			      sizeof(name));
		ok = set_name(event, (struct pd_text){ name, strlen(name) });
		event->made_up = true;
	}
	free(pmus.list);
	free(bytes);
	return ok;
}

bool pd_events_name(struct pd_file *file)
{
	struct pb_cursor c;
	uint8_t *bytes = pd_file_feature_bytes(file, PD_FEATURE_EVENT_DESC, &c);

	if (bytes)
		pd_feature_event_desc(&c, take_event_desc_name, file);
	free(bytes);
	name_from_event_types(file);
	name_from_formats(file);
	return name_from_attrs(file);
}
