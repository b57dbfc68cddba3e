#include "message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/string_builder.h"
#include "base/vector.h"
#include "message_internal.h"
#include "tracepoint.h"

/*
 * A tracepoint's fields as text, for samples whose print format cannot be printed.
 */

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

/*
 * Appends " name=value" for each field that is not common and lies in the `n` bytes of raw
 * data: text as it is, other arrays as ARRAY[01, ff], addresses and unsigned longs in hex,
 * other integers in decimal. See print_field_raw, libtraceevent.
 */
static void fields_print(struct pb_string *out, const struct pd_tracepoint *tracepoint,
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

#define MAX_LINE (1u << 20) /* bytes */

static uint64_t read_hex(const char *p, const char *end)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t v = 0;

	if (end - p > 2 && p[0] == '0' && p[1] == 'x')
		p += 2;
	for (; p < end && *p && strchr(digits, *p); p++)
		v = v << 4 | (uint64_t)(strchr(digits, *p) - digits);
	return v;
}

/* Returns the text of `"text\n"`, without quotes and line feed. */
static struct pd_text strip_quotes(struct pd_text text)
{
	if (text.n && *text.p == '"') {
		text.p++;
		text.n--;
	}
	if (text.n && text.p[text.n - 1] == '"')
		text.n--;
	if (text.n >= 2 && text.p[text.n - 2] == '\\' && text.p[text.n - 1] == 'n')
		text.n -= 2;
	return text;
}

static int compare_printk_addresses(const void *a, const void *b)
{
	const struct pd_printk *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/*
 * Reads the strings of the recorded kernel that tracepoints refer to by address: lines
 * `0xADDRESS : "text"` of the file printk_formats of tracefs.
 */
static bool read_printk(struct pd_printer *printer)
{
	struct pd_text lines = printer->tracing->printk;
	const char *p = lines.p, *end = lines.n ? lines.p + lines.n : p;
	size_t n = 1;

	for (size_t i = 0; i < lines.n; i++)
		n += lines.p[i] == '\n';
	printer->printk = calloc(n, sizeof(*printer->printk));
	if (!printer->printk)
		return false;
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		const char *colon;

		stop = stop ? stop : end;
		colon = memchr(p, ':', (size_t)(stop - p));
		if (colon && stop - colon >= 2 && !memchr(p, 0, (size_t)(stop - p)))
			printer->printk[printer->n_printk++] = (struct pd_printk){
				read_hex(p, colon),
				strip_quotes((struct pd_text){ colon + 2,
							       (size_t)(stop - colon) - 2 })
			};
		p = stop + 1;
	}
	qsort(printer->printk, printer->n_printk, sizeof(*printer->printk),
	      compare_printk_addresses);
	return true;
}

struct pd_printer *pd_printer_create(const struct pd_tracing *tracing, unsigned text,
				     pd_function_fn *function, void *arg)
{
	struct pd_printer *printer = calloc(1, sizeof(*printer));

	if (!printer)
		return NULL;
	printer->tracing = tracing;
	printer->text = text;
	printer->function = function;
	printer->arg = arg;
	printer->line.limit = MAX_LINE;
	if (!read_printk(printer)) {
		pd_printer_destroy(printer);
		return NULL;
	}
	return printer;
}

void pd_printer_destroy(struct pd_printer *printer)
{
	if (!printer)
		return;
	pb_arena_deinit(&printer->arena);
	pb_string_deinit(&printer->line);
	free(printer->programs);
	free(printer->printk);
	free(printer);
}

/*
 * Returns the program of a tracepoint, compiled when it is first needed; NULL without memory.
 */
static const struct pd_program *find_program(struct pd_printer *printer,
					     const struct pd_tracepoint *tracepoint)
{
	static const struct pd_program none = { .wrong = "two tracepoints have one id" };
	const struct pd_program **program;
	size_t id = (size_t)tracepoint->id;

	if (tracepoint->id > UINT16_MAX)
		return &none;
	if (id >= printer->n_programs &&
	    !pb_extend(printer->programs, printer->n_programs, id + 1))
		return NULL;
	program = &printer->programs[id];
	if (!*program)
		*program = pd_program_compile(&printer->arena, tracepoint, printer->text);
	return *program && (*program)->tracepoint != tracepoint ? &none : *program;
}

