#include "sample.h"

#define FAILED UINT32_MAX

/*
 * Returns the size of a part at `at` that begins with a u64 count n: `fixed` bytes, the count
 * included, and n × `each` bytes. Returns FAILED if it does not fit the record.
 */
static uint32_t measure_counted(const struct pd_record *rec, uint32_t at, uint32_t fixed,
				uint32_t each)
{
	uint64_t n, left;

	if (at > rec->size || rec->size - at < fixed || fixed < 8)
		return FAILED;
	n = pd_rec64(rec, at);
	left = rec->size - at - fixed;
	if (n > left / each)
		return FAILED;
	return fixed + (uint32_t)n * each;
}

uint32_t pd_read_entry_size(uint64_t format)
{
	return 8 * (1u + !!(format & PD_READ_ID) + !!(format & PD_READ_LOST));
}

uint32_t pd_read_header_size(uint64_t format)
{
	return 8 *
	       (uint32_t)(!!(format & PD_READ_GROUP) + !!(format & PD_READ_TOTAL_TIME_ENABLED) +
			  !!(format & PD_READ_TOTAL_TIME_RUNNING));
}

static uint32_t measure_read(const struct pd_record *rec, uint32_t at)
{
	uint64_t format = rec->layout->shape->read_format;

	if (!(format & PD_READ_GROUP))
		return pd_read_header_size(format) + pd_read_entry_size(format);
	return measure_counted(rec, at, pd_read_header_size(format),
			       pd_read_entry_size(format));
}

static uint32_t measure_callchain(const struct pd_record *rec, uint32_t at)
{
	return measure_counted(rec, at, 8, 8);
}

static uint32_t measure_raw(const struct pd_record *rec, uint32_t at)
{
	uint32_t n;

	if (at > rec->size || rec->size - at < 4)
		return FAILED;
	n = pd_rec32(rec, at);
	return n > rec->size - at - 4 ? FAILED : 4 + n;
}

static uint32_t measure_branch_stack(const struct pd_record *rec, uint32_t at)
{
	struct pd_branches b;

	return pd_branches_read(rec, at, &b) ? b.end - at : FAILED;
}

static uint32_t measure_regs(const struct pd_record *rec, uint32_t at, uint64_t mask)
{
	if (at > rec->size || rec->size - at < 8)
		return FAILED;
	/* no registers follow PERF_SAMPLE_REGS_ABI_NONE */
	return pd_rec64(rec, at) ? 8 + 8 * (uint32_t)__builtin_popcountll(mask) : 8;
}

static uint32_t measure_regs_user(const struct pd_record *rec, uint32_t at)
{
	return measure_regs(rec, at, rec->layout->shape->regs_user);
}

static uint32_t measure_regs_intr(const struct pd_record *rec, uint32_t at)
{
	return measure_regs(rec, at, rec->layout->shape->regs_intr);
}

static uint32_t measure_stack(const struct pd_record *rec, uint32_t at)
{
	uint32_t size = measure_counted(rec, at, 8, 1);

	/* the dynamic size follows only if the copy of the stack is not empty */
	return size == FAILED || size == 8 ? size : size + 8;
}

static uint32_t measure_aux(const struct pd_record *rec, uint32_t at)
{
	return measure_counted(rec, at, 8, 1);
}

/* By enum pd_part, which has the order on disk: see perf_output_sample. */
static const struct {
	uint64_t bits; /* any of these bits in sample_type: samples have the part */
	uint32_t fixed;
	uint32_t (*size)(const struct pd_record *rec, uint32_t at);
} parts[PD_PARTS] = {
	[PD_PART_IDENTIFIER] = { PD_SAMPLE_IDENTIFIER, 8, NULL },
	[PD_PART_IP] = { PD_SAMPLE_IP, 8, NULL },
	[PD_PART_TID] = { PD_SAMPLE_TID, 8, NULL },
	[PD_PART_TIME] = { PD_SAMPLE_TIME, 8, NULL },
	[PD_PART_ADDR] = { PD_SAMPLE_ADDR, 8, NULL },
	[PD_PART_ID] = { PD_SAMPLE_ID, 8, NULL },
	[PD_PART_STREAM_ID] = { PD_SAMPLE_STREAM_ID, 8, NULL },
	[PD_PART_CPU] = { PD_SAMPLE_CPU, 8, NULL },
	[PD_PART_PERIOD] = { PD_SAMPLE_PERIOD, 8, NULL },
	[PD_PART_READ] = { PD_SAMPLE_READ, 0, measure_read },
	[PD_PART_CALLCHAIN] = { PD_SAMPLE_CALLCHAIN, 0, measure_callchain },
	[PD_PART_RAW] = { PD_SAMPLE_RAW, 0, measure_raw },
	[PD_PART_BRANCH_STACK] = { PD_SAMPLE_BRANCH_STACK, 0, measure_branch_stack },
	[PD_PART_REGS_USER] = { PD_SAMPLE_REGS_USER, 0, measure_regs_user },
	[PD_PART_STACK_USER] = { PD_SAMPLE_STACK_USER, 0, measure_stack },
	[PD_PART_WEIGHT] = { PD_SAMPLE_WEIGHT | PD_SAMPLE_WEIGHT_STRUCT, 8, NULL },
	[PD_PART_DATA_SRC] = { PD_SAMPLE_DATA_SRC, 8, NULL },
	[PD_PART_TRANSACTION] = { PD_SAMPLE_TRANSACTION, 8, NULL },
	[PD_PART_REGS_INTR] = { PD_SAMPLE_REGS_INTR, 0, measure_regs_intr },
	[PD_PART_PHYS_ADDR] = { PD_SAMPLE_PHYS_ADDR, 8, NULL },
	[PD_PART_CGROUP] = { PD_SAMPLE_CGROUP, 8, NULL },
	[PD_PART_DATA_PAGE_SIZE] = { PD_SAMPLE_DATA_PAGE_SIZE, 8, NULL },
	[PD_PART_CODE_PAGE_SIZE] = { PD_SAMPLE_CODE_PAGE_SIZE, 8, NULL },
	[PD_PART_AUX] = { PD_SAMPLE_AUX, 0, measure_aux },
};

