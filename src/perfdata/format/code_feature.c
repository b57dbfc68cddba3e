/*
 * Codes header features by their layouts, and the table of build-ids as records.
 */
#include <stdio.h>

#include "coder.h"
#include "feature.h"
#include "fields.h"
#include "format.h"

#define NAME_ALIGN 64 /* perf pads strings with zeros: see do_write_string() */
#define HEADER	   8

static void code_row(struct pd_coder *c, const char *key, const struct pd_layout_row *row);

/* Codes a string, whose padded size comes before it. */
static void code_string(struct pd_coder *c, const char *key)
{
	uint32_t at = c->at, end;

	if (!c->encodes) {
		pd_code_chars(c, key, (uint32_t)pd_code_load(c, 4));
		return;
	}
	pd_code_pad(c, 4);
	pd_code_text(c, key, at + 4, NAME_ALIGN);
	end = c->at;
	c->at = at;
	pd_code_store(c, 4, end - at - 4);
	c->at = end;
}

static void code_struct(struct pd_coder *c, const char *key,
			const struct pd_layout_row *members)
{
	pd_code_begin(c, key);
	for (const struct pd_layout_row *row = members; row->kind && !c->failed; row++)
		code_row(c, row->key, row);
	pd_code_end(c);
}

static void code_list(struct pd_coder *c, const char *key, const struct pd_layout_row *item,
		      uint32_t width)
{
	uint32_t n = pd_code_count(c, key, width, 4);

	for (uint32_t i = 0; i < n && !c->failed; i++)
		code_row(c, NULL, item);
	pd_code_end(c);
}

/* Codes pairs of strings, each as a list of two. */
static void code_pairs(struct pd_coder *c, const char *key)
{
	uint32_t n = pd_code_count(c, key, 4, 8);

	for (uint32_t i = 0; i < n && !c->failed; i++) {
		pd_code_begin(c, NULL);
		code_string(c, NULL);
		code_string(c, NULL);
		pd_code_end(c);
	}
	pd_code_end(c);
}

static void code_row(struct pd_coder *c, const char *key, const struct pd_layout_row *row)
{
	switch (row->kind) {
	case PD_L_U32:
	case PD_L_INDEX:
		pd_code_int(c, key, 4, PD_AS_UINT);
		break;
	case PD_L_S32:
		pd_code_int(c, key, 4, PD_AS_INT);
		break;
	case PD_L_U64:
		pd_code_int(c, key, 8, PD_AS_UINT);
		break;
	case PD_L_STRING:
		code_string(c, key);
		break;
	case PD_L_STRUCT:
		code_struct(c, key, row->of);
		break;
	case PD_L_LIST32:
		code_list(c, key, row->of, 4);
		break;
	case PD_L_LIST64:
		code_list(c, key, row->of, 8);
		break;
	case PD_L_PAIRS:
		code_pairs(c, key);
		break;
	case PD_L_BLOB:
		pd_code_sized(c, key, 4);
		break;
	case PD_L_SIZE: /* that of the blob */
	case PD_L_END:
		break;
	}
}

/* Codes an entry of the table of build-ids: a record without a type. */
static void code_build_id(struct pd_coder *c)
{
	const struct pd_record_desc *desc = pd_record_desc(PD_RECORD_BUILD_ID);
	uint32_t start = c->at, end = c->end, size;

	pd_code_begin(c, NULL);
	c->base = start;
	if (!c->encodes) {
		c->misc = (uint16_t)pd_code_peek(c, start + 4, 2);
		size = (uint32_t)pd_code_peek(c, start + 6, 2);
		if (size < HEADER || size > end - start || pd_code_peek(c, start, 4))
			c->failed = true;
		else
			c->end = start + size;
	} else {
		c->misc = 0;
		pd_code_pad(c, HEADER);
	}
	c->most = start + HEADER;
	pd_code_misc(c, desc);
	pd_code_fields(c, desc);
	pd_code_tail(c, 0);
	if (c->encodes) {
		size = c->at - start;
		c->at = start + 4;
		pd_code_store(c, 2, c->misc);
		pd_code_store(c, 2, size);
		c->at = c->most = start + size;
	}
	c->end = end;
	pd_code_end(c);
}