/* Returns whether the raw data has all fields, also those that descriptors refer to. */
static bool has_fields(const struct pd_program *program, const uint8_t *raw, uint32_t n)
{
	const struct pd_tracepoint *tracepoint = program->tracepoint;
	uint32_t at, size;

	if (n < program->extent || n < 2 || pb_load16(raw, tracepoint->swap) != tracepoint->id)
		return false;
	for (size_t i = 0; i < program->n_moving; i++)
		if (!pd_args_find(tracepoint, program->moving[i], raw, n, &at, &size))
			return false;
	return true;
}

/* Returns the conversion of a step, with width and precision from an argument if need be. */
static const struct pd_conversion *resolve_star(struct pd_printed *s,
						const struct pd_step *step,
						struct pd_conversion *c)
{
	uint64_t v;

	if (!step->star)
		return &step->conversion;
	*c = step->conversion;
	v = pd_node_number(s, step->star);
	if (v > PD_MAX_STAR) {
		s->failed = true;
		v = 0;
	}
	if (c->star_width)
		c->width = (int)v;
	else
		c->precision = (int)v;
	return c;
}

static void print_step(struct pd_printed *s, const struct pd_step *step)
{
	struct pd_conversion resolved;
	const struct pd_conversion *c;

	if (!step->conversion.type) {
		pb_string_add(s->out, step->text.p, step->text.n);
		return;
	}
	c = resolve_star(s, step, &resolved);
	if (c->type == 's')
		pd_print_node_string(s, c, step->node);
	else if (c->type == 'p')
		pd_print_node_pointer(s, c, step->node);
	else
		pd_print_node_number(s, c, pd_node_number(s, step->node));
}

/* Prints the steps of a program. Returns false if the raw data does not hold what they need. */
static bool print_steps(struct pd_printer *printer, const struct pd_program *program,
			const uint8_t *raw, uint32_t n)
{
	struct pd_printed s = { .printer = printer,
				.tracepoint = program->tracepoint,
				.raw = raw,
				.n = n,
				.out = &printer->line };

	if (!has_fields(program, raw, n))
		return false;
	for (size_t i = 0; i < program->n && !s.failed; i++)
		print_step(&s, &program->steps[i]);
	return !s.failed && !s.out->failed;
}

bool pd_message(struct pd_printer *printer, const struct pd_tracepoint *tracepoint,
		const uint8_t *raw, uint32_t n, struct pd_text *out)
{
	bool as_fields = printer->text & PD_TEXT_AS_FIELDS;
	const struct pd_program *program = find_program(printer, tracepoint);
	struct pb_string *line = &printer->line;

	if (!program)
		return false;
	pb_string_clear(line);
	if (as_fields || program->wrong || !print_steps(printer, program, raw, n)) {
		pb_string_clear(line);
		pb_string_put(line, program->wrong && !as_fields ? "[FAILED TO PARSE]" : "");
		fields_print(line, tracepoint, raw, n);
		line->failed = false; /* a line that is too long is cut */
	}
	if (!pb_string_end(line))
		return false;
	/* a C text ends at a NUL, which only %c can print */
	*out = (struct pd_text){ line->p,
				 program->has_char && !as_fields ? strlen(line->p) : line->n };
	return true;
}

bool pd_print_fmt_check(const struct pd_tracepoint *tracepoint, char *why, size_t size)
{
	struct pb_arena arena = { 0 };
	const struct pd_program *program = pd_program_compile(&arena, tracepoint, ~0u);
	bool ok = program && !program->wrong;

	if (!ok)
		snprintf(why, size, "%s:%s: print fmt, byte %zu: %s", tracepoint->system,
			 tracepoint->name, program ? program->wrong_at + 1 : 0,
			 program ? program->wrong : "no memory");
	pb_arena_deinit(&arena);
	return ok;
}
