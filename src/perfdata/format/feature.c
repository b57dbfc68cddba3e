/*
 * The table of header features, and the layouts of the regular ones. See feat_ops and the
 * write_… functions, tools/perf/util/header.c.
 */
#include "feature.h"

#include <string.h>

#include "format.h"

/* Returns the fewest bytes that a row can take. */
static size_t get_min_size(const struct pd_layout_row *row)
{
	size_t n = 0;

	switch (row->kind) {
	case PD_L_SIZE:
		return 0;
	case PD_L_U64:
	case PD_L_LIST64:
		return 8;
	case PD_L_STRUCT:
		for (row = row->of; row->kind; row++)
			n += get_min_size(row);
		return n;
	default:
		return 4;
	}
}

static uint64_t check_count(struct pb_cursor *c, uint64_t n, size_t size)
{
	if (n <= pb_cursor_left(c) / size)
		return n;
	pb_cursor_fail(c, "a count that does not fit");
	return 0;
}

uint32_t pd_take_count(struct pb_cursor *c, size_t size)
{
	return (uint32_t)check_count(c, pb_take32(c), size);
}

static void decode_struct(struct pb_cursor *c, struct pd_sink *sink, const char *key,
			  const struct pd_layout_row *members)
{
	pd_sink_begin(sink, key, false);
	for (const struct pd_layout_row *row = members; row->kind && !c->failed; row++)
		pd_decode_row(c, sink, row->key, row);
	pd_sink_end(sink);
}

static void decode_list(struct pb_cursor *c, struct pd_sink *sink, const char *key,
			const struct pd_layout_row *item, uint64_t n)
{
	n = check_count(c, n, get_min_size(item));
	pd_sink_begin(sink, key, true);
	for (uint64_t i = 0; i < n && !c->failed; i++)
		pd_decode_row(c, sink, NULL, item);
	pd_sink_end(sink);
}

static void feed_pairs(struct pb_cursor *c, struct pd_sink *sink, const char *key)
{
	uint32_t n = pd_take_count(c, 8);

	pd_sink_begin(sink, key, false);
	for (uint32_t i = 0; i < n; i++) {
		struct pd_text name = pd_take_string(c), value = pd_take_string(c);

		if (c->failed)
			break;
		sink->key(sink, name.p, name.n);
		pd_sink_str(sink, NULL, value.p, value.n);
	}
	pd_sink_end(sink);
}

bool pd_decode_row(struct pb_cursor *c, struct pd_sink *sink, const char *key,
		   const struct pd_layout_row *row)
{
	struct pd_text text;
	const uint8_t *bytes;
	uint32_t size;

	switch (row->kind) {
	case PD_L_U32:
		pd_sink_uint(sink, key, pb_take32(c));
		break;
	case PD_L_S32:
		pd_sink_int(sink, key, (int32_t)pb_take32(c));
		break;
	case PD_L_U64:
		pd_sink_uint(sink, key, pb_take64(c));
		break;
	case PD_L_INDEX:
		pd_sink_uint(sink, key, (uint64_t)pb_take32(c) + 1);
		break;
	case PD_L_STRING:
		text = pd_take_string(c);
		pd_sink_str(sink, key, text.p, text.n);
		break;
	case PD_L_STRUCT:
		decode_struct(c, sink, key, row->of);
		break;
	case PD_L_LIST32:
		decode_list(c, sink, key, row->of, pb_take32(c));
		break;
	case PD_L_LIST64:
		decode_list(c, sink, key, row->of, pb_take64(c));
		break;
	case PD_L_PAIRS:
		feed_pairs(c, sink, key);
		break;
	case PD_L_SIZE:
		pd_sink_uint(sink, key, pb_take32(c));
		if (!c->failed)
			c->pos -= 4;
		break;
	case PD_L_BLOB:
		size = pb_take32(c);
		bytes = pb_take(c, size);
		pd_sink_blob(sink, key, bytes ? bytes : (const uint8_t *)"", bytes ? size : 0);
		break;
	case PD_L_END:
		pb_cursor_fail(c, "an unknown layout");
		break;
	}
	return !c->failed;
}

#define LAYOUT static const struct pd_layout_row

LAYOUT u32 = { NULL, PD_L_U32, NULL };
LAYOUT u64 = { NULL, PD_L_U64, NULL };
LAYOUT string = { NULL, PD_L_STRING, NULL };
LAYOUT strings = { NULL, PD_L_LIST32, &string };
LAYOUT pairs = { NULL, PD_L_PAIRS, NULL };

LAYOUT nrcpus_members[] = {
	{ "available", PD_L_U32, NULL },
	{ "online", PD_L_U32, NULL },
	{ 0 },
};
LAYOUT nrcpus = { NULL, PD_L_STRUCT, nrcpus_members };

