/* See the layouts of struct perf_event_attr and union perf_event for the formats. */
#include "turn.h"

#include "perfdata/format/format.h"
#include "perfdata/format/sample.h"

#define HEADER 8

uint64_t pw_turn_number(struct pw_turn *t, unsigned bytes)
{
	uint8_t *p = t->bytes + t->at;
	uint64_t value;

	if (t->failed || t->n - t->at < bytes) {
		t->failed = true;
		return 0;
	}
	value = pb_load_bytes(p, bytes, t->swap);
	for (unsigned i = 0; i < bytes / 2; i++) {
		uint8_t low = p[i];

		p[i] = p[bytes - 1 - i];
		p[bytes - 1 - i] = low;
	}
	t->at += bytes;
	return value;
}

void pw_turn_skip(struct pw_turn *t, uint64_t n)
{
	if (t->failed || t->n - t->at < n)
		t->failed = true;
	else
		t->at += (size_t)n;
}

/* Returns the end of a group, after its bracket. `p` points after the first one. */
static const char *end_group(const char *p)
{
	for (unsigned depth = 1; depth; p++)
		depth = *p == '(' ? depth + 1 : *p == ')' || *p == ']' ? depth - 1 : depth;
	return p;
}

static const char *turn_parts(struct pw_turn *t, const char *format);

/* Turns a counted group, whose parts begin at `format`. Returns what follows it. */
static const char *turn_group(struct pw_turn *t, const char *format)
{
	const char *end = end_group(format);
	uint64_t n = pw_turn_number(t, end[-1] == ']' ? 8 : 4);

	for (uint64_t i = 0; i < n && !t->failed; i++)
		turn_parts(t, format);
	return end;
}

/* Turns the parts of a format, to its end or that of a group. Returns where it stopped. */
static const char *turn_parts(struct pw_turn *t, const char *format)
{
	while (*format && *format != ')' && *format != ']') {
		char part = *format++;

		if (part == '(')
			format = turn_group(t, format);
		else if (part == 't')
			pw_turn_skip(t, pw_turn_number(t, 4));
		else if (part == 'b' || part == 'c')
			pw_turn_skip(t, part == 'b' ? 8 : 16);
		else if (part == '+')
			while (t->n - t->at >= (size_t)(format[-2] - '0') && !t->failed)
				pw_turn_number(t, (unsigned)(format[-2] - '0'));
		else
			pw_turn_number(t, (unsigned)(part - '0'));
	}
	return format;
}

void pw_turn_format(struct pw_turn *t, const char *format)
{
	turn_parts(t, format);
}

/*
 * Moves bit fields to where compilers of the other byte order have them: the first one lies in
 * the lowest bits, or in the highest ones. `big`: they were in the highest ones.
 */
static uint64_t move_fields(uint64_t v, const uint8_t *widths, size_t n, bool big)
{
	uint64_t moved = 0;
	unsigned at = 0;

	for (size_t i = 0; i < n; at += widths[i++]) {
		unsigned low = at, high = 64 - at - widths[i];
		uint64_t field = v >> (big ? high : low) & ((UINT64_C(1) << widths[i]) - 1);

		moved |= field << (big ? low : high);
	}
	return moved;
}

uint64_t pw_turn_branch_flags(uint64_t flags, bool big)
{
	static const uint8_t widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3, 31 };

	return move_fields(flags, widths, sizeof(widths), big);
}

/* Turns the flags of an attr, of which precise_ip alone has two bits. */
static uint64_t turn_attr_flags(uint64_t flags, bool big)
{
	uint8_t widths[63];

	memset(widths, 1, sizeof(widths));
	widths[15] = 2;
	return move_fields(flags, widths, sizeof(widths), big);
}

static void store64(uint8_t *p, uint64_t value, bool swap)
{
	value = swap ? __builtin_bswap64(value) : value;
	memcpy(p, &value, sizeof(value));
}

