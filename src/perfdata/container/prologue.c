/*
 * The records that a recording in pipe mode begins with, in place of a file's sections, and the
 * features that a file written from a pipe begins its data with. See perf_event__process_attr
 * and perf_event__process_feature, tools/perf/util/header.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "perfdata/input/blocks.h"
#include "open_internal.h"
#include "perfdata/format/format.h"
#include "perfdata/format/record.h"
#include "session.h"

#define HEADER	      8
#define MAX_BUILD_IDS (16u << 20) /* bytes kept for the feature, at most */
#define MAX_EVENTS    65536
#define LATE_EVENTS   256 /* events that may come after the prologue */

/*
 * Keeps bytes as the content of a feature's section; the first of a kind counts. Returns false
 * without memory.
 */
static bool keep_feature(struct pd_file *file, uint64_t bit, uint64_t offset,
			 const uint8_t *bytes, size_t n)
{
	struct pd_feature_section *added;

	if (bit >= PD_FEATURES || pd_file_feature(file, (unsigned)bit))
		return true;
	if (!pb_reserve(file->features, file->n_features, file->features_room))
		return false;
	added = &file->features[file->n_features];
	*added = (struct pd_feature_section){ .bit = (unsigned)bit, .at = { offset, n } };
	if (!pb_reserve_more(added->bytes, 0, n + 1, added->capacity))
		return false;
	memcpy(added->bytes, bytes, n);
	file->n_features++;
	return true;
}

/*
 * Reads struct perf_record_header_attr: the attr, then ids up to the end of the record. *out
 * stays NULL if it holds no attr. Returns false without memory.
 */
static bool take_attr(struct pd_file *file, struct pb_cursor *c, uint64_t offset,
		      struct pd_event **out)
{
	const uint8_t *bytes = c->pos;
	struct pd_event *event;
	struct pd_attr attr;
	uint8_t *copy;
	uint64_t *ids;
	size_t size, n;

	if (file->n_events >= MAX_EVENTS ||
	    (file->session && file->n_events == file->events_capacity) ||
	    !pd_attr_parse(&attr, c->pos, pb_cursor_left(c), file->swap, file->big) ||
	    attr.size > PD_ATTR_MOST) {
		pd_file_damaged(file, offset, 0,
				"header_attr: found no attr or too many, expected one");
		return true;
	}
	size = pb_cursor_left(c);
	pb_take(c, attr.size);
	size -= pb_cursor_left(c);
	n = pb_cursor_left(c) / 8;
	ids = n ? malloc(n * 8) : NULL;
	copy = malloc(size + 1);
	event = !copy || (n && !ids) ? NULL : pd_file_add_event(file);
	if (!event) {
		free(ids);
		free(copy);
		return false;
	}
	event->attr = attr;
	event->attr_bytes = memcpy(copy, bytes, size);
	event->attr_size = (uint32_t)size;
	event->offset = offset;
	event->ids = ids;
	while (event->n_ids < n)
		ids[event->n_ids++] = pb_take64(c);
	*out = event;
	return true;
}

static bool enter_ids(struct pd_file *file, const struct pd_event *event)
{
	for (size_t i = 0; i < event->n_ids; i++)
		if (!pb_id_map_add(&file->ids.map, event->ids[i], event->index))
			return false;
	return true;
}

static bool take_header_attr(struct pd_file *file, struct pb_cursor *c, uint64_t offset)
{
	struct pd_event *event = NULL;

	return take_attr(file, c, offset, &event) && (!event || enter_ids(file, event));
}

/* Reads a feature. A record of size 16, without data, ends the features. */
static bool take_feature(struct pd_file *file, struct pb_cursor *c, uint64_t offset)
{
	uint64_t bit = pb_take64(c);
	size_t n = pb_cursor_left(c);

	return n == 0 || keep_feature(file, bit, offset + HEADER + 8, c->pos, n);
}

/* enum perf_event_update_type */
#define UPDATE_UNIT  0
#define UPDATE_SCALE 1
#define UPDATE_NAME  2

static bool replace_text(char **to, struct pd_text text)
{
	char *copy = strndup(text.p, text.n);

	if (!copy)
		return false;
	free(*to);
	*to = copy;
	return true;
}

