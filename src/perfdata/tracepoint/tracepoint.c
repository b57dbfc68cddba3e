#include "tracepoint.h"

#include <stdlib.h>

#include "perfdata/format/event.h"

/* The state of parsing a format file. Texts are copied one after the other to `room`. */
struct parser {
	const struct pd_tracing *tracing;
	struct pd_tracepoint *made;
	struct pd_tracepoint_field *fields;
	char *room;
	const char *why; /* the error; NULL: none so far */
};

/*
 * Copies a text and adds a NUL. There is room, as the texts together are no longer than the
 * format.
 */
static const char *copy_format_text(struct parser *p, struct pd_text text)
{
	char *kept = memcpy(p->room, text.p, text.n);

	kept[text.n] = 0;
	p->room += text.n + 1;
	return kept;
}

static struct pd_text trim_text(struct pd_text text)
{
	while (text.n && (*text.p == ' ' || *text.p == '\t')) {
		text.p++;
		text.n--;
	}
	while (text.n && strchr(" \t\r\n", text.p[text.n - 1]))
		text.n--;
	return text;
}

static struct pd_text take_line(struct pd_text *rest)
{
	const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	size_t n = end ? (size_t)(end - rest->p) : rest->n;
	struct pd_text line = { rest->p, n };

	rest->p += n + (end != NULL);
	rest->n -= n + (end != NULL);
	return line;
}

/*
 * Sets *rest to the text after a word at its start. Returns false if it does not start with
 * that.
 */
static bool strip_prefix(struct pd_text text, const char *word, struct pd_text *rest)
{
	size_t n = strlen(word);

	if (text.n < n || memcmp(text.p, word, n) != 0)
		return false;
	*rest = (struct pd_text){ text.p + n, text.n - n };
	return true;
}

/*
 * Reads the number of "word:NUMBER", a part of a field's line. Returns false for another word.
 */
