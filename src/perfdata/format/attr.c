/* See struct perf_event_attr, include/uapi/linux/perf_event.h. */
#include "attr.h"

#include <string.h>

#include "coder.h"

/*
 * Conditions for scripts to see a member: several members share an offset, and which one is
 * meant depends on the event.
 */
enum presence {
	ALWAYS,
	IF_PERIOD,
	IF_FREQ,
	IF_WAKEUP_EVENTS,
	IF_WATERMARK,
	IF_BREAKPOINT,
};

/*
 * Every member of an attr in the order of the struct, for the two tables below.
 * FIELD(name, type, offset in the file, member of struct pd_attr, presence, doc)
 * BITS(name, member of struct pd_attr, bit, width, doc)
 */
#define ATTR_MEMBERS(FIELD, BITS)                                                              \
	FIELD(type, PD_UINT, 0, type, ALWAYS,                                                  \
	      "PMU type: 0 hardware, 1 software, 2 tracepoint …")                              \
	FIELD(size, PD_UINT, 4, size, ALWAYS, "bytes of the attr as the recorder knew it")     \
	FIELD(config, PD_ADDR, 8, config, ALWAYS, "number by which the PMU knows the event")   \
	FIELD(sample_period, PD_UINT, 16, sample_period, IF_PERIOD,                            \
	      "events from one sample to the next; nil if a frequency was asked for")          \
	FIELD(sample_freq, PD_UINT, 16, sample_period, IF_FREQ,                                \
	      "samples per second that were asked for; nil if a period was asked for")         \
	FIELD(sample_type, PD_ADDR, 24, sample_type, ALWAYS, "PERF_SAMPLE_* bits")             \
	FIELD(read_format, PD_ADDR, 32, read_format, ALWAYS, "PERF_FORMAT_* bits")             \
	BITS(disabled, flags, 0, 1, "off until it is enabled")                                 \
	BITS(inherit, flags, 1, 1, "children inherit it")                                      \
	BITS(pinned, flags, 2, 1, "must always be on the PMU")                                 \
	BITS(exclusive, flags, 3, 1, "the only group on the PMU")                              \
	BITS(exclude_user, flags, 4, 1, "does not count in user mode")                         \
	BITS(exclude_kernel, flags, 5, 1, "does not count in the kernel")                      \
	BITS(exclude_hv, flags, 6, 1, "does not count in the hypervisor")                      \
	BITS(exclude_idle, flags, 7, 1, "does not count when idle")                            \
	BITS(mmap, flags, 8, 1, "records MMAP of code")                                        \
	BITS(comm, flags, 9, 1, "records COMM")                                                \
	BITS(freq, flags, 10, 1, "samples by frequency, not by period")                        \
	BITS(inherit_stat, flags, 11, 1, "per-task counts")                                    \
	BITS(enable_on_exec, flags, 12, 1, "the next exec enables it")                         \
	BITS(task, flags, 13, 1, "records FORK and EXIT")                                      \
	BITS(watermark, flags, 14, 1, "wakes up by bytes, not by samples")                     \
	BITS(precise_ip, flags, 15, 2,                                                         \
	     "skid: 0 arbitrary, 1 constant, 2 asked to be 0, 3 is 0")                         \
	BITS(mmap_data, flags, 17, 1, "records MMAP of data")                                  \
	BITS(sample_id_all, flags, 18, 1, "records that are not samples end with a sample_id") \
	BITS(exclude_host, flags, 19, 1, "does not count on the host")                         \
	BITS(exclude_guest, flags, 20, 1, "does not count in guests")                          \
	BITS(exclude_callchain_kernel, flags, 21, 1,                                           \
	     "call chains leave the kernel's part out")                                        \
	BITS(exclude_callchain_user, flags, 22, 1, "call chains leave the user's part out")    \
	BITS(mmap2, flags, 23, 1, "records MMAP2 instead of MMAP")                             \
	BITS(comm_exec, flags, 24, 1, "COMM records say if exec() named the thread")           \
	BITS(use_clockid, flags, 25, 1, "times are those of the clock `clockid`")              \
	BITS(context_switch, flags, 26, 1, "records SWITCH")                                   \
	BITS(write_backward, flags, 27, 1, "the ring buffer is written from its end")          \
	BITS(namespaces, flags, 28, 1, "records NAMESPACES")                                   \
	BITS(ksymbol, flags, 29, 1, "records KSYMBOL")                                         \
	BITS(bpf_event, flags, 30, 1, "records BPF_EVENT")                                     \
	BITS(aux_output, flags, 31, 1, "its samples go to the AUX area")                       \
	BITS(cgroup, flags, 32, 1, "records CGROUP")                                           \
	BITS(text_poke, flags, 33, 1, "records TEXT_POKE")                                     \
	BITS(build_id, flags, 34, 1, "MMAP2 records carry build-ids")                          \
	BITS(inherit_thread, flags, 35, 1, "only threads inherit it, not processes")           \
	BITS(remove_on_exec, flags, 36, 1, "an exec removes it")                               \
	BITS(sigtrap, flags, 37, 1, "sends SIGTRAP to the task")                               \
	BITS(defer_callchain, flags, 38, 1,                                                    \
	     "user call chains may come in records of their own")                              \
	BITS(defer_output, flags, 39, 1, "records CALLCHAIN_DEFERRED")                         \
	FIELD(wakeup_events, PD_UINT, 48, wakeup_events, IF_WAKEUP_EVENTS,                     \
	      "samples from one wake-up to the next; nil if watermark is set")                 \
	FIELD(wakeup_watermark, PD_UINT, 48, wakeup_events, IF_WATERMARK,                      \
	      "bytes from one wake-up to the next; nil unless watermark is set")               \
	FIELD(bp_type, PD_UINT, 52, bp_type, IF_BREAKPOINT,                                    \
	      "accesses that a breakpoint stops at, added up: 1 read, 2 write, 4 execute")     \
	FIELD(bp_addr, PD_ADDR, 56, config1, IF_BREAKPOINT, "address of a breakpoint")         \
	FIELD(bp_len, PD_UINT, 64, config2, IF_BREAKPOINT, "length of a breakpoint in bytes")  \
	FIELD(config1, PD_ADDR, 56, config1, ALWAYS, "more of config, as the PMU defines it")  \
	FIELD(config2, PD_ADDR, 64, config2, ALWAYS, "more of config, as the PMU defines it")  \
	FIELD(branch_sample_type, PD_ADDR, 72, branch_sample_type, ALWAYS,                     \
	      "PERF_SAMPLE_BRANCH_* bits")                                                     \
	FIELD(sample_regs_user, PD_ADDR, 80, sample_regs_user, ALWAYS,                         \
	      "user registers in each sample, by the architecture's numbers")                  \
	FIELD(sample_stack_user, PD_UINT, 88, sample_stack_user, ALWAYS,                       \
	      "bytes of user stack in each sample")                                            \
	FIELD(clockid, PD_INT, 92, clockid, ALWAYS,                                            \
	      "clock of the times, if use_clockid is set")                                     \
	FIELD(sample_regs_intr, PD_ADDR, 96, sample_regs_intr, ALWAYS,                         \
	      "interrupted registers in each sample, by the architecture's numbers")           \
	FIELD(aux_watermark, PD_UINT, 104, aux_watermark, ALWAYS,                              \
	      "bytes of AUX data from one wake-up to the next")                                \
	FIELD(sample_max_stack, PD_UINT, 108, sample_max_stack, ALWAYS,                        \
	      "most frames that a call chain has")                                             \
	FIELD(aux_sample_size, PD_UINT, 112, aux_sample_size, ALWAYS,                          \
	      "bytes of AUX data in each sample")                                              \
	FIELD(aux_action, PD_ADDR, 116, aux_action, ALWAYS, "its effect on the AUX area")      \
	BITS(aux_start_paused, aux_action, 0, 1, "the AUX area starts paused")                 \
	BITS(aux_pause, aux_action, 1, 1, "an overflow pauses the AUX area")                   \
	BITS(aux_resume, aux_action, 2, 1, "an overflow resumes the AUX area")                 \
	FIELD(sig_data, PD_ADDR, 120, sig_data, ALWAYS,                                        \
	      "value that SIGTRAP gives to the task")                                          \
	FIELD(config3, PD_ADDR, 128, config3, ALWAYS, "more of config, as the PMU defines it") \
	FIELD(config4, PD_ADDR, 136, config4, ALWAYS, "more of config, as the PMU defines it")

