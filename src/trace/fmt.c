#include "fmt.h"

#include "token.h"

/* Parentheses and operators that are open at a time: each is a function that the parser is in. */
#define MAX_OPEN 500

struct reader {
	struct pt_fmt *fmt;
	const struct pd_tracepoint *tracepoint;
	struct pt_tokens t;
	unsigned open;
	bool constant; /* what is read is a value of __print_flags, of which it evaluates few operators */
};

static bool read_expression(struct reader *r);
static bool read_operand(struct reader *r);

/* The token at hand, written; on to the next one. */
static bool pass(struct reader *r)
{
	pt_text_add(&r->fmt->text, r->t.p, r->t.n);
	pt_text_put(&r->fmt->text, " ");
	pt_token_next(&r->t);
	return true;
}

static bool skip(struct reader *r, const char *what)
{
	if (!pt_token_is(&r->t, what))
		return false;
	pt_token_next(&r->t);
	return true;
}

static bool expect(struct reader *r, const char *what)
{
	return pt_token_is(&r->t, what) && pass(r);
}

/* Its parser ends a literal at a tab. */
static bool has_tab(const struct reader *r)
{
	return memchr(r->t.p, '\t', r->t.n) || memchr(r->t.p, '\n', r->t.n);
}

static bool read_strings(struct reader *r)
{
	if (r->t.type != PT_STRING)
		return false;
	while (r->t.type == PT_STRING) {
		if (has_tab(r))
			return false;
		pass(r);
	}
	return true;
}

/* Does the l or z at hand, in a conversion, say a long of four bytes? It takes those for its own. */
static bool is_short_long(const struct reader *r, const char *p)
{
	return r->tracepoint->tracing->long_size == 4 && (*p == 'l' || *p == 'z') &&
	       p[-1] != 'l' && p[1] != 'l';
}

/* A literal of the format, whose tabs may be written in another way, as may be longs. */
static void pass_format(struct reader *r)
{
	struct pt_text *out = &r->fmt->text;
	bool conversion = false;

	for (const char *p = r->t.p; p < r->t.p + r->t.n; p++) {
		if (*p == '%')
			conversion = p[-1] != '%' || !conversion;
		else if (!strchr("-#0123456789.*lz", *p))
			conversion = false;
		if (*p == '\t' || *p == '\n')
			pt_text_put(out, *p == '\t' ? "\\t" : "\\n");
		else if (!conversion || !is_short_long(r, p))
			pt_text_add(out, p, 1);
	}
	pt_text_put(out, " ");
	pt_token_next(&r->t);
}

/* The field that the token at hand names; NULL: there is none. */
static const struct pd_tracepoint_field *named_field(const struct reader *r)
{
	uint32_t i = PD_NO_ARG;

	if (r->t.type == PT_NAME)
		i = pd_tracepoint_find(r->tracepoint, r->t.p, r->t.n);
	return i == PD_NO_ARG ? NULL : &r->tracepoint->fields[i];
}

/* REC->field, without an index. */
static const struct pd_tracepoint_field *read_field(struct reader *r)
{
	const struct pd_tracepoint_field *field;

	if (!expect(r, "REC") || !expect(r, "->"))
		return NULL;
	field = named_field(r);
	if (field)
		pass(r);
	return field;
}

/* An index is one operand: its parser does not go on with operators there. */
static bool read_index(struct reader *r)
{
	if (!expect(r, "["))
		return false;
	if (r->t.type == PT_NUMBER)
		pass(r);
	else if (pt_token_is(&r->t, "REC")) {
		if (!read_field(r))
			return false;
	} else if (!expect(r, "(") || !read_expression(r) || !expect(r, ")")) {
		return false;
	}
	return expect(r, "]") && !pt_token_is(&r->t, "[");
}

static bool is_dynamic(const struct pd_tracepoint_field *field)
{
	return field && !field->common &&
	       (field->place == PD_ARG_DATA || field->place == PD_ARG_REL ||
		field->place == PD_ARG_SHORT);
}

/* (field), which has a place of its own in the data. */
static bool read_dynamic(struct reader *r)
{
	if (!expect(r, "(") || !is_dynamic(named_field(r)))
		return false;
	pass(r);
	return expect(r, ")");
}

/* Its parser writes to NULL for the size of what is relative. */
static bool read_dynamic_length(struct reader *r)
{
	const struct pd_tracepoint_field *field;

	if (!expect(r, "("))
		return false;
	field = named_field(r);
	if (!is_dynamic(field) || field->place == PD_ARG_REL)
		return false;
	pass(r);
	return expect(r, ")");
}

