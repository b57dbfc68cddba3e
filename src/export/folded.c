/* Folded stacks, the input of flame graph tools: "comm;caller;callee weight", sorted. */
#include <stdlib.h>

#include "base/string_builder.h"
#include "perfdata/format/print_scalar.h"
#include "profile.h"

struct folded_line {
	struct pd_text stack;
	uint32_t node;
};

struct folded {
	const struct pr_tree *tree;
	struct pb_string text;	   /* stack after stack, without annotations */
	struct folded_line *lines; /* [n_lines] */
	size_t n_lines;
};

#define ANNOTATION 4 /* bytes of "_[k]" */

static bool has_annotation(const struct pr_node *node)
{
	return node->kind == 'k' || node->kind == 'j' || node->kind == 'i';
}

/*
 * Adds the stack of a node, and a byte after it, to `text`. Returns its size in bytes; 0
 * without memory.
 */
static size_t add_node_text(const struct pr_tree *tree, uint32_t number, bool annotated,
			    struct pb_string *text)
{
	const struct pr_node *nodes = tree->nodes;
	size_t size = 0;
	char *end;

	for (uint32_t i = number; i; i = nodes[i].caller) {
		size += pr_tree_name(tree, i).n + 1;
		if (annotated && has_annotation(&nodes[i]))
			size += ANNOTATION;
	}
	if (!pb_string_reserve(text, size))
		return 0;
	end = text->p + text->n + size;
	text->n += size;
	for (uint32_t i = number; i; i = nodes[i].caller) {
		struct pd_text name = pr_tree_name(tree, i);

		*--end = ';';
		if (annotated && has_annotation(&nodes[i])) {
			end -= ANNOTATION;
			memcpy(end, (char[]){ '_', '[', (char)nodes[i].kind, ']' }, ANNOTATION);
		}
		end -= name.n;
		memcpy(end, name.p, name.n);
	}
	return size - 1;
}

static int compare_lines(const void *left, const void *right)
{
	const struct folded_line *a = left, *b = right;
	int c = memcmp(a->stack.p, b->stack.p,
		       a->stack.n < b->stack.n ? a->stack.n : b->stack.n);

	return c ? c : (a->stack.n > b->stack.n) - (a->stack.n < b->stack.n);
}

/* Makes the sorted lines. Returns false without memory. */
static bool make_lines(struct folded *w)
{
	const struct pr_tree *tree = w->tree;
	const char *at;

	w->lines = malloc((tree->n + 1) * sizeof(*w->lines));
	if (!w->lines)
		return false;
	for (uint32_t i = 1; i < tree->n; i++)
		if (tree->nodes[i].own_count)
			w->lines[w->n_lines++] = (struct folded_line){
				.stack.n = add_node_text(tree, i, false, &w->text),
				.node = i,
			};
	at = pb_string_end(&w->text);
	if (!at)
		return false;
	for (size_t i = 0; i < w->n_lines; i++) {
		w->lines[i].stack.p = at;
		at += w->lines[i].stack.n + 1;
	}
	if (w->n_lines)
		qsort(w->lines, w->n_lines, sizeof(*w->lines), compare_lines);
	return true;
}

/* Writes the lines. Returns false without memory. */
static bool put_lines(const struct folded *w, bool annotated, struct pd_print *out)
{
	struct pb_string scratch = { 0 };
	bool ok;

	for (size_t i = 0; i < w->n_lines; i++) {
		struct pd_text stack = w->lines[i].stack;

		if (annotated) {
			pb_string_clear(&scratch);
			stack.n = add_node_text(w->tree, w->lines[i].node, true, &scratch);
			stack.p = scratch.p;
			if (scratch.failed)
				break;
		}
		pd_print_bytes(out, stack.p, stack.n);
		pd_print_char(out, ' ');
		pd_print_uint(out, (uint64_t)w->tree->nodes[w->lines[i].node].own.i);
		pd_print_char(out, '\n');
	}
	pd_print_flush(out);
	ok = !scratch.failed;
	pb_string_deinit(&scratch);
	return ok;
}

bool pe_tree_fold(const struct pr_tree *tree, bool annotated, struct pd_print *out)
{
	struct folded w = { .tree = tree };
	bool ok = make_lines(&w) && put_lines(&w, annotated, out);

	pb_string_deinit(&w.text);
	free(w.lines);
	return ok;
}

bool pe_write_folded(const struct pe_profile *p, const char *title, struct pd_print *out)
{
	const struct pe_tree_asked asked = {
		.event = PE_NONE,
		.has_head = true,
		.max_depth = UINT32_MAX,
	};
	uint64_t unresolved;
	struct pr_tree *tree = pe_tree_create(p, &asked, &unresolved);
	bool ok = tree && pr_tree_finish(tree, -1) && pe_tree_fold(tree, false, out);

	(void)title; /* the format has no room for it */
	pr_tree_destroy(tree);
	return ok;
}
