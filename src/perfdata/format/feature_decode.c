/* Header features whose bytes need code to be decoded: files, events, processors. */
#include "attr.h"
#include "feature.h"
#include "format.h"
#include "views.h"

/*
 * Features about files: the build-ids of binaries, and the tracepoint formats. See
 * perf_header__read_build_ids, tools/perf/util/header.c, and
 * tools/perf/util/trace-event-read.c.
 */

#define BUILD_ID_SIZE 20

/* Offsets in an entry of the build-id table, which begins with an event header. */
struct build_id_layout {
	uint32_t pid, id, size, filename; /* 0 for pid and size: the entry has none */
};

static const struct build_id_layout build_id_layout = { 8, 12, 32, 36 };
/* of perf 2.6.33 to 2.6.35 */
static const struct build_id_layout old_build_id_layout = { 0, 8, 0, 32 };

/* Returns the next entry, whose size its header says, or NULL. */
static const uint8_t *take_build_id_entry(struct pb_cursor *c, uint32_t at_least,
					  uint32_t *size)
{
	const uint8_t *entry = c->pos;

	if (pb_cursor_left(c) < 8) {
		pb_cursor_fail(c, "the end");
		return NULL;
	}
	*size = pb_load16(entry + 6, c->swap);
	if (*size <= at_least)
		pb_cursor_fail(c, "an entry that is too short");
	return pb_take(c, *size);
}

/*
 * Without a pid the names read as if they began four bytes late, which is perf's test, too. See
 * perf_header__read_build_ids_abi_quirk.
 */
bool pd_build_ids_are_old(struct pb_cursor c)
{
	static const char late[] = "nel.kallsyms]";
	uint32_t at = build_id_layout.filename, size;

	while (pb_cursor_left(&c)) {
		const uint8_t *entry = take_build_id_entry(&c, at, &size);

		if (entry && size - at >= sizeof(late) &&
		    !memcmp(entry + at, late, sizeof(late)))
			return true;
	}
	return false;
}

static void feed_build_id(struct pd_sink *sink, const uint8_t *entry, uint32_t size,
			  const struct build_id_layout *at, bool swap)
{
	unsigned misc = pb_load16(entry + 4, swap), mode = misc & PD_MISC_CPUMODE;
	uint32_t id_size = BUILD_ID_SIZE;
	struct pd_text name = pd_text_in(entry + at->filename, size - at->filename);
	const char *cpumode = pd_cpumode_name(mode);
	int32_t pid;

	if (at->size && (misc & PD_MISC_BUILD_ID_SIZE) && entry[at->size] < BUILD_ID_SIZE)
		id_size = entry[at->size];
	if (at->pid)
		pid = (int32_t)pb_load32(entry + at->pid, swap);
	else
		pid = mode == PD_CPUMODE_GUEST_KERNEL || mode == PD_CPUMODE_GUEST_USER ? 0 : -1;

	pd_sink_begin(sink, NULL, false);
	pd_sink_hex(sink, "build_id", entry + at->id, id_size);
	pd_sink_str(sink, "filename", name.p, name.n);
	pd_sink_int(sink, "pid", pid);
	pd_sink_str(sink, "cpumode", cpumode, strlen(cpumode));
	pd_sink_end(sink);
}

bool pd_decode_build_id(struct pb_cursor *c, const struct pd_feature_context *ctx,
			struct pd_sink *sink)
{
	const struct build_id_layout *at = &build_id_layout;
	const uint8_t *entry;
	uint32_t size;

	(void)ctx;
	if (pd_build_ids_are_old(*c))
		at = &old_build_id_layout;
	pd_sink_begin(sink, NULL, true);
	while (pb_cursor_left(c)) {
		entry = take_build_id_entry(c, at->filename, &size);
		if (entry)
			feed_build_id(sink, entry, size, at, c->swap);
	}
	pd_sink_end(sink);
	return !c->failed;
}

/*
 * Features about events: descriptions, PMUs, groups. They are decoded for scripts and walked
 * for perflua itself. See write_event_desc, write_pmu_mappings, write_group_desc,
 * tools/perf/util/header.c.
 */

struct event_desc {
	const uint8_t *attr;
	uint32_t n_ids;
	struct pd_text name;
	const uint8_t *ids;
};

/* bytes of the smallest entry: an attr, the number of ids, an empty name */
#define EVENT_DESC_MIN(attr_size) ((size_t)(attr_size) + 4 + 4)

/* Returns the number of entries and sets *attr_size to the bytes of each entry's attr. */
static uint32_t begin_event_desc(struct pb_cursor *c, uint32_t *attr_size)
{
	uint32_t n = pb_take32(c);

	*attr_size = pb_take32(c);
	if (*attr_size < PD_ATTR_MIN || n > pb_cursor_left(c) / EVENT_DESC_MIN(*attr_size))
		pb_cursor_fail(c, "an impossible count or attr size");
	return n;
}

static bool take_event_desc(struct pb_cursor *c, uint32_t attr_size, struct event_desc *desc)
{
	desc->attr = pb_take(c, attr_size);
	desc->n_ids = pb_take32(c);
	desc->name = pd_take_string(c);
	desc->ids = pb_take(c, (uint64_t)desc->n_ids * 8);
	return !c->failed;
}

