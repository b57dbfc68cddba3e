#include "file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vector.h"
#include "perfdata/format/format.h"
#include "perfdata/format/print_scalar.h"
#include "perfdata/tracepoint/tracing.h"
#include "open_internal.h"

void pd_file_close(struct pd_file *file)
{
	file->clock.find_start = NULL;
	pd_input_close(&file->input);
	for (size_t i = 0; i < file->n_more; i++)
		pd_input_close(&file->more[i]);
}

void pd_event_deinit(struct pd_event *event)
{
	/* a layout that events share belongs to the first of them, whose shape it points to */
	if (event->split && event->split->shape == &event->shape)
		pd_layout_destroy((struct pd_layout *)event->split);
	if (event->sample && event->sample->shape == &event->shape)
		pd_layout_destroy((struct pd_layout *)event->sample);
	free(event->name);
	free(event->group_name);
	free(event->unit);
	free(event->ids);
	free(event->attr_bytes);
}

void pd_destroy_other_layouts(const struct pd_layout **layouts)
{
	for (size_t type = 0; layouts && type < PD_RECORD_TYPES; type++)
		pd_layout_destroy((struct pd_layout *)layouts[type]);
	free(layouts);
}

void pd_file_destroy(struct pd_file *file)
{
	if (!file)
		return;
	pd_file_close(file);
	/* the first event that has a layout owns it, so the last one is freed first */
	for (size_t i = file->n_events; i-- > 0;)
		pd_event_deinit(&file->events[i]);
	for (size_t k = 0; k < PD_TRAILER_KINDS; k++)
		pd_destroy_other_layouts(file->trailers[k]);
	for (size_t i = 0; i < file->n_features; i++)
		free(file->features[i].bytes);
	pd_tracing_destroy(file->tracing);
	free(file->events);
	free(file->features);
	free(file->damage);
	free(file->sockets.list);
	pb_id_map_deinit(&file->ids.map);
	for (size_t i = 0; i < file->n_more; i++)
		free((char *)file->more[i].path);
	free(file->more);
	for (size_t i = 0; i < file->n_streams; i++)
		if (file->streams[i].index)
			file->streams[i].destroy_index(file->streams[i].index);
	free(file->streams);
	free(file->path);
	pthread_mutex_destroy(&file->damage_lock);
	free(file);
}

const struct pd_feature_section *pd_file_feature(const struct pd_file *file, unsigned bit)
{
	for (size_t i = 0; i < file->n_features; i++)
		if (file->features[i].bit == bit)
			return &file->features[i];
	return NULL;
}

void *pd_section_alloc(struct pd_section at)
{
	return at.size <= PD_SECTION_MOST ? malloc((size_t)at.size) : NULL;
}

static bool read_whole(struct pd_input *in, struct pd_section at, void *bytes,
		       struct pd_error *err)
{
	size_t got;

	if (in->stream)
		return pd_error_set(err, "ESPIPE", in->path, at.offset,
				    "cannot go back in a stream for %llu bytes",
				    (unsigned long long)at.size);
	if (!pd_input_read(in, at.offset, bytes, (size_t)at.size, (size_t)at.size, &got, err))
		return false;
	if (got < at.size)
		return pd_error_set(err, "FORMAT", in->path, at.offset,
				    "found %zu bytes up to the end of the file, expected %llu",
				    got, (unsigned long long)at.size);
	return true;
}

bool pd_file_read(struct pd_file *file, struct pd_section at, void *bytes, struct pd_error *err)
{
	return read_whole(&file->input, at, bytes, err);
}

bool pd_stream_read(struct pd_stream *stream, struct pd_section at, void *bytes,
		    struct pd_error *err)
{
	uint64_t end = stream->data.offset + stream->data.size;

	if (!pd_stream_holds(stream, at))
		return pd_error_set(err, "FORMAT", stream->input->path, at.offset,
				    "found %llu bytes up to the end of the recording, expected "
				    "%llu",
				    (unsigned long long)(at.offset < end ? end - at.offset : 0),
				    (unsigned long long)at.size);
	if (pd_input_read_kept(stream->input, at.offset, at.size, bytes))
		return true;
	return read_whole(stream->input, at, bytes, err);
}

