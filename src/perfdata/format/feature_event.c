/*
 * Features about events: descriptions, PMUs, groups. They are decoded for scripts and walked
 * for perflua itself. See write_event_desc, write_pmu_mappings, write_group_desc,
 * tools/perf/util/header.c.
 */
#include "attr.h"
#include "feature_decode.h"

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
	struct event_desc desc;
	struct pd_attr attr;

	pd_sink_begin(sink, NULL, true);
	for (uint32_t i = 0; i < n && take_event_desc(c, attr_size, &desc); i++) {
		if (!pd_attr_parse(&attr, desc.attr, attr_size, c->swap, pd_is_big(ctx->swap)))
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
