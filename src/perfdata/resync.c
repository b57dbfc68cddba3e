#include "resync.h"

#include "sample.h"

#define HEADER	  8
#define IN_A_ROW  3
#define LAST_USER 127	 /* perf's own types; today's last is 86 */
#define NO_FLAGS  0x0ff8 /* bits of misc that the kernel never sets */

static bool known_type(uint32_t type)
{
	return type - 1 < LAST_USER || type - PD_RECORD_SIMPLEPERF < 64;
}

/* perf rounds up the sizes of most of its own records, the kernel of all. */
static bool may_be_unaligned(uint32_t type)
{
	return type >= PD_RECORD_USER;
}

#define WITH_PATH 4400 /* a path has at most 4096 bytes, what is around it some more */

/* The kernel's records that may have more than PD_LARGE bytes, and how many. */
static const struct {
	uint32_t type, most;
} large_types[] = {
	{ PD_RECORD_MMAP, WITH_PATH },
	{ PD_RECORD_MMAP2, WITH_PATH },
	{ PD_RECORD_CGROUP, WITH_PATH },
	{ PD_RECORD_READ, UINT16_MAX },
	{ PD_RECORD_SAMPLE, UINT16_MAX },
	{ PD_RECORD_TEXT_POKE, UINT16_MAX },
	{ PD_RECORD_CALLCHAIN_DEFERRED, UINT16_MAX },
};

static bool may_be_as_large(uint32_t type, uint32_t size)
{
	if (size <= PD_LARGE || type >= PD_RECORD_USER)
		return true;
	for (size_t i = 0; i < sizeof(large_types) / sizeof(large_types[0]); i++)
		if (large_types[i].type == type)
			return size <= large_types[i].most;
	return false;
}

bool pd_header_known(const uint8_t *p, bool swap)
{
	uint32_t type = pd_load32(p, swap);
	uint16_t misc = pd_load16(p + 4, swap);

	if (!pd_header_fits(p, swap) || !known_type(type))
		return false;
	return type >= PD_RECORD_USER ||
	       (!(misc & NO_FLAGS) && (misc & PD_MISC_CPUMODE) <= PD_CPUMODE_GUEST_USER);
}

bool pd_record_plausible(const struct pd_binder *binder, const uint8_t *bytes, uint32_t size)
{
	bool swap = binder->file->swap;
	struct pd_record rec = {
		.bytes = bytes,
		.type = pd_load32(bytes, swap),
		.misc = pd_load16(bytes + 4, swap),
		.size = size,
	};

	if (!pd_header_known(bytes, swap) || !may_be_as_large(rec.type, size) ||
	    (size % 8 && !may_be_unaligned(rec.type)))
		return false;
	pd_bind(binder, &rec);
	if (pd_binds_by_id(binder) && !rec.event)
		return false;
	return rec.type != PD_RECORD_SAMPLE || !rec.event || pd_sample_whole(&rec);
}

/* Do records in a row begin at pos? `lone`: or one, the last of all. As pd_resync. */
static int believable(struct pd_blocks *b, const struct pd_binder *binder, bool lone,
		      struct pd_error *err)
{
	bool swap = binder->file->swap;
	size_t at = 0;

	for (int i = 0; i < IN_A_ROW; i++) {
		int got = pd_blocks_fill(b, at + HEADER, err);
		uint32_t size;

		if (got <= 0)
			return got;
		size = pd_load16(b->pos + at + 6, swap);
		if (!pd_header_fits(b->pos + at, swap))
			return 0;
		got = pd_blocks_fill(b, at + size, err);
		if (got <= 0)
			return got;
		if (!pd_record_plausible(binder, b->pos + at, size))
			return 0;
		at += size;
		/* the last records of all have no more behind them */
		if (at == pd_blocks_left(b))
			return i > 0 || lone;
	}
	return 1;
}

int pd_resync(struct pd_blocks *b, const struct pd_binder *binder, bool payload,
	      struct pd_error *err)
{
	/* a file's records lie at multiples of 8 from its first, those of a pipe anywhere */
	bool aligned = !binder->file->pipe && (b->offset - b->start) % 8 == 0;
	unsigned step = aligned ? 8 : 1;
	bool first = payload;
	int got = 0;

	do {
		pd_blocks_skip(b, first ? 0 : step);
		got = pd_blocks_fill(b, HEADER, err);
		if (got > 0 && pd_header_fits(b->pos, binder->file->swap))
			got = believable(b, binder, payload, err);
		else if (got > 0)
			got = 0;
		first = false;
	} while (got == 0 && pd_blocks_left(b) > HEADER);
	if (got == 0)
		pd_blocks_skip(b, pd_blocks_left(b));
	return got;
}