bool pd_file_feature_fits(struct pd_file *file, const struct pd_feature_section *s)
{
	const struct pd_feature *feature = pd_feature_by_bit(s->bit);

	if (s->bytes || s->at.size <= PD_SECTION_MOST)
		return true;
	file->complete = false;
	pd_file_damaged(file, s->at.offset, s->at.size,
			"feature %s (bit %u): found %llu bytes, expected at most %u",
			feature ? feature->name : "unknown", s->bit,
			(unsigned long long)s->at.size, PD_SECTION_MOST);
	return false;
}

bool pd_file_read_feature(struct pd_file *file, const struct pd_feature_section *section,
			  void *bytes, struct pd_error *err)
{
	if (!section->bytes)
		return pd_file_read(file, section->at, bytes, err);
	/* records that came meanwhile may have added to the copy and moved it */
	memcpy(bytes, pd_file_feature(file, section->bit)->bytes, (size_t)section->at.size);
	return true;
}

uint8_t *pd_file_feature_bytes(struct pd_file *file, unsigned bit, struct pb_cursor *c)
{
	const struct pd_feature_section *s = pd_file_feature(file, bit);
	uint8_t *bytes = NULL;

	if (s && s->at.size && s->at.size <= file->input.size &&
	    pd_file_feature_fits(file, s)) {
		bytes = pd_section_alloc(s->at);
		if (bytes && !pd_file_read_feature(file, s, bytes, NULL)) {
			free(bytes);
			bytes = NULL;
		}
	}
	if (bytes)
		pb_cursor_init(c, bytes, (size_t)s->at.size, file->swap);
	return bytes;
}

char *pd_file_feature_text(struct pd_file *file, unsigned bit)
{
	struct pb_cursor c;
	uint8_t *bytes = pd_file_feature_bytes(file, bit, &c);
	char *text = NULL;

	if (bytes) {
		struct pd_text t = pd_take_string(&c);

		text = t.n ? strndup(t.p, t.n) : NULL;
	}
	free(bytes);
	return text;
}

bool pd_file_feature_equal(struct pd_file *a, struct pd_file *b, unsigned bit)
{
	const struct pd_feature_section *x = pd_file_feature(a, bit);
	const struct pd_feature_section *y = pd_file_feature(b, bit);
	struct pb_cursor cx, cy;
	uint8_t *bytes, *others;
	bool equal;

	if (!x || !y || x->at.size != y->at.size)
		return !x && !y;
	bytes = pd_file_feature_bytes(a, bit, &cx);
	others = pd_file_feature_bytes(b, bit, &cy);
	equal = bytes && others && memcmp(bytes, others, (size_t)x->at.size) == 0;
	free(bytes);
	free(others);
	return equal;
}

struct pd_event *pd_file_add_event(struct pd_file *file)
{
	struct pd_event *event;

	if (file->n_events == file->events_capacity) {
		if (file->session ||
		    !pb_reserve(file->events, file->n_events, file->events_capacity))
			return NULL;
		pd_file_set_events(file, file->events);
	}
	event = &file->events[file->n_events];
	memset(event, 0, sizeof(*event));
	event->recorded_with = &file->ids;
	event->index = event->leader = (uint32_t)file->n_events++;
	event->n_members = 1;
	return event;
}

#ifndef MAX_DAMAGE
#define MAX_DAMAGE 1000 /* entries; more do not tell more */
#endif

static bool add_damage(struct pd_file *file, const char *path, struct pd_section at,
		       const char *format, va_list args)
{
	size_t n = file->n_damage;
	struct pd_damage *added;

	for (size_t i = 0; i < n; i++) {
		const struct pd_damage *d = &file->damage[i];

		if (d->path == path && d->offset == at.offset && d->size == at.size)
			return false;
	}
	/*
	 * allocates all entries at once: another thread may read the entries that are counted
	 */
	if (!file->damage)
		file->damage = calloc(MAX_DAMAGE, sizeof(*file->damage));
	if (!file->damage || n == MAX_DAMAGE)
		return false;
	added = &file->damage[n];
	added->path = path;
	added->offset = at.offset;
	added->size = at.size;
	vsnprintf(added->reason, sizeof(added->reason), format, args);
	pd_escape(added->reason, sizeof(added->reason));
	file->n_damage = n + 1;
	return true;
}