bool pd_part_present(const struct pd_shape *shape, enum pd_part part)
{
	return (shape->sample_type & parts[part].bits) != 0;
}

uint32_t pd_part_fixed(const struct pd_shape *shape, enum pd_part part)
{
	if (part == PD_PART_READ && !(shape->read_format & PD_READ_GROUP))
		return pd_read_header_size(shape->read_format) +
		       pd_read_entry_size(shape->read_format);
	return parts[part].fixed;
}

/*
 * Walks from `part`, which starts at *at, to `target` (PD_PARTS: to the end), and sets *at to
 * its offset. Returns false if the record ends before.
 */
static bool walk_parts(const struct pd_record *rec, enum pd_part part, enum pd_part target,
		       uint32_t *at)
{
	for (; part < target; part++) {
		uint32_t size = 0;

		if (!pd_part_present(rec->layout->shape, part))
			continue;
		size = parts[part].size ? parts[part].size(rec, *at) : parts[part].fixed;
		if (size > rec->size - *at)
			return false;
		*at += size;
	}
	return true;
}

bool pd_part_find(const struct pd_record *rec, enum pd_part part, uint32_t *at, uint32_t *size)
{
	const struct pd_layout *layout = rec->layout;
	uint32_t start, n;

	if (rec->type != PD_RECORD_SAMPLE || !pd_part_present(layout->shape, part))
		return false;
	start = layout->parts[part];
	if (!start) {
		start = layout->parts[layout->first_var];
		if (start > rec->size || !walk_parts(rec, layout->first_var, part, &start))
			return false;
	}
	if (start > rec->size)
		return false;
	n = parts[part].size ? parts[part].size(rec, start) : parts[part].fixed;
	if (n > rec->size - start)
		return false;
	*at = start;
	*size = n;
	return true;
}

/*
 * Returns whether the parts after the branch stack, which start at `at`, end exactly where the
 * record ends.
 */
static bool fills_record(const struct pd_record *rec, uint32_t at)
{
	return walk_parts(rec, PD_PART_BRANCH_STACK + 1, PD_PARTS, &at) && at == rec->size;
}

bool pd_branches_read(const struct pd_record *rec, uint32_t at, struct pd_branches *out)
{
	const struct pd_shape *shape = rec->layout->shape;
	uint32_t each = shape->counters ? 32 : 24, left;
	uint64_t n;

	if (at > rec->size || rec->size - at < 8)
		return false;
	n = pd_rec64(rec, at);
	at += 8;
	out->has_hw_idx = (shape->branch_sample_type & PD_BRANCH_HW_INDEX) != 0;
	/*
	 * A kernel without branch data writes a count of zero and no hw_idx, even if the event
	 * asks for one; an empty stack has a hw_idx. Only the end of the record tells them
	 * apart. See perf_output_sample, kernel/events/core.c.
	 */
	if (n == 0 && out->has_hw_idx && !(rec->size - at >= 8 && fills_record(rec, at + 8)) &&
	    fills_record(rec, at))
		out->has_hw_idx = false;
	if (out->has_hw_idx) {
		if (rec->size - at < 8)
			return false;
		out->hw_idx = pd_rec64(rec, at);
		at += 8;
	}
	left = rec->size - at;
	if (n > left / each)
		return false;
	out->count = (uint32_t)n;
	out->entries = at;
	out->counters = shape->counters ? at + 24 * out->count : 0;
	out->end = at + each * out->count;
	return true;
}

uint32_t pd_sample_extent(const struct pd_record *rec)
{
	const struct pd_layout *layout = rec->layout;
	uint32_t at = layout->parts[layout->first_var];

	if (!at) /* the sample has no parts */
		return 8;
	return at <= rec->size && walk_parts(rec, layout->first_var, layout->last + 1u, &at) ?
		       at :
		       0;
}

bool pd_sample_whole(const struct pd_record *rec)
{
	return pd_sample_extent(rec) == rec->size;
}
