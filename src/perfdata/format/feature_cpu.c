/*
 * Features about CPUs and memory whose layout depends on other features or on the number of
 * bytes left. See process_cpu_topology, process_mem_topology, process_cpu_domain_info,
 * tools/perf/util/header.c.
 */
#include "feature_decode.h"

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