void pw_turn_attr(uint8_t *attr, size_t n, bool swap, bool big)
{
	struct pw_turn t = { .bytes = attr, .n = n, .swap = swap };

	if (n >= 48)
		store64(attr + 40, turn_attr_flags(pb_load64(attr + 40, swap), big), swap);
	pw_turn_format(&t, "44"
			   "88888"    /* config to flags */
			   "44888844" /* to clockid */
			   "8422448+");
}

/* The bodies of records, by type. What is missing here is unknown, or has code of its own. */
static const char *const formats[PD_RECORD_TYPES] = {
	[PD_RECORD_MMAP] = "44888",
	[PD_RECORD_LOST] = "88",
	[PD_RECORD_COMM] = "44",
	[PD_RECORD_EXIT] = "44448",
	[PD_RECORD_THROTTLE] = "888",
	[PD_RECORD_UNTHROTTLE] = "888",
	[PD_RECORD_FORK] = "44448",
	[PD_RECORD_READ] = "448+",
	[PD_RECORD_MMAP2] = "44888",
	[PD_RECORD_LOST_SAMPLES] = "8",
	[PD_RECORD_SWITCH] = "",
	[PD_RECORD_SWITCH_CPU_WIDE] = "44",
	[PD_RECORD_NAMESPACES] = "44(88]",
	[PD_RECORD_KSYMBOL] = "8422",
	[PD_RECORD_BPF_EVENT] = "224",
	[PD_RECORD_CGROUP] = "8",
	[PD_RECORD_TEXT_POKE] = "822",
	[PD_RECORD_AUX_OUTPUT_HW_ID] = "8",
	[PD_RECORD_CALLCHAIN_DEFERRED] = "8(8]",
	[PD_RECORD_EVENT_TYPE] = "8",
	[PD_RECORD_BUILD_ID] = "4",
	[PD_RECORD_FINISHED_ROUND] = "",
	[PD_RECORD_ID_INDEX] = "8+",
	[PD_RECORD_AUXTRACE_ERROR] = "4444448",
	[PD_RECORD_THREAD_MAP] = "(8c]",
	[PD_RECORD_CPU_MAP] = "",
	[PD_RECORD_STAT_CONFIG] = "(88]",
	[PD_RECORD_STAT] = "844888",
	[PD_RECORD_STAT_ROUND] = "88",
	[PD_RECORD_EVENT_UPDATE] = "88",
	[PD_RECORD_TIME_CONV] = "888",
	[PD_RECORD_FINISHED_INIT] = "",
	[PD_RECORD_BPF_METADATA] = "",
	[PD_RECORD_SCHEDSTAT_CPU] = "842",
	[PD_RECORD_SCHEDSTAT_DOMAIN] = "84224+",
};

/* Turns a list of processors: see struct perf_record_cpu_map_data. */
static void turn_cpus(struct pw_turn *t)
{
	uint64_t kind = pw_turn_number(t, 2), size;

	if (kind == 0) {
		for (uint64_t n = pw_turn_number(t, 2); n && !t->failed; n--)
			pw_turn_number(t, 2);
	} else if (kind == 1) {
		uint64_t n = pw_turn_number(t, 2);

		size = pw_turn_number(t, 2);
		if (size != 4 && size != 8)
			t->failed = true;
		pw_turn_skip(t, size == 8 ? 4 : 0);
		for (; n && !t->failed; n--)
			pw_turn_number(t, (unsigned)size);
	} else if (kind == 2) {
		pw_turn_skip(t, 2);
		pw_turn_format(t, "22");
	} else {
		t->failed = true;
	}
}

