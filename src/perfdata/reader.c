#include "reader.h"

#include <stdlib.h>
#include <string.h>

#include "sample.h"

#define HEADER 8
/*
 * One pass is fastest in blocks that stay in the L2 cache: page faults of a mapping cost more than
 * decoding does. The largest record (64 KB) always fits.
 */
#define BLOCK (256 * 1024)

/* Where the id that selects a record's event lies: see evlist__id2evsel, tools/perf/util/evlist.c. */
static void place_ids(struct pd_reader *r)
{
	const struct pd_shape *shape = &r->file->events[0].shape;
	const struct pd_layout *sample = r->file->events[0].sample;
	uint64_t t = shape->sample_type;

	if (t & PD_SAMPLE_IDENTIFIER) {
		r->sample_id_at = sample->parts[PD_PART_IDENTIFIER];
		r->other_id_at = 8;
	} else if (t & PD_SAMPLE_ID) {
		r->sample_id_at = sample->parts[PD_PART_ID];
		r->other_id_at = (uint16_t)(8 + (t & PD_SAMPLE_CPU ? 8 : 0) +
					    (t & PD_SAMPLE_STREAM_ID ? 8 : 0));
	}
	if (!shape->sample_id_all)
		r->other_id_at = 0;
}

bool pd_reader_init(struct pd_reader *r, struct pd_file *file, struct pd_error *err)
{
	*r = (struct pd_reader){
		.file = file,
		.swap = file->swap,
		.offset = file->data.offset,
		.limit = file->data.offset + file->data.size,
		.want = { UINT64_MAX, UINT64_MAX },
		.want_unknown = true,
		.capacity = BLOCK,
	};
	r->any_id = file->n_events > 1;
	if (r->any_id)
		place_ids(r);
	if (file->data.size < r->capacity)
		r->capacity = (size_t)file->data.size + HEADER;
	r->block = malloc(r->capacity);
	r->pos = r->end = r->block;
	if (!r->block)
		return pd_error_set(err, "ENOMEM", file->path, PD_NO_OFFSET, "no memory");
	return true;
}

void pd_reader_deinit(struct pd_reader *r)
{
	free(r->block);
	r->block = NULL;
	r->pos = r->end = NULL;
	r->limit = r->offset;
}

void pd_reader_want_none(struct pd_reader *r)
{
	r->want[0] = r->want[1] = 0;
	r->want_unknown = false;
}

void pd_reader_want(struct pd_reader *r, uint32_t type)
{
	if (type >= PD_RECORD_TYPES)
		r->want_unknown = true;
	else
		r->want[type / 64] |= UINT64_C(1) << type % 64;
}

void pd_reader_refuse(struct pd_reader *r, uint32_t type)
{
	if (type >= PD_RECORD_TYPES)
		r->want_unknown = false;
	else
		r->want[type / 64] &= ~(UINT64_C(1) << type % 64);
}

static int refill(struct pd_reader *r, size_t n, struct pd_error *err)
{
	size_t have = (size_t)(r->end - r->pos), got;
	uint64_t left = r->limit - r->offset;

	if (left < n)
		return 0;
	if (n > r->capacity) {
		uint8_t *grown = malloc(n);

		if (!grown) {
			pd_error_set(err, "ENOMEM", r->file->path, r->offset,
				     "no memory for a record of %zu bytes", n);
			return -1;
		}
		memcpy(grown, r->pos, have);
		free(r->block);
		r->block = grown;
		r->capacity = n;
	} else {
		memmove(r->block, r->pos, have);
	}
	r->pos = r->block;
	r->end = r->block + have;
	left -= have;
	if (left > r->capacity - have)
		left = r->capacity - have;
	if (!pd_input_read(&r->file->input, r->offset + have, r->block + have, (size_t)left,
			   &got, err))
		return -1;
	r->end += got;
	if (got < left) {
		/* the file became shorter under us */
		r->limit = r->offset + have + got;
		r->file->complete = false;
		pd_file_damaged(
			r->file, r->limit, 0,
			"found the end of the file here, expected what was there when it was "
			"opened");
	}
	return (size_t)(r->end - r->pos) >= n;
}

/* Makes n bytes at pos available if the data has as many: 1, 0 if it has not, -1 on an error. */
static inline int fill(struct pd_reader *r, size_t n, struct pd_error *err)
{
	return (size_t)(r->end - r->pos) >= n ? 1 : refill(r, n, err);
}

static void skip(struct pd_reader *r, uint64_t n)
{
	uint64_t have = (uint64_t)(r->end - r->pos);

	r->pos += n < have ? n : have;
	r->offset += n;
}

/* Ends the walk at something that cannot be a record. */
static int stop(struct pd_reader *r, const char *what, uint64_t found)
{
	uint64_t left = r->limit - r->offset;

	r->file->complete = false;
	pd_file_damaged(
		r->file, r->offset, left,
		"%s: found %llu, expected at least 8 and at most the %llu bytes that are left",
		what, (unsigned long long)found, (unsigned long long)left);
	r->pos = r->end;
	r->offset = r->limit;
	return 0;
}

