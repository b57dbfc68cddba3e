/*
 * Codes records by the tables of their fields: plain loads by kind and offset, composite fields
 * by the code of their row or view.
 */
#include <stdio.h>

#include "coder.h"
#include "fields.h"
#include "rows.h"
#include "sample.h"
#include "views.h"

#define HEADER 8

static void code_field(struct pd_coder *c, const struct pd_field *field)
{
	static const struct {
		uint8_t width, shown;
	} loads[] = {
		[PD_K_U8] = { 1, PD_AS_UINT },	  [PD_K_U16] = { 2, PD_AS_UINT },
		[PD_K_U32] = { 4, PD_AS_UINT },	  [PD_K_S32] = { 4, PD_AS_INT },
		[PD_K_X32] = { 4, PD_AS_HEX },	  [PD_K_U64] = { 8, PD_AS_UINT },
		[PD_K_S64] = { 8, PD_AS_INT },	  [PD_K_X64] = { 8, PD_AS_HEX },
		[PD_K_BOOL8] = { 1, PD_AS_UINT },
	};

	switch (field->kind) {
	case PD_K_F64:
		pd_code_float(c, field->name);
		break;
	case PD_K_CSTR: /* perf pads the names of build-ids by themselves */
		if (field->arg)
			pd_code_text(c, field->name, c->at, field->arg);
		else
			pd_code_text(c, field->name, c->base, 8);
		break;
	case PD_K_CHARS:
		pd_code_chars(c, field->name, field->arg);
		break;
	case PD_K_HEX:
		pd_code_bytes(c, field->name, field->arg);
		break;
	case PD_K_VIEW:
		field->view->code(c, field->name);
		break;
	case PD_K_COMPUTE:
		field->code(c, field);
		break;
	default:
		pd_code_int(c, field->name, loads[field->kind].width, loads[field->kind].shown);
	}
}

/* Returns whether bytes of a record are the field's own. */
static bool has_bytes(const struct pd_field *field)
{
	switch (field->kind) {
	case PD_K_NONE:
	case PD_K_FLAG:
	case PD_K_SYSTEM:
		return false;
	case PD_K_VIEW:
		return field->view->code && !field->derived;
	case PD_K_COMPUTE:
		return field->code != NULL;
	default:
		return !field->derived;
	}
}

/* Returns whether a record ends before a plain load, which older recorders did not write. */
static bool ends_before(struct pd_coder *c, const struct pd_field *field)
{
	if (field->kind == PD_K_VIEW || field->kind == PD_K_COMPUTE || field->kind == PD_K_CSTR)
		return false;
	return c->encodes ? !pd_code_find(c, field->name) : c->base + field->at >= c->end;
}

void pd_code_fields(struct pd_coder *c, const struct pd_record_desc *desc)
{
	uint32_t least = c->base + desc->extent.fixed;

	for (const struct pd_field *field = desc->fields; field->name; field++) {
		if (!has_bytes(field) || ends_before(c, field))
			continue;
		c->at = c->base + field->at;
		code_field(c, field);
	}
	c->at = c->most > c->base + HEADER ? c->most : c->base + HEADER;
	if (c->encodes && c->at < least)
		pd_code_zeros(c, least - c->at);
	else if (!c->encodes && c->at < least && least <= c->end)
		c->at = least;
}

static void code_cpumode(struct pd_coder *c, uint16_t *left)
{
	unsigned mode = *left & PD_MISC_CPUMODE;
	struct pd_node *node;

	if (c->encodes) {
		node = pd_code_find(c, "cpumode");
		if (!node)
			return;
		node->used = true;
		for (mode = PD_CPUMODE_KERNEL; mode <= PD_CPUMODE_GUEST_USER; mode++)
			if (node->kind == PD_N_BYTES && pd_node_is(node, pd_cpumode_name(mode)))
				*left = (uint16_t)(*left | mode);
		if (!(*left & PD_MISC_CPUMODE))
			pd_code_fail(c, node, "cpumode",
				     "\"kernel\", \"user\", \"hypervisor\", \"guest_kernel\" "
				     "or \"guest_user\"");
	} else if (mode && mode <= PD_CPUMODE_GUEST_USER) {
		pd_code_name(c, "cpumode", pd_cpumode_name(mode));
		*left = (uint16_t)(*left & ~PD_MISC_CPUMODE);
	}
}

void pd_code_misc(struct pd_coder *c, const struct pd_record_desc *desc)
{
	uint16_t left = c->misc;

	code_cpumode(c, &left);
	for (const struct pd_field *field = desc->fields; field->name; field++) {
		uint16_t bit;

		if (field->kind != PD_K_FLAG)
			continue;
		bit = (uint16_t)(1u << field->arg);
		if (c->encodes && pd_code_find(c, field->name)) {
			left = (uint16_t)(left |
					  (pd_code_bool(c, field->name, false) ? bit : 0));
		} else if (!c->encodes && left & bit) {
			pd_code_bool(c, field->name, true);
			left = (uint16_t)(left & ~bit);
		}
	}
	if (c->encodes)
		c->misc = (uint16_t)(left | pd_code_value(c, "misc", 0, 2, PD_AS_HEX));
	else if (left)
		pd_code_value(c, "misc", left, 2, PD_AS_HEX);
}