static bool take_event_update(struct pd_file *file, struct pb_cursor *c, uint64_t offset)
{
	uint64_t type = pb_take64(c), id = pb_take64(c);
	struct pd_text text = pd_text_in(c->pos, pb_cursor_left(c));
	uint32_t index = pb_id_map_find(&file->ids.map, id);
	struct pd_event *event;
	double scale;

	(void)offset;
	if (c->failed || index == UINT32_MAX)
		return true;
	event = &file->events[index];
	if (type == UPDATE_NAME && text.n && (!event->name || event->made_up)) {
		event->made_up = false;
		return replace_text(&event->name, text);
	}
	if (type == UPDATE_UNIT && text.n)
		return replace_text(&event->unit, text);
	if (type == UPDATE_SCALE && pb_cursor_left(c) >= 8) {
		uint64_t bits = pb_take64(c);

		memcpy(&scale, &bits, sizeof(scale));
		event->scale = scale;
	}
	return true;
}

/* Reads a record of recorders before Linux 3.4: the name of a tracepoint by its config. */
static bool take_event_type(struct pd_file *file, struct pb_cursor *c, uint64_t offset)
{
	uint64_t config = pb_take64(c);
	struct pd_text name = pd_text_in(c->pos, pb_cursor_left(c));

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
 * Keeps the payload after the record (see perf_event__process_tracing_data). Returns 1; 0 if
 * it is not all there or too large to be kept, so that the pass over the records steps over it;
 * -1 with *err.
 */
static int take_tracing_data(struct pd_file *file, struct pd_blocks *b, uint32_t size,
			     struct pd_error *err)
{
	uint32_t n = size >= 12 ? pb_load32(b->pos + HEADER, file->swap) : 0;
	int got;

	if (n > pd_blocks_left(b) - size)
		return 0;
	if (n > PD_SECTION_MOST) {
		file->complete = false;
		pd_file_damaged(file, b->offset + size, n,
				"tracing data: found %u bytes, expected at most %u", n,
				PD_SECTION_MOST);
		return 0;
	}
	got = pd_blocks_fill(b, (size_t)size + n, err);
	if (got <= 0)
		return got;
	if (!keep_feature(file, PD_FEATURE_TRACING_DATA, b->offset + size, b->pos + size, n)) {
		pd_error_set(err, "ENOMEM", file->path, b->offset, "no memory");
		return -1;
	}
	pd_blocks_skip(b, (uint64_t)size + n);
	return 1;
}

/* Makes room for late events, which must not move the others. Returns false without memory. */
static bool reserve_late_events(struct pd_file *file)
{
	if (!pb_reserve_more(file->events, file->n_events, LATE_EVENTS, file->events_capacity))
		return false;
	pd_file_set_events(file, file->events);
	/* so many may come, even if there is more room */
	file->events_capacity = file->n_events + LATE_EVENTS;
	return true;
}

#define PLACED                                                                  \
	(PD_SAMPLE_IDENTIFIER | PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | \
	 PD_SAMPLE_ADDR | PD_SAMPLE_ID | PD_SAMPLE_STREAM_ID | PD_SAMPLE_CPU)

/*
 * Returns whether records of `event` can be told apart by ids that lie, as their times do, at
 * the offsets of the first event. Passes that have begun rely on it, and perf requires it of
 * any recording: see evlist__valid_sample_type.
 */
static bool event_fits_in(const struct pd_file *file, const struct pd_event *event)
{
	const struct pd_attr *a = &file->events[0].attr, *b = &event->attr;

	return !((a->sample_type ^ b->sample_type) & PLACED) &&
	       !((a->flags ^ b->flags) & PD_ATTR_SAMPLE_ID_ALL) &&
	       a->sample_type & (PD_SAMPLE_ID | PD_SAMPLE_IDENTIFIER) &&
	       file->events[0].n_ids && event->n_ids;
}

/* Takes over an attr, unless a pass before did. */
static bool take_late_attr(struct pd_file *file, struct pb_cursor *c,
			   const struct pd_record *rec)
{
	size_t n = file->n_events;
	struct pd_event *event = NULL;
	size_t compared = 0;

	if (n && file->events[n - 1].offset >= rec->offset)
		return true;
	if (!take_attr(file, c, rec->offset, &event))
		return false;
	if (!event)
		return true;
	if (n && !event_fits_in(file, event)) {
		pd_forget_late_event(file);
		pd_file_damaged(file, rec->offset, 0,
				"header_attr: found a late event whose records have id and "
				"time at other offsets, expected those of the first event");
		return true;
	}
	if (pd_describe_late_event(file) &&
	    pd_session_add_event(file->session, event, &compared))
		return enter_ids(file, event);
	pd_forget_late_event(file); /* nothing refers to it yet */
	return false;
}

static bool take_late_feature(struct pd_file *file, struct pb_cursor *c,
			      const struct pd_record *rec)
{
	size_t n = file->n_features;

	if (!take_feature(file, c, rec->offset))
		return false;
	if (file->n_features > n)
		pd_describe_late_feature(file, file->features[n].bit);
	return true;
}

/*
 * Appends a build-id record: the feature of a file holds the same records as a pipe has one by
 * one.
 */
static bool take_late_build_id(struct pd_file *file, struct pb_cursor *c,
			       const struct pd_record *rec)
{
	struct pd_feature_section *s;

	(void)c;
	if (!keep_feature(file, PD_FEATURE_BUILD_ID, rec->offset, rec->bytes, 0))
		return false;
	s = (struct pd_feature_section *)pd_file_feature(file, PD_FEATURE_BUILD_ID);
	if ((s->at.size && !s->grown) || rec->offset < s->grown || s->at.size > MAX_BUILD_IDS)
		/* it came as a feature, a pass before took it, or there are enough */
		return true;
	if (!pb_reserve_more(s->bytes, (size_t)s->at.size, rec->size, s->capacity))
		return false;
	memcpy(s->bytes + s->at.size, rec->bytes, rec->size);
	s->at.size += rec->size;
	s->grown = rec->offset + rec->size;
	return true;
}

static bool take_late_event_update(struct pd_file *file, struct pb_cursor *c,
				   const struct pd_record *rec)
{
	return take_event_update(file, c, rec->offset);
}

static bool text_equals(const char *a, struct pd_text b)
{
	return a && strlen(a) == b.n && memcmp(a, b.p, b.n) == 0;
}

static bool knows_attr(const struct pd_file *file, struct pb_cursor *c,
		       const struct pd_record *rec)
{
	(void)c;
	return file->n_events && file->events[file->n_events - 1].offset >= rec->offset;
}

static bool knows_feature(const struct pd_file *file, struct pb_cursor *c,
			  const struct pd_record *rec)
{
	uint64_t bit = pb_take64(c);

	(void)rec;
	return !pb_cursor_left(c) || bit >= PD_FEATURES || pd_file_feature(file, (unsigned)bit);
}

static bool knows_event_update(const struct pd_file *file, struct pb_cursor *c,
			       const struct pd_record *rec)
{
	uint64_t type = pb_take64(c), id = pb_take64(c);
	struct pd_text text = pd_text_in(c->pos, pb_cursor_left(c));
	uint32_t index = pb_id_map_find(&file->ids.map, id);
	const struct pd_event *event;
	uint64_t bits;

	(void)rec;
	if (c->failed || index == UINT32_MAX)
		return true;
	event = &file->events[index];
	switch (type) {
	case UPDATE_NAME:
		return !text.n || (event->name && !event->made_up);
	case UPDATE_UNIT:
		return !text.n || text_equals(event->unit, text);
	case UPDATE_SCALE:
		if (pb_cursor_left(c) < 8)
			return true;
		bits = pb_take64(c);
		return memcmp(&event->scale, &bits, sizeof(bits)) == 0;
	default:
		return true;
	}
}

static bool knows_build_id(const struct pd_file *file, struct pb_cursor *c,
			   const struct pd_record *rec)
{
	const struct pd_feature_section *s = pd_file_feature(file, PD_FEATURE_BUILD_ID);

	(void)c;
	return s && ((s->at.size && !s->grown) || rec->offset < s->grown ||
		     s->at.size > MAX_BUILD_IDS);
}

/*
 * The functions that take over records which describe a recording: those at its beginning in
 * pipe mode, and later ones of the types that fields.h calls metadata. NULL: the record is only
 * delivered.
 */
static const struct taker {
	uint32_t type;
	bool in_files; /* the records count also outside of pipe mode */
	bool (*take)(struct pd_file *file, struct pb_cursor *c, uint64_t offset);
	/* in place of `take`, for a record with a payload: as take_next() */
	int (*take_payload)(struct pd_file *file, struct pd_blocks *b, uint32_t size,
			    struct pd_error *err);
	bool (*take_late)(struct pd_file *file, struct pb_cursor *c,
			  const struct pd_record *rec);
	bool (*knows)(const struct pd_file *file, struct pb_cursor *c,
		      const struct pd_record *rec);
} takers[] = {
	{ PD_RECORD_HEADER_ATTR, false, take_header_attr, NULL, take_late_attr, knows_attr },
	{ PD_RECORD_HEADER_FEATURE, true, take_feature, NULL, take_late_feature,
	  knows_feature },
	{ PD_RECORD_EVENT_UPDATE, true, take_event_update, NULL, take_late_event_update,
	  knows_event_update },
	{ PD_RECORD_EVENT_TYPE, false, take_event_type, NULL, NULL, NULL },
	{ PD_RECORD_TRACING_DATA, false, NULL, take_tracing_data, NULL, NULL },
	{ PD_RECORD_BUILD_ID, false, NULL, NULL, take_late_build_id, knows_build_id },
};

static const struct taker *find_taker(uint32_t type)
{
	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++)
		if (takers[i].type == type)
			return &takers[i];
	return NULL;
}

