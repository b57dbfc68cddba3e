#include "record.h"

#include <string.h>

#include "sample.h"
#include "views.h"

bool pd_record_synthesised(const struct pd_record *rec)
{
	const struct pd_layout *layout = rec->layout;
	uint32_t at = rec->size - layout->trailer_size, n = layout->trailer_size;

	if (!n || rec->size < n + 8)
		return false;
	if (layout->shape->sample_type & PD_SAMPLE_TIME) {
		/* the time comes after pid and tid, if the event has those */
		at += layout->shape->sample_type & PD_SAMPLE_TID ? 8 : 0;
		n = 8;
	}
	for (uint32_t i = 0; i < n; i++)
		if (rec->bytes[at + i])
			return false;
	return true;
}

bool pd_record_restated(const struct pd_record *rec)
{
	const uint64_t others = PD_SAMPLE_ID | PD_SAMPLE_STREAM_ID | PD_SAMPLE_CPU;
	uint64_t type = rec->layout->shape->sample_type;
	uint32_t n = rec->layout->trailer_size, at = rec->size - n;

	if (!(type & PD_SAMPLE_TID) || !(type & PD_SAMPLE_TIME) || !n || rec->size < n + 16)
		return false;
	if (!pd_rec32(rec, 8) || pd_rec64(rec, at) || !pd_rec64(rec, at + 8))
		return false;
	n = at + 16 + 8 * (uint32_t)__builtin_popcountll(type & others);
	for (at += 16; at < n; at += 8)
		if (pd_rec64(rec, at))
			return false;
	return true;
}

static void set_uint(struct pd_value *out, enum pd_type type, uint64_t v)
{
	out->type = type;
	out->u = v;
}

static void set_int(struct pd_value *out, int64_t v)
{
	out->type = PD_INT;
	out->i = v;
}

static void set_bytes(struct pd_value *out, enum pd_type type, const uint8_t *p, size_t n)
{
	out->type = type;
	out->s.p = (const char *)p;
	out->s.n = n;
}

static void set_body_text(struct pd_value *out, const uint8_t *p, size_t n)
{
	struct pd_text text = pd_text_in(p, n);

	set_bytes(out, PD_STR, (const uint8_t *)text.p, text.n);
}

static void set_view(const struct pd_record *rec, const struct pd_field *field, uint32_t at,
		     struct pd_value *out)
{
	out->type = PD_VIEW;
	out->view = (struct pd_view){ .desc = field->view, .rec = rec, .at = at };
	if (field->compute)
		field->compute(rec, at, out);
}

/* Loads the value at offset `at`; `limit` is the end of the body or part. */
static void load_field(const struct pd_record *rec, const struct pd_bound *b, uint32_t at,
		       uint32_t limit, struct pd_value *out)
{
	const uint8_t *p = rec->bytes + at;
	bool swap = rec->layout->swap;
	uint64_t bits;

	switch ((enum pd_kind)b->kind) {
	case PD_K_U64:
		set_uint(out, PD_UINT, pb_load64(p, swap));
		break;
	case PD_K_X64:
		set_uint(out, PD_ADDR, pb_load64(p, swap));
		break;
	case PD_K_S64:
		set_int(out, (int64_t)pb_load64(p, swap));
		break;
	case PD_K_S32:
		set_int(out, (int32_t)pb_load32(p, swap));
		break;
	case PD_K_U32:
		set_uint(out, PD_UINT, pb_load32(p, swap));
		break;
	case PD_K_X32:
		set_uint(out, PD_ADDR, pb_load32(p, swap));
		break;
	case PD_K_U16:
		set_uint(out, PD_UINT, pb_load16(p, swap));
		break;
	case PD_K_U8:
		set_uint(out, PD_UINT, *p);
		break;
	case PD_K_BOOL8:
		set_uint(out, PD_BOOL, *p != 0);
		break;
	case PD_K_F64:
		bits = pb_load64(p, swap);
		out->type = PD_FLOAT;
		memcpy(&out->f, &bits, sizeof(out->f));
		break;
	case PD_K_FLAG:
		set_uint(out, PD_BOOL, rec->misc >> b->field->arg & 1);
		break;
	case PD_K_CSTR:
		set_body_text(out, p, limit - at);
		break;
	case PD_K_CHARS:
		set_body_text(out, p, b->field->arg);
		break;
	case PD_K_HEX:
		set_bytes(out, PD_HEX, p, b->field->arg);
		break;
	case PD_K_VIEW:
		set_view(rec, b->field, at, out);
		break;
	case PD_K_COMPUTE:
		b->field->compute(rec, at, out);
		break;
	case PD_K_SYSTEM:
		out->type = PD_SYSTEM;
		out->asked = (struct pd_asked){ .field = b->field->arg };
		break;
	case PD_K_NONE:
		break;
	}
}

