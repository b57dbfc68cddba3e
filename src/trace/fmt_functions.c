/* What the kernel's helpers in a print fmt take: __print_flags() and its like. */
#include "fmt_inside.h"

static bool is_dynamic(const struct pd_tracepoint_field *field)
{
	return field && !field->common &&
	       (field->place == PD_ARG_DATA || field->place == PD_ARG_REL ||
		field->place == PD_ARG_SHORT);
}

/* (field), which has a place of its own in the data. */
static bool read_dynamic(struct pt_reader *r)
{
	if (!pt_expect(r, "(") || !is_dynamic(pt_named_field(r)))
		return false;
	pt_pass(r);
	return pt_expect(r, ")");
}

/* Its parser writes to NULL for the size of what is relative. */
static bool read_dynamic_length(struct pt_reader *r)
{
	const struct pd_tracepoint_field *field;

	if (!pt_expect(r, "("))
		return false;
	field = pt_named_field(r);
	if (!is_dynamic(field) || field->place == PD_ARG_REL)
		return false;
	pt_pass(r);
	return pt_expect(r, ")");
}

/* The text of a value; that of the last entry of a table may be 0. */
static bool read_text(struct pt_reader *r)
{
	bool ok;

	if (r->t.type == PT_STRING)
		return pt_read_strings(r);
	r->constant = true;
	ok = pt_read_operand(r);
	r->constant = false;
	return ok;
}

/* {value, "string"}, … */
static bool read_table(struct pt_reader *r)
{
	do {
		if (!pt_expect(r, "{"))
			return false;
		r->constant = true;
		if (!pt_read_expression(r) || !pt_expect(r, ",") || !read_text(r) ||
		    !pt_expect(r, "}"))
			return false;
		r->constant = false;
	} while (pt_expect(r, ","));
	return true;
}

static bool read_flags(struct pt_reader *r)
{
	return pt_expect(r, "(") && pt_read_expression(r) && pt_expect(r, ",") &&
	       pt_read_strings(r) && pt_expect(r, ",") && read_table(r) && pt_expect(r, ")");
}

static bool read_symbolic(struct pt_reader *r)
{
	return pt_expect(r, "(") && pt_read_expression(r) && pt_expect(r, ",") &&
	       read_table(r) && pt_expect(r, ")");
}

/* Where an array lies: a field, or what has a place of its own. */
static bool read_array(struct pt_reader *r)
{
	if (pt_token_is(&r->t, "REC"))
		return pt_read_field(r) != NULL;
	return (pt_token_is(&r->t, "__get_dynamic_array") ||
		pt_token_is(&r->t, "__get_rel_dynamic_array")) &&
	       pt_pass(r) && read_dynamic(r);
}

static bool read_hex(struct pt_reader *r)
{
	return pt_expect(r, "(") && read_array(r) && pt_expect(r, ",") &&
	       pt_read_expression(r) && pt_expect(r, ")");
}

static bool read_print_array(struct pt_reader *r)
{
	return pt_expect(r, "(") && read_array(r) && pt_expect(r, ",") &&
	       pt_read_expression(r) && pt_expect(r, ",") && pt_read_expression(r) &&
	       pt_expect(r, ")");
}

static const struct {
	const char *name;
	const char *as; /* what it is called in the text that is written; NULL: so, too */
	bool (*read)(struct pt_reader *r);
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

bool pt_read_function(struct pt_reader *r)
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