/* The text of a value; that of the last entry of a table may be 0. */
static bool read_text(struct reader *r)
{
	bool ok;

	if (r->t.type == PT_STRING)
		return read_strings(r);
	r->constant = true;
	ok = read_operand(r);
	r->constant = false;
	return ok;
}

/* {value, "string"}, … */
static bool read_table(struct reader *r)
{
	do {
		if (!expect(r, "{"))
			return false;
		r->constant = true;
		if (!read_expression(r) || !expect(r, ",") || !read_text(r) || !expect(r, "}"))
			return false;
		r->constant = false;
	} while (expect(r, ","));
	return true;
}

static bool read_flags(struct reader *r)
{
	return expect(r, "(") && read_expression(r) && expect(r, ",") && read_strings(r) &&
	       expect(r, ",") && read_table(r) && expect(r, ")");
}

static bool read_symbolic(struct reader *r)
{
	return expect(r, "(") && read_expression(r) && expect(r, ",") && read_table(r) &&
	       expect(r, ")");
}

/* Where an array lies: a field, or what has a place of its own. */
static bool read_array(struct reader *r)
{
	if (pt_token_is(&r->t, "REC"))
		return read_field(r) != NULL;
	return (pt_token_is(&r->t, "__get_dynamic_array") ||
		pt_token_is(&r->t, "__get_rel_dynamic_array")) &&
	       pass(r) && read_dynamic(r);
}

static bool read_hex(struct reader *r)
{
	return expect(r, "(") && read_array(r) && expect(r, ",") && read_expression(r) &&
	       expect(r, ")");
}

static bool read_print_array(struct reader *r)
{
	return expect(r, "(") && read_array(r) && expect(r, ",") && read_expression(r) &&
	       expect(r, ",") && read_expression(r) && expect(r, ")");
}

static const struct {
	const char *name;
	const char *as; /* what it is called in the text that is written; NULL: so, too */
	bool (*read)(struct reader *r);
} functions[] = {
	{ "__print_flags", NULL, read_flags },
	{ "__print_flags_u64", "__print_flags", read_flags },
	{ "__print_symbolic", NULL, read_symbolic },
	{ "__print_symbolic_u64", "__print_symbolic", read_symbolic },
	{ "__print_hex", NULL, read_hex },
	{ "__print_hex_str", NULL, read_hex },
	{ "__print_array", NULL, read_print_array },
	{ "__get_str", NULL, read_dynamic },
	{ "__get_rel_str", NULL, read_dynamic },
	{ "__get_bitmask", NULL, read_dynamic },
	{ "__get_rel_bitmask", NULL, read_dynamic },
	{ "__get_cpumask", NULL, read_dynamic },
	{ "__get_rel_cpumask", NULL, read_dynamic },
	{ "__get_dynamic_array", NULL, read_dynamic },
	{ "__get_rel_dynamic_array", NULL, read_dynamic },
	{ "__get_sockaddr", NULL, read_dynamic },
	{ "__get_rel_sockaddr", "__get_sockaddr_rel", read_dynamic },
	{ "__get_sockaddr_rel", NULL, read_dynamic },
	{ "__get_dynamic_array_len", NULL, read_dynamic_length },
};

static bool read_function(struct reader *r)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!pt_token_is(&r->t, functions[i].name))
			continue;
		pt_text_put(&r->fmt->text,
			    functions[i].as ? functions[i].as : functions[i].name);
		pt_text_put(&r->fmt->text, " ");
		pt_token_next(&r->t);
		return functions[i].read(r);
	}
	return false;
}

/* Bytes of a C type, or of a field: 0: not known. */
static uint32_t read_type_size(struct reader *r)
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
		const struct pd_tracepoint_field *field = skip(r, "->") ? named_field(r) : NULL;

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

static bool read_sizeof(struct reader *r, uint32_t *size)
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
static bool read_expect(struct reader *r)
{
	pt_token_next(&r->t);
	if (!expect(r, "(") || !read_expression(r) || !skip(r, ","))
		return false;
	if (r->t.type != PT_NUMBER)
		return false;
	pt_token_next(&r->t);
	return expect(r, ")");
}

/* Is this a name of C's or the kernel's, with no meaning for its parser? */
static bool is_plain_name(const struct reader *r)
{
	static const char *const not [] = { "REC", "LOCAL_PR_FMT", "STA_PR_FMT", "VIF_PR_FMT" };

	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		if (pt_token_is(&r->t, not [i]))
			return false;
	return r->t.type == PT_NAME;
}

