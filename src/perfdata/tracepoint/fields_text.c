#include "fields_text.h"

#include <inttypes.h>

/*
 * Returns whether a field's declared type contains a text: libtraceevent decides by the same
 * test.
 */
static bool type_mentions(const struct pd_tracepoint_field *field, const char *what)
{
	return strstr(field->type, what) != NULL;
}

static bool is_characters(const struct pd_tracepoint_field *field)
{
	return type_mentions(field, "char") || type_mentions(field, "u8") ||
	       type_mentions(field, "s8");
}

/* Returns whether the bytes are text, and sets *length to that of the text. */
static bool is_printable(const uint8_t *p, uint32_t n, uint32_t *length)
{
	for (*length = 0; *length < n && p[*length]; ++*length) {
		uint8_t c = p[*length];

		if ((c < ' ' && (c < '\t' || c > '\r')) || c > '~')
			return false;
	}
	return true;
}

static void print_raw_array(struct pb_string *out, const struct pd_tracepoint_field *field,
			    const uint8_t *p, uint32_t n)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t length;

	if (is_characters(field) && is_printable(p, n, &length)) {
		pb_string_add(out, (const char *)p, length);
		return;
	}
	pb_string_put(out, "ARRAY[");
	for (uint32_t i = 0; i < n; i++) {
		const char byte[] = { ',', ' ', digits[p[i] >> 4], digits[p[i] & 15] };

		pb_string_add(out, i ? byte : byte + 2, i ? 4 : 2);
	}
	pb_string_put(out, "]");
}

static void print_number(struct pb_string *out, const struct pd_tracepoint_field *field,
			 uint64_t v)
{
	bool is_long = type_mentions(field, "long");

	if (type_mentions(field, "*"))
		pb_string_format(out, "0x%" PRIx64, v);
	else if (!field->is_signed)
		pb_string_format(out, is_long ? "0x%" PRIx64 : "%" PRIu64, v);
	else if (field->size == 4 && is_long)
		pb_string_format(out, "0x%x", (unsigned)v);
	else if (field->size == 4)
		pb_string_format(out, "%d", (int)v);
	else if (field->size == 2)
		pb_string_format(out, "%2d", (int16_t)v);
	else if (field->size == 1)
		pb_string_format(out, "%d", (int8_t)v);
	else
		pb_string_format(out, "%" PRId64, (int64_t)v);
}

/*
 * Finds the bytes of a field that are printed. For a descriptor whose type has no [] that is
 * the descriptor itself.
 */
static bool find_printed_bytes(const struct pd_tracepoint *tracepoint,
			       const struct pd_tracepoint_field *field, const uint8_t *raw,
			       uint32_t n, uint32_t *at, uint32_t *size)
{
	if (type_mentions(field, "["))
		return pd_args_find(tracepoint, field, raw, n, at, size);
	*at = field->offset;
	*size = field->size;
	return *at <= n && *size <= n - *at;
}

void pd_fields_print(struct pb_string *out, const struct pd_tracepoint *tracepoint,
		     const uint8_t *raw, uint32_t n)
{
	for (uint32_t i = tracepoint->n_common; i < tracepoint->n_fields; i++) {
		const struct pd_tracepoint_field *field = &tracepoint->fields[i];
		uint32_t at, size;

		if (!find_printed_bytes(tracepoint, field, raw, n, &at, &size))
			continue;
		pb_string_put(out, " ");
		pb_string_put(out, field->name);
		pb_string_put(out, "=");
		if (type_mentions(field, "["))
			print_raw_array(out, field, raw + at, size);
		else
			print_number(out, field,
				     pb_load_bytes(raw + at, size, tracepoint->swap));
	}
}
