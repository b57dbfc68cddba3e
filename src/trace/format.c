#include "format.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static size_t word_size(const char *p)
{
	size_t n = 0;

	while (is_letter(p[n]))
		n++;
	return n;
}

static bool is_name(const char *name)
{
	/* for its parser these are strings: see __read_token, libtraceevent */
	static const char *const not [] = { "LOCAL_PR_FMT", "STA_PR_FMT", "VIF_PR_FMT",
					    "__attribute__" };
	size_t n = word_size(name);

	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		if (n == strlen(not [i]) && memcmp(name, not [i], n) == 0)
			return false;
	return n && !name[n];
}

/* The words and stars of a type, up to its brackets; nothing else means anything. The number of words. */
static unsigned write_words(struct pt_text *out, const char *type)
{
	unsigned words = 0;

	while (*type && *type != '[') {
		size_t n = word_size(type);

		if (n && strncmp(type, "__attribute__", n) == 0) {
			type += n;
			type += strcspn(type, ")"); /* (user) */
		} else if (n) {
			pt_text_add(out, type, n);
			pt_text_put(out, " ");
			words++;
			type += n;
		} else {
			if (*type == '*')
				pt_text_put(out, "* ");
			type++;
		}
	}
	return words;
}

/* The number in the last brackets; 0: there is none. */
static uint32_t array_size(const char *type)
{
	const char *p = strrchr(type, '[');
	uint32_t n = 0;

	for (p++; *p >= '0' && *p <= '9' && n <= PT_MAX_RAW; p++)
		n = n * 10 + (uint32_t)(*p - '0');
	return n;
}

/* Is what has a place of its own said in one way only? Its parser goes by the first word and by the size. */
static bool is_clear(const struct pd_tracepoint_field *field)
{
	bool data = strncmp(field->type, "__data_loc ", 11) == 0;
	bool rel = strncmp(field->type, "__rel_loc ", 10) == 0;

	switch ((enum pd_arg_place)field->place) {
	case PD_ARG_DATA:
		return data && field->size == 4;
	case PD_ARG_SHORT:
		return data && field->size == 2;
	case PD_ARG_REL:
		return rel && field->size == 4;
	case PD_ARG_FIXED:
	case PD_ARG_REST:
		break;
	}
	return !data && !rel;
}

/* Dynamic arrays have their brackets with the type, others behind the name. */
static bool write_field(struct pt_text *out, const struct pd_tracepoint_field *field)
{
	bool array = strchr(field->type, '[') != NULL;
	bool dynamic = field->place == PD_ARG_DATA || field->place == PD_ARG_REL ||
		       field->place == PD_ARG_SHORT;

	if (!is_name(field->name) || !is_clear(field) || field->offset > PT_MAX_RAW ||
	    field->size > PT_MAX_RAW)
		return false;
	pt_text_put(out, "\tfield:");
	if (write_words(out, field->type) < (dynamic && array ? 2 : 1))
		return false;
	if (array && dynamic)
		pt_text_put(out, "[] ");
	pt_text_put(out, field->name);
	if (array && !dynamic)
		pt_text_format(out, "[%u]", array_size(field->type));
	pt_text_format(out, ";\toffset:%u;\tsize:%u;\t", field->offset, field->size);
	pt_text_format(out, "signed:%d;\n", field->is_signed);
	return true;
}

bool pt_format_write(struct pt_text *out, const struct pd_tracepoint *tracepoint,
		     const struct pt_text *print_fmt)
{
	pt_text_put(out, "name: event\n");
	pt_text_format(out, "ID: %u\nformat:\n", (unsigned)tracepoint->id);
	for (uint32_t i = 0; i < tracepoint->n_fields; i++) {
		const struct pd_tracepoint_field *field = &tracepoint->fields[i];

		if (i == tracepoint->n_common)
			pt_text_put(out, "\n");
		/* of two with one name nobody can say which is meant */
		if (pd_tracepoint_find(tracepoint, field->name, strlen(field->name)) != i ||
		    !write_field(out, field))
			return false;
	}
	if (tracepoint->n_common == tracepoint->n_fields)
		pt_text_put(out, "\n");
	pt_text_put(out, "\nprint fmt: ");
	pt_text_add(out, print_fmt->p, print_fmt->n);
	pt_text_put(out, "\n");
	return !out->failed;
}