#define FLAGS_AT 40 /* offset of the flags in the file; their rows describe bits of a member */

struct attr_row {
	uint8_t type, at, width,
		presence;  /* the member: type, offset and width in bytes, presence */
	uint8_t bit, bits; /* if bits > 0 the row is this part of the member */
	uint8_t member;	   /* offset in struct pd_attr */
};

#define MEMBER_SIZE(member) sizeof(((struct pd_attr *)0)->member)
#define FIELD_ROW(n, t, o, m, p, d) \
	{ t, o, MEMBER_SIZE(m), p, 0, 0, offsetof(struct pd_attr, m) },
#define BITS_ROW(n, m, b, w, d)                                         \
	{ (w) > 1 ? PD_UINT : PD_BOOL, 0, MEMBER_SIZE(m), ALWAYS, b, w, \
	  offsetof(struct pd_attr, m) },

static const struct attr_row rows[] = { ATTR_MEMBERS(FIELD_ROW, BITS_ROW) };

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

#define FIELD_MEMBER(n, t, o, m, p, d) { .name = #n, .type = t, .doc = d },
#define BITS_MEMBER(n, m, b, w, d) \
	{ .name = #n, .type = (w) > 1 ? PD_UINT : PD_BOOL, .doc = d },

const struct pd_member pd_attr_members[] = { ATTR_MEMBERS(FIELD_MEMBER,
							  BITS_MEMBER){ .name = NULL } };

static uint64_t load_member(const uint8_t *p, unsigned width, bool swap)
{
	switch (width) {
	case 2:
		return pb_load16(p, swap);
	case 4:
		return pb_load32(p, swap);
	default:
		return pb_load64(p, swap);
	}
}

static uint64_t get_attr_value(const struct pd_attr *attr, const struct attr_row *row)
{
	return load_member((const uint8_t *)attr + row->member, row->width, false);
}

static void set_attr_value(struct pd_attr *attr, unsigned member, unsigned width, uint64_t v)
{
	uint8_t *at = (uint8_t *)attr + member;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	memcpy(at, width == 2 ? (void *)&v16 : width == 4 ? (void *)&v32 : (void *)&v, width);
}

static uint64_t reverse_bits(uint64_t v, unsigned n)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < n; i++)
		r |= (v >> i & 1) << (n - 1 - i);
	return r;
}

