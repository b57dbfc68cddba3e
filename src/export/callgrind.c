/*
 * The format of callgrind, for kcachegrind: the weight of each function and line by itself, and
 * of what each calls, over all threads. https://valgrind.org/docs/manual/cl-format.html
 */
#define _GNU_SOURCE /* qsort_r */

#include <stdlib.h>

#include "base/vector.h"
#include "perfdata/format/print_scalar.h"
#include "profile.h"

/* A place in the code that costs: a line of a function by itself, or its call of another. */
struct callgrind_place {
	uint32_t function, callee; /* callee: PE_NONE for what it costs by itself */
	uint32_t line;
};

/* The costs of a place, except for its weights. */
struct callgrind_cost {
	uint64_t count;	 /* samples in which it calls */
	uint32_t latest; /* number of the last stack that was added, plus 1 */
};

struct callgrind {
	const struct pe_profile *profile;
	struct pd_print *out;
	struct pb_set places;
	struct callgrind_cost *costs; /* [n_costs], by place */
	size_t n_costs;
	uint64_t *weights; /* [n_weights]: by place and event */
	size_t n_weights;
	uint64_t *of_stack; /* [events]: weights of the stack that is added */
	/* text → its number in the file, from 1 on; 0: it was not written yet */
	uint32_t *objects, *files, *names;
	uint32_t n_objects, n_files, n_names;
};

static const struct callgrind_place *place_at(const struct callgrind *w, uint32_t number)
{
	return pb_set_at(&w->places, number);
}

/*
 * Adds the weights of stack `number`, with `count` samples, to a place, unless that was done
 * before. Returns false without memory.
 */
static bool add_cost(struct callgrind *w, const struct callgrind_place *place, uint32_t number,
		     uint64_t count)
{
	size_t n_events = w->profile->n_events;
	uint32_t at = pb_set_add(&w->places, place);
	struct callgrind_cost *cost;

	if (at == PE_NONE)
		return false;
	if (at >= w->n_costs &&
	    (!pb_extend(w->costs, w->n_costs, 2 * (size_t)at + 64) ||
	     !pb_extend(w->weights, w->n_weights, (2 * (size_t)at + 64) * n_events)))
		return false;
	cost = &w->costs[at];
	if (cost->latest == number + 1)
		return true;
	cost->latest = number + 1;
	cost->count += count;
	for (size_t i = 0; i < n_events; i++)
		w->weights[at * n_events + i] += w->of_stack[i];
	return true;
}

/*
 * Adds a stack with the weights of_stack: to its callee's own, and to each call of it once.
 */
static bool add_costs(struct callgrind *w, uint32_t number, uint64_t count,
		      const uint32_t *frames, size_t n)
{
	const struct pe_profile *p = w->profile;
	struct callgrind_place place = { .callee = PE_NONE };

	for (size_t i = 0; i < n; i++) {
		const struct pe_line *line = pe_line_at(p, pe_frame_line(p, frames[i]));

		place.function = line->function;
		place.line = line->line;
		if (!add_cost(w, &place, number, count))
			return false;
		place.callee = line->function;
	}
	return true;
}

/* Adds all entries, those of one stack at once. `by` has room for as many numbers. */
static bool add_entries(struct callgrind *w, uint32_t *by)
{
	const struct pe_profile *p = w->profile;
	uint32_t number = 0;

	pe_sort_entries(p, PE_BY_CHAIN, by);
	for (size_t i = 0, next; i < p->n_entries; i = next, number++) {
		const struct pe_entry *first = &p->entries[by[i]];
		uint64_t count = 0;
		size_t n;
		const uint32_t *frames = pe_entry_frames(p, first, &n);

		memset(w->of_stack, 0, p->n_events * sizeof(*w->of_stack));
		for (next = i; next < p->n_entries; next++) {
			const struct pe_entry *entry = &p->entries[by[next]];

			if (entry->stack != first->stack)
				break;
			w->of_stack[entry->event] += entry->weight;
			count += entry->count;
		}
		if (!add_costs(w, number, count, frames, n))
			return false;
	}
	return true;
}

/* Prints a name without what would end its line or compress it: `(` begins a number. */
static void print_name(struct pd_print *out, struct pd_text text)
{
	if (text.n && text.p[0] == '(')
		pd_print_char(out, ' ');
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		pd_print_char(out, c < ' ' || c == 0x7f ? '?' : text.p[i]);
	}
}

/* Prints "fn=(3) name" for a text the first time, then "fn=(3)". */
static void print_compressed(const struct callgrind *w, const char *key, uint32_t text,
			     uint32_t *numbers, uint32_t *n)
{
	bool is_new = !numbers[text + 1];
	struct pd_text unknown = { "???", 3 };

	if (is_new)
		numbers[text + 1] = ++*n;
	pd_print_name(w->out, key);
	pd_print_char(w->out, '(');
	pd_print_uint(w->out, numbers[text + 1]);
	pd_print_char(w->out, ')');
	if (is_new) {
		pd_print_char(w->out, ' ');
		print_name(w->out, text == PE_NONE ? unknown : pe_text(w->profile, text));
	}
	pd_print_char(w->out, '\n');
}

