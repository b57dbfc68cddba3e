#include "description.h"

#include <stdlib.h>

#include "base/vector.h"

void pw_description_init(struct pw_description *d)
{
	*d = (struct pw_description){ 0 };
}

void pw_description_deinit(struct pw_description *d)
{
	for (size_t i = 0; i < d->n_events; i++) {
		free(d->events[i].attr_bytes);
		free(d->events[i].ids);
		free(d->events[i].name);
	}
	free(d->events);
	for (unsigned bit = 0; bit < PD_FEATURES; bit++)
		free(d->features[bit].bytes);
	*d = (struct pw_description){ 0 };
}

static bool fail_memory(const char *path, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", path, PD_NO_OFFSET, "no memory to write");
}

bool pw_read_attr(struct pd_file *file, const struct pd_event *event, uint8_t *bytes,
		  struct pd_error *err)
{
	if (!event->attr_bytes)
		return pd_file_read(file,
				    (struct pd_section){ event->attr_at, event->attr_size },
				    bytes, err);
	memcpy(bytes, event->attr_bytes, event->attr_size);
	return true;
}

struct pd_event *pw_add_event(struct pw_description *d, struct pd_file *file,
			      const struct pd_event *event, struct pd_error *err)
{
	uint32_t size = event->attr_size > PD_ATTR_MIN ? event->attr_size : PD_ATTR_MIN;
	uint64_t *ids = malloc((event->n_ids + 1) * sizeof(*ids));
	uint8_t *attr = calloc(1, size);
	char *name = strdup(event->name ? event->name : "");
	struct pd_event *added;

	if (!ids || !attr || !name || !pb_reserve(d->events, d->n_events, d->room)) {
		fail_memory(file->path, err);
	} else if (pw_read_attr(file, event, attr, err)) {
		if (event->n_ids)
			memcpy(ids, event->ids, event->n_ids * sizeof(*ids));
		added = &d->events[d->n_events];
		*added = *event;
		added->index = (uint32_t)d->n_events++;
		added->attr_size = size;
		added->attr_bytes = attr;
		added->ids = ids;
		added->name = name;
		return added;
	}
	free(ids);
	free(attr);
	free(name);
	return NULL;
}

bool pw_add_events(struct pw_description *d, struct pd_file *file, struct pd_error *err)
{
	for (size_t i = 0; i < file->n_events; i++)
		if (!pw_add_event(d, file, &file->events[i], err))
			return false;
	return true;
}

void pw_replace_feature(struct pw_description *d, unsigned bit, uint8_t *bytes, size_t n)
{
	free(d->features[bit].bytes);
	d->features[bit] = (struct pw_described_feature){ PW_REPLACED, bytes, n };
}

void pw_drop_feature(struct pw_description *d, unsigned bit)
{
	free(d->features[bit].bytes);
	d->features[bit] = (struct pw_described_feature){ .origin = PW_DROPPED };
}

#define NAME_ALIGN 64 /* see do_write_string, tools/perf/util/header.c */

void pw_add32(struct pb_string *s, uint32_t value, bool swap)
{
	value = swap ? __builtin_bswap32(value) : value;
	pb_string_add(s, (const char *)&value, sizeof(value));
}

void pw_add_text(struct pb_string *s, const char *text, bool swap)
{
	size_t n = strlen(text), padded = (n + NAME_ALIGN) & ~(size_t)(NAME_ALIGN - 1);

	pw_add32(s, (uint32_t)padded, swap);
	pb_string_add(s, text, n);
	pb_string_fill(s, '\0', padded - n);
}

void pw_add_string(struct pb_string *s, struct pb_string *from)
{
	if (from->n)
		pb_string_add(s, from->p, from->n);
	s->failed = s->failed || from->failed;
	pb_string_deinit(from);
}

uint8_t *pw_take_bytes(struct pb_string *s, size_t *size, struct pd_error *err)
{
	uint8_t *bytes = (uint8_t *)pb_string_end(s);

	if (bytes) {
		*size = s->n;
		return bytes;
	}
	pb_string_deinit(s);
	fail_memory("", err);
	return NULL;
}

uint8_t *pw_make_event_desc(const struct pd_event *events, size_t n, bool swap, size_t *size,
			    struct pd_error *err)
{
	struct pb_string s = { 0 };
	uint32_t attr_size = PD_ATTR_MIN;

	for (size_t i = 0; i < n; i++)
		if (events[i].attr_size > attr_size)
			attr_size = events[i].attr_size;
	pw_add32(&s, (uint32_t)n, swap);
	pw_add32(&s, attr_size, swap);
	for (size_t i = 0; i < n; i++) {
		pb_string_add(&s, (const char *)events[i].attr_bytes, events[i].attr_size);
		pb_string_fill(&s, '\0', attr_size - events[i].attr_size);
		pw_add32(&s, (uint32_t)events[i].n_ids, swap);
		pw_add_text(&s, events[i].name, swap);
		for (size_t k = 0; k < events[i].n_ids; k++) {
			uint64_t id = events[i].ids[k];

			id = swap ? __builtin_bswap64(id) : id;
			pb_string_add(&s, (const char *)&id, sizeof(id));
		}
	}
	return pw_take_bytes(&s, size, err);
}
