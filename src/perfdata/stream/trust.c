#include "trust.h"

#include <string.h>

#include "perfdata/format/sample.h"
#include "timestamp.h"

/* greatest type reserved for perf's own records; today's last is 86 */
#define LAST_USER	 127
#define UNUSED_MISC_BITS 0x0ff8 /* bits of misc that no kernel sets today */
/* events without ids whose layouts a sample is compared with, at most */
#define MOST_SHAPES  64
#define MOST_PADDING 4 /* words */

bool pd_is_simpleperf(const struct pd_file *file, uint32_t type)
{
	return file->simpleperf && type - PD_RECORD_SIMPLEPERF < PD_SIMPLEPERF_TYPES;
}

/*
 * Returns whether the kernel or perf writes this type and misc, or simpleperf in its own files.
 */
static bool header_is_known(const uint8_t *p, const struct pd_file *file)
{
	uint32_t type = pb_load32(p, file->swap);
	uint16_t misc = pb_load16(p + 4, file->swap);

	if (type > LAST_USER && !pd_is_simpleperf(file, type))
		return false;
	return type >= PD_RECORD_USER || (!(misc & UNUSED_MISC_BITS) &&
					  (misc & PD_MISC_CPUMODE) <= PD_CPUMODE_GUEST_USER);
}

/* Judges a sample by whether its parts fill its size; its event may not be known. */
static enum pd_trust judge_parts(const struct pd_binder *binder, struct pd_record *rec)
{
	const struct pd_file *file = binder->file;
	size_t n = rec->event ? 1 : file->n_events;
	bool unknown = !n;

	for (size_t i = 0; i < n && i < MOST_SHAPES; i++) {
		if (!rec->event)
			rec->layout = file->events[i].sample;
		if (pd_sample_whole(rec))
			return PD_SOUND;
		unknown = unknown || rec->layout->shape->unknown;
	}
	return unknown ? PD_KNOWN : PD_ODD;
}

/*
 * Returns whether the size is usual for the type: the kernel rounds the sizes of all its
 * records up to 8, and only few of them are large. perf's own records have any size.
 */
static bool size_is_usual(const struct pd_record *rec)
{
	return rec->type >= PD_RECORD_USER ||
	       (rec->size % 8 == 0 && (rec->size <= PD_LARGE || rec->type == PD_RECORD_SAMPLE));
}

/*
 * Judges a record whose type, misc, size and bytes are set. `known`: header_is_known() of it.
 */
static enum pd_trust judge_record(const struct pd_binder *binder, struct pd_record *rec,
				  bool known)
{
	bool sample = rec->type == PD_RECORD_SAMPLE;
	enum pd_trust parts = PD_SOUND;

	pd_bind(binder, rec);
	if (pd_binds_by_id(binder) && !rec->event && (!sample || binder->sample_id_at))
		return PD_ODD;
	if (sample)
		parts = judge_parts(binder, rec);
	if (parts == PD_ODD || !known)
		return parts == PD_ODD ? PD_ODD : PD_FITS;
	return size_is_usual(rec) ? parts : PD_KNOWN;
}

enum pd_trust pd_record_trust(const struct pd_binder *binder, const uint8_t *bytes,
			      uint32_t size)
{
	bool swap = binder->file->swap, known;
	struct pd_record rec = {
		.bytes = bytes,
		.type = pb_load32(bytes, swap),
		.misc = pb_load16(bytes + 4, swap),
		.size = size,
	};

	if (!pd_header_fits(bytes, swap))
		return PD_ODD;
	known = header_is_known(bytes, binder->file);
	if (!size)
		return known ? PD_KNOWN : PD_FITS;
	return judge_record(binder, &rec, known);
}

/* Adds a size to a set, unless it is 0 or there already. */
static void add_extent(struct pd_extents *extents, uint32_t size)
{
	for (unsigned i = 0; i < extents->n; i++)
		if (extents->sizes[i] == size)
			return;
	if (size && extents->n < sizeof(extents->sizes) / sizeof(extents->sizes[0]))
		extents->sizes[extents->n++] = size;
}

struct pd_extents pd_find_extents(const struct pd_binder *binder, const uint8_t *bytes,
				  uint32_t size)
{
	const struct pd_file *file = binder->file;
	struct pd_extents extents = { 0 };
	struct pd_record rec = {
		.bytes = bytes,
		.type = pb_load32(bytes, file->swap),
		.misc = pb_load16(bytes + 4, file->swap),
		.size = size,
		.chunk_offset = PD_NO_CHUNK,
	};

	pd_bind(binder, &rec);
	if (rec.event || rec.type != PD_RECORD_SAMPLE) {
		add_extent(&extents, pd_record_extent(&rec));
		return extents;
	}
	for (size_t i = 0; i < file->n_events && i < MOST_SHAPES; i++) {
		rec.layout = file->events[i].sample;
		add_extent(&extents, pd_record_extent(&rec));
	}
	return extents;
}

/* Returns an extent rounded up to 8, as the kernel and perf pad records. */
static uint32_t pad_extent(uint32_t extent)
{
	return (extent + 7) & ~7u;
}

static const uint8_t zeros[8];

uint32_t pd_skip_padding(const uint8_t *bytes, uint32_t at, uint32_t size)
{
	for (unsigned i = 0; i < MOST_PADDING && size - at > sizeof(zeros); i++) {
		if (memcmp(bytes + at, zeros, sizeof(zeros)) != 0)
			break;
		at += sizeof(zeros);
	}
	return at;
}

