/*
 * Reads the fields of a tracepoint from the raw data of a sample. All bytes that are read lie
 * in that.
 */
#include <arpa/inet.h>
#include <stdio.h>

#include "tracepoint.h"
#include "perfdata/format/views.h"

#define MAX_BITS 8192 /* bits of a bitmask; no kernel has more processors */

bool pd_args_raw(const struct pd_record *rec, const uint8_t **p, uint32_t *n)
{
	uint32_t at = rec->layout->parts[PD_PART_RAW], size = 0, raw;

	if (at && at <= rec->size)
		size = rec->size - at; /* its offset is the same in all samples of the layout */
	else if (!pd_part_find(rec, PD_PART_RAW, &at, &size))
		return false;
	if (size < 4)
		return false;
	raw = pd_rec32(rec, at);
	if (raw > size - 4)
		return false;
	*p = rec->bytes + at + 4;
	*n = raw;
	return true;
}

/* Finds the bytes that a descriptor at field->offset refers to. */
static bool find_dynamic(const struct pd_tracepoint_field *field, const uint8_t *raw,
			 uint32_t size, bool swap, uint32_t *at, uint32_t *n)
{
	uint32_t word, start;

	if (field->offset > size || size - field->offset < 4)
		return false;
	word = pb_load32(raw + field->offset, swap);
	start = word & 0xffff;
	if (field->storage == PD_ARG_REL)
		start += field->offset + 4;
	*at = start;
	*n = word >> 16;
	return start <= size && *n <= size - start;
}

static bool find_short(const struct pd_tracepoint_field *field, const uint8_t *raw,
		       uint32_t size, bool swap, uint32_t *at, uint32_t *n)
{
	if (field->offset > size || size - field->offset < 2)
		return false;
	*at = pb_load16(raw + field->offset, swap);
	*n = *at <= size ? size - *at : 0;
	return *at <= size;
}

bool pd_args_find(const struct pd_tracepoint *tracepoint,
		  const struct pd_tracepoint_field *field, const uint8_t *raw, uint32_t size,
		  uint32_t *at, uint32_t *n)
{
	*at = field->offset;
	*n = field->size;
	switch ((enum pd_arg_storage)field->storage) {
	case PD_ARG_DATA:
	case PD_ARG_REL:
		return find_dynamic(field, raw, size, tracepoint->swap, at, n);
	case PD_ARG_SHORT:
		return find_short(field, raw, size, tracepoint->swap, at, n);
	case PD_ARG_REST:
		*n = *at <= size ? size - *at : 0;
		break;
	case PD_ARG_FIXED:
		break;
	}
	return *at <= size && *n <= size - *at;
}

static void set_arg_integer(const struct pd_tracepoint_field *field, const uint8_t *p,
			    uint32_t n, bool swap, struct pd_value *out)
{
	uint64_t v = pb_load_bytes(p, n, swap);
	unsigned unused = 64 - 8 * n;

	if (field->is_signed)
		pd_set_int(out, (int64_t)(v << unused) >> unused);
	else
		pd_set_uint(out, field->kind == PD_ARG_POINTER ? PD_ADDR : PD_UINT, v);
}

/*
 * Writes a socket's address as "%pISpc" of the kernel's printk does
 * (Documentation/core-api/printk-formats.rst); for unknown families *out is its bytes.
 */
static void set_sockaddr(const uint8_t *p, uint32_t n, bool swap, struct pd_value *out)
{
	enum {
		UNIX = 1,
		INET = 2,
		INET6 = 10
	}; /* AF_… values of nearly all architectures */
	unsigned family = n >= 2 ? pb_load16(p, swap) : 0;
	char address[INET6_ADDRSTRLEN];
	unsigned port = n >= 4 ? (unsigned)p[2] << 8 | p[3] : 0;
	int length = -1;

	if (family == INET && n >= 8)
		length = snprintf(out->text, sizeof(out->text), "%u.%u.%u.%u:%u", p[4], p[5],
				  p[6], p[7], port);
	else if (family == INET6 && n >= 24 &&
		 inet_ntop(AF_INET6, p + 8, address, sizeof(address)))
		length = snprintf(out->text, sizeof(out->text), "[%s]:%u", address, port);
	if (length > 0)
		pd_set_bytes(out, PD_STR, out->text, (size_t)length);
	else if (family == UNIX)
		pd_set_text(out, p + 2, n - 2);
	else
		pd_set_bytes(out, PD_BLOB, p, n);
}

static uint64_t load_long(const struct pd_view *view, uint32_t i)
{
	const struct pd_tracepoint_field *field = (const void *)(uintptr_t)view->extra;

	return pb_load_bytes(view->rec->bytes + view->at + i * field->element, field->element,
			     pd_tracepoint_of_record(view->rec)->swap);
}

static uint32_t count_bits(const struct pd_view *view, uint32_t longs)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < longs; i++)
		n += (uint32_t)__builtin_popcountll(load_long(view, i));
	return n;
}

