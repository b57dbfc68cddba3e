/*
 * The attrs of a recording, changed to tell of the records as they are written. See struct
 * perf_event_attr, include/uapi/linux/perf_event.h, for the offsets.
 */
#include "perfdata/format/format.h"
#include "sections.h"

#define SAMPLE_TYPE 24
#define FLAGS	    40
#define REGS_USER   80 /* sample_regs_user, then sample_stack_user */

#define EXCLUDE_CALLCHAIN_USER 22 /* numbers of flags */
#define DEFER_CALLCHAIN	       38
#define DEFER_OUTPUT	       39

bool pw_unwinds(const struct pw_how *how, uint64_t sample_type)
{
	const uint64_t both = PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER;

	return how->unwinds && (sample_type & both) == both;
}

static void store64(uint8_t *p, uint64_t value, bool swap)
{
	value = swap ? __builtin_bswap64(value) : value;
	memcpy(p, &value, sizeof(value));
}

/* Clears a flag. Big-endian compilers number bit fields from the other end. */
static void clear_flag(const struct pd_file *like, uint8_t *attr, unsigned flag)
{
	uint64_t bit = UINT64_C(1) << (like->big ? 63 - flag : flag);

	store64(attr + FLAGS, pb_load64(attr + FLAGS, like->swap) & ~bit, like->swap);
}

void pw_change_attr(const struct pw_writer *w, uint8_t *attr, size_t n)
{
	bool swap = w->like->swap;
	uint64_t type;

	if (n < PD_ATTR_MIN)
		return;
	type = pb_load64(attr + SAMPLE_TYPE, swap);
	if (w->how.joins) {
		clear_flag(w->like, attr, DEFER_CALLCHAIN);
		clear_flag(w->like, attr, DEFER_OUTPUT);
	}
	if (!pw_unwinds(&w->how, type))
		return;
	clear_flag(w->like, attr, EXCLUDE_CALLCHAIN_USER);
	type |= PD_SAMPLE_CALLCHAIN;
	if (!w->how.keeps_stacks) {
		type &= ~(uint64_t)(PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER);
		if (n >= REGS_USER + 12)
			memset(attr + REGS_USER, 0, 12);
	}
	store64(attr + SAMPLE_TYPE, type, swap);
}

void pw_change_event_desc(const struct pw_writer *w, uint8_t *bytes, size_t n)
{
	struct pb_cursor c;
	uint32_t count, attr_size;

	pb_cursor_init(&c, bytes, n, w->like->swap);
	count = pb_take32(&c);
	attr_size = pb_take32(&c);
	for (uint32_t i = 0; i < count && !c.failed; i++) {
		const uint8_t *attr = pb_take(&c, attr_size);
		uint32_t n_ids = pb_take32(&c);

		if (attr)
			pw_change_attr(w, bytes + (attr - bytes), attr_size);
		pb_take(&c, pb_take32(&c)); /* the name */
		pb_take(&c, n_ids * UINT64_C(8));
	}
}