static bool note_damage(struct pd_file *file, const char *path, struct pd_section at,
			const char *format, va_list args)
{
	bool new;

	pthread_mutex_lock(&file->damage_lock);
	new = add_damage(file, path, at, format, args);
	pthread_mutex_unlock(&file->damage_lock);
	return new;
}

bool pd_file_damaged(struct pd_file *file, uint64_t offset, uint64_t size, const char *format,
		     ...)
{
	va_list args;
	bool new;

	va_start(args, format);
	new = note_damage(file, file->path, (struct pd_section){ offset, size }, format, args);
	va_end(args);
	return new;
}

bool pd_stream_damaged(const struct pd_stream *stream, uint64_t offset, uint64_t size,
		       const char *format, ...)
{
	va_list args;
	bool new;

	va_start(args, format);
	new = note_damage(stream->file, stream->input->path,
			  (struct pd_section){ offset, size }, format, args);
	va_end(args);
	return new;
}

/*
 * Returns the path of the file with the header: in a directory that is "data". NULL without
 * memory.
 */
static char *make_header_path(const char *path, bool *directory)
{
	struct stat st;
	size_t n = strlen(path) + sizeof("/data");
	char *full = malloc(n);

	*directory = strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if (full)
		snprintf(full, n, "%s%s", path, *directory ? "/data" : "");
	return full;
}

/* Opens the input as pd_input_open(). The error for a directory without "data" says that. */
static bool open_input(struct pd_file *file, const char *path,
		       const volatile sig_atomic_t *interrupt, struct pd_error *err)
{
	if (pd_input_open(&file->input, file->path, interrupt, err))
		return true;
	if (file->directory && err && strcmp(err->code, "ENOENT") == 0)
		pd_error_set(err, "ENOENT", path, PD_NO_OFFSET,
			     "found a directory without the file \"data\", expected one that "
			     "perf record --threads wrote");
	return false;
}

static bool make_streams(struct pd_file *file, struct pd_error *err)
{
	struct pd_stream *streams = calloc(file->n_more + 1, sizeof(*streams));

	if (!streams)
		return pd_error_set(err, "ENOMEM", file->path, PD_NO_OFFSET, "no memory");
	streams[0] = (struct pd_stream){
		.file = file,
		.input = &file->input,
		.data = file->data,
		.open_end = file->open_end,
	};
	for (size_t i = 0; i < file->n_more; i++)
		streams[i + 1] = (struct pd_stream){
			.file = file,
			.input = &file->more[i],
			.data = { 0, file->more[i].size },
			.number = (uint16_t)(i + 1),
			.open_end = true,
		};
	file->streams = streams;
	file->n_streams = file->n_more + 1;
	return true;
}

bool pd_file_open(struct pd_file **out, const char *path, unsigned perf,
		  const volatile sig_atomic_t *interrupt, struct pd_error *err)
{
	struct pd_file *file = calloc(1, sizeof(*file));

	if (!file)
		return pd_error_set(err, "ENOMEM", path, PD_NO_OFFSET, "no memory");
	file->input.fd = -1;
	file->perf = perf;
	file->complete = true;
	pthread_mutex_init(&file->damage_lock, NULL);
	file->path = make_header_path(path, &file->directory);
	pd_field_names_init(&file->field_names);
	file->clock.time_id = pd_field_name_id(&file->field_names, "time", strlen("time"));
	if (!file->path) {
		pd_error_set(err, "ENOMEM", path, PD_NO_OFFSET, "no memory");
	} else if (open_input(file, path, interrupt, err) && pd_envelope_read(file, err) &&
		   pd_prologue_read(file, err) && pd_describe(file, err) &&
		   (!file->directory || pd_directory_read(file, err)) &&
		   make_streams(file, err)) {
		file->input.keep = false;
		*out = file;
		return true;
	}
	pd_file_destroy(file);
	return false;
}
