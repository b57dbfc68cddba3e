/* The byte order of header features: see the write_… functions, tools/perf/util/header.c. */
#include "perfdata/format/format.h"
#include "turn.h"

/* By bit; NULL: it has code of its own, or is not known. */
static const char *const formats[] = {
	[PD_FEATURE_HOSTNAME] = "t",
	[4] = "t", /* osrelease */
	[5] = "t", /* version */
	[PD_FEATURE_ARCH] = "t",
	[PD_FEATURE_NRCPUS] = "44",
	[8] = "t",	 /* cpudesc */
	[9] = "t",	 /* cpuid */
	[10] = "8",	 /* total_mem */
	[14] = "(488t)", /* numa_topology */
	[15] = "",	 /* branch_stack */
	[PD_FEATURE_PMU_MAPPINGS] = "(4t)",
	[PD_FEATURE_GROUP_DESC] = "(t44)",
	[19] = "",	     /* stat */
	[20] = "4(4444ttt)", /* cache */
	[PD_FEATURE_SAMPLE_TIME] = "88",
	[22] = "8+",	  /* mem_topology */
	[23] = "8",	  /* clockid */
	[28] = "(tt)",	  /* cpu_pmu_caps */
	[29] = "4488",	  /* clock_data */
	[30] = "(tt)",	  /* hybrid_topology */
	[31] = "((tt)t)", /* pmu_caps */
	[PD_FEATURE_E_MACHINE] = "44",
	[34] = "4", /* cln_size */
};

enum {
	BUILD_ID = 2,
	CMDLINE = 11,
	CPU_TOPOLOGY = 13,
	BPF_PROG_INFO = 25,
	BPF_BTF = 26,
	CPU_DOMAIN_INFO = 32,
};

static size_t bytes_left(const struct pw_turn *t)
{
	return t->failed ? 0 : t->n - t->at;
}

/* Skips a text with its NUL. */
static void skip_name(struct pw_turn *t)
{
	const uint8_t *end = memchr(t->bytes + t->at, 0, bytes_left(t));

	if (end)
		t->at = (size_t)(end - t->bytes) + 1;
	else
		t->failed = true;
}

/* Turns a blob of texts, each after its size in `bytes` bytes. */
static void turn_texts(struct pw_turn *t, uint64_t n, unsigned bytes)
{
	for (; n && !t->failed; n--)
		pw_turn_skip(t, pw_turn_number(t, bytes));
}

/* See tools/perf/util/trace-event-info.c. */
static void turn_tracing_data(const struct pd_file *file, struct pw_turn *t)
{
	bool has_cmdlines;

	pw_turn_skip(t, 10); /* the magic */
	if (t->failed)
		return;
	has_cmdlines = bytes_left(t) >= 3 && memcmp(t->bytes + t->at, "0.5", 3) > 0;
	skip_name(t); /* the version */
	if (bytes_left(t) < 2 || t->bytes[t->at] != file->big) {
		t->failed = true;
		return;
	}
	t->bytes[t->at] = !file->big;
	pw_turn_skip(t, 2);
	pw_turn_number(t, 4);
	pw_turn_skip(t, sizeof("header_page"));
	turn_texts(t, 1, 8);
	pw_turn_skip(t, sizeof("header_event"));
	turn_texts(t, 1, 8);
	turn_texts(t, pw_turn_number(t, 4), 8);
	for (uint64_t n = pw_turn_number(t, 4); n && !t->failed; n--) {
		skip_name(t);
		turn_texts(t, pw_turn_number(t, 4), 8);
	}
	turn_texts(t, 2, 4); /* functions, formats */
	if (has_cmdlines && bytes_left(t) >= 8)
		turn_texts(t, 1, 8);
}

/* Turns the headers of build-ids, and their pids, which old tables lack. */
static void turn_build_ids(struct pw_turn *t)
{
	struct pb_cursor c;
	bool is_old;

	pb_cursor_init(&c, t->bytes, t->n, t->swap);
	is_old = pd_build_ids_are_old(c);
	while (bytes_left(t)) {
		size_t start = t->at;
		uint64_t size;

		pw_turn_format(t, "42");
		size = pw_turn_number(t, 2);
		if (!is_old)
			pw_turn_number(t, 4);
		if (t->failed || size < t->at - start || size > t->n - start)
			t->failed = true;
		else
			t->at = start + (size_t)size;
	}
}

static void turn_event_desc(const struct pd_file *file, struct pw_turn *t)
{
	uint64_t n = pw_turn_number(t, 4), size = pw_turn_number(t, 4);

	for (; n && !t->failed; n--) {
		uint64_t n_ids;

		if (size > bytes_left(t))
			t->failed = true;
		else
			pw_turn_attr(t->bytes + t->at, (size_t)size, t->swap, file->big);
		pw_turn_skip(t, size);
		n_ids = pw_turn_number(t, 4);
		pw_turn_format(t, "t");
		for (; n_ids && !t->failed; n_ids--)
			pw_turn_number(t, 8);
	}
}

/* Turns the lists of CPUs; from the second revision on, cores, sockets and dies follow. */
static void turn_cpu_topology(const struct pd_file *file, struct pw_turn *t)
{
	pw_turn_format(t, "(t)(t)");
	for (uint32_t i = 0; i < file->context.nr_cpus_avail && bytes_left(t); i++)
		pw_turn_format(t, "44");
	if (!file->context.nr_cpus_avail && bytes_left(t))
		t->failed = true; /* how many CPUs follow is not known */
	if (bytes_left(t))
		pw_turn_format(t, "(t)4+");
}