/* Codes the id of a sample, which it may have in two parts. */
static void code_id(struct pd_coder *c, enum pd_part part)
{
	bool twice = pd_part_present(c->shape, PD_PART_IDENTIFIER) && part == PD_PART_ID;

	if (c->encodes && !pd_code_find(c, "id"))
		pd_code_store(c, 8, c->default_id);
	else if (!c->encodes && twice)
		pd_code_load(c, 8);
	else
		pd_code_int(c, "id", 8, PD_AS_UINT);
}

static void code_part(struct pd_coder *c, enum pd_part part)
{
	uint32_t start = c->at, fixed = pd_part_fixed(c->shape, part);
	const struct pd_field *field = pd_sample_fields;

	if (part == PD_PART_ID || part == PD_PART_IDENTIFIER) {
		code_id(c, part);
		return;
	}
	for (; field->name; field++) {
		if (field->part != part || !has_bytes(field))
			continue;
		c->at = start + field->at;
		code_field(c, field);
	}
	if (part == PD_PART_READ || !fixed)
		return;
	c->at = start;
	if (c->encodes)
		pd_code_zeros(c, fixed);
	else
		c->at += fixed;
}

static void code_sample(struct pd_coder *c)
{
	for (unsigned part = 1; part < PD_PARTS; part++)
		if (pd_part_present(c->shape, (enum pd_part)part))
			code_part(c, (enum pd_part)part);
}

void pd_code_tail(struct pd_coder *c, uint32_t padding)
{
	uint32_t start = c->at;
	bool is_plain = true;

	if (c->encodes) {
		if (pd_code_find(c, "tail"))
			pd_code_rest(c, "tail");
		else
			pd_code_zeros(c, padding);
		return;
	}
	for (uint32_t at = start; at < c->end; at++)
		is_plain = is_plain && !c->bytes[at];
	if (start > c->end || c->end - start != padding || !is_plain)
		pd_code_rest(c, "tail");
}

/* Codes the sample_id, which is zero in records that perf made up. */
static void code_trailer(struct pd_coder *c, uint32_t size)
{
	bool is_zero = true;

	if (!c->encodes) {
		c->at = c->end;
		c->end += size;
		for (uint32_t i = 0; i < size; i++)
			is_zero = is_zero && !c->bytes[c->at + i];
		if (!is_zero)
			pd_view_sample_id.code(c, "sample_id");
	} else if (pd_code_find(c, "sample_id")) {
		pd_view_sample_id.code(c, "sample_id");
	} else {
		pd_code_zeros(c, size);
	}
}

/* Writes the header, now that the size is known. */
static void put_header(struct pd_coder *c, uint32_t type)
{
	uint32_t size = c->at;
	char found[40];
	bool is_long = type - PD_RECORD_SIMPLEPERF < PD_SIMPLEPERF_TYPES;

	if (size > UINT16_MAX && !is_long) {
		snprintf(found, sizeof(found), "a record of %u bytes", size);
		pd_code_fail_found(c, NULL, NULL, found, "at most 65535");
		return;
	}
	if (size > UINT16_MAX)
		c->misc = (uint16_t)(size >> 16);
	c->at = 0;
	pd_code_store(c, 4, type);
	pd_code_store(c, 2, c->misc);
	pd_code_store(c, 2, size & UINT16_MAX);
	c->at = size;
}

/* Encodes a record of which only the bytes are known. */
static void encode_bytes(struct pd_coder *c, uint32_t type)
{
	c->misc = (uint16_t)pd_code_value(c, "misc", 0, 2, PD_AS_HEX);
	c->at = HEADER;
	pd_code_rest(c, "bytes");
	put_header(c, type);
}

void pd_code_unknown(struct pd_coder *c, uint32_t type)
{
	if (c->encodes) {
		encode_bytes(c, type);
		return;
	}
	if (c->misc)
		pd_code_value(c, "misc", c->misc, 2, PD_AS_HEX);
	pd_code_rest(c, "bytes");
}

void pd_code_record(struct pd_coder *c, const struct pd_record_desc *desc)
{
	uint32_t trailer = desc->trailer ? pd_trailer_size(c->shape) : 0;

	if (c->encodes && pd_code_find(c, "bytes")) {
		encode_bytes(c, desc->type);
		return;
	}
	if (!c->encodes && (c->end < HEADER + trailer || c->shape->unknown)) {
		c->failed = true;
		return;
	}
	pd_code_misc(c, desc);
	c->at = c->most = HEADER;
	c->end -= c->encodes ? 0 : trailer;
	if (desc->type == PD_RECORD_SAMPLE)
		code_sample(c);
	else
		pd_code_fields(c, desc);
	pd_code_tail(c, desc->type < PD_RECORD_USER ? -c->at & 7 : 0);
	if (trailer)
		code_trailer(c, trailer);
	if (c->encodes && !c->failed)
		put_header(c, desc->type);
}