static void code_build_ids(struct pd_coder *c)
{
	pd_code_begin(c, "value");
	while (!c->failed && (c->encodes ? pd_code_next(c) != NULL : c->at < c->end))
		code_build_id(c);
	pd_code_end(c);
}

/* Codes the number of ids, the name, and the ids after it. */
static void code_ids_after_name(struct pd_coder *c)
{
	uint32_t n, at = c->at, end;

	if (!c->encodes) {
		n = (uint32_t)pd_code_load(c, 4);
		code_string(c, "name");
		end = c->end;
		if (c->failed || n > (end - c->at) / 8) {
			c->failed = true;
			return;
		}
		c->end = c->at + 8 * n;
		n = pd_code_count(c, "ids", 0, 8);
	} else {
		pd_code_pad(c, 4);
		code_string(c, "name");
		end = 0;
		n = pd_code_count(c, "ids", 0, 8);
	}
	for (uint32_t i = 0; i < n; i++)
		pd_code_int(c, NULL, 8, PD_AS_UINT);
	pd_code_end(c);
	if (!c->encodes) {
		c->end = end;
		return;
	}
	end = c->at;
	c->at = at;
	pd_code_store(c, 4, n);
	c->at = end;
}

/* Codes the descriptions of events: their number, the size of an attr, then each. */
static void code_event_desc(struct pd_coder *c)
{
	uint32_t n = c->encodes ? 0 : (uint32_t)pd_code_load(c, 4), at = c->at, size;

	pd_code_begin(c, "value");
	if (c->encodes)
		pd_code_pad(c, 4);
	size = (uint32_t)pd_code_int(c, "attr_size", 4, PD_AS_UINT);
	if (size < PD_ATTR_MIN || size > UINT16_MAX) {
		pd_code_fail(c, pd_code_find(c, "attr_size"), "attr_size",
			     "a size from 64 to 65535 bytes");
		n = 0;
	}
	for (uint32_t i = 0; !c->failed && (c->encodes ? pd_code_next(c) != NULL : i < n);
	     i++) {
		pd_code_begin(c, NULL);
		pd_code_attr(c, "attr", size);
		code_ids_after_name(c);
		pd_code_end(c);
		n = c->encodes ? i + 1 : n;
	}
	pd_code_end(c);
	if (c->encodes) {
		size = c->at;
		c->at = at;
		pd_code_store(c, 4, n);
		c->at = size;
	}
}

uint64_t pd_code_feature_bit(struct pd_coder *c, const char *key, uint64_t bit)
{
	const struct pd_feature *feature;
	struct pd_node *node;
	char name[32];

	if (!c->encodes) {
		feature = bit < PD_FEATURES ? pd_feature_by_bit((unsigned)bit) : NULL;
		if (feature)
			pd_code_name(c, key, feature->name);
		else
			pd_code_value(c, key, bit, 8, PD_AS_UINT);
		return bit;
	}
	node = pd_code_find(c, key);
	if (!node || node->kind != PD_N_BYTES)
		return pd_code_value(c, key, 0, 8, PD_AS_UINT);
	node->used = true;
	snprintf(name, sizeof(name), "%.*s", (int)(node->s.n < 31 ? node->s.n : 31), node->s.p);
	feature = pd_feature_by_name(name);
	if (!feature)
		pd_code_fail(c, node, key, "the name of a header feature, or its number");
	return feature ? feature->bit : 0;
}

void pd_code_feature(struct pd_coder *c, const struct pd_feature *feature)
{
	bool is_known = feature && (feature->layout || feature->bit == PD_FEATURE_BUILD_ID ||
				    feature->bit == PD_FEATURE_EVENT_DESC);

	if (c->encodes)
		is_known = is_known && pd_code_find(c, "value");
	else if (c->is_raw)
		is_known = false;
	if (!is_known) {
		pd_code_rest(c, "bytes");
		return;
	}
	if (feature->bit == PD_FEATURE_BUILD_ID || feature->bit == PD_FEATURE_EVENT_DESC) {
		if (feature->bit == PD_FEATURE_BUILD_ID)
			code_build_ids(c);
		else
			code_event_desc(c);
		return;
	}
	if (feature->versioned && c->encodes)
		pd_code_store(c, 4, 1);
	else if (feature->versioned && pd_code_load(c, 4) != 1)
		c->failed = true;
	code_row(c, "value", feature->layout);
}