static void turn_cpu_domains(struct pw_turn *t)
{
	uint64_t version = pw_turn_number(t, 4);

	pw_turn_number(t, 4);
	while (bytes_left(t))
		pw_turn_format(t, version >= 17 ? "4(4ttt)" : "4(4tt)");
}

/* An array of a BPF program: its bit in `arrays` of the record is its index here. */
static const struct bpf_array {
	uint16_t at;	/* offset of its place in struct bpf_prog_info */
	uint16_t count; /* that of the number of its items */
	uint16_t rec;	/* that of the bytes of an item; 0: they are a number */
	uint8_t width;	/* bytes of its numbers; 1: they stay */
} bpf_arrays[] = {
	{ 24, 16, 0, 1 },     /* jited_prog_insns */
	{ 32, 20, 0, 1 },     /* xlated_prog_insns: see turn_bpf_code() */
	{ 56, 52, 0, 4 },     /* map_ids */
	{ 112, 104, 0, 8 },   /* jited_ksyms */
	{ 120, 108, 0, 4 },   /* jited_func_lens */
	{ 136, 144, 132, 4 }, /* func_info */
	{ 152, 148, 172, 4 }, /* line_info */
	{ 160, 168, 176, 8 }, /* jited_line_info */
	{ 184, 180, 0, 1 },   /* prog_tags */
};

#define XLATED 1 /* index of instructions that are BPF's own */

/* Turns instructions of BPF: two numbers of 4 bits, and two of 16 and 32. */
static void turn_bpf_code(struct pw_turn *t)
{
	while (bytes_left(t) >= 8) {
		uint8_t *registers = t->bytes + t->at + 1;

		*registers = (uint8_t)(*registers << 4 | *registers >> 4);
		pw_turn_skip(t, 2);
		pw_turn_format(t, "24");
	}
}

/* Returns a u32 of struct bpf_prog_info; 0 if the recording's kernel did not have it. */
static uint32_t load_info(const struct pw_turn *info, uint32_t at)
{
	return at + 4 <= info->n ? pb_load32(info->bytes + at, info->swap) : 0;
}

/* Turns the arrays that a program refers to, by the struct before it is turned. */
static bool turn_bpf_arrays(const struct pw_turn *info, uint64_t recorded, uint8_t *data,
			    uint64_t size)
{
	for (size_t i = 0; i < sizeof(bpf_arrays) / sizeof(bpf_arrays[0]); i++) {
		const struct bpf_array *a = &bpf_arrays[i];
		uint64_t n = load_info(info, a->count), at;
		struct pw_turn t = { .bytes = data, .swap = info->swap };

		if (!(recorded >> i & 1) || a->at + 8u > info->n)
			continue;
		at = pb_load64(info->bytes + a->at, info->swap);
		n *= a->rec ? load_info(info, a->rec) : a->width;
		if (at > size || n > size - at)
			return false;
		t.at = (size_t)at;
		t.n = (size_t)(at + n);
		if (i == XLATED)
			turn_bpf_code(&t);
		else if (a->width > 1)
			pw_turn_format(&t, a->width == 8 ? "8+" : "4+");
	}
	return true;
}

/* See struct bpf_prog_info, include/uapi/linux/bpf.h. */
static void turn_bpf_programs(struct pw_turn *t)
{
	for (uint64_t n = pw_turn_number(t, 4); n && !t->failed; n--) {
		uint64_t info_size = pw_turn_number(t, 4), data_size = pw_turn_number(t, 4);
		uint64_t recorded = pw_turn_number(t, 8);
		struct pw_turn info = { .n = (size_t)info_size, .swap = t->swap };

		info.bytes = t->bytes + t->at;
		pw_turn_skip(t, info_size);
		pw_turn_skip(t, data_size);
		if (t->failed ||
		    !turn_bpf_arrays(&info, recorded, info.bytes + info_size, data_size)) {
			t->failed = true;
			return;
		}
		/* an older kernel's struct is shorter */
		pw_turn_format(&info, "44b44888448c44884488448448844448888444");
	}
}

bool pw_turn_feature(const struct pd_file *file, unsigned bit, uint8_t *bytes, size_t n)
{
	struct pw_turn t = { .bytes = bytes, .n = n, .swap = file->swap };

	switch (bit) {
	case PD_FEATURE_BUNDLE: /* the same in both orders */
		break;
	case PD_FEATURE_TRACING_DATA:
		turn_tracing_data(file, &t);
		break;
	case BUILD_ID:
		turn_build_ids(&t);
		break;
	case CMDLINE: /* a list, or of hiperf one text, which takes all the bytes */
		if (n > 4 && pb_load32(bytes, t.swap) == n - 4)
			pw_turn_format(&t, "t");
		else
			pw_turn_format(&t, "(t)");
		break;
	case PD_FEATURE_EVENT_DESC:
		turn_event_desc(file, &t);
		break;
	case CPU_TOPOLOGY:
		turn_cpu_topology(file, &t);
		break;
	case BPF_PROG_INFO:
		turn_bpf_programs(&t);
		break;
	case BPF_BTF: /* the blobs tell their own byte order */
		pw_turn_format(&t, "(4t)");
		break;
	case CPU_DOMAIN_INFO:
		turn_cpu_domains(&t);
		break;
	default:
		if (bit >= sizeof(formats) / sizeof(formats[0]) || !formats[bit])
			return false;
		pw_turn_format(&t, formats[bit]);
		break;
	}
	return !t.failed;
}