/*
 * Turns the bit-fields of a big-endian recorder around. Its compiler allocates them from the
 * most significant bit: reversing the bits puts each field at its little-endian number, and
 * reversing those of a wider field again restores its value.
 */
static void normalise_bits(struct pd_attr *attr, unsigned member, unsigned width)
{
	uint64_t v = load_member((const uint8_t *)attr + member, width, false);
	uint64_t mask;

	v = reverse_bits(v, 8 * width);
	for (const struct attr_row *row = rows; row < rows + N_ROWS; row++) {
		if (row->bits < 2 || row->member != member)
			continue;
		mask = ((UINT64_C(1) << row->bits) - 1) << row->bit;
		v = (v & ~mask) | reverse_bits((v & mask) >> row->bit, row->bits) << row->bit;
	}
	set_attr_value(attr, member, width, v);
}

bool pd_attr_parse(struct pd_attr *attr, const uint8_t *bytes, size_t size, bool swap, bool big)
{
	struct pd_attr parsed = { 0 };
	uint32_t own;

	if (size < PD_ATTR_MIN)
		return false;
	own = pb_load32(bytes + 4, swap);
	/* every version of the attr has the first 64 bytes, whatever its size says */
	if (size > own)
		size = own < PD_ATTR_MIN ? PD_ATTR_MIN : own;
	for (const struct attr_row *row = rows; row < rows + N_ROWS; row++)
		if (!row->bits && row->at + (size_t)row->width <= size)
			set_attr_value(&parsed, row->member, row->width,
				       load_member(bytes + row->at, row->width, swap));
	parsed.flags = pb_load64(bytes + FLAGS_AT, swap);
	if (!own)
		parsed.size = PD_ATTR_MIN;
	if (big) {
		normalise_bits(&parsed, offsetof(struct pd_attr, flags), sizeof(parsed.flags));
		normalise_bits(&parsed, offsetof(struct pd_attr, aux_action),
			       sizeof(parsed.aux_action));
	}
	*attr = parsed;
	return true;
}

