/* Folded stacks, the input of flame graph tools: "comm;caller;callee weight", sorted. */
#include <stdlib.h>

#include "base/string_builder.h"
#include "base/vector.h"
#include "perfdata/format/print_scalar.h"
#include "profile.h"

/* A stack: that of its caller, and one name more. */
struct folded_node {
	uint32_t caller; /* PE_NONE: it has none */
	uint32_t name;	 /* text; PE_NONE: not known */
};

struct folded_line {
	struct pd_text stack;
	uint64_t weight;
};

struct folded {
	const struct pe_profile *profile;
	struct pe_set nodes;
	struct folded_sum {
		uint64_t count, weight;
	} * sums; /* [n_sums], by node */
	size_t n_sums;
	struct pb_string text;	   /* stack after stack */
	struct folded_line *lines; /* [n_lines] */
	size_t n_lines, lines_room;
};

/* Adds the weight of an entry to its stack. Returns false without memory. */
static bool add_folded(struct folded *w, const struct pe_entry *entry)
{
	const struct pe_profile *p = w->profile;
	size_t n;
	const uint32_t *frames = pe_entry_frames(p, entry, &n);
	struct folded_node node = { PE_NONE, pe_thread_at(p, entry->thread)->comm };

	node.caller = pe_set_add(&w->nodes, &node);
	while (n-- && node.caller != PE_NONE) {
		const struct pe_line *line = pe_line_at(p, pe_frame_line(p, frames[n]));

		node.name = pe_function_at(p, line->function)->name;
		/* outer frames with empty names leave nothing in the field `stack` */
		if (pe_text(p, node.name).n ||
		    ((const struct folded_node *)pe_set_at(&w->nodes, node.caller))->caller !=
			    PE_NONE)
			node.caller = pe_set_add(&w->nodes, &node);
	}
	if (node.caller == PE_NONE)
		return false;
	if (node.caller >= w->n_sums &&
	    !pb_extend(w->sums, w->n_sums, 2 * (size_t)node.caller + 64))
		return false;
	w->sums[node.caller].count += entry->count;
	w->sums[node.caller].weight += entry->weight;
	return true;
}

static const struct folded_node *node_at(const struct folded *w, uint32_t number)
{
	return pe_set_at(&w->nodes, number);
}

static struct pd_text name_of(const struct folded *w, const struct folded_node *node)
{
	return node->name == PE_NONE ? (struct pd_text){ PM_UNKNOWN, sizeof(PM_UNKNOWN) - 1 } :
				       pe_text(w->profile, node->name);
}

/* Adds the line of a node. Its text is an offset until all lines are there. */
static bool add_folded_line(struct folded *w, uint32_t number)
{
	size_t size = 0, at = w->text.n;
	char *end;

	for (uint32_t i = number; i != PE_NONE; i = node_at(w, i)->caller)
		size += name_of(w, node_at(w, i)).n + 1;
	if (!pb_string_reserve(&w->text, size) ||
	    !pb_reserve(w->lines, w->n_lines, w->lines_room))
		return false;
	end = w->text.p + at + size;
	for (uint32_t i = number; i != PE_NONE; i = node_at(w, i)->caller) {
		struct pd_text name = name_of(w, node_at(w, i));

		*--end = ';';
		end -= name.n;
		memcpy(end, name.p, name.n);
	}
	w->text.n += size;
	w->lines[w->n_lines++] = (struct folded_line){ { NULL, size - 1 },
						       w->sums[number].weight };
	return true;
}

static int compare_lines(const void *left, const void *right)
{
	const struct folded_line *a = left, *b = right;
	int c = memcmp(a->stack.p, b->stack.p,
		       a->stack.n < b->stack.n ? a->stack.n : b->stack.n);

	return c ? c : (a->stack.n > b->stack.n) - (a->stack.n < b->stack.n);
}

static bool fold_entries(struct folded *w)
{
	const struct pe_profile *p = w->profile;
	const char *at;

	for (size_t i = 0; i < p->n_entries; i++)
		if (!add_folded(w, &p->entries[i]))
			return false;
	for (uint32_t i = 0; i < w->n_sums && i < w->nodes.n; i++)
		if (w->sums[i].count && !add_folded_line(w, i))
			return false;
	at = w->text.p;
	for (size_t i = 0; i < w->n_lines; i++) {
		w->lines[i].stack.p = at;
		at += w->lines[i].stack.n + 1;
	}
	if (w->n_lines)
		qsort(w->lines, w->n_lines, sizeof(*w->lines), compare_lines);
	return true;
}

bool pe_write_folded(const struct pe_profile *p, const char *title, struct pd_print *out)
{
	struct folded w = { .profile = p };
	bool ok;

	(void)title; /* the format has no room for it */
	pe_set_init(&w.nodes, sizeof(struct folded_node));
	ok = fold_entries(&w);
	for (size_t i = 0; ok && i < w.n_lines; i++) {
		pd_print_bytes(out, w.lines[i].stack.p, w.lines[i].stack.n);
		pd_print_char(out, ' ');
		pd_print_uint(out, w.lines[i].weight);
		pd_print_char(out, '\n');
	}
	pe_set_deinit(&w.nodes);
	pb_string_deinit(&w.text);
	free(w.sums);
	free(w.lines);
	return ok;
}
