#include "edit.h"

#include "perfdata/format/format.h"
#include "perfdata/format/sample.h"

#define HEADER	 8
#define ID_ENTRY 32 /* bytes of an entry of ID_INDEX, which begins with its id */

/* A record's copy that is edited. */
struct copy {
	const struct pw_edits *edits;
	const struct pd_record *rec; /* the original */
	uint8_t *bytes;
	bool swap;
};

/* Adds the shift to the time at an offset, if there is one: 0 and all ones are none. */
static void shift_time(const struct copy *c, uint32_t at)
{
	uint64_t time;

	if (!c->edits->shift || at + 8 > c->rec->size)
		return;
	time = pb_load64(c->bytes + at, c->swap);
	if (time != 0 && time != UINT64_MAX)
		pw_store64(c->bytes + at, time + c->edits->shift, c->swap);
}

static void renumber(const struct copy *c, uint32_t at)
{
	uint32_t to;

	if (!c->edits->renumbered.n || at + 8 > c->rec->size)
		return;
	to = pb_id_map_find(&c->edits->renumbered, pb_load64(c->bytes + at, c->swap));
	if (to != UINT32_MAX)
		pw_store64(c->bytes + at, c->edits->new_ids[to], c->swap);
}

/* Renumbers the ids of counter values, of `size` bytes at an offset. */
static void renumber_read(const struct copy *c, uint32_t at, uint32_t size)
{
	uint64_t format = c->rec->layout->shape->read_format;
	uint32_t first = pd_read_header_size(format), each = pd_read_entry_size(format);

	/* the value of an event comes before its times, that of a group's before its id */
	if (!(format & PD_READ_ID))
		return;
	for (uint32_t i = first; i + each <= size; i += each)
		renumber(c, at + i + 8);
}

static void edit_sample(const struct copy *c)
{
	static const uint8_t ids[] = { PD_PART_IDENTIFIER, PD_PART_ID, PD_PART_STREAM_ID };
	const struct pd_layout *layout = c->rec->layout;
	uint32_t at, size;

	if (layout->parts[PD_PART_TIME])
		shift_time(c, layout->parts[PD_PART_TIME]);
	for (size_t i = 0; i < sizeof(ids); i++)
		if (layout->parts[ids[i]])
			renumber(c, layout->parts[ids[i]]);
	if (c->edits->renumbered.n && pd_part_find(c->rec, PD_PART_READ, &at, &size))
		renumber_read(c, at, size);
}

/* Edits the sample_id trailer, whose members have an order of their own. */
static void edit_trailer(const struct copy *c)
{
	uint64_t type = c->rec->layout->shape->sample_type;
	uint32_t n = c->rec->layout->trailer_size, at = c->rec->size - n;

	if (!n || c->rec->size < n + HEADER)
		return;
	at += type & PD_SAMPLE_TID ? 8 : 0;
	if (type & PD_SAMPLE_TIME) {
		if (c->edits->begin && pd_record_synthesised(c->rec))
			pw_store64(c->bytes + at, c->edits->begin, c->swap);
		else
			shift_time(c, at);
		at += 8;
	}
	if (type & PD_SAMPLE_ID) {
		renumber(c, at);
		at += 8;
	}
	if (type & PD_SAMPLE_STREAM_ID)
		renumber(c, at);
	if (type & PD_SAMPLE_IDENTIFIER)
		renumber(c, c->rec->size - 8);
}

/* Edits times and ids between the header and the trailer. */
static void edit_body(const struct copy *c)
{
	uint32_t end = c->rec->size;

	switch (c->rec->type) {
	case PD_RECORD_FORK:
	case PD_RECORD_EXIT:
		if (c->edits->begin && end >= HEADER + 24 && pd_record_synthesised(c->rec))
			pw_store64(c->bytes + HEADER + 16, c->edits->begin, c->swap);
		else
			shift_time(c, HEADER + 16);
		break;
	case PD_RECORD_THROTTLE:
	case PD_RECORD_UNTHROTTLE:
		shift_time(c, HEADER);
		renumber(c, HEADER + 8);
		renumber(c, HEADER + 16);
		break;
	case PD_RECORD_LOST:
		renumber(c, HEADER);
		break;
	case PD_RECORD_READ:
		if (pd_body_end(c->rec) >= HEADER + 8)
			renumber_read(c, HEADER + 8, pd_body_end(c->rec) - (HEADER + 8));
		break;
	case PD_RECORD_EVENT_UPDATE:
		renumber(c, HEADER + 8);
		break;
	case PD_RECORD_ID_INDEX: {
		uint64_t n = end >= HEADER + 8 ? pb_load64(c->bytes + HEADER, c->swap) : 0;

		for (uint32_t at = HEADER + 8; n && at + ID_ENTRY <= end; at += ID_ENTRY, n--)
			renumber(c, at);
		break;
	}
	default:
		break;
	}
}

/*
 * Inserts 8 bytes with an id, of which a copy lies at `own` (0: nowhere). Returns the new size.
 */
static uint32_t insert_id(const struct copy *c, uint32_t at, uint32_t own)
{
	uint64_t id = own && own + 8 <= c->rec->size ? pb_load64(c->bytes + own, c->swap) :
						       c->edits->id;

	memmove(c->bytes + at + 8, c->bytes + at, c->rec->size - at);
	pw_store64(c->bytes + at, id, c->swap);
	return c->rec->size + 8;
}

/* Returns the offset of the id in the trailer; 0: there is none. */
static uint32_t find_trailer_id(const struct pd_record *rec)
{
	uint64_t type = rec->layout->shape->sample_type;
	uint32_t n = rec->layout->trailer_size;

	if (!(type & PD_SAMPLE_ID) || rec->size < n + HEADER)
		return 0;
	return rec->size - n + (type & PD_SAMPLE_TID ? 8u : 0) +
	       (type & PD_SAMPLE_TIME ? 8u : 0);
}

uint32_t pw_edit(const struct pw_edits *edits, const struct pd_record *rec, uint8_t *bytes)
{
	struct copy c = { edits, rec, bytes, rec->layout->swap };
	uint32_t size = rec->size;

	memcpy(bytes, rec->bytes, rec->size);
	if (rec->type == PD_RECORD_SAMPLE) {
		edit_sample(&c);
		if (edits->adds_id)
			size = insert_id(&c, HEADER, rec->layout->parts[PD_PART_ID]);
	} else {
		edit_body(&c);
		if (rec->type < PD_RECORD_USER) {
			edit_trailer(&c);
			if (edits->adds_id && rec->layout->shape->sample_id_all)
				size = insert_id(&c, rec->size, find_trailer_id(rec));
		}
	}
	if (size > UINT16_MAX)
		return 0;
	pw_store16(bytes + 6, (uint16_t)size, c.swap);
	return size;
}
