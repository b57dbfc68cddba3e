/*
 * The records a pipe-mode recording begins with: they stand for the sections of a file.
 * See perf_event__process_attr and perf_event__process_feature, tools/perf/util/header.c.
 */
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "file.h"
#include "format.h"

#define HEADER		 8
#define MAX_TRACING_DATA (64u << 20) /* more is not kept for the events, and stepped over */
#define MAX_EVENTS	 65536

/* Keeps bytes as what a feature's section would hold; the first of its kind stays. */
static bool keep_feature(struct pd_file *file, uint64_t bit, uint64_t offset,
			 const uint8_t *bytes, size_t n)
{
	struct pd_feature_section *grown;

	if (bit >= PD_FEATURES || pd_file_feature(file, (unsigned)bit))
		return true;
	grown = realloc(file->features, (file->n_features + 1) * sizeof(*grown));
	if (!grown)
		return false;
	file->features = grown;
	grown += file->n_features;
	grown->bit = (unsigned)bit;
	grown->at = (struct pd_section){ offset, n };
	grown->bytes = malloc(n + 1);
	if (!grown->bytes)
		return false;
	memcpy(grown->bytes, bytes, n);
	file->n_features++;
	return true;
}

/* struct perf_record_header_attr: the attr, then its ids up to the end of the record. */
static bool on_attr(struct pd_file *file, struct pd_cursor *c, uint64_t offset)
{
	struct pd_event *event;
	struct pd_attr attr;
	size_t n;

	if (file->n_events >= MAX_EVENTS ||
	    !pd_attr_parse(&attr, c->pos, pd_cursor_left(c), file->swap, file->big)) {
		pd_file_damaged(file, offset, 0, "header_attr: found no attr, expected one");
		return true;
	}
	event = pd_file_add_event(file);
	if (!event)
		return false;
	event->attr = attr;
	pd_take(c, attr.size);
	n = pd_cursor_left(c) / 8;
	event->ids = n ? malloc(n * 8) : NULL;
	if (n && !event->ids)
		return false;
	while (event->n_ids < n) {
		uint64_t id = pd_take64(c);

		event->ids[event->n_ids++] = id;
		if (!pd_id_table_add(&file->ids, id, event->index))
			return false;
	}
	return true;
}

/* A record of size 16, without data, ends the features; its number is the writer's last one. */
static bool on_feature(struct pd_file *file, struct pd_cursor *c, uint64_t offset)
{
	uint64_t bit = pd_take64(c);
	size_t n = pd_cursor_left(c);

	return n == 0 || keep_feature(file, bit, offset + HEADER + 8, c->pos, n);
}

#define UPDATE_NAME 2 /* PERF_EVENT_UPDATE__NAME */

static bool on_event_update(struct pd_file *file, struct pd_cursor *c, uint64_t offset)
{
	uint64_t type = pd_take64(c), id = pd_take64(c);
	struct pd_text name = pd_text_in(c->pos, pd_cursor_left(c));
	uint32_t index = pd_id_table_find(&file->ids, id);
	struct pd_event *event;

	(void)offset;
	if (c->failed || type != UPDATE_NAME || !name.n || index == UINT32_MAX)
		return true;
	event = &file->events[index];
	if (!event->name)
		event->name = strndup(name.p, name.n);
	return event->name != NULL;
}

/* Recorders before Linux 3.4: names of tracepoints by config. */
static bool on_event_type(struct pd_file *file, struct pd_cursor *c, uint64_t offset)
{
	uint64_t config = pd_take64(c);
	struct pd_text name = pd_text_in(c->pos, pd_cursor_left(c));

	(void)offset;
	for (size_t i = 0; i < file->n_events && name.n; i++) {
		struct pd_event *event = &file->events[i];

		if (event->attr.type == PD_TYPE_TRACEPOINT && event->attr.config == config &&
		    !event->name)
			event->name = strndup(name.p, name.n);
	}
	return true;
}

/*
 * Its payload lies behind the record (see perf_event__process_tracing_data). 1; 0 if there is not as much, and
 * so nothing behind it; -1 on an error.
 */
static int on_tracing_data(struct pd_file *file, struct pd_blocks *b, uint32_t size,
			   struct pd_error *err)
{
	uint32_t n = size >= 12 ? pd_load32(b->pos + HEADER, file->swap) : 0;
	int got;

	if (n > pd_blocks_left(b) - size)
		return 0;
	if (n <= MAX_TRACING_DATA) {
		got = pd_blocks_fill(b, (size_t)size + n, err);
		if (got <= 0)
			return got;
		if (!keep_feature(file, PD_FEATURE_TRACING_DATA, b->offset + size,
				  b->pos + size, n)) {
			pd_error_set(err, "ENOMEM", file->path, b->offset, "no memory");
			return -1;
		}
	}
	pd_blocks_skip(b, (uint64_t)size + n);
	return 1;
}

static const struct {
	uint32_t type;
	bool (*take)(struct pd_file *file, struct pd_cursor *c, uint64_t offset);
} prologue[] = {
	{ PD_RECORD_HEADER_ATTR, on_attr },
	{ PD_RECORD_HEADER_FEATURE, on_feature },
	{ PD_RECORD_EVENT_UPDATE, on_event_update },
	{ PD_RECORD_EVENT_TYPE, on_event_type },
	{ PD_RECORD_TRACING_DATA, NULL },
};

/* The place of a type in the table above; -1: the records proper have begun. */
static int find(uint32_t type)
{
	for (size_t i = 0; i < sizeof(prologue) / sizeof(prologue[0]); i++)
		if (prologue[i].type == type)
			return (int)i;
	return -1;
}

/* Takes the next record of the prologue: 1; 0 if there is none; -1 on an error. */
static int take(struct pd_file *file, struct pd_blocks *b, struct pd_error *err)
{
	int got = pd_blocks_fill(b, HEADER, err), which;
	struct pd_cursor c;
	uint32_t size;

	if (got <= 0)
		return got;
	which = find(pd_load32(b->pos, file->swap));
	size = pd_load16(b->pos + 6, file->swap);
	if (which < 0 || size < HEADER)
		return 0;
	got = pd_blocks_fill(b, size, err);
	if (got <= 0)
		return got;
	if (!prologue[which].take)
		return on_tracing_data(file, b, size, err);
	pd_cursor_init(&c, b->pos + HEADER, size - HEADER, file->swap);
	if (!prologue[which].take(file, &c, b->offset)) {
		pd_error_set(err, "ENOMEM", file->path, b->offset, "no memory");
		return -1;
	}
	pd_blocks_skip(b, size);
	return 1;
}

bool pd_prologue_read(struct pd_file *file, struct pd_error *err)
{
	struct pd_blocks blocks;
	int got;

	if (!pd_blocks_init(&blocks, &file->input, file->data.offset,
			    file->data.offset + file->data.size, err))
		return false;
	while ((got = take(file, &blocks, err)) > 0)
		;
	pd_blocks_deinit(&blocks);
	return got == 0;
}