/* Takes over the next record of the prologue. Returns 1; 0 if there is none; -1 with *err. */
static int take_next(struct pd_file *file, struct pd_blocks *b, struct pd_error *err)
{
	const struct taker *taker;
	int got = pd_blocks_fill(b, HEADER, err);
	struct pb_cursor c;
	uint32_t size;

	if (got <= 0)
		return got;
	taker = find_taker(pb_load32(b->pos, file->swap));
	size = pb_load16(b->pos + 6, file->swap);
	if (!taker || (!taker->take && !taker->take_payload) || size < HEADER ||
	    !(file->pipe || taker->in_files))
		return 0;
	got = pd_blocks_fill(b, size, err);
	if (got <= 0)
		return got;
	if (taker->take_payload)
		return taker->take_payload(file, b, size, err);
	pb_cursor_init(&c, b->pos + HEADER, size - HEADER, file->swap);
	if (!taker->take(file, &c, b->offset)) {
		pd_error_set(err, "ENOMEM", file->path, b->offset, "no memory");
		return -1;
	}
	pd_blocks_skip(b, size);
	return 1;
}

/* Returns whether the data of a file begin with a feature, as perf inject -i - writes them. */
static bool begins_with_feature(struct pd_file *file)
{
	uint8_t type[4];

	return file->data.size >= sizeof(type) &&
	       pd_file_read(file, (struct pd_section){ file->data.offset, sizeof(type) }, type,
			    NULL) &&
	       pb_load32(type, file->swap) == PD_RECORD_HEADER_FEATURE;
}