static void feed_attr(struct pd_sink *sink, const struct pd_attr *attr)
{
	struct pd_value value;

	pd_sink_begin(sink, "attr", false);
	for (unsigned m = 0; pd_attr_members[m].name; m++) {
		pd_attr_member(attr, m, &value);
		if (value.type == PD_NIL)
			continue;
		pd_sink_key(sink, pd_attr_members[m].name);
		sink->value(sink, &value);
	}
	pd_sink_end(sink);
}

bool pd_decode_event_desc(struct pb_cursor *c, const struct pd_feature_context *ctx,
			  struct pd_sink *sink)
{
	uint32_t attr_size, n = begin_event_desc(c, &attr_size);
	bool big = ctx->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	struct event_desc desc;
	struct pd_attr attr;

	pd_sink_begin(sink, NULL, true);
	for (uint32_t i = 0; i < n && take_event_desc(c, attr_size, &desc); i++) {
		if (!pd_attr_parse(&attr, desc.attr, attr_size, c->swap, big))
			pb_cursor_fail(c, "no attr");
		pd_sink_begin(sink, NULL, false);
		pd_sink_str(sink, "name", desc.name.p, desc.name.n);
		pd_sink_begin(sink, "ids", true);
		for (uint32_t k = 0; k < desc.n_ids; k++)
			pd_sink_uint(sink, NULL, pb_load64(desc.ids + 8 * (size_t)k, c->swap));
		pd_sink_end(sink);
		feed_attr(sink, &attr);
		pd_sink_end(sink);
	}
	pd_sink_end(sink);
	return !c->failed;
}

bool pd_feature_event_desc(struct pb_cursor *c, pd_event_desc_fn *fn, void *arg)
{
	uint32_t attr_size, n = begin_event_desc(c, &attr_size);
	struct event_desc desc;

	for (uint32_t i = 0; i < n && take_event_desc(c, attr_size, &desc); i++)
		fn(arg, i, desc.name);
	return !c->failed;
}

static void feed_pmu(void *arg, uint32_t type, struct pd_text name)
{
	struct pd_sink *sink = arg;

	sink->key(sink, name.p, name.n);
	pd_sink_uint(sink, NULL, type);
}

bool pd_decode_pmu_mappings(struct pb_cursor *c, const struct pd_feature_context *ctx,
			    struct pd_sink *sink)
{
	(void)ctx;
	pd_sink_begin(sink, NULL, false);
	pd_feature_pmu_mappings(c, feed_pmu, sink);
	pd_sink_end(sink);
	return !c->failed;
}

bool pd_feature_pmu_mappings(struct pb_cursor *c, pd_pmu_fn *fn, void *arg)
{
	uint32_t n = pd_take_count(c, 8);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t type = pb_take32(c);
		struct pd_text name = pd_take_string(c);

		if (c->failed)
			break;
		fn(arg, type, name);
	}
	return !c->failed;
}

bool pd_feature_group_desc(struct pb_cursor *c, pd_group_fn *fn, void *arg)
{
	uint32_t n = pd_take_count(c, 12);

	for (uint32_t i = 0; i < n; i++) {
		struct pd_text name = pd_take_string(c);
		uint32_t leader = pb_take32(c), members = pb_take32(c);

		if (c->failed)
			break;
		fn(arg, leader, members, name);
	}
	return !c->failed;
}

/*
 * Features about CPUs and memory whose layout depends on other features or on the number of
 * bytes left. See process_cpu_topology, process_mem_topology, process_cpu_domain_info,
 * tools/perf/util/header.c.
 */

/* blocks of all nodes together, at most: 1 PB in blocks of 256 MB */
#define MAX_BLOCKS (UINT64_C(1) << 22)

static const struct pd_layout_row string = { NULL, PD_L_STRING, NULL };
static const struct pd_layout_row strings = { NULL, PD_L_LIST32, &string };

static void feed_cpus(struct pd_sink *sink, const uint8_t *ids, const uint8_t *dies, uint32_t n,
		      bool swap)
{
	pd_sink_begin(sink, "cpus", true);
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *at = ids + 8 * (size_t)i;

		pd_sink_begin(sink, NULL, false);
		pd_sink_uint(sink, "cpu", i);
		pd_sink_int(sink, "core_id", (int32_t)pb_load32(at, swap));
		if (dies)
			pd_sink_int(sink, "die_id",
				    (int32_t)pb_load32(dies + 4 * (size_t)i, swap));
		pd_sink_int(sink, "socket_id", (int32_t)pb_load32(at + 4, swap));
		pd_sink_end(sink);
	}
	pd_sink_end(sink);
}

/*
 * There are three revisions, each of which adds to the one before: lists of CPUs per socket and
 * per core; core and socket of each available CPU; a list of CPUs per die and the die of each
 * CPU. Only the number of bytes left tells them apart.
 */
