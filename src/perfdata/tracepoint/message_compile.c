/*
 * Compiles print formats to steps: texts, and conversions with the arguments they print.
 */
#include "message_internal.h"

#define MAX_ARGS   128
#define MAX_DIGITS 3 /* digits of a width or precision */

struct compiler {
	struct pd_parser p;
	struct pd_program *made;
	struct pd_text format;
	struct pd_node *args[MAX_ARGS];
	size_t n_args, used; /* arguments, and how many of them conversions took */
	struct pd_step *steps;
	size_t n_steps;
};

/* Computes constant operations once. Returns false for a division by zero. */
static bool fold_constants(struct pd_parser *p, struct pd_node *x)
{
	uint64_t v;

	if (!x)
		return true;
	if (!fold_constants(p, x->left) || !fold_constants(p, x->right) ||
	    !fold_constants(p, x->first))
		return false;
	if (x->kind != PD_NODE_OP || x->op == PD_OP_CONDITION || x->op == PD_OP_INDEX)
		return true;
	if ((x->op == PD_OP_DIVIDE || x->op == PD_OP_MODULO) &&
	    x->right->kind == PD_NODE_ATOM && !x->right->value)
		return pd_parse_refuse(p, "a division by zero");
	if (x->left->kind != PD_NODE_ATOM || x->right->kind != PD_NODE_ATOM)
		return true;
	return pd_op_apply(x->op, x->left->value, x->right->value, &v) &&
	       pd_parse_number(p, x, v);
}

static bool parse_args(struct compiler *c)
{
	struct pd_parser *p = &c->p;

	while (p->t.type != PD_TOKEN_END) {
		struct pd_node *x = pd_parse_get(p, sizeof(*x));

		if (!x || !pd_parse_expect(p, ","))
			return false;
		if (c->n_args == MAX_ARGS)
			return pd_parse_refuse(p, "too many arguments");
		if (!pd_parse_expression(p, x) || !fold_constants(p, x))
			return false;
		c->args[c->n_args++] = x;
	}
	return true;
}

static size_t take_chars(struct pd_text *f, const char *set)
{
	size_t n = 0;

	while (n < f->n && f->p[n] && strchr(set, f->p[n]))
		n++;
	f->p += n;
	f->n -= n;
	return n;
}

static const struct pd_node *take_argument(struct compiler *c)
{
	if (c->used < c->n_args)
		return c->args[c->used++];
	pd_parse_refuse(&c->p, "a conversion has no argument");
	return NULL;
}

/* Reads a width or precision: digits, or * for an argument. */
static bool take_size(struct compiler *c, struct pd_text *f, struct pd_step *step, int *size,
		      bool *star)
{
	const char *start = f->p;
	size_t n = take_chars(f, "0123456789");

	if (n > MAX_DIGITS)
		return pd_parse_refuse(&c->p, "a width is too large");
	for (size_t i = 0; i < n; i++)
		*size = (i ? *size * 10 : 0) + (start[i] - '0');
	if (n || !f->n || *f->p != '*')
		return true;
	f->p++;
	f->n--;
	if (step->star)
		return pd_parse_refuse(&c->p, "a conversion has two *");
	*star = true;
	step->star = take_argument(c);
	return step->star != NULL;
}

/* Reads "", "hh", "h", "l", "ll", "L" or "z" and returns the bytes; 0 for others. */
static uint8_t take_modifier(struct compiler *c, struct pd_text *f)
{
	uint8_t long_size = c->p.tracepoint->tracing->long_size;
	const char *start = f->p;
	size_t n = take_chars(f, "hlLzZ");

	if (!n)
		return 4;
	if (n == 1)
		return *start == 'h' ? 2 : *start == 'L' ? 8 : long_size;
	if (n > 2 || start[0] != start[1] || (*start != 'h' && *start != 'l'))
		return 0;
	return *start == 'h' ? 1 : 8;
}

static bool is_one_of(struct pd_text f, const char *set)
{
	return f.n && *f.p && strchr(set, *f.p);
}

/*
 * Returns how many characters after a p belong to it. See parse_arg_format_pointer,
 * event-parse.c.
 */
static size_t count_pointer_chars(struct pd_text f)
{
	struct pd_text rest = f;
	size_t n = 1;

	if (!f.n)
		return 0;
	rest.p++;
	rest.n--;
	switch (*f.p) {
	case 'F':
	case 'f':
	case 'S':
	case 's':
		return 1;
	case 'M':
	case 'm':
		return n + is_one_of(rest, "RF");
	case 'U':
		return n + is_one_of(rest, "LlBb");
	case 'h':
		return n + is_one_of(rest, "CDN");
	case 'I':
	case 'i':
		break;
	default:
		return 0;
	}
	if (!is_one_of(rest, "S46"))
		return n;
	rest.p++;
	rest.n--;
	n++;
	if (f.p[1] == 'S')
		n += take_chars(&rest, "pfs");
	if (f.p[1] != '6' && is_one_of(rest, "hnlb")) {
		n++;
		rest.p++;
		rest.n--;
	}
	return n + (f.p[1] != '4' && is_one_of(rest, "c"));
}

