/* Writes registers, branches, and the output of BPF programs. */
#include <ctype.h>

#include "line.h"
#include "text.h"
#include "perfdata/format/views.h"

/* Returns true for x86 and s390, whose registers have names in capitals in perf. */
static bool has_capital_names(const struct pd_record *rec)
{
	const struct pd_arch *arch = rec->layout->shape->arch;

	return arch && (strcmp(arch->name, "x86") == 0 || strcmp(arch->name, "s390") == 0);
}

static void print_regs(struct px_line *line, unsigned id)
{
	bool capitals = has_capital_names(line->rec);
	struct pd_value v, value;

	pm_get(line->rec, id, &v);
	if (v.type != PD_VIEW || !v.view.count)
		return;
	value.type = PD_NIL;
	v.view.desc->member(&v.view, 0, &value);
	pd_print_const(line->out, " ABI:");
	px_print_uint(line->out, value.u, 0);
	pd_print_char(line->out, ' ');
	for (uint32_t i = 0; i < v.view.count; i++) {
		const char *name = v.view.desc->key(&v.view, i);
		/* both halves of an XMM register have one name */
		size_t n = capitals ? strcspn(name, "_") : strlen(name);

		if (n < 5)
			px_print_spaces(line->out, 5 - n);
		for (size_t k = 0; k < n; k++)
			pd_print_char(line->out, capitals ?
							 (char)toupper((unsigned char)name[k]) :
							 name[k]);
		v.view.desc->item(&v.view, i, 0, &value);
		pd_print_const(line->out, ":0x");
		px_print_hex(line->out, value.u, 0);
		pd_print_char(line->out, ' ');
	}
}

void px_iregs(struct px_line *line)
{
	print_regs(line, line->script->ids.regs_intr);
}

void px_uregs(struct px_line *line)
{
	print_regs(line, line->script->ids.regs_user);
}

/* Sets *value to the member `name` of item `i`; PD_NIL if there is none. */
static void get_item(const struct pd_view *view, uint32_t i, const char *name,
		     struct pd_value *value)
{
	const struct pd_member *items = view->desc->items;
	unsigned m = pd_member_find(items, name);

	value->type = PD_NIL;
	value->u = 0;
	if (items[m].name)
		view->desc->item(view, i, m, value);
}

static uint64_t get_item_number(const struct pd_view *view, uint32_t i, const char *name)
{
	struct pd_value value;

	get_item(view, i, name, &value);
	return value.type == PD_NIL ? 0 : value.u;
}

/* Returns true if a branch is shown as not taken; older perfs do not show it. */
static bool is_not_taken(const struct pd_view *view, uint32_t i, unsigned as)
{
	return as & PD_TEXT_BRANCH_NOT_TAKEN && get_item_number(view, i, "not_taken");
}

static void print_branch_flags(struct pd_print *out, const struct pd_view *view, uint32_t i,
			       unsigned as)
{
	bool mispred = get_item_number(view, i, "mispred"),
	     predicted = get_item_number(view, i, "predicted");
	bool skipped = is_not_taken(view, i, as);
	struct pd_value type, spec;

	pd_print_char(out, '/');
	pd_print_char(out, predicted ? 'P' : mispred || skipped ? 'M' : '-');
	if (skipped)
		pd_print_char(out, 'N');
	pd_print_char(out, '/');
	pd_print_char(out, get_item_number(view, i, "in_tx") ? 'X' : '-');
	pd_print_char(out, '/');
	pd_print_char(out, get_item_number(view, i, "abort") ? 'A' : '-');
	pd_print_char(out, '/');
	px_print_uint(out, get_item_number(view, i, "cycles"), 0);
	get_item(view, i, "new_type", &type);
	if (type.type != PD_STR)
		get_item(view, i, "type", &type);
	pd_print_char(out, '/');
	if (type.type == PD_STR)
		pd_print_bytes(out, type.s.p, type.s.n);
	if (as & PD_TEXT_BRANCH_SPECULATION) {
		get_item(view, i, "spec", &spec);
		pd_print_char(out, '/');
		if (spec.type == PD_STR)
			pd_print_bytes(out, spec.s.p, spec.s.n);
		else
			pd_print_char(out, '-');
	}
	pd_print_char(out, ' ');
}

