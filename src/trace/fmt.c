#include <ctype.h>

#include "fmt_inside.h"

/* Parentheses and operators that are open at a time: each is a function that the parser is in. */
#define MAX_OPEN 500

/* The token at hand, written; on to the next one. */
bool pt_pass(struct pt_reader *r)
{
	pt_text_add(&r->fmt->text, r->t.p, r->t.n);
	pt_text_put(&r->fmt->text, " ");
	pt_token_next(&r->t);
	return true;
}

static bool skip(struct pt_reader *r, const char *what)
{
	if (!pt_token_is(&r->t, what))
		return false;
	pt_token_next(&r->t);
	return true;
}

bool pt_expect(struct pt_reader *r, const char *what)
{
	return pt_token_is(&r->t, what) && pt_pass(r);
}

/* Its parser ends a literal at a tab. */
static bool has_tab(const struct pt_reader *r)
{
	return memchr(r->t.p, '\t', r->t.n) || memchr(r->t.p, '\n', r->t.n);
}

bool pt_read_strings(struct pt_reader *r)
{
	if (r->t.type != PT_STRING)
		return false;
	while (r->t.type == PT_STRING) {
		if (has_tab(r))
			return false;
		pt_pass(r);
	}
	return true;
}

/* Does the l or z at hand, in a conversion, say a long of four bytes? It takes those for its own. */
static bool is_short_long(const struct pt_reader *r, const char *p)
{
	return r->tracepoint->tracing->long_size == 4 && (*p == 'l' || *p == 'z') &&
	       p[-1] != 'l' && p[1] != 'l';
}

/*
 * Returns true if the p of a conversion prints a pointer that is wider than those of this
 * machine, which libtraceevent would cut.
 */
static bool is_wide_pointer(const struct pt_reader *r, const char *p)
{
	return *p == 'p' && sizeof(void *) < r->tracepoint->tracing->long_size &&
	       !isalnum((unsigned char)p[1]);
}

/* Copies a literal of the format. Tabs, longs and pointers may be written in another way. */
static void pass_format(struct pt_reader *r)
{
	struct pt_text *out = &r->fmt->text;
	bool conversion = false;

	for (const char *p = r->t.p; p < r->t.p + r->t.n; p++) {
		bool is_conversion = conversion;

		if (*p == '%')
			conversion = p[-1] != '%' || !conversion;
		else if (!strchr("-#0123456789.*lz", *p))
			conversion = false;
		if (*p == '\t' || *p == '\n')
			pt_text_put(out, *p == '\t' ? "\\t" : "\\n");
		else if (is_conversion && is_wide_pointer(r, p))
			pt_text_put(out, p[-1] == '%' ? "#llx" : "llx");
		else if (!is_conversion || !is_short_long(r, p))
			pt_text_add(out, p, 1);
	}
	pt_text_put(out, " ");
	pt_token_next(&r->t);
}

/* The field that the token at hand names; NULL: there is none. */
const struct pd_tracepoint_field *pt_named_field(const struct pt_reader *r)
{
	uint32_t i = PD_NO_ARG;

	if (r->t.type == PT_NAME)
		i = pd_tracepoint_find(r->tracepoint, r->t.p, r->t.n);
	return i == PD_NO_ARG ? NULL : &r->tracepoint->fields[i];
}

/* REC->field, without an index. */
const struct pd_tracepoint_field *pt_read_field(struct pt_reader *r)
{
	const struct pd_tracepoint_field *field;

	if (!pt_expect(r, "REC") || !pt_expect(r, "->"))
		return NULL;
	field = pt_named_field(r);
	if (field)
		pt_pass(r);
	return field;
}

/* An index is one operand: its parser does not go on with operators there. */
static bool read_index(struct pt_reader *r)
{
	if (!pt_expect(r, "["))
		return false;
	if (r->t.type == PT_NUMBER)
		pt_pass(r);
	else if (pt_token_is(&r->t, "REC")) {
		if (!pt_read_field(r))
			return false;
	} else if (!pt_expect(r, "(") || !pt_read_expression(r) || !pt_expect(r, ")")) {
		return false;
	}
	return pt_expect(r, "]") && !pt_token_is(&r->t, "[");
}