static bool starts_operand(const struct reader *r)
{
	return r->t.type == PT_NAME || r->t.type == PT_NUMBER || r->t.type == PT_STRING ||
	       r->t.type == PT_CHAR || pt_token_is(&r->t, "(");
}

/* Names, and perhaps a *, then ): a type, or one constant. False: it is none, and nothing was read. */
static bool read_type(struct reader *r, bool *ok)
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
		pass(r);
	*ok = starts_operand(r) ? read_operand(r) : true;
	return true;
}

static bool read_parenthesis(struct reader *r)
{
	bool ok;

	pass(r);
	if (read_type(r, &ok))
		return ok;
	/* what stands behind it would make a cast of it */
	return read_expression(r) && expect(r, ")") && !starts_operand(r);
}

/* What its parser takes for one operand. */
static bool read_one(struct reader *r)
{
	uint32_t size;

	if (r->t.type == PT_NUMBER || r->t.type == PT_CHAR)
		return pass(r);
	if (pt_token_is(&r->t, "("))
		return read_parenthesis(r);
	if (pt_token_is(&r->t, "sizeof"))
		return read_sizeof(r, &size);
	if (!r->constant) {
		struct pt_tokens ahead = r->t;

		if (r->t.type == PT_STRING)
			return read_strings(r);
		if (pt_token_is(&r->t, "REC"))
			return read_field(r) != NULL;
		if (pt_token_is(&r->t, "__builtin_expect"))
			return read_expect(r);
		pt_token_next(&ahead);
		if (pt_token_is(&ahead, "("))
			return read_function(r);
	}
	if (!is_plain_name(r))
		return false;
	pass(r);
	return r->t.type != PT_NAME && !pt_token_is(&r->t, "(");
}

/* What is indexed is put in parentheses, without which its parser goes wrong behind a ?: */
static bool read_indexed(struct reader *r)
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

static bool read_operand(struct reader *r)
{
	unsigned open = r->open;
	bool ok;

	while (pt_token_is(&r->t, "-") || pt_token_is(&r->t, "~") || pt_token_is(&r->t, "+") ||
	       (pt_token_is(&r->t, "!") && !r->constant)) {
		if (++r->open > MAX_OPEN)
			return false;
		pass(r);
	}
	ok = ++r->open <= MAX_OPEN && read_indexed(r);
	r->open = open;
	return ok;
}

/* The operator at hand has two operands, and is one that can be evaluated there. */
static bool is_binary(const struct reader *r)
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
static bool read_divisor(struct reader *r)
{
	uint32_t size;
	bool ok;

	pass(r);
	if (pt_token_is(&r->t, "sizeof"))
		ok = read_sizeof(r, &size);
	else
		ok = pt_token_is_nonzero(&r->t) && pass(r);
	return ok && !pt_token_is(&r->t, "*") && !pt_token_is(&r->t, "/") &&
	       !pt_token_is(&r->t, "%") && !pt_token_is(&r->t, "[");
}

/* Operands with operators between them, whose precedence is its parser's matter. */
static bool read_expression(struct reader *r)
{
	unsigned open = r->open;

	if (!read_operand(r))
		return false;
	for (;;) {
		if (++r->open > MAX_OPEN)
			return false;
		if (!r->constant && pt_token_is(&r->t, "?")) {
			pass(r);
			if (!read_expression(r) || !expect(r, ":") || !read_operand(r))
				return false;
		} else if (!r->constant &&
			   (pt_token_is(&r->t, "/") || pt_token_is(&r->t, "%"))) {
			if (!read_divisor(r))
				return false;
		} else if (is_binary(r)) {
			pass(r);
			if (!read_operand(r))
				return false;
		} else {
			break;
		}
	}
	r->open = open;
	return true;
}

/* The format: one or several literals. */
static bool read_format(struct reader *r, unsigned *args)
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
	struct reader r = { .fmt = fmt, .tracepoint = tracepoint };
	unsigned args = 0;

	r.t.next = tracepoint->print_fmt;
	r.t.end = tracepoint->print_fmt + n;
	if (n > PT_MAX_FMT)
		return false;
	pt_token_next(&r.t);
	if (!read_format(&r, &args))
		return false;
	while (expect(&r, ",")) {
		r.open = 0;
		if (!read_expression(&r))
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