static bool is_member_present(const struct pd_attr *attr, enum presence presence)
{
	switch (presence) {
	case IF_PERIOD:
		return !(attr->flags & PD_ATTR_FREQ);
	case IF_FREQ:
		return attr->flags & PD_ATTR_FREQ;
	case IF_WAKEUP_EVENTS:
		return !(attr->flags & PD_ATTR_WATERMARK);
	case IF_WATERMARK:
		return attr->flags & PD_ATTR_WATERMARK;
	case IF_BREAKPOINT:
		return attr->type == PD_TYPE_BREAKPOINT;
	default:
		return true;
	}
}

void pd_attr_member(const struct pd_attr *attr, unsigned m, struct pd_value *out)
{
	const struct attr_row *row;
	uint64_t v;

	out->type = PD_NIL;
	if (m >= N_ROWS)
		return;
	row = &rows[m];
	if (!is_member_present(attr, row->presence))
		return;
	v = get_attr_value(attr, row);
	if (row->bits)
		v = v >> row->bit & ((UINT64_C(1) << row->bits) - 1);
	out->type = row->type;
	if (row->type == PD_INT)
		out->i = (int32_t)v; /* clockid is the only signed member */
	else
		out->u = v;
}

/* The inverse of normalise_bits(). */
static void denormalise_bits(struct pd_attr *attr, unsigned member, unsigned width)
{
	uint64_t v = load_member((const uint8_t *)attr + member, width, false);
	uint64_t mask;

	for (const struct attr_row *row = rows; row < rows + N_ROWS; row++) {
		if (row->bits < 2 || row->member != member)
			continue;
		mask = ((UINT64_C(1) << row->bits) - 1) << row->bit;
		v = (v & ~mask) | reverse_bits((v & mask) >> row->bit, row->bits) << row->bit;
	}
	set_attr_value(attr, member, width, reverse_bits(v, 8 * width));
}

static uint64_t get_row_mask(const struct attr_row *row)
{
	return ((UINT64_C(1) << row->bits) - 1) << row->bit;
}

/* Describes a member that is not zero. */
static void describe_member(struct pd_coder *c, const struct pd_attr *attr, unsigned m)
{
	const struct attr_row *row = &rows[m];
	uint64_t value = get_attr_value(attr, row);

	if (row->bits)
		value = (value & get_row_mask(row)) >> row->bit;
	/* the bits of aux_action, bp_len and bp_addr are described with the whole member */
	if (!value || !is_member_present(attr, (enum presence)row->presence) ||
	    (row->presence == IF_BREAKPOINT &&
	     row->member != offsetof(struct pd_attr, bp_type)) ||
	    (row->bits && row->member != offsetof(struct pd_attr, flags)))
		return;
	if (row->type == PD_BOOL)
		pd_code_bool(c, pd_attr_members[m].name, true);
	else
		pd_code_value(c, pd_attr_members[m].name, value, row->width,
			      row->type == PD_ADDR ? PD_AS_HEX :
			      row->type == PD_INT  ? PD_AS_INT :
						     PD_AS_UINT);
}

/* Returns the bits of the flags that have no names. */
static uint64_t get_unnamed_flags(const struct pd_attr *attr)
{
	uint64_t left = attr->flags;

	for (const struct attr_row *row = rows; row < rows + N_ROWS; row++)
		if (row->bits && row->member == offsetof(struct pd_attr, flags))
			left &= ~get_row_mask(row);
	return left;
}