/* The event of a record among several, by its id. */
static const struct pd_event *event_of(const struct pd_reader *r, const struct pd_record *rec,
				       uint32_t type)
{
	const struct pd_event *events = r->file->events;
	bool sample = type == PD_RECORD_SAMPLE;
	uint32_t at = sample ? r->sample_id_at : rec->size - r->other_id_at, index;
	uint64_t id;

	if (!sample &&
	    (!r->other_id_at || !events->others[type] || !events->others[type]->trailer_size))
		return events;
	if (at < HEADER || at + 8 > rec->size)
		return sample ? NULL : events;
	id = pd_load64(rec->bytes + at, r->file->swap);
	/* 0 is what perf wrote itself: as good as of the first event */
	if (!id && !sample)
		return events;
	index = pd_id_table_find(&r->file->ids, id);
	return index == UINT32_MAX ? NULL : &events[index];
}

/* The event of a record and from it the layout. */
static void bind(const struct pd_reader *r, struct pd_record *rec)
{
	const struct pd_file *file = r->file;
	uint32_t type = rec->type < PD_RECORD_TYPES ? rec->type : 0;
	const struct pd_event *event = file->events;

	if (!file->n_events) {
		rec->event = NULL;
		rec->layout = file->bare_layouts[type];
	} else {
		if (r->any_id)
			event = event_of(r, rec, type);
		rec->event = event;
		if (type == PD_RECORD_SAMPLE)
			rec->layout = event ? event->sample : file->unknown_sample;
		else
			rec->layout = (event ? event : file->events)->others[type];
	}
	if (!rec->layout)
		rec->layout = file->bare_layouts[0];
}

struct pd_section pd_record_payload(const struct pd_record *rec)
{
	struct pd_section none = { rec->offset + rec->size, 0 };

	if (rec->type == PD_RECORD_AUXTRACE && rec->size >= 16)
		none.size = pd_rec64(rec, 8);
	else if (rec->type == PD_RECORD_TRACING_DATA && rec->size >= 12 &&
		 rec->size - 12 < pd_rec32(rec, 8)) /* simpleperf keeps it inside the record */
		none.size = pd_rec32(rec, 8);
	return none;
}

/* Steps over what lies behind a record's own bytes; false if there is not as much. */
static bool skip_payload(struct pd_reader *r, const struct pd_record *rec)
{
	uint64_t payload = pd_record_payload(rec).size;

	if (payload > r->limit - r->offset) {
		stop(r, "payload of a record", payload);
		return false;
	}
	skip(r, payload);
	return true;
}

bool pd_has_payload(uint32_t type)
{
	return type == PD_RECORD_AUXTRACE || type == PD_RECORD_TRACING_DATA;
}

static bool wanted(const struct pd_reader *r, uint32_t type)
{
	if (type >= PD_RECORD_TYPES)
		return r->want_unknown;
	return r->want[type / 64] >> type % 64 & 1;
}

/* Makes the next record's header and bytes available: as pd_reader_next. */
static inline int frame(struct pd_reader *r, struct pd_record *rec, struct pd_error *err)
{
	uint32_t type, size;
	uint16_t misc;
	int got;

	if ((got = fill(r, HEADER, err)) <= 0)
		return got < 0 || r->offset >= r->limit ?
			       got :
			       stop(r, "bytes of a record header", r->limit - r->offset);
	type = pd_load32(r->pos, r->swap);
	misc = pd_load16(r->pos + 4, r->swap);
	size = pd_load16(r->pos + 6, r->swap);
	if (type >= PD_RECORD_SIMPLEPERF)
		size |= (uint32_t)misc << 16; /* see simpleperf's record.h */
	if (size < HEADER)
		return stop(r, "size of a record", size);
	if ((got = fill(r, size, err)) <= 0)
		return got < 0 ? got : stop(r, "size of a record", size);
	rec->bytes = r->pos;
	rec->offset = r->offset;
	rec->type = type;
	rec->size = size;
	rec->misc = misc;
	r->pos += size;
	r->offset += size;
	return 1;
}

/* What is not read is said, once for all of them. */
static void note_compressed(struct pd_file *file, const struct pd_record *rec)
{
	if (!file->compressed)
		pd_file_damaged(
			file, rec->offset, rec->size,
			"found a compressed record, expected plain ones: this version does not "
			"decompress, so what these records hold is missing");
	file->compressed = true;
	file->complete = false;
}

/* What a record asks of the walk itself; false ends it. */
static bool heed(struct pd_reader *r, struct pd_record *rec)
{
	if (rec->type == PD_RECORD_COMPRESSED || rec->type == PD_RECORD_COMPRESSED2)
		note_compressed(r->file, rec);
	if (!pd_has_payload(rec->type))
		return true;
	bind(r, rec);
	return skip_payload(r, rec);
}

int pd_reader_next(struct pd_reader *r, struct pd_record *rec, struct pd_error *err)
{
	int got;

	while ((got = frame(r, rec, err)) > 0) {
		if (rec->type >= PD_RECORD_USER && !heed(r, rec))
			return 0;
		if (wanted(r, rec->type)) {
			bind(r, rec);
			return 1;
		}
	}
	return got;
}