/* Turns what depends on the values before it. */
static void turn_rest(const struct pd_record *rec, struct pw_turn *t)
{
	switch (rec->type) {
	case PD_RECORD_MMAP2: /* device and inode, or a build-id */
		if (!pd_mmap2_has_build_id(rec))
			pw_turn_format(t, "4488");
		else
			pw_turn_skip(t, 24);
		pw_turn_format(t, "44");
		break;
	case PD_RECORD_AUXTRACE_ERROR: /* the time came with format 1, the guest with 2 */
		if (t->n >= 32 && pd_rec32(rec, 28) > 0)
			pw_turn_format(t, "8");
		if (t->n >= 120 && pd_rec32(rec, 28) > 1) {
			pw_turn_skip(t, 64);
			pw_turn_format(t, "44");
		}
		break;
	case PD_RECORD_CPU_MAP:
		turn_cpus(t);
		break;
	case PD_RECORD_EVENT_UPDATE:
		if (t->n >= 16 && pd_rec64(rec, 8) == 1)
			pw_turn_format(t, "8"); /* a scale */
		else if (t->n >= 16 && pd_rec64(rec, 8) == 3)
			turn_cpus(t);
		break;
	case PD_RECORD_TIME_CONV:
		if (t->n - t->at >= 16)
			pw_turn_format(t, "88");
		break;
	case PD_RECORD_BPF_METADATA:
		pw_turn_skip(t, 512);
		pw_turn_format(t, "8");
		break;
	case PD_RECORD_SCHEDSTAT_CPU:
		pw_turn_skip(t, 2);
		pw_turn_format(t, "444444888");
		break;
	default:
		break;
	}
}

/* Turns the sample_id: see perf_event__output_id_sample, kernel/events/core.c. */
static void turn_trailer(const struct pd_record *rec, struct pw_turn *t)
{
	static const struct {
		uint8_t part;
		const char *format;
	} parts[] = {
		{ PD_PART_TID, "44" },	    { PD_PART_TIME, "8" }, { PD_PART_ID, "8" },
		{ PD_PART_STREAM_ID, "8" }, { PD_PART_CPU, "44" }, { PD_PART_IDENTIFIER, "8" },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (pd_part_present(rec->layout->shape, parts[i].part))
			pw_turn_format(t, parts[i].format);
}

/* Turns the attr and the ids of an event. */
static void turn_header_attr(const struct pd_file *file, const struct pd_record *rec,
			     struct pw_turn *t)
{
	uint32_t size = rec->size >= 16 ? pd_rec32(rec, 12) : 0;

	size = size ? size : PD_ATTR_MIN;
	if (size > rec->size - HEADER) {
		t->failed = true;
		return;
	}
	pw_turn_attr(t->bytes + t->at, size, t->swap, file->big);
	pw_turn_skip(t, size);
	pw_turn_format(t, "8+");
}

static void turn_body(const struct pd_file *file, const struct pd_record *rec,
		      struct pw_turn *t)
{
	const char *format = rec->type < PD_RECORD_TYPES ? formats[rec->type] : NULL;
	uint64_t bit;

	if (rec->type == PD_RECORD_HEADER_ATTR) {
		turn_header_attr(file, rec, t);
	} else if (rec->type == PD_RECORD_HEADER_FEATURE) {
		bit = pw_turn_number(t, 8);
		t->failed = t->failed || bit >= PD_FEATURES ||
			    !pw_turn_feature(file, (unsigned)bit, t->bytes + t->at,
					     t->n - t->at);
	} else if (format) {
		pw_turn_format(t, format);
		turn_rest(rec, t);
	} else {
		t->failed = true;
	}
}

bool pw_turn_record(const struct pd_file *file, const struct pd_record *rec,
		    struct pb_string *out, bool *drops_data)
{
	uint32_t end = pd_body_end(rec);
	struct pw_turn t = { .n = end, .swap = file->swap };
	size_t start = out->n;

	if (rec->type == PD_RECORD_SAMPLE)
		return pw_turn_sample(rec, out, drops_data);
	pb_string_add(out, (const char *)rec->bytes, rec->size);
	if (out->failed)
		return false;
	t.bytes = (uint8_t *)out->p + start;
	pw_turn_format(&t, "422");
	turn_body(file, rec, &t);
	t.at = end;
	t.n = rec->size;
	if (!t.failed && end < rec->size)
		turn_trailer(rec, &t);
	if (t.failed)
		out->n = start;
	return !t.failed;
}