/* Bytes of a C type, or of a field: 0: not known. */
static uint32_t read_type_size(struct pt_reader *r)
{
	static const struct {
		const char *name;
		uint32_t size;
	} sizes[] = {
		{ "char", 1 },	{ "bool", 1 },	{ "u8", 1 },	{ "s8", 1 },	{ "__u8", 1 },
		{ "short", 2 }, { "u16", 2 },	{ "s16", 2 },	{ "__u16", 2 }, { "int", 4 },
		{ "u32", 4 },	{ "s32", 4 },	{ "__u32", 4 }, { "u64", 8 },	{ "s64", 8 },
		{ "__u64", 8 }, { "__s64", 8 },
	};
	uint32_t size = 0, longs = 0;

	if (skip(r, "REC")) {
		const struct pd_tracepoint_field *field = skip(r, "->") ? pt_named_field(r) :
									  NULL;

		pt_token_next(&r->t);
		return field ? field->size : 0;
	}
	for (; r->t.type == PT_NAME; pt_token_next(&r->t)) {
		longs += pt_token_is(&r->t, "long");
		if (!size && (pt_token_is(&r->t, "unsigned") || pt_token_is(&r->t, "signed")))
			size = 4;
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			if (pt_token_is(&r->t, sizes[i].name))
				size = sizes[i].size;
	}
	if (longs)
		return longs > 1 ? 8 : r->tracepoint->tracing->long_size;
	return size;
}

static bool read_sizeof(struct pt_reader *r, uint32_t *size)
{
	pt_token_next(&r->t);
	if (!skip(r, "("))
		return false;
	*size = read_type_size(r);
	if (!*size || !skip(r, ")"))
		return false;
	pt_text_format(&r->fmt->text, "%u ", *size);
	return true;
}

/* __builtin_expect(expression, number) */
static bool read_expect(struct pt_reader *r)
{
	pt_token_next(&r->t);
	if (!pt_expect(r, "(") || !pt_read_expression(r) || !skip(r, ","))
		return false;
	if (r->t.type != PT_NUMBER)
		return false;
	pt_token_next(&r->t);
	return pt_expect(r, ")");
}

/* Is this a name of C's or the kernel's, with no meaning for its parser? */
static bool is_plain_name(const struct pt_reader *r)
{
	static const char *const not [] = { "REC", "LOCAL_PR_FMT", "STA_PR_FMT", "VIF_PR_FMT" };

	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		if (pt_token_is(&r->t, not [i]))
			return false;
	return r->t.type == PT_NAME;
}

static bool starts_operand(const struct pt_reader *r)
{
	return r->t.type == PT_NAME || r->t.type == PT_NUMBER || r->t.type == PT_STRING ||
	       r->t.type == PT_CHAR || pt_token_is(&r->t, "(");
}

/* Names, and perhaps a *, then ): a type, or one constant. False: it is none, and nothing was read. */
static bool read_type(struct pt_reader *r, bool *ok)
{
	struct pt_tokens ahead = r->t;
	unsigned names = 0;
	bool pointer = false;

	for (; ahead.type == PT_NAME; names++) {
		struct pt_tokens here = r->t;

		r->t = ahead;
		*ok = is_plain_name(r);
		r->t = here;
		if (!*ok)
			return false;
		pt_token_next(&ahead);
	}
	if (names && pt_token_is(&ahead, "*")) {
		pointer = true;
		pt_token_next(&ahead);
	}
	if (!names || !pt_token_is(&ahead, ")"))
		return false;
	for (unsigned n = names + pointer + 1; n; n--)
		pt_pass(r);
	*ok = starts_operand(r) ? pt_read_operand(r) : true;
	return true;
}

static bool read_parenthesis(struct pt_reader *r)
{
	bool ok;

	pt_pass(r);
	if (read_type(r, &ok))
		return ok;
	/* what stands behind it would make a cast of it */
	return pt_read_expression(r) && pt_expect(r, ")") && !starts_operand(r);
}

/* What its parser takes for one operand. */
static bool read_one(struct pt_reader *r)
{
	uint32_t size;

	if (r->t.type == PT_NUMBER || r->t.type == PT_CHAR)
		return pt_pass(r);
	if (pt_token_is(&r->t, "("))
		return read_parenthesis(r);
	if (pt_token_is(&r->t, "sizeof"))
		return read_sizeof(r, &size);
	if (!r->constant) {
		struct pt_tokens ahead = r->t;

		if (r->t.type == PT_STRING)
			return pt_read_strings(r);
		if (pt_token_is(&r->t, "REC"))
			return pt_read_field(r) != NULL;
		if (pt_token_is(&r->t, "__builtin_expect"))
			return read_expect(r);
		pt_token_next(&ahead);
		if (pt_token_is(&ahead, "("))
			return pt_read_function(r);
	}
	if (!is_plain_name(r))
		return false;
	pt_pass(r);
	return r->t.type != PT_NAME && !pt_token_is(&r->t, "(");
}