void pd_record_decode(const struct pd_record *rec, unsigned index, struct pd_value *out)
{
	const struct pd_bound *b = &rec->layout->bound[index];
	uint32_t at = (uint32_t)b->at, limit, size;

	out->type = PD_NIL;
	if (b->part) {
		if (!pd_part_find(rec, b->part, &limit, &size))
			return;
		at += limit;
		limit += size;
	} else if (b->trailer) {
		if (rec->size < rec->layout->trailer_size + 8)
			return;
		at += rec->size; /* b->at is negative */
		limit = rec->size;
	} else {
		limit = pd_body_end(rec);
	}
	if (at > limit || limit - at < b->width)
		return;
	load_field(rec, b, at, limit, out);
	if (b->no_zero && out->type != PD_NIL && out->u == 0 && pd_record_synthesised(rec))
		out->type = PD_NIL;
}

uint32_t pd_measure_text(const struct pd_record *rec, uint32_t at)
{
	const uint8_t *p = rec->bytes + at, *end;

	if (!pd_fits(rec, at, 1))
		return UINT32_MAX;
	end = memchr(p, 0, pd_body_end(rec) - at);
	return end ? (uint32_t)(end - p) + 1 : UINT32_MAX;
}

/* Returns the bytes of a record's body from extent->fixed on; UINT32_MAX if they do not fit. */
static uint32_t measure_rest(const struct pd_record *rec, const struct pd_extent *extent)
{
	uint64_t n;

	switch ((enum pd_varying)extent->varies) {
	case PD_VARIES_NOT:
		return 0;
	case PD_VARIES_TEXT:
		return pd_measure_text(rec, extent->fixed);
	case PD_VARIES_COUNTED:
		n = pd_rec64(rec, extent->fixed - 8u);
		return n <= UINT16_MAX ? (uint32_t)n * extent->each : UINT32_MAX;
	case PD_VARIES_SO:
		return extent->rest(rec);
	case PD_VARIES_UNKNOWN:
		break;
	}
	return UINT32_MAX;
}

uint32_t pd_record_extent(const struct pd_record *rec)
{
	const struct pd_record_desc *desc = rec->layout->desc;
	uint32_t rest;

	if (!desc)
		return 0;
	if (rec->type == PD_RECORD_SAMPLE) {
		if (rec->layout->shape->unknown)
			return 0;
		rest = pd_sample_extent(rec);
		return rest ? rest : rec->size + 1;
	}
	if (!pd_fits(rec, 0, desc->extent.fixed))
		return rec->size + 1;
	rest = measure_rest(rec, &desc->extent);
	if (rest == UINT32_MAX)
		return 0;
	return desc->extent.fixed + rest + rec->layout->trailer_size;
}

void pd_types_add(struct pd_types *set, uint32_t type)
{
	if (type >= PD_RECORD_TYPES)
		set->unknown = true;
	else
		set->bits[type / 64] |= UINT64_C(1) << type % 64;
}

void pd_types_remove(struct pd_types *set, uint32_t type)
{
	if (type >= PD_RECORD_TYPES)
		set->unknown = false;
	else
		set->bits[type / 64] &= ~(UINT64_C(1) << type % 64);
}

bool pd_has_payload(uint32_t type)
{
	const struct pd_record_desc *desc = pd_record_desc(type);

	return desc && desc->payload;
}

uint64_t pd_payload_size(const struct pd_record *rec)
{
	const struct pd_record_desc *desc = pd_record_desc(rec->type);

	/* no writer puts such a record into a compressed one */
	return desc && desc->payload && rec->chunk_offset == PD_NO_CHUNK ? desc->payload(rec) :
									   0;
}