/* Prints who a function is: with "cob=", "cfi=" and "cfn=" a callee. */
static void print_function(struct callgrind *w, uint32_t number, bool is_callee)
{
	const struct pe_profile *p = w->profile;
	const struct pe_function *function = pe_function_at(p, number);

	print_compressed(w,
			 is_callee ? "cob=" : "\nob=", pe_binary_at(p, function->binary)->name,
			 w->objects, &w->n_objects);
	print_compressed(w, is_callee ? "cfi=" : "fl=", function->file, w->files, &w->n_files);
	print_compressed(w, is_callee ? "cfn=" : "fn=", function->name, w->names, &w->n_names);
}

static void print_costs(const struct callgrind *w, const uint64_t *weights)
{
	for (size_t i = 0; i < w->profile->n_events; i++) {
		pd_print_char(w->out, ' ');
		pd_print_uint(w->out, weights[i]);
	}
	pd_print_char(w->out, '\n');
}

static void print_place(struct callgrind *w, uint32_t number)
{
	const struct callgrind_place *place = place_at(w, number);

	if (place->callee != PE_NONE) {
		print_function(w, place->callee, true);
		pd_print_const(w->out, "calls=");
		pd_print_uint(w->out, w->costs[number].count);
		pd_print_const(w->out, " 0\n");
	}
	pd_print_uint(w->out, place->line);
	print_costs(w, w->weights + number * w->profile->n_events);
}

/* Compares places by function; what it costs by itself comes first. */
static int compare_places(const void *left, const void *right, void *arg)
{
	const struct callgrind *w = arg;
	const struct callgrind_place *a = place_at(w, *(const uint32_t *)left);
	const struct callgrind_place *b = place_at(w, *(const uint32_t *)right);
	uint32_t x = a->callee + 1, y = b->callee + 1; /* PE_NONE becomes 0 */

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (x != y)
		return x < y ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static void print_places(struct callgrind *w, uint32_t *order)
{
	uint32_t function = PE_NONE;

	for (uint32_t i = 0; i < w->places.n; i++)
		order[i] = i;
	qsort_r(order, w->places.n, sizeof(*order), compare_places, w);
	for (size_t i = 0; i < w->places.n; i++) {
		const struct callgrind_place *place = place_at(w, order[i]);

		if (place->function != function)
			print_function(w, place->function, false);
		function = place->function;
		print_place(w, order[i]);
	}
}

/* Prints the head; names of events are one word in this format. */
static void print_head(struct callgrind *w, const char *title)
{
	const struct pe_profile *p = w->profile;

	pd_print_const(w->out, "# callgrind format\nversion: 1\ncreator: perflua\ncmd: ");
	print_name(w->out, (struct pd_text){ title, strlen(title) });
	pd_print_const(w->out, "\npositions: line\nevents:");
	for (size_t i = 0; i < p->n_events; i++) {
		struct pd_text name = pe_text(p, p->events[i].name);

		pd_print_char(w->out, ' ');
		for (size_t k = 0; k < name.n; k++)
			pd_print_char(w->out,
				      (unsigned char)name.p[k] <= ' ' || name.p[k] == 0x7f ?
					      '_' :
					      name.p[k]);
		w->of_stack[i] = p->events[i].weight;
	}
	pd_print_const(w->out, "\nsummary:");
	print_costs(w, w->of_stack);
}

static bool write_places(struct callgrind *w, const char *title)
{
	const struct pe_profile *p = w->profile;
	uint32_t *order = calloc(p->n_entries + 1, sizeof(*order));
	bool ok = order && add_entries(w, order);

	free(order);
	order = ok ? calloc(w->places.n + 1, sizeof(*order)) : NULL;
	if (order) {
		print_head(w, title);
		print_places(w, order);
	}
	free(order);
	return order;
}

bool pe_write_callgrind(const struct pe_profile *p, const char *title, struct pd_print *out)
{
	struct callgrind w = { .profile = p, .out = out };
	size_t n = p->texts.n + 1;
	bool ok;

	pb_set_init(&w.places, sizeof(struct callgrind_place));
	w.of_stack = calloc(p->n_events + 1, sizeof(*w.of_stack));
	w.objects = calloc(n, sizeof(*w.objects));
	w.files = calloc(n, sizeof(*w.files));
	w.names = calloc(n, sizeof(*w.names));
	ok = w.of_stack && w.objects && w.files && w.names && write_places(&w, title);
	pb_set_deinit(&w.places);
	free(w.costs);
	free(w.weights);
	free(w.of_stack);
	free(w.objects);
	free(w.files);
	free(w.names);
	return ok;
}