LAYOUT numa_node_members[] = {
	{ "node", PD_L_U32, NULL },
	{ "mem_total", PD_L_U64, NULL },
	{ "mem_free", PD_L_U64, NULL },
	{ "cpus", PD_L_STRING, NULL },
	{ 0 },
};
LAYOUT numa_node = { NULL, PD_L_STRUCT, numa_node_members };
LAYOUT numa_topology = { NULL, PD_L_LIST32, &numa_node };

LAYOUT group_members[] = {
	{ "name", PD_L_STRING, NULL },
	{ "leader", PD_L_INDEX, NULL },
	{ "members", PD_L_U32, NULL },
	{ 0 },
};
LAYOUT group = { NULL, PD_L_STRUCT, group_members };
LAYOUT group_desc = { NULL, PD_L_LIST32, &group };

LAYOUT auxtrace_entry_members[] = {
	{ "offset", PD_L_U64, NULL },
	{ "size", PD_L_U64, NULL },
	{ 0 },
};
LAYOUT auxtrace_entry = { NULL, PD_L_STRUCT, auxtrace_entry_members };
LAYOUT auxtrace_index = { NULL, PD_L_LIST64, &auxtrace_entry };

LAYOUT cache_level_members[] = {
	{ "level", PD_L_U32, NULL },   { "line_size", PD_L_U32, NULL },
	{ "sets", PD_L_U32, NULL },    { "ways", PD_L_U32, NULL },
	{ "type", PD_L_STRING, NULL }, { "size", PD_L_STRING, NULL },
	{ "map", PD_L_STRING, NULL },  { 0 },
};
LAYOUT cache_level = { NULL, PD_L_STRUCT, cache_level_members };
LAYOUT caches = { NULL, PD_L_LIST32, &cache_level };

LAYOUT sample_time_members[] = {
	{ "first", PD_L_U64, NULL },
	{ "last", PD_L_U64, NULL },
	{ 0 },
};
LAYOUT sample_time = { NULL, PD_L_STRUCT, sample_time_members };

LAYOUT btf_members[] = {
	{ "id", PD_L_U32, NULL },
	{ "size", PD_L_SIZE, NULL },
	{ "data", PD_L_BLOB, NULL },
	{ 0 },
};
LAYOUT btf = { NULL, PD_L_STRUCT, btf_members };
LAYOUT bpf_btf = { NULL, PD_L_LIST32, &btf };

LAYOUT compressed_members[] = {
	{ "version", PD_L_U32, NULL },	{ "type", PD_L_U32, NULL },
	{ "level", PD_L_U32, NULL },	{ "ratio", PD_L_U32, NULL },
	{ "mmap_len", PD_L_U32, NULL }, { 0 },
};
LAYOUT compressed = { NULL, PD_L_STRUCT, compressed_members };

LAYOUT clock_data_members[] = {
	{ "clockid", PD_L_U32, NULL },
	{ "wall_clock", PD_L_U64, NULL },
	{ "clock_time", PD_L_U64, NULL },
	{ 0 },
};
LAYOUT clock_data = { NULL, PD_L_STRUCT, clock_data_members };

LAYOUT hybrid_pmu_members[] = {
	{ "pmu", PD_L_STRING, NULL },
	{ "cpus", PD_L_STRING, NULL },
	{ 0 },
};
LAYOUT hybrid_pmu = { NULL, PD_L_STRUCT, hybrid_pmu_members };
LAYOUT hybrid_topology = { NULL, PD_L_LIST32, &hybrid_pmu };

LAYOUT pmu_members[] = {
	{ "caps", PD_L_PAIRS, NULL },
	{ "pmu", PD_L_STRING, NULL },
	{ 0 },
};
LAYOUT pmu = { NULL, PD_L_STRUCT, pmu_members };
LAYOUT pmu_caps = { NULL, PD_L_LIST32, &pmu };

LAYOUT pmu_mapping_members[] = {
	{ "type", PD_L_U32, NULL },
	{ "name", PD_L_STRING, NULL },
	{ 0 },
};
LAYOUT pmu_mapping = { NULL, PD_L_STRUCT, pmu_mapping_members };
LAYOUT pmu_mappings = { NULL, PD_L_LIST32, &pmu_mapping };

LAYOUT e_machine_members[] = {
	{ "e_machine", PD_L_U32, NULL },
	{ "e_flags", PD_L_U32, NULL },
	{ 0 },
};
LAYOUT e_machine = { NULL, PD_L_STRUCT, e_machine_members };

/* A decoder that only applies a layout. */
#define REGULAR(feature, layout)                                           \
	static bool decode_##feature(struct pb_cursor *c,                  \
				     const struct pd_feature_context *ctx, \
				     struct pd_sink *sink)                 \
	{                                                                  \
		(void)ctx;                                                 \
		return pd_decode_row(c, sink, NULL, &(layout));            \
	}