static bool take_conversion(struct compiler *c, struct pd_text *f)
{
	struct pd_step *step = &c->steps[c->n_steps++];
	struct pd_conversion *v = &step->conversion;
	const char *flags = ++f->p;
	size_t n;

	f->n--;
	n = take_chars(f, "-#0+");
	v->minus = memchr(flags, '-', n);
	v->alternative = memchr(flags, '#', n);
	v->zero = memchr(flags, '0', n);
	v->plus = memchr(flags, '+', n);
	v->precision = -1;
	if (!take_size(c, f, step, &v->width, &v->star_width))
		return false;
	if (f->n && *f->p == '.') {
		f->p++;
		f->n--;
		v->precision = 0;
		if (!take_size(c, f, step, &v->precision, &v->star_precision))
			return false;
	}
	v->size = take_modifier(c, f);
	if (!v->size || !f->n || !*f->p || !strchr("diuxXospc", *f->p))
		return pd_parse_refuse(&c->p, "an unknown conversion");
	v->type = *f->p == 'i' ? 'd' : *f->p;
	if ((f->p[-1] == 'z' || f->p[-1] == 'Z') && !(c->p.text & PD_TEXT_CONVERSIONS)) {
		v->size = 4;
		v->type = v->type == 'd' ? 'u' : v->type;
	}
	f->p++;
	f->n--;
	if (v->type == 'p') {
		n = count_pointer_chars(*f);
		if (n >= sizeof(v->pointer))
			return pd_parse_refuse(&c->p, "an unknown conversion");
		memcpy(v->pointer, f->p, n);
		f->p += n;
		f->n -= n;
	}
	if (v->type == 'c' && !(c->p.text & PD_TEXT_CONVERSIONS)) {
		/* perf 6.1's libtraceevent does not know it, and takes no argument */
		*v = (struct pd_conversion){ .type = 0 };
		step->text = (struct pd_text){ ">c<", 3 };
		return true;
	}
	c->made->has_char = c->made->has_char || v->type == 'c';
	step->node = take_argument(c);
	return step->node != NULL;
}

/*
 * Reads text up to the next conversion and writes it, without its escapes, to `room`. Returns
 * the end of the written text.
 */
static char *take_literal_text(struct compiler *c, struct pd_text *f, char *room)
{
	char *start = room;

	while (f->n && (*f->p != '%' || (f->n > 1 && f->p[1] == '%'))) {
		char ch = *f->p;

		if ((ch == '\\' || ch == '%') && f->n > 1) {
			f->p++;
			f->n--;
			ch = *f->p;
			if (f->p[-1] == '\\')
				ch = (char)(ch == 'n' ? '\n' :
					    ch == 't' ? '\t' :
					    ch == 'r' ? '\r' :
							ch);
		}
		*room++ = ch;
		f->p++;
		f->n--;
	}
	c->steps[c->n_steps++].text = (struct pd_text){ start, (size_t)(room - start) };
	return room;
}

/*
 * Returns the offset in the print format, from 1 on, of character `at` of the joined string
 * literals.
 */
static size_t find_offset(const struct pd_parser *p, size_t at)
{
	struct pd_tokens t = { .next = p->tracepoint->print_fmt, .end = p->t.end };

	for (pd_token_next(&t); t.type == PD_TOKEN_STRING && at >= t.n - 2; pd_token_next(&t))
		at -= t.n - 2;
	return (size_t)(t.p - p->tracepoint->print_fmt) + 1 + at;
}

static bool make_steps(struct compiler *c)
{
	struct pd_text f = c->format;
	char *room = pd_parse_get(&c->p, f.n + 1);
	size_t n = 2;

	for (size_t i = 0; i < f.n; i++)
		n += f.p[i] == '%' ? 2 : 0;
	c->steps = pd_parse_get(&c->p, n * sizeof(*c->steps));
	if (!room || !c->steps)
		return false;
	while (f.n) {
		if (*f.p == '%' && !(f.n > 1 && f.p[1] == '%')) {
			size_t at = (size_t)(f.p - c->format.p);

			if (!take_conversion(c, &f)) {
				c->p.why_at = find_offset(&c->p, at);
				return false;
			}
		} else {
			room = take_literal_text(c, &f, room);
		}
	}
	c->made->steps = c->steps;
	c->made->n = c->n_steps;
	return true;
}

/* Finds the fields and the bytes of raw data that each sample must have. */
static bool find_extent(struct compiler *c)
{
	const struct pd_tracepoint *tracepoint = c->made->tracepoint;
	size_t size = (tracepoint->n_fields + 1) * sizeof(*c->made->moving);

	c->made->moving = pd_parse_get(&c->p, size);
	if (!c->made->moving)
		return false;
	for (uint32_t i = 0; i < tracepoint->n_fields; i++) {
		const struct pd_tracepoint_field *field = &tracepoint->fields[i];

		if ((uint64_t)field->offset + field->size > c->made->extent)
			c->made->extent = (uint64_t)field->offset + field->size;
		if (!field->common && field->storage != PD_ARG_FIXED)
			c->made->moving[c->made->n_moving++] = field;
	}
	return true;
}

static bool compile_steps(struct compiler *c)
{
	struct pd_parser *p = &c->p;
	size_t n = strlen(p->tracepoint->print_fmt);

	p->t.p = p->t.next = p->tracepoint->print_fmt;
	p->t.end = p->t.next + n;
	if (n > PD_MAX_PRINT_FMT)
		return pd_parse_refuse(p, "the print format is too long");
	pd_token_next(&p->t);
	return pd_parse_strings(p, &c->format) && parse_args(c) && make_steps(c) &&
	       find_extent(c);
}

const struct pd_program *pd_program_compile(struct pb_arena *arena,
					    const struct pd_tracepoint *tracepoint,
					    unsigned text)
{
	struct pd_program *made = pb_arena_get(arena, sizeof(*made));
	struct compiler c = { .p = { .arena = arena, .tracepoint = tracepoint, .text = text },
			      .made = made };

	if (!made)
		return NULL;
	*made = (struct pd_program){ .tracepoint = tracepoint };
	if (!compile_steps(&c)) {
		made->wrong = c.p.why;
		made->wrong_at = c.p.why_at;
	}
	return made;
}