static void set_items(const struct pd_record *rec, const struct pd_tracepoint_field *field,
		      const uint8_t *p, uint32_t n, struct pd_value *out)
{
	if (field->kind == PD_ARG_BITS && n > MAX_BITS / 8) {
		pd_set_bytes(out, PD_BLOB, p, n);
		return;
	}
	out->type = PD_VIEW;
	out->view = (struct pd_view){
		.desc = &pd_view_array,
		.rec = rec,
		.at = (uint32_t)(p - rec->bytes),
		.count = n / field->element,
		.extra = (uintptr_t)field,
	};
	if (field->kind == PD_ARG_BITS)
		out->view.count = count_bits(&out->view, out->view.count);
}

void pd_args_get(const struct pd_record *rec, const struct pd_tracepoint_field *field,
		 const uint8_t *raw, uint32_t size, struct pd_value *out)
{
	const struct pd_tracepoint *tracepoint = pd_tracepoint_of_record(rec);
	uint32_t at, n;

	out->type = PD_NIL;
	if (!pd_args_find(tracepoint, field, raw, size, &at, &n))
		return;
	switch ((enum pd_arg_kind)field->kind) {
	case PD_ARG_INT:
	case PD_ARG_POINTER:
		set_arg_integer(field, raw + at, n, tracepoint->swap, out);
		break;
	case PD_ARG_TEXT:
		pd_set_text(out, raw + at, n);
		break;
	case PD_ARG_LIST:
	case PD_ARG_BITS:
		set_items(rec, field, raw + at, n, out);
		break;
	case PD_ARG_SOCKADDR:
		set_sockaddr(raw + at, n, tracepoint->swap, out);
		break;
	case PD_ARG_BYTES:
		pd_set_bytes(out, PD_BLOB, raw + at, n);
		break;
	}
}

enum pd_type pd_arg_type(const struct pd_tracepoint_field *field)
{
	switch ((enum pd_arg_kind)field->kind) {
	case PD_ARG_INT:
		return field->is_signed ? PD_INT : PD_UINT;
	case PD_ARG_POINTER:
		return PD_ADDR;
	case PD_ARG_LIST:
	case PD_ARG_BITS:
		return PD_VIEW;
	case PD_ARG_BYTES:
		return PD_BLOB;
	case PD_ARG_TEXT:
	case PD_ARG_SOCKADDR:
		break;
	}
	return PD_STR;
}

/*
 * Sets *out to item `i` of a list, or to the number of the i-th bit that is set in a bitmask.
 */
static void get_array_item(const struct pd_view *view, uint32_t i, unsigned m,
			   struct pd_value *out)
{
	const struct pd_tracepoint_field *field = (const void *)(uintptr_t)view->extra;

	(void)m;
	if (field->kind != PD_ARG_BITS) {
		set_arg_integer(field, view->rec->bytes + view->at + i * field->element,
				field->element, pd_tracepoint_of_record(view->rec)->swap, out);
		return;
	}
	for (uint32_t w = 0;; w++) {
		uint64_t bits = load_long(view, w);
		uint32_t n = (uint32_t)__builtin_popcountll(bits);

		if (i < n) {
			for (; i; i--)
				bits &= bits - 1;
			pd_set_uint(out, PD_UINT,
				    8 * field->element * w + (uint32_t)__builtin_ctzll(bits));
			return;
		}
		i -= n;
	}
}

const struct pd_view_desc pd_view_array = {
	.name = "array",
	.doc = "Items of an argument that is an array, or numbers of the bits that are set "
	       "in one that is a bitmask.",
	.item = get_array_item,
};

/* view.at and view.extra: the raw data and its size. The items are the tracepoint's fields. */
void pd_open_args(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	const struct pd_tracepoint *tracepoint = pd_tracepoint_of_record(rec);
	const uint8_t *raw;
	uint32_t n;

	(void)at;
	if (!tracepoint || !pd_args_raw(rec, &raw, &n)) {
		out->type = PD_NIL;
		return;
	}
	out->view.at = (uint32_t)(raw - rec->bytes);
	out->view.extra = n;
	out->view.count = tracepoint->n_fields;
}

static void get_arg(const struct pd_view *view, uint32_t i, unsigned m, struct pd_value *out)
{
	(void)m;
	pd_args_get(view->rec, &pd_tracepoint_of_record(view->rec)->fields[i],
		    view->rec->bytes + view->at, (uint32_t)view->extra, out);
}

static const char *get_arg_name(const struct pd_view *view, uint32_t i)
{
	return pd_tracepoint_of_record(view->rec)->fields[i].name;
}

const struct pd_view_desc pd_view_args = {
	.name = "args",
	.doc = "The fields of a tracepoint by name; those that all tracepoints have come "
	       "first.",
	.item = get_arg,
	.key = get_arg_name,
};