static void print_branch_end(struct px_line *line, uint64_t address, bool symbols)
{
	struct pm_location location;

	if (symbols || (line->event->fields & PX_BIT(PX_DSO)))
		px_find_branch_location(line, address, &location);
	if (symbols) {
		px_print_symbol(line->out, &location, true);
	} else {
		pd_print_const(line->out, "0x");
		px_print_hex(line->out, address, 0);
	}
	if (line->event->fields & PX_BIT(PX_DSO)) {
		if (line->script->text & PD_TEXT_BRANCH_DSO_APART)
			pd_print_char(line->out, ' ');
		px_print_dso(line, &location);
	}
}

static void print_branches(struct px_line *line, bool symbols)
{
	struct pd_value v;

	pm_get(line->rec, line->script->ids.branch_stack, &v);
	if (v.type != PD_VIEW)
		return;
	for (uint32_t i = 0; i < v.view.count; i++) {
		if (!symbols)
			pd_print_char(line->out, ' ');
		print_branch_end(line, get_item_number(&v.view, i, "from"), symbols);
		pd_print_char(line->out, '/');
		print_branch_end(line, get_item_number(&v.view, i, "to"), symbols);
		print_branch_flags(line->out, &v.view, i, line->script->text);
	}
}

void px_brstack(struct px_line *line)
{
	print_branches(line, false);
}

void px_brstacksym(struct px_line *line)
{
	print_branches(line, true);
}

#define BPF_PER_LINE  8
#define SW_BPF_OUTPUT 10 /* PERF_COUNT_SW_BPF_OUTPUT */

static void print_bpf_row(struct pd_print *out, const char *p, size_t at, size_t n)
{
	px_print_text(out, at ? "" : "BPF output:", at ? 0 : 11, 17);
	pd_print_char(out, ' ');
	for (unsigned shift = 16; shift; shift -= 8) {
		char byte = (char)(at >> (shift - 8));

		pd_print_digits(out, &byte, 1);
	}
	pd_print_char(out, ':');
	for (size_t i = 0; i < BPF_PER_LINE; i++) {
		pd_print_char(out, ' ');
		if (i < n)
			pd_print_digits(out, p + i, 1);
		else
			pd_print_const(out, "  ");
	}
	pd_print_const(out, "  ");
	for (size_t i = 0; i < BPF_PER_LINE; i++)
		pd_print_char(out, i >= n ? ' ' : p[i] >= ' ' && p[i] < 0x7f ? p[i] : '.');
	pd_print_char(out, '\n');
}

/*
 * See sample__fprintf_bpf_output. If the data is a string padded with NULs, it is shown as one,
 * too.
 */
void px_bpf_output(struct px_line *line)
{
	const struct pd_attr *attr = &line->event->event->attr;
	size_t text = 0, end;
	struct pd_value v;

	if (attr->type != PD_TYPE_SOFTWARE || attr->config != SW_BPF_OUTPUT)
		return;
	pm_get(line->rec, line->script->ids.raw, &v);
	if (v.type != PD_BLOB)
		return;
	pd_print_char(line->out, '\n');
	for (size_t at = 0; at < v.s.n; at += BPF_PER_LINE)
		print_bpf_row(line->out, v.s.p + at, at,
			      v.s.n - at < BPF_PER_LINE ? v.s.n - at : BPF_PER_LINE);
	while (text < v.s.n && v.s.p[text] >= ' ' && v.s.p[text] < 0x7f)
		text++;
	for (end = text; end < v.s.n && !v.s.p[end];)
		end++;
	if (text == v.s.n || end < v.s.n)
		return;
	px_print_text(line->out, "BPF string:", 11, 17);
	pd_print_const(line->out, " \"");
	pd_print_bytes(line->out, v.s.p, text);
	pd_print_const(line->out, "\"\n");
}