static bool parse_part_number(struct pd_text part, const char *word, uint64_t *out)
{
	struct pd_text digits;
	uint64_t v = 0;

	if (!strip_prefix(trim_text(part), word, &digits))
		return false;
	digits = trim_text(digits);
	if (!digits.n || digits.n > 10)
		return false;
	for (size_t i = 0; i < digits.n; i++) {
		if (digits.p[i] < '0' || digits.p[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(digits.p[i] - '0');
	}
	*out = v;
	return v <= UINT32_MAX;
}

/*
 * Reads the field's name and type from "TYPE NAME", "TYPE NAME[N]", "__data_loc TYPE[] NAME"
 * and their like.
 */
static void take_declaration(struct parser *p, struct pd_text text,
			     struct pd_tracepoint_field *field)
{
	struct pd_text brackets;
	size_t n;

	text = trim_text(text);
	n = text.n;
	/* there may be several groups of brackets after the name */
	while (n && text.p[n - 1] == ']') {
		while (n && text.p[n - 1] != '[')
			n--;
		n -= n > 0;
	}
	brackets = (struct pd_text){ text.p + n, text.n - n };
	text = trim_text((struct pd_text){ text.p, n });
	for (n = text.n; n && pd_is_word(text.p[n - 1]);)
		n--;
	if (n == text.n) {
		p->why = "a field without a name";
		return;
	}
	field->name = copy_format_text(p, (struct pd_text){ text.p + n, text.n - n });
	field->type = copy_format_text(p, trim_text((struct pd_text){ text.p, n }));
	if (brackets.n) { /* the brackets belong to the type */
		p->room--;
		copy_format_text(p, brackets);
	}
}

/* Reads a line "field:DECLARATION;	offset:N;	size:N;	signed:N;". */
static void take_field(struct parser *p, struct pd_text line, bool common)
{
	struct pd_tracepoint_field *field = &p->fields[p->made->n_fields];
	uint64_t offset = UINT64_MAX, size = UINT64_MAX, sign = UINT64_MAX;
	struct pd_text declaration = { "", 0 };

	if (p->made->n_fields == PD_MAX_ARGS) {
		p->why = "too many fields";
		return;
	}
	*field = (struct pd_tracepoint_field){ .common = common };
	for (size_t parts = 0; line.n; parts++) {
		const char *end = memchr(line.p, ';', line.n);
		size_t n = end ? (size_t)(end - line.p) : line.n;
		struct pd_text part = { line.p, n };

		if (parts == 0)
			declaration = part;
		else if (!parse_part_number(part, "offset:", &offset) &&
			 !parse_part_number(part, "size:", &size))
			parse_part_number(part, "signed:", &sign);
		line.p += n + (end != NULL);
		line.n -= n + (end != NULL);
	}
	take_declaration(p, declaration, field);
	if (!p->why && (offset == UINT64_MAX || size == UINT64_MAX))
		p->why = "a field without an offset or a size";
	if (p->why)
		return;
	field->offset = (uint32_t)offset;
	field->size = (uint32_t)size;
	pd_tracepoint_type(field, p->tracing->long_size, sign);
	p->made->n_fields++;
	p->made->n_common += common;
}

static void take_lines(struct parser *p, struct pd_text text)
{
	bool common = true;

	while (text.n && !p->why) {
		struct pd_text line = take_line(&text), rest;

		if (strip_prefix(line, "name: ", &rest)) {
			p->made->name = copy_format_text(p, trim_text(rest));
		} else if (strip_prefix(line, "print fmt: ", &rest)) {
			/* up to the end of the file, as a text in it may contain line feeds */
			rest.n = (size_t)(text.p + text.n - rest.p);
			p->made->print_fmt = copy_format_text(p, trim_text(rest));
			return;
		} else if (strip_prefix(trim_text(line), "field:", &rest) ||
			   strip_prefix(trim_text(line), "field special:", &rest)) {
			take_field(p, rest, common);
		} else if (!trim_text(line).n && p->made->n_fields) {
			/* a blank line separates the common fields from the others */
			common = false;
		}
	}
}

static const char *parse_format(struct parser *p, struct pd_text text)
{
	take_lines(p, text);
	if (p->why)
		return p->why;
	if (!p->made->name)
		return "no line \"name:\"";
	if (!p->made->n_fields)
		return "no fields";
	pd_tracepoint_printed(p->fields, p->made->n_fields, p->made->print_fmt,
			      p->tracing->long_size);
	return NULL;
}

/* Returns the number of lines, which is at least that of fields, at most PD_MAX_ARGS. */
static size_t count_lines(struct pd_text text)
{
	size_t n = 1;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n < PD_MAX_ARGS ? n : PD_MAX_ARGS;
}

/*
 * Allocates the tracepoint with room for the texts of the format: names, types and the print
 * format, each with a NUL; a field has two.
 */
static struct pd_tracepoint *create_parsed(struct parser *p, const struct pd_format *format)
{
	size_t n_fields = count_lines(format->text) + 1;
	struct pd_tracepoint *made = calloc(1, sizeof(*made) + n_fields * sizeof(*p->fields) +
						       format->text.n + format->system.n +
						       2 * n_fields + 3);

	if (!made)
		return NULL;
	p->made = made;
	p->fields = (struct pd_tracepoint_field *)(made + 1);
	p->room = (char *)(p->fields + n_fields);
	made->tracing = p->tracing;
	made->id = format->id;
	made->swap = p->tracing->swap;
	made->fields = p->fields;
	made->print_fmt = "";
	made->system = copy_format_text(p, format->system);
	return made;
}

const struct pd_tracepoint *pd_tracepoint_of(const struct pd_tracing *tracing,
					     struct pd_format *format)
{
	struct parser p = { .tracing = tracing };
	struct pd_tracepoint *made;

	if (format->parsed || format->wrong)
		return format->parsed;
	made = format->text.n > PD_MAX_FORMAT ? NULL : create_parsed(&p, format);
	if (!made) {
		format->wrong = format->text.n > PD_MAX_FORMAT ? "too large" : "no memory";
		return NULL;
	}
	format->wrong = parse_format(&p, format->text);
	if (format->wrong) {
		free(made);
		return NULL;
	}
	pd_tracepoint_call(made);
	format->parsed = made;
	return made;
}

void pd_tracepoint_destroy(struct pd_tracepoint *tracepoint)
{
	free(tracepoint);
}

uint32_t pd_tracepoint_find(const struct pd_tracepoint *tracepoint, const char *name, size_t n)
{
	for (uint32_t i = 0; i < tracepoint->n_fields; i++) {
		const char *field = tracepoint->fields[i].name;

		if (strlen(field) == n && memcmp(field, name, n) == 0)
			return i;
	}
	return PD_NO_ARG;
}

const struct pd_tracepoint *pd_tracepoint_of_record(const struct pd_record *rec)
{
	const struct pd_event *event = pd_recorded_event(rec);

	return event ? event->tracepoint : NULL;
}