/* Returns whether one of these is a record's size, padding included. */
static bool extents_lead_to(const struct pd_extents *extents, const uint8_t *bytes,
			    uint32_t size)
{
	for (unsigned i = 0; i < extents->n; i++) {
		uint32_t extent = extents->sizes[i], padded = pad_extent(extent);

		if (extent == size || padded == size)
			return true;
		if (padded > size)
			continue;
		padded = pd_skip_padding(bytes, padded, size);
		if (size - padded == sizeof(zeros) &&
		    memcmp(bytes + padded, zeros, sizeof(zeros)) == 0)
			return true;
	}
	return false;
}

/* Sets *time to that of a record of `size` bytes (ns). Returns false if it has none. */
static bool find_time(const struct pd_timestamp_locator *locator, const uint8_t *bytes,
		      uint32_t size, uint64_t *time)
{
	struct pd_record rec = {
		.bytes = bytes,
		.type = pb_load32(bytes, locator->swap),
		.misc = pb_load16(bytes + 4, locator->swap),
		.size = size,
		.chunk_offset = PD_NO_CHUNK,
	};

	return pd_timestamp_of(locator, &rec, time);
}

/* Returns whether the records from offset `at` up to the end of a sample are older than it. */
static bool are_older(const struct pd_binder *binder, const uint8_t *bytes, uint32_t at,
		      uint32_t size)
{
	/* without offsets it asks the layout of each record, which is enough for a few */
	struct pd_timestamp_locator locator = {
		.binder = *binder,
		.swap = binder->file->swap,
		.time_id = pd_field_name_id(&binder->file->field_names, "time", strlen("time")),
	};
	uint64_t time, own;
	uint32_t n;

	if (pb_load32(bytes, locator.swap) != PD_RECORD_SAMPLE ||
	    !find_time(&locator, bytes, size, &own))
		return false;
	for (; at < size; at += n) {
		n = pb_load16(bytes + at + 6, locator.swap);
		if (!find_time(&locator, bytes + at, n, &time) || time >= own)
			return false;
	}
	return true;
}

/*
 * Looks for records that follow one another from offset `at` on, at least one. Returns
 * PD_SWALLOWING if the last one ends at `size`, or crosses it, is whole and is followed by
 * another, as far as the `have` bytes show; then PD_CROSSED if all of them are older than the
 * sample that they lie in; PD_OVERLONG if there are none.
 */
static enum pd_ending find_swallowed(const struct pd_binder *binder, const uint8_t *bytes,
				     uint32_t at, uint32_t size, size_t have)
{
	bool swap = binder->file->swap;
	struct pd_extents extents;
	uint32_t first = at, n = 0;

	while (at < size) {
		if (have - at < 8 || !pd_record_desc(pb_load32(bytes + at, swap)))
			return PD_OVERLONG;
		n = pb_load16(bytes + at + 6, swap);
		if (n < 8 || n > have - at || pd_record_trust(binder, bytes + at, n) < PD_KNOWN)
			return PD_OVERLONG;
		at += n;
	}
	if (at == size)
		return n ? PD_SWALLOWING : PD_OVERLONG;
	extents = pd_find_extents(binder, bytes + at - n, n);
	if (!extents_lead_to(&extents, bytes + at - n, n) ||
	    (have - at >= 8 && pd_record_trust(binder, bytes + at, 0) < PD_KNOWN))
		return PD_OVERLONG;
	return are_older(binder, bytes, first, size) ? PD_CROSSED : PD_SWALLOWING;
}

enum pd_ending pd_record_ending(const struct pd_binder *binder, const uint8_t *bytes,
				uint32_t size, size_t have)
{
	struct pd_extents extents = pd_find_extents(binder, bytes, size);
	enum pd_ending ending = extents.n ? PD_CUT_SHORT : PD_UNTOLD, found;

	if (extents_lead_to(&extents, bytes, size))
		return PD_WHOLE;
	for (unsigned i = 0; i < 2 * extents.n; i++) {
		uint32_t extent = extents.sizes[i / 2];

		/* padded, as nearly all are, or not */
		extent = i % 2 == 0 ? pad_extent(extent) : extent;
		if (extent >= size)
			continue;
		extent = pd_skip_padding(bytes, extent, size);
		found = find_swallowed(binder, bytes, extent, size, have);
		if (found == PD_SWALLOWING)
			return found;
		if (ending != PD_CROSSED)
			ending = found;
	}
	return ending;
}

bool pd_prove(struct pd_proven *proven, const struct pd_binder *binder, const uint8_t *bytes,
	      uint32_t size, size_t have)
{
	uint32_t type = pb_load32(bytes, binder->file->swap);
	const struct pd_record_desc *desc = pd_record_desc(type);

	if (pd_record_ending(binder, bytes, size, have) <= PD_CUT_SHORT)
		return false;
	if (!desc || type == PD_RECORD_SAMPLE || desc->extent.varies <= PD_VARIES_NOT)
		*pd_proven_at(proven, type, size) |= UINT32_C(1) << (size / 8 - 1) % 32;
	return true;
}

uint32_t pd_disguised_type(const struct pd_binder *binder, const uint8_t *bytes, uint32_t size)
{
	uint32_t type = pb_load32(bytes, binder->file->swap);
	uint32_t low = pd_low_type(binder->file, type);
	struct pd_record rec = { .bytes = bytes, .type = low, .size = size };

	if (type == low || (low != PD_RECORD_SAMPLE && !pd_is_compressed(low)))
		return 0;
	return judge_record(binder, &rec, true) == PD_SOUND ? low : 0;
}
