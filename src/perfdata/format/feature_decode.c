#include "feature_decode.h"

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

static void decode_pairs(struct pb_cursor *c, struct pd_sink *sink, const char *key)
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
		decode_pairs(c, sink, key);
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
