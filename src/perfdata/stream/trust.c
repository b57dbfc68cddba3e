#include "trust.h"

#include "reader.h"
#include "perfdata/format/sample.h"

#define LAST_USER   127	   /* perf's own types; today's last is 86 */
#define NO_FLAGS    0x0ff8 /* bits of misc that no kernel sets today */
#define MOST_SHAPES 64	   /* of events without ids that a sample is compared with */

bool pd_is_simpleperf(const struct pd_file *file, uint32_t type)
{
	return file->simpleperf && type - PD_RECORD_SIMPLEPERF < PD_SIMPLEPERF_TYPES;
}

bool pd_header_known(const uint8_t *p, const struct pd_file *file)
{
	bool swap = file->swap;
	uint32_t type = pd_load32(p, swap);
	uint16_t misc = pd_load16(p + 4, swap);

	if (!pd_header_fits(p, swap) || (type > LAST_USER && !pd_is_simpleperf(file, type)))
		return false;
	return type >= PD_RECORD_USER ||
	       (!(misc & NO_FLAGS) && (misc & PD_MISC_CPUMODE) <= PD_CPUMODE_GUEST_USER);
}

/* Judges a sample by its parts; which event it is of may not be known. */
static enum pd_evidence judge_parts(const struct pd_binder *binder, struct pd_record *rec)
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
	return unknown ? PD_UNPROVED : PD_ODD;
}

/* Judges a record whose type, misc, size and bytes are set. */
static enum pd_evidence judge(const struct pd_binder *binder, struct pd_record *rec, bool known)
{
	bool sample = rec->type == PD_RECORD_SAMPLE;
	enum pd_evidence parts = PD_SOUND;

	/*
	 * the kernel rounds up the sizes of all its records, perf of most; few of the kernel's
	 * are large
	 */
	if (rec->type < PD_RECORD_USER && (rec->size % 8 || (rec->size > PD_LARGE && !sample)))
		known = false;
	pd_bind(binder, rec);
	if (pd_binds_by_id(binder) && !rec->event && (!sample || binder->sample_id_at))
		return PD_ODD;
	if (sample)
		parts = judge_parts(binder, rec);
	return parts == PD_SOUND && !known ? PD_UNPROVED : parts;
}

enum pd_evidence pd_record_evidence(const struct pd_binder *binder, const uint8_t *bytes,
				    uint32_t size)
{
	bool swap = binder->file->swap;
	struct pd_record rec = {
		.bytes = bytes,
		.type = pd_load32(bytes, swap),
		.misc = pd_load16(bytes + 4, swap),
		.size = size,
	};

	return pd_header_fits(bytes, swap) ?
		       judge(binder, &rec, pd_header_known(bytes, binder->file)) :
		       PD_ODD;
}

uint32_t pd_disguised_type(const struct pd_binder *binder, const uint8_t *bytes, uint32_t size)
{
	uint32_t type = pd_load32(bytes, binder->file->swap);
	uint32_t low = pd_low_type(binder->file, type);
	struct pd_record rec = { .bytes = bytes, .type = low, .size = size };

	if (type == low || (low != PD_RECORD_SAMPLE && !pd_is_compressed(low)))
		return 0;
	return judge(binder, &rec, true) == PD_SOUND ? low : 0;
}
