/* The byte order of samples, and of the raw data of tracepoints. */
#include "perfdata/format/sample.h"
#include "perfdata/tracepoint/tracepoint.h"
#include "turn.h"

#define HEADER	 8
#define RAW_MOST ((uint32_t)UINT16_MAX + 1) /* bytes of raw data */

/* Raw data that are turned in place, as their format tells. */
struct raw {
	const struct pd_tracepoint *tracepoint;
	const uint8_t *original; /* [n] */
	uint8_t *bytes;		 /* [n] */
	uint32_t n;
	uint8_t turned[RAW_MOST / 8]; /* bits of bytes that were turned */
};

/*
 * Turns numbers of `each` bytes. Returns false if one of them was turned before. Those that the
 * raw data do not have whole stay.
 */
static bool turn_items(struct raw *raw, uint32_t at, uint32_t n, uint32_t each)
{
	struct pw_turn t = { .bytes = raw->bytes, .at = at, .n = at + n };

	if (each == 1 || at > raw->n || n > raw->n - at)
		return true;
	for (uint32_t i = at; i < at + n; i++) {
		if (raw->turned[i / 8] >> i % 8 & 1)
			return false;
		raw->turned[i / 8] |= (uint8_t)(1u << i % 8);
	}
	while (t.n - t.at >= each)
		pw_turn_number(&t, each);
	return t.at == t.n;
}

/* Turns the word that says where a field lies. */
static bool turn_place(struct raw *raw, const struct pd_tracepoint_field *field)
{
	switch ((enum pd_arg_storage)field->storage) {
	case PD_ARG_DATA:
	case PD_ARG_REL:
		return turn_items(raw, field->offset, 4, 4);
	case PD_ARG_SHORT:
		return turn_items(raw, field->offset, 2, 2);
	default:
		return true;
	}
}

static bool turn_field(struct raw *raw, const struct pd_tracepoint_field *field)
{
	uint32_t at, n;

	if (!turn_place(raw, field))
		return false;
	if (!pd_args_find(raw->tracepoint, field, raw->original, raw->n, &at, &n))
		return true; /* the data were cut */
	switch ((enum pd_arg_kind)field->kind) {
	case PD_ARG_INT:
	case PD_ARG_POINTER:
		return turn_items(raw, at, n, n);
	case PD_ARG_LIST:
	case PD_ARG_BITS:
		return turn_items(raw, at, n, field->element);
	case PD_ARG_SOCKADDR: /* the family; all else is in the order of the network */
		return n < 2 || turn_items(raw, at, 2, 2);
	case PD_ARG_TEXT:
		return true;
	case PD_ARG_BYTES:
		return n == 0 || field->element == 1;
	}
	return false;
}

/*
 * Appends raw data, turned. Returns false if their format is not known, or does not tell the
 * sizes of all numbers.
 */
static bool turn_raw(const struct pd_record *rec, uint32_t at, struct pb_string *out)
{
	struct raw raw = { .tracepoint = pd_tracepoint_of_record(rec) };
	size_t start = out->n;

	raw.n = pd_rec32(rec, at);
	raw.original = rec->bytes + at + 4;
	if (!raw.tracepoint || raw.tracepoint->swap != rec->layout->swap || raw.n >= RAW_MOST)
		return false;
	pb_string_add(out, (const char *)rec->bytes + at, 4 + raw.n);
	if (out->failed)
		return true;
	raw.bytes = (uint8_t *)out->p + start + 4;
	pw_turn_number(&(struct pw_turn){ .bytes = raw.bytes - 4, .n = 4 }, 4);
	for (uint32_t i = 0; i < raw.tracepoint->n_fields; i++) {
		if (!turn_field(&raw, &raw.tracepoint->fields[i])) {
			out->n = start;
			return false;
		}
	}
	return true;
}

/* Appends raw data that are not there, as the kernel writes them. */
static void add_no_raw(struct pb_string *out, bool swap)
{
	uint32_t words[] = { swap ? 4 : __builtin_bswap32(4), 0 };

	pb_string_add(out, (const char *)words, sizeof(words));
}

/* Turns a branch stack in place. */
static void turn_branches(const struct pd_record *rec, uint32_t at, struct pw_turn *t)
{
	bool big = rec->layout->shape->big;
	struct pd_branches branches;
	uint64_t flags;

	if (!pd_branches_read(rec, at, &branches)) {
		t->failed = true;
		return;
	}
	for (uint32_t i = 0; i < branches.count; i++) {
		uint8_t *p = t->bytes + (branches.entries - at) + 24 * i + 16;

		flags = pw_turn_branch_flags(pb_load64(p, t->swap), big);
		flags = t->swap ? __builtin_bswap64(flags) : flags;
		memcpy(p, &flags, sizeof(flags));
	}
	pw_turn_format(t, "8+");
}

/* Turns a copy of the stack in place: the bytes of its memory stay. */
static void turn_stack(struct pw_turn *t)
{
	uint64_t size = pw_turn_number(t, 8);

	pw_turn_skip(t, size);
	if (size)
		pw_turn_number(t, 8);
}

/* Appends a part of a sample, turned. Returns false if that is not possible. */
static bool turn_part(const struct pd_record *rec, enum pd_part part, uint32_t at,
		      uint32_t size, struct pb_string *out)
{
	struct pw_turn t = { .n = size, .swap = rec->layout->swap };
	size_t start = out->n;

	pb_string_add(out, (const char *)rec->bytes + at, size);
	if (out->failed)
		return false;
	t.bytes = (uint8_t *)out->p + start;
	if (part == PD_PART_TID || part == PD_PART_CPU)
		pw_turn_format(&t, "44");
	else if (part == PD_PART_BRANCH_STACK)
		turn_branches(rec, at, &t);
	else if (part == PD_PART_STACK_USER)
		turn_stack(&t);
	else
		pw_turn_format(&t, "8+");
	return !t.failed;
}

/* Appends the parts, and what follows them. Returns false if one cannot be turned. */
static bool turn_parts(const struct pd_record *rec, struct pb_string *out, bool *drops_data)
{
	uint32_t at = HEADER, size = 0;

	for (unsigned part = 1; part < PD_PARTS; part++) {
		if (!pd_part_present(rec->layout->shape, part))
			continue;
		if (!pd_part_find(rec, part, &at, &size))
			return false;
		if (part == PD_PART_AUX) {
			pb_string_fill(out, 0, 8);
			*drops_data = *drops_data || size > 8;
		} else if (part == PD_PART_RAW) {
			if (!turn_raw(rec, at, out)) {
				add_no_raw(out, rec->layout->swap);
				*drops_data = *drops_data || size > sizeof(uint64_t);
			}
		} else if (!turn_part(rec, part, at, size, out)) {
			return false;
		}
		at += size;
	}
	pb_string_add(out, (const char *)rec->bytes + at, rec->size - at);
	return true;
}

bool pw_turn_sample(const struct pd_record *rec, struct pb_string *out, bool *drops_data)
{
	struct pw_turn t = { .n = HEADER, .swap = rec->layout->swap };
	size_t start = out->n;
	uint16_t size;

	pb_string_add(out, (const char *)rec->bytes, HEADER);
	if (!rec->event || !turn_parts(rec, out, drops_data) || out->failed) {
		out->n = start;
		return false;
	}
	t.bytes = (uint8_t *)out->p + start;
	size = (uint16_t)(out->n - start);
	size = t.swap ? __builtin_bswap16(size) : size;
	memcpy(t.bytes + 6, &size, sizeof(size));
	pw_turn_format(&t, "422");
	return true;
}