/*
 * A decoder that applies a layout after a u32 version, which must be 1: layouts of other
 * versions are not known.
 */
#define VERSIONED(feature, layout)                                                   \
	static bool decode_##feature(struct pb_cursor *c,                            \
				     const struct pd_feature_context *ctx,           \
				     struct pd_sink *sink)                           \
	{                                                                            \
		(void)ctx;                                                           \
		return pb_take32(c) == 1 && pd_decode_row(c, sink, NULL, &(layout)); \
	}

REGULAR(string, string)
REGULAR(pairs, pairs)
REGULAR(u32, u32)
REGULAR(u64, u64)
REGULAR(nrcpus, nrcpus)
REGULAR(numa_topology, numa_topology)
REGULAR(group_desc, group_desc)
VERSIONED(cache, caches)
REGULAR(sample_time, sample_time)
REGULAR(bpf_btf, bpf_btf)
REGULAR(compressed, compressed)
VERSIONED(clock_data, clock_data)
REGULAR(hybrid_topology, hybrid_topology)
REGULAR(pmu_caps, pmu_caps)
REGULAR(e_machine, e_machine)

/*
 * Decodes a list of strings. hiperf writes a single string, whose size is all that is left and
 * too large for a count.
 */
static bool decode_cmdline(struct pb_cursor *c, const struct pd_feature_context *ctx,
			   struct pd_sink *sink)
{
	size_t left = pb_cursor_left(c);

	(void)ctx;
	if (left <= 4 || pb_load32(c->pos, c->swap) != left - 4)
		return pd_decode_row(c, sink, NULL, &strings);
	pd_sink_begin(sink, NULL, true);
	pd_decode_row(c, sink, NULL, &string);
	pd_sink_end(sink);
	return !c->failed;
}

/*
 * Decodes a list of entries. simpleperf leaves out the count: then the size is a multiple of an
 * entry's.
 */
static bool decode_auxtrace(struct pb_cursor *c, const struct pd_feature_context *ctx,
			    struct pd_sink *sink)
{
	(void)ctx;
	if (pb_cursor_left(c) % 16)
		return pd_decode_row(c, sink, NULL, &auxtrace_index);
	pd_sink_begin(sink, NULL, true);
	while (pb_cursor_left(c))
		pd_decode_row(c, sink, NULL, &auxtrace_entry);
	pd_sink_end(sink);
	return !c->failed;
}

/* Decodes BRANCH_STACK and STAT, which have no bytes; their presence is the information. */
static bool decode_flag(struct pb_cursor *c, const struct pd_feature_context *ctx,
			struct pd_sink *sink)
{
	(void)c;
	(void)ctx;
	pd_sink_bool(sink, NULL, true);
	return true;
}