static void encode_member(struct pd_coder *c, struct pd_attr *attr, unsigned m)
{
	const struct attr_row *row = &rows[m];
	const char *name = pd_attr_members[m].name;
	uint64_t value = get_attr_value(attr, row), given;

	if (!pd_code_find(c, name))
		return;
	given = row->type == PD_BOOL ? pd_code_bool(c, name, false) :
				       pd_code_value(c, name, 0, row->width, PD_AS_UINT);
	if (row->bits && given >> row->bits)
		pd_code_fail(c, pd_code_find(c, name), name, "a smaller number");
	if (row->bits)
		given = (value & ~get_row_mask(row)) | given << row->bit;
	set_attr_value(attr, row->member, row->width, given);
}

/* Encodes an attr of `size` bytes. */
static void encode_attr(struct pd_coder *c, uint32_t size)
{
	uint32_t start = c->at;
	struct pd_attr attr = { .size = size };

	attr.flags = pd_code_value(c, "flags", 0, 8, PD_AS_HEX);
	for (unsigned m = 0; m < N_ROWS; m++)
		encode_member(c, &attr, m);
	if (c->shape->big) {
		denormalise_bits(&attr, offsetof(struct pd_attr, flags), sizeof(attr.flags));
		denormalise_bits(&attr, offsetof(struct pd_attr, aux_action),
				 sizeof(attr.aux_action));
	}
	for (const struct attr_row *row = rows; row < rows + N_ROWS; row++) {
		c->at = start + row->at;
		if (!row->bits && row->at + (uint32_t)row->width <= size)
			pd_code_store(c, row->width, get_attr_value(&attr, row));
	}
	c->at = start + FLAGS_AT;
	pd_code_store(c, 8, attr.flags);
	c->at = start;
	pd_code_zeros(c, size);
}

static void describe_attr(struct pd_coder *c, uint32_t size)
{
	struct pd_attr attr;

	if (!pd_attr_parse(&attr, c->bytes + c->at, size, c->swap, c->shape->big)) {
		c->failed = true;
		return;
	}
	for (unsigned m = 0; m < N_ROWS; m++)
		describe_member(c, &attr, m);
	if (get_unnamed_flags(&attr))
		pd_code_value(c, "flags", get_unnamed_flags(&attr), 8, PD_AS_HEX);
	c->at += size;
	c->most = c->at;
}

void pd_code_attr(struct pd_coder *c, const char *key, uint32_t size)
{
	uint32_t own = c->encodes ? 0 : (uint32_t)pd_code_peek(c, c->at + 4, 4);

	pd_code_begin(c, key);
	if (c->encodes && !c->failed) {
		const struct pd_node *node = pd_code_find(c, "size");

		own = node && node->kind == PD_N_INT ? (uint32_t)node->u : PD_ATTR_SIZE;
		if (pd_code_find(c, "bytes"))
			own = pd_code_size(c, "bytes", UINT16_MAX);
	}
	if (!size)
		size = own ? own : PD_ATTR_MIN;
	if (size < PD_ATTR_MIN || size > UINT16_MAX ||
	    (!c->encodes && c->at + (uint64_t)size > c->end))
		pd_code_fail(c, NULL, "size", "a size from 64 to 65535 bytes");
	if (c->failed) {
		pd_code_end(c);
		return;
	}
	if (c->encodes && pd_code_find(c, "bytes"))
		pd_code_bytes(c, "bytes", size);
	else if (c->encodes)
		encode_attr(c, size);
	else
		describe_attr(c, size);
	pd_code_end(c);
}

bool pd_attr_is_clock(const struct pd_attr *attr)
{
	/* PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK */
	return attr->type == PD_TYPE_SOFTWARE && attr->config <= 1;
}

bool pd_attr_samples_time(const struct pd_attr *attr)
{
	/* the upper half is the number of a PMU where processors are of several kinds */
	uint32_t config = (uint32_t)attr->config;

	/* PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_REF_CPU_CYCLES */
	return pd_attr_is_clock(attr) ||
	       (attr->type == PD_TYPE_HARDWARE && (config == 0 || config == 9));
}
