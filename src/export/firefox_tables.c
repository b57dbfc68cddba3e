/*
 * The tables that the threads of a profile of the Firefox Profiler share: stacks, frames,
 * functions, binaries, strings, as of version 60 of the format. See
 * https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md
 * and src/types/profile.ts there.
 */
#include "firefox.h"
#include "query/query.h"

#define LIBRARY 1 /* a type of resource */

/* Categories of frames, in the order of `categories` in firefox.c. */
enum {
	OTHER,
	USER,
	KERNEL,
	JIT
};

void pe_print_key(struct pd_print *out, const char *name)
{
	pd_print_const(out, ",\"");
	pd_print_name(out, name);
	pd_print_const(out, "\":");
}

void pe_print_text(const struct firefox *w, uint32_t text)
{
	struct pd_text string = pe_text(w->profile, text);

	pd_print_json_string(w->out, string.p, string.n);
}

void pe_print_ms(struct pd_print *out, uint64_t ns)
{
	uint64_t rest = ns % 1000000;
	char *digits;
	size_t n = 7;

	pd_print_uint(out, ns / 1000000);
	if (!rest)
		return;
	digits = pd_print_room(out, n);
	digits[0] = '.';
	memcpy(digits + 1, pd_two_digits + 2 * (rest / 10000), 2);
	memcpy(digits + 3, pd_two_digits + 2 * (rest / 100 % 100), 2);
	memcpy(digits + 5, pd_two_digits + 2 * (rest % 100), 2);
	while (digits[n - 1] == '0')
		n--;
	out->n += n;
}

/* Prints an array of n values, value i by print_value(w, i), as the next key of an object. */
static void print_column(const struct firefox *w, const char *name, size_t n,
			 void (*print_value)(const struct firefox *w, uint32_t i))
{
	pe_print_key(w->out, name);
	pd_print_char(w->out, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			pd_print_char(w->out, ',');
		print_value(w, i);
	}
	pd_print_char(w->out, ']');
}

static const struct pe_stack *stack_at(const struct firefox *w, uint32_t i)
{
	return &w->profile->stacks[i];
}

static void print_prefix(const struct firefox *w, uint32_t i)
{
	if (stack_at(w, i)->caller == PE_NONE)
		pd_print_const(w->out, "null");
	else
		pd_print_uint(w->out, stack_at(w, i)->caller);
}

static void print_stack_row(const struct firefox *w, uint32_t i)
{
	pd_print_uint(w->out, stack_at(w, i)->row);
}

static void print_null(const struct firefox *w, uint32_t i)
{
	(void)i;
	pd_print_const(w->out, "null");
}

static void print_false(const struct firefox *w, uint32_t i)
{
	(void)i;
	pd_print_const(w->out, "false");
}

static unsigned category_of(const struct pe_frame *frame)
{
	switch (frame->kind) {
	case PD_CPUMODE_KERNEL:
	case PD_CPUMODE_GUEST_KERNEL:
	case PD_CPUMODE_HYPERVISOR:
		return KERNEL;
	case PD_CPUMODE_USER:
	case PD_CPUMODE_GUEST_USER:
		return USER;
	case PQ_FRAME_JIT:
		return JIT;
	default:
		return OTHER;
	}
}

/* Prints the columns of the table of frames: a row for each line, the outermost one first. */
static void print_frames(const struct firefox *w)
{
	static const char *const names[] = { "address",	     "inlineDepth",   "category",
					     "func",	     "line",	      "subcategory",
					     "nativeSymbol", "innerWindowID", "column" };
	const struct pe_profile *p = w->profile;

	for (size_t c = 0; c < sizeof(names) / sizeof(names[0]); c++) {
		pe_print_key(w->out, names[c]);
		pd_print_char(w->out, '[');
		for (uint32_t i = 0, row = 0; i < p->n_frames; i++) {
			const struct pe_frame *frame = &p->frames[i];
			uint32_t n;
			const uint32_t *lines = pe_frame_lines(p, i, &n);

			for (uint32_t depth = 0; depth < n; depth++, row++) {
				const struct pe_line *line = pe_line_at(p,
									lines[n - 1 - depth]);
				const uint64_t values[] = { frame->address, depth,
							    category_of(frame), line->function,
							    line->line };

				if (row)
					pd_print_char(w->out, ',');
				if (c == 0 && i == p->unknown)
					pd_print_const(w->out, "-1");
				else if (c < 4 || (c == 4 && line->line))
					pd_print_uint(w->out, values[c]);
				else
					pd_print_name(w->out, c == 5 ? "0" : "null");
			}
		}
		pd_print_char(w->out, ']');
	}
}

static void print_function_name(const struct firefox *w, uint32_t i)
{
	pd_print_uint(w->out, pe_function_at(w->profile, i)->name);
}

static void print_function_binary(const struct firefox *w, uint32_t i)
{
	pd_print_uint(w->out, pe_function_at(w->profile, i)->binary);
}

/* Source files are those of functions, a file once for each. */
static void print_function_source(const struct firefox *w, uint32_t i)
{
	if (pe_function_at(w->profile, i)->file == PE_NONE)
		print_null(w, i);
	else
		pd_print_uint(w->out, i);
}

static void print_source_name(const struct firefox *w, uint32_t i)
{
	const struct pe_function *function = pe_function_at(w->profile, i);

	pd_print_uint(w->out, function->file == PE_NONE ? function->name : function->file);
}