static const struct pd_feature features[] = {
	{ PD_FEATURE_TRACING_DATA, "tracing_data",
	  "summary of the tracepoint formats: version, byte order, page size, events per "
	  "system",
	  pd_decode_tracing_data, .layout = NULL },
	{ 2, "build_id", "build-ids of the binaries that samples hit", pd_decode_build_id,
	  .layout = NULL },
	{ 3, "hostname", "name of the recorded machine", decode_string, .layout = &string },
	{ 4, "osrelease", "kernel release of the recorded machine", decode_string,
	  .layout = &string },
	{ 5, "version", "version of the perf that recorded", decode_string, .layout = &string },
	{ PD_FEATURE_ARCH, "arch", "architecture, as uname -m says it", decode_string,
	  .layout = &string },
	{ PD_FEATURE_NRCPUS, "nrcpus", "number of CPUs available and online", decode_nrcpus,
	  .layout = &nrcpus },
	{ 8, "cpudesc", "CPU model as the kernel describes it", decode_string,
	  .layout = &string },
	{ 9, "cpuid", "CPU model as numbers; on x86 vendor,family,model,stepping",
	  decode_string, .layout = &string },
	{ 10, "total_mem", "memory of the machine in kB", decode_u64, .layout = &u64 },
	{ 11, "cmdline", "command line of the recorder, perf itself first", decode_cmdline,
	  .layout = &strings },
	{ PD_FEATURE_EVENT_DESC, "event_desc", "name, ids and attribute of each event",
	  pd_decode_event_desc, .layout = NULL },
	{ 13, "cpu_topology",
	  "CPUs that share a socket, die or core, and the ids of each CPU's",
	  pd_decode_cpu_topology, .layout = NULL },
	{ 14, "numa_topology", "NUMA nodes: memory in kB and CPUs", decode_numa_topology,
	  .layout = &numa_topology },
	{ 15, "branch_stack", "true: samples have branch stacks", decode_flag, .layout = NULL },
	{ PD_FEATURE_PMU_MAPPINGS, "pmu_mappings", "names of the PMUs and their attr.type",
	  pd_decode_pmu_mappings, .layout = &pmu_mappings },
	{ PD_FEATURE_GROUP_DESC, "group_desc",
	  "event groups: name, index of the leader in file.events, number of events",
	  decode_group_desc, .layout = &group_desc },
	{ 18, "auxtrace", "index of the AUXTRACE records: file offset and size",
	  decode_auxtrace, .layout = &auxtrace_index },
	{ 19, "stat", "true: the file was written by perf stat record", decode_flag,
	  .layout = NULL },
	{ 20, "cache",
	  "CPU caches: level, line size in bytes, sets, ways, type, size, CPUs that share them",
	  decode_cache, .layout = &caches, .versioned = true },
	{ PD_FEATURE_SAMPLE_TIME, "sample_time", "time of the first and the last sample, in ns",
	  decode_sample_time, .layout = &sample_time },
	{ 22, "mem_topology",
	  "memory block size in bytes, and the numbers of each node's blocks",
	  pd_decode_mem_topology, .layout = NULL },
	{ 23, "clockid", "resolution of the clock of the times, in ns", decode_u64,
	  .layout = &u64 },
	{ 24, "dir_format", "version of the directory format", decode_u64, .layout = &u64 },
	{ 25, "bpf_prog_info", "BPF programs that were loaded, as bpf_prog_info tells of them",
	  pd_decode_bpf_prog_info, .layout = NULL },
	{ 26, "bpf_btf", "BPF type information, one raw blob per id", decode_bpf_btf,
	  .layout = &bpf_btf },
	{ 27, "compressed", "how records were compressed: type (1: zstd), level, ratio",
	  decode_compressed, .layout = &compressed },
	{ 28, "cpu_pmu_caps", "capabilities of the CPU's PMU", decode_pairs, .layout = &pairs },
	{ 29, "clock_data", "one moment in ns on the wall clock and on the clock of the times",
	  decode_clock_data, .layout = &clock_data, .versioned = true },
	{ 30, "hybrid_topology", "CPUs of each core PMU of a hybrid system",
	  decode_hybrid_topology, .layout = &hybrid_topology },
	{ 31, "pmu_caps", "capabilities of each PMU", decode_pmu_caps, .layout = &pmu_caps },
	{ 32, "cpu_domain_info", "scheduling domains of each CPU", pd_decode_cpu_domain_info,
	  .layout = NULL },
	{ PD_FEATURE_E_MACHINE, "e_machine", "machine and flags of the recorder's ELF header",
	  decode_e_machine, .layout = &e_machine },
	{ 34, "cln_size", "bytes of a cache line", decode_u32, .layout = &u32 },
};

#define N_FEATURES (sizeof(features) / sizeof(features[0]))

const struct pd_feature *pd_feature_table(size_t *n)
{
	*n = N_FEATURES;
	return features;
}

const struct pd_feature *pd_feature_by_bit(unsigned bit)
{
	/* bits are numbered from 1 on without gaps */
	return bit >= 1 && bit <= N_FEATURES ? &features[bit - 1] : NULL;
}

const struct pd_feature *pd_feature_by_name(const char *name)
{
	for (size_t i = 0; i < N_FEATURES; i++)
		if (!strcmp(features[i].name, name))
			return &features[i];
	return NULL;
}

static void ignore_begin(struct pd_sink *sink, bool array)
{
	(void)sink;
	(void)array;
}

static void ignore_end(struct pd_sink *sink)
{
	(void)sink;
}

static void ignore_key(struct pd_sink *sink, const char *name, size_t n)
{
	(void)sink;
	(void)name;
	(void)n;
}

static void ignore_value(struct pd_sink *sink, const struct pd_value *value)
{
	(void)sink;
	(void)value;
}

uint32_t pd_feature_measure(uint64_t bit, const uint8_t *bytes, uint32_t n, bool swap)
{
	const struct pd_feature *feature = bit < PD_FEATURES ?
						   pd_feature_by_bit((unsigned)bit) :
						   NULL;
	const struct pd_feature_context context = { .swap = swap };
	struct pd_sink sink = { ignore_begin, ignore_end, ignore_key, ignore_value };
	struct pb_cursor c;

	/* these depend on the number of CPUs, which another feature has */
	if (!feature || feature->decode == pd_decode_cpu_topology ||
	    feature->decode == pd_decode_cpu_domain_info)
		return UINT32_MAX;
	pb_cursor_init(&c, bytes, n, swap);
	return feature->decode(&c, &context, &sink) ? (uint32_t)(c.pos - c.start) : UINT32_MAX;
}