bool pd_prologue_read(struct pd_file *file, struct pd_error *err)
{
	struct pd_blocks blocks;
	int got;

	if (!file->pipe && !begins_with_feature(file))
		return true;
	if (!pd_blocks_init(&blocks, &file->input, file->data.offset,
			    file->data.offset + file->data.size, err))
		return false;
	while ((got = take_next(file, &blocks, err)) > 0)
		;
	pd_blocks_deinit(&blocks);
	return got == 0 && (!file->pipe || reserve_late_events(file) ||
			    pd_error_set(err, "ENOMEM", file->path, PD_NO_OFFSET, "no memory"));
}

/*
 * Returns the row that takes over a record after the prologue, and initialises a cursor over
 * its body; NULL if none does.
 */
static const struct taker *find_late_taker(const struct pd_file *file,
					   const struct pd_record *rec, struct pb_cursor *c)
{
	const struct taker *taker = find_taker(rec->type);

	if (!taker || !taker->take_late || !(file->pipe || taker->in_files))
		return NULL;
	pb_cursor_init(c, rec->bytes + HEADER, rec->size - HEADER, file->swap);
	return taker;
}

bool pd_prologue_late(struct pd_file *file, const struct pd_record *rec)
{
	struct pb_cursor c;
	const struct taker *taker = find_late_taker(file, rec, &c);

	return !taker || taker->take_late(file, &c, rec);
}

bool pd_prologue_knows(const struct pd_file *file, const struct pd_record *rec)
{
	struct pb_cursor c;
	const struct taker *taker = find_late_taker(file, rec, &c);

	return !taker || taker->knows(file, &c, rec);
}