/* What is indexed is put in parentheses, without which its parser goes wrong behind a ?: */
static bool read_indexed(struct pt_reader *r)
{
	struct pt_text *out = &r->fmt->text;
	bool indexable = pt_token_is(&r->t, "REC") || pt_token_is(&r->t, "(");
	size_t start = out->n;

	pt_text_put(out, "  ");
	if (!read_one(r))
		return false;
	if (!pt_token_is(&r->t, "["))
		return true;
	if (!indexable || r->constant || !read_index(r) || out->failed)
		return false;
	out->p[start] = '(';
	pt_text_put(out, ") ");
	return true;
}

bool pt_read_operand(struct pt_reader *r)
{
	unsigned open = r->open;
	bool ok;

	while (pt_token_is(&r->t, "-") || pt_token_is(&r->t, "~") || pt_token_is(&r->t, "+") ||
	       (pt_token_is(&r->t, "!") && !r->constant)) {
		if (++r->open > MAX_OPEN)
			return false;
		pt_pass(r);
	}
	ok = ++r->open <= MAX_OPEN && read_indexed(r);
	r->open = open;
	return ok;
}

/* The operator at hand has two operands, and is one that can be evaluated there. */
static bool is_binary(const struct pt_reader *r)
{
	static const char *const any[] = { "|",	 "&",  "<<", ">>", "<", ">",  "<=",
					   ">=", "==", "!=", "-",  "+", "&&", "||" };

	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++)
		if (pt_token_is(&r->t, any[i]))
			return true;
	return !r->constant && (pt_token_is(&r->t, "*") || pt_token_is(&r->t, "^"));
}

/*
 * What is divided by is a literal or a sizeof, and nothing that its parser might take for a part of that follows: it divides
 * constants while it reads.
 */
static bool read_divisor(struct pt_reader *r)
{
	uint32_t size;
	bool ok;

	pt_pass(r);
	if (pt_token_is(&r->t, "sizeof"))
		ok = read_sizeof(r, &size);
	else
		ok = pt_token_is_nonzero(&r->t) && pt_pass(r);
	return ok && !pt_token_is(&r->t, "*") && !pt_token_is(&r->t, "/") &&
	       !pt_token_is(&r->t, "%") && !pt_token_is(&r->t, "[");
}

/* Operands with operators between them, whose precedence is its parser's matter. */
bool pt_read_expression(struct pt_reader *r)
{
	unsigned open = r->open;

	if (!pt_read_operand(r))
		return false;
	for (;;) {
		if (++r->open > MAX_OPEN)
			return false;
		if (!r->constant && pt_token_is(&r->t, "?")) {
			pt_pass(r);
			if (!pt_read_expression(r) || !pt_expect(r, ":") || !pt_read_operand(r))
				return false;
		} else if (!r->constant &&
			   (pt_token_is(&r->t, "/") || pt_token_is(&r->t, "%"))) {
			if (!read_divisor(r))
				return false;
		} else if (is_binary(r)) {
			pt_pass(r);
			if (!pt_read_operand(r))
				return false;
		} else {
			break;
		}
	}
	r->open = open;
	return true;
}

/* The format: one or several literals. */
static bool read_format(struct pt_reader *r, unsigned *args)
{
	if (r->t.type != PT_STRING)
		return false;
	while (r->t.type == PT_STRING) {
		if (!pt_conversions_read(r->fmt, r->t.p + 1, r->t.n - 2, args))
			return false;
		pass_format(r);
	}
	return true;
}

bool pt_fmt_read(struct pt_fmt *fmt, const struct pd_tracepoint *tracepoint)
{
	size_t n = strlen(tracepoint->print_fmt);
	struct pt_reader r = { .fmt = fmt, .tracepoint = tracepoint };
	unsigned args = 0;

	r.t.next = tracepoint->print_fmt;
	r.t.end = tracepoint->print_fmt + n;
	if (n > PT_MAX_FMT)
		return false;
	pt_token_next(&r.t);
	if (!read_format(&r, &args))
		return false;
	while (pt_expect(&r, ",")) {
		r.open = 0;
		if (!pt_read_expression(&r))
			return false;
		fmt->n_args++;
	}
	return r.t.type == PT_END && args <= fmt->n_args && fmt->n_args <= PT_MAX_ARGS &&
	       !fmt->text.failed;
}

void pt_fmt_deinit(struct pt_fmt *fmt)
{
	pt_text_deinit(&fmt->text);
}