bool pd_decode_cpu_topology(struct pb_cursor *c, const struct pd_feature_context *ctx,
			    struct pd_sink *sink)
{
	const uint8_t *ids = NULL, *dies = NULL;
	uint64_t n = ctx->nr_cpus_avail;

	pd_sink_begin(sink, NULL, false);
	pd_decode_row(c, sink, "cores", &strings);
	pd_decode_row(c, sink, "threads", &strings);
	if (n && pb_cursor_left(c)) {
		ids = pb_take(c, n * 8);
		if (pb_cursor_left(c)) {
			pd_decode_row(c, sink, "dies", &strings);
			dies = pb_take(c, n * 4);
		}
	}
	if (ids && !c->failed)
		feed_cpus(sink, ids, dies, (uint32_t)n, c->swap);
	pd_sink_end(sink);
	return !c->failed;
}

/* Feeds the numbers of the bits that are set, and subtracts them from *budget. */
static void feed_blocks(struct pb_cursor *c, struct pd_sink *sink, uint64_t bits,
			uint64_t *budget)
{
	uint64_t n_words = bits / 64 + (bits % 64 != 0);
	const uint8_t *words = NULL;

	if (n_words <= pb_cursor_left(c) / 8)
		words = pb_take(c, n_words * 8);
	if (!words) {
		pb_cursor_fail(c, "a bitmap that does not fit");
		return;
	}
	pd_sink_begin(sink, "blocks", true);
	for (uint64_t i = 0; i < n_words; i++) {
		uint64_t word = pb_load64(words + 8 * i, c->swap);

		for (; word && *budget; word &= word - 1, --*budget)
			pd_sink_uint(sink, NULL, 64 * i + (uint64_t)__builtin_ctzll(word));
		if (word)
			pb_cursor_fail(c, "more blocks than memory can have");
	}
	pd_sink_end(sink);
}

bool pd_decode_mem_topology(struct pb_cursor *c, const struct pd_feature_context *ctx,
			    struct pd_sink *sink)
{
	uint64_t version = pb_take64(c), block_size = pb_take64(c), n = pb_take64(c);
	uint64_t budget = MAX_BLOCKS;

	(void)ctx;
	if (version != 1 || n > pb_cursor_left(c) / 24)
		return false;
	pd_sink_begin(sink, NULL, false);
	pd_sink_uint(sink, "block_size", block_size);
	pd_sink_begin(sink, "nodes", true);
	for (uint64_t i = 0; i < n && !c->failed; i++) {
		uint64_t node = pb_take64(c), bits;

		/* the size of the bitmap comes twice: the node's, and the bitmap's own */
		pb_take64(c);
		bits = pb_take64(c);
		pd_sink_begin(sink, NULL, false);
		pd_sink_uint(sink, "node", node);
		feed_blocks(c, sink, bits, &budget);
		pd_sink_end(sink);
	}
	pd_sink_end(sink);
	pd_sink_end(sink);
	return !c->failed;
}

static const struct pd_layout_row unnamed_domain_members[] = {
	{ "domain", PD_L_U32, NULL },
	{ "cpumask", PD_L_STRING, NULL },
	{ "cpulist", PD_L_STRING, NULL },
	{ 0 },
};
static const struct pd_layout_row named_domain_members[] = {
	{ "domain", PD_L_U32, NULL },
	{ "name", PD_L_STRING, NULL },
	{ "cpumask", PD_L_STRING, NULL },
	{ "cpulist", PD_L_STRING, NULL },
	{ 0 },
};
static const struct pd_layout_row unnamed_domain = { NULL, PD_L_STRUCT,
						     unnamed_domain_members };
static const struct pd_layout_row named_domain = { NULL, PD_L_STRUCT, named_domain_members };

#define NAMED_DOMAINS_SINCE 17 /* version of /proc/schedstat */

static const struct pd_layout_row domain_cpu_members[2][3] = {
	{ { "cpu", PD_L_U32, NULL }, { "domains", PD_L_LIST32, &unnamed_domain }, { 0 } },
	{ { "cpu", PD_L_U32, NULL }, { "domains", PD_L_LIST32, &named_domain }, { 0 } },
};

bool pd_decode_cpu_domain_info(struct pb_cursor *c, const struct pd_feature_context *ctx,
			       struct pd_sink *sink)
{
	uint32_t version = pb_take32(c), n = ctx->nr_cpus_online;
	struct pd_layout_row cpu = { NULL, PD_L_STRUCT,
				     domain_cpu_members[version >= NAMED_DOMAINS_SINCE] };

	pd_sink_begin(sink, NULL, false);
	pd_sink_uint(sink, "schedstat_version", version);
	pd_sink_uint(sink, "max_domains", pb_take32(c));
	pd_sink_begin(sink, "cpus", true);
	/*
	 * the number of CPUs is not stored: it is that of NRCPUS, or as many as there are bytes
	 * for
	 */
	for (uint32_t i = 0; n ? i < n : pb_cursor_left(c) > 0; i++)
		if (!pd_decode_row(c, sink, NULL, &cpu))
			break;
	pd_sink_end(sink);
	pd_sink_end(sink);
	return !c->failed;
}