/* The strings are the texts of the profile, then the short names of its binaries. */
static void print_binary_name(const struct firefox *w, uint32_t i)
{
	pd_print_uint(w->out, w->profile->texts.n + i);
}

static void print_row_number(const struct firefox *w, uint32_t i)
{
	pd_print_uint(w->out, i);
}

static void print_one(const struct firefox *w, uint32_t i)
{
	(void)i;
	pd_print_uint(w->out, LIBRARY);
}

static void print_table_string(const struct firefox *w, uint32_t i)
{
	const struct pe_profile *p = w->profile;
	const char *base;

	if (i < p->texts.n) {
		pe_print_text(w, i);
		return;
	}
	base = ps_base_name(pe_text(p, pe_binary_at(p, i - (uint32_t)p->texts.n)->name).p);
	pd_print_json_string(w->out, base, strlen(base));
}

/* Begins an object with its number of rows. */
static void begin_table(const struct firefox *w, const char *name, size_t n)
{
	pe_print_key(w->out, name);
	pd_print_const(w->out, "{\"length\":");
	pd_print_uint(w->out, n);
}

/* A column of a table. The last of an array has no name. */
struct firefox_column {
	const char *name;
	void (*print_value)(const struct firefox *w, uint32_t i);
};

static const struct firefox_column stack_columns[] = {
	{ "prefix", print_prefix },
	{ "frame", print_stack_row },
	{ 0 },
};

static const struct firefox_column function_columns[] = {
	{ "name", print_function_name },     { "isJS", print_false },
	{ "relevantForJS", print_false },    { "resource", print_function_binary },
	{ "source", print_function_source }, { "lineNumber", print_null },
	{ "columnNumber", print_null },	     { 0 },
};

static const struct firefox_column source_columns[] = {
	{ "id", print_null },
	{ "filename", print_source_name },
	{ 0 },
};

static const struct firefox_column resource_columns[] = {
	{ "lib", print_row_number },
	{ "name", print_binary_name },
	{ "host", print_null },
	{ "type", print_one },
	{ 0 },
};

/* The table of native symbols has no rows. */
static const struct firefox_column native_columns[] = {
	{ "libIndex", print_null },
	{ "address", print_null },
	{ "name", print_null },
	{ "functionSize", print_null },
	{ 0 },
};

/* Prints a table of `n` rows as the next key of an object. */
static void print_table(const struct firefox *w, const char *name, size_t n,
			const struct firefox_column *columns)
{
	begin_table(w, name, n);
	for (; columns->name; columns++)
		print_column(w, columns->name, n, columns->print_value);
	pd_print_char(w->out, '}');
}

static void print_shared(const struct firefox *w)
{
	const struct pe_profile *p = w->profile;

	pe_print_key(w->out, "shared");
	pd_print_const(w->out, "{\"pages\":[]");
	print_column(w, "stringArray", p->texts.n + p->binaries.n, print_table_string);
	print_table(w, "stackTable", p->n_stacks, stack_columns);
	begin_table(w, "frameTable", p->rows_at[p->n_frames]);
	print_frames(w);
	pd_print_char(w->out, '}');
	print_table(w, "funcTable", p->functions.n, function_columns);
	print_table(w, "sources", p->functions.n, source_columns);
	print_table(w, "resourceTable", p->binaries.n, resource_columns);
	print_table(w, "nativeSymbols", 0, native_columns);
	pd_print_char(w->out, '}');
}

/*
 * Prints the id of a binary's symbols, as its build-id has it: a GUID in the order of its
 * parts, then its age, 0.
 */
static void print_debug_id(struct pd_print *out, struct pd_text build_id)
{
	static const uint8_t order[16] = {
		3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15
	};

	pd_print_char(out, '"');
	for (size_t i = 0; i < 32 && build_id.n >= 32; i++) {
		char c = build_id.p[2 * order[i / 2] + i % 2];

		pd_print_char(out, c >= 'a' ? (char)(c - 'a' + 'A') : c);
	}
	pd_print_name(out, build_id.n >= 32 ? "0\"" : "\"");
}

static void print_library(const struct firefox *w, uint32_t number)
{
	const struct pe_binary *binary = pe_binary_at(w->profile, number);
	struct pd_text path = pe_text(w->profile, binary->name), id = { 0 };
	const char *base = ps_base_name(path.p);

	if (binary->build_id != PE_NONE)
		id = pe_text(w->profile, binary->build_id);
	pd_print_const(w->out, "{\"arch\":null");
	for (size_t i = 0; i < 4; i++) {
		pe_print_key(w->out, (const char *const[]){ "name", "debugName", "path",
							    "debugPath" }[i]);
		if (i < 2)
			pd_print_json_string(w->out, base, strlen(base));
		else
			pd_print_json_string(w->out, path.p, path.n);
	}
	pe_print_key(w->out, "breakpadId");
	print_debug_id(w->out, id);
	pe_print_key(w->out, "codeId");
	if (id.p)
		pd_print_json_string(w->out, id.p, id.n);
	else
		print_null(w, number);
	pd_print_char(w->out, '}');
}

void pe_firefox_tables(const struct firefox *w)
{
	print_column(w, "libs", w->profile->binaries.n, print_library);
	print_shared(w);
}
