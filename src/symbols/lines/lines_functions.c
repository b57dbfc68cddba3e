#include "lines_units.h"

#include <dwarf.h>
#include <stdlib.h>
#include <time.h>

#include "base/vector.h"

#define MAX_DEPTH      512 /* of nested entries; deeper ones are skipped */
#define MAX_REFERENCES 16
#define CLOCK_EVERY    256 /* entries */

/* Kinds of entries that may have functions in them. */
static const uint16_t around[] = {
	DW_TAG_subprogram,    DW_TAG_inlined_subroutine,
	DW_TAG_lexical_block, DW_TAG_namespace,
	DW_TAG_class_type,    DW_TAG_structure_type,
	DW_TAG_union_type,    DW_TAG_module,
	DW_TAG_try_block,     DW_TAG_catch_block,
	DW_TAG_with_stmt,     DW_TAG_entry_point,
	DW_TAG_common_block,
};

bool ps_spans_add_die(struct ps_spans *spans, Dwarf_Die *die, uint32_t owner,
		      struct ps_budget *budget)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	/* address 0: the linker dropped it */
	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
		if (low && !ps_spans_add(spans, low, high, owner, budget))
			return false;
	return true;
}

const char *ps_function_name(Dwarf_Die *die)
{
	Dwarf_Die at = *die;
	Dwarf_Attribute attr;
	const char *name = NULL;

	for (int i = 0; i < MAX_REFERENCES; i++) {
		if (dwarf_attr(&at, DW_AT_linkage_name, &attr) ||
		    dwarf_attr(&at, DW_AT_MIPS_linkage_name, &attr))
			return dwarf_formstring(&attr);
		if (!name && dwarf_attr(&at, DW_AT_name, &attr))
			name = dwarf_formstring(&attr);
		if (!dwarf_attr(&at, DW_AT_abstract_origin, &attr) &&
		    !dwarf_attr(&at, DW_AT_specification, &attr))
			break;
		if (!dwarf_formref_die(&attr, &at))
			break;
	}
	return name;
}

/* A walk over the entries of a unit, in their order. */
struct walk {
	struct ps_functions *functions;
	struct ps_budget *budget;
	Dwarf_Die die;
	const unsigned char *end; /* end of the unit */
	size_t depth;
	uint32_t owner[MAX_DEPTH]; /* function that entries at this depth are in */
};

static bool has_functions(int tag)
{
	for (size_t i = 0; i < sizeof(around) / sizeof(*around); i++)
		if (tag == around[i])
			return true;
	return false;
}

/* Returns the number of the new function; PS_NO_OWNER: no memory. */
static uint32_t add_function(struct ps_functions *functions, void *die, uint32_t caller)
{
	if (!pb_reserve(functions->functions, functions->n, functions->capacity))
		return PS_NO_OWNER;
	functions->functions[functions->n] = (struct ps_function){ die, caller };
	return (uint32_t)functions->n++;
}

/*
 * Sets *owner to the function that the entries in this one are in. Returns false without memory
 * or budget.
 */
static bool visit_entry(struct walk *walk, int tag, uint32_t *owner)
{
	struct ps_functions *functions = walk->functions;
	uint32_t caller = walk->owner[walk->depth];
	size_t spans = functions->spans.n;

	*owner = caller;
	if (tag == DW_TAG_subprogram)
		caller = PS_NO_OWNER;
	else if (tag != DW_TAG_inlined_subroutine || caller == PS_NO_OWNER)
		return true;
	*owner = add_function(functions, walk->die.addr, caller);
	if (*owner == PS_NO_OWNER ||
	    !ps_spans_add_die(&functions->spans, &walk->die, *owner, walk->budget))
		return false;
	if (tag == DW_TAG_subprogram && functions->spans.n == spans) {
		functions->n--; /* no code: declared only, or inlined everywhere */
		*owner = PS_NO_OWNER;
	}
	return true;
}

static bool enter_entry(struct walk *walk, uint32_t owner)
{
	Dwarf_Die child;

	if (dwarf_child(&walk->die, &child) != 0)
		return false;
	walk->die = child;
	walk->owner[++walk->depth] = owner;
	return true;
}

/*
 * Returns true if an entry does not say what follows it. libdw would walk all entries in it;
 * this walk does so itself, watching the clock.
 */
static bool is_opaque(Dwarf_Die *die, int tag)
{
	return !has_functions(tag) && dwarf_hasattr(die, DW_AT_sibling);
}

/* Moves after an entry that has no entries in it, or says where they end. */
static bool skip_entry(struct walk *walk)
{
	Dwarf_Die next;
	int found = dwarf_siblingof(&walk->die, &next);
	const unsigned char *at = next.addr;

	if (found < 0 || !at || at <= (const unsigned char *)walk->die.addr)
		return false;
	if (found == 0) {
		walk->die = next;
		return true;
	}
	/* at the zero that ends the entries of this depth */
	while (at < walk->end && *at == 0 && walk->depth) {
		at++;
		walk->depth--;
	}
	if (at >= walk->end || *at == 0)
		return false;
	walk->die = (Dwarf_Die){ .addr = (void *)at, .cu = walk->die.cu };
	return true;
}

static bool start_walk(struct walk *walk, Dwarf_Die *unit)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
	Dwarf_Off in_unit = dwarf_cuoffset(unit), offset = dwarf_dieoffset(unit) - in_unit,
		  next;
	size_t header;

	if (dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) != 0 ||
	    next <= offset)
		return false;
	walk->end = (const unsigned char *)unit->addr - in_unit + (next - offset);
	walk->owner[0] = PS_NO_OWNER;
	return dwarf_child(unit, &walk->die) == 0;
}

void ps_functions_read(struct ps_functions *functions, Dwarf_Die *unit,
		       struct ps_budget *budget)
{
	struct walk walk = { .functions = functions, .budget = budget };
	bool more = start_walk(&walk, unit);

	for (size_t i = 1; more && walk.depth + 1 < MAX_DEPTH; i++) {
		int tag = dwarf_tag(&walk.die);
		uint32_t owner;

		if (tag == DW_TAG_invalid || !visit_entry(&walk, tag, &owner))
			break;
		if (i % CLOCK_EVERY == 0 && ps_budget_late(budget))
			break;
		more = (!is_opaque(&walk.die, tag) && enter_entry(&walk, owner)) ||
		       skip_entry(&walk);
	}
	ps_spans_finish(&functions->spans);
}

void ps_functions_deinit(struct ps_functions *functions)
{
	free(functions->functions);
	ps_spans_deinit(&functions->spans);
}

static uint64_t read_cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void ps_budget_start(struct ps_budget *budget)
{
	budget->until = read_cpu_time() + budget->time;
}

void ps_budget_stop(struct ps_budget *budget)
{
	uint64_t now = read_cpu_time();

	budget->time = now < budget->until ? budget->until - now : 0;
}

bool ps_budget_late(const struct ps_budget *budget)
{
	return ps_interrupted(budget->interrupt) || read_cpu_time() >= budget->until;
}

bool ps_spans_add(struct ps_spans *spans, uint64_t low, uint64_t high, uint32_t owner,
		  struct ps_budget *budget)
{
	if (low >= high)
		return true;
	if (!budget->spans)
		return false;
	budget->spans--;
	if (!pb_reserve(spans->spans, spans->n, spans->capacity))
		return false;
	spans->spans[spans->n++] = (struct ps_span){ low, high, owner };
	return true;
}

static int compare_lows(const void *a, const void *b)
{
	const struct ps_span *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->owner < y->owner ? -1 : x->owner > y->owner;
}

/* A heap of the address ranges over one address, with the greatest owner at the top. */
struct heap {
	struct ps_span *spans;
	size_t n;
};

static void push_owner(struct heap *heap, const struct ps_span *span)
{
	size_t i = heap->n++;

	for (; i && heap->spans[(i - 1) / 2].owner < span->owner; i = (i - 1) / 2)
		heap->spans[i] = heap->spans[(i - 1) / 2];
	heap->spans[i] = *span;
}

static void pop_owner(struct heap *heap)
{
	const struct ps_span last = heap->spans[--heap->n];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < heap->n &&
		    heap->spans[child].owner < heap->spans[child + 1].owner)
			child++;
		if (child >= heap->n || heap->spans[child].owner <= last.owner)
			break;
		heap->spans[i] = heap->spans[child];
		i = child;
	}
	heap->spans[i] = last;
}

static void emit_span(struct ps_spans *out, uint64_t low, uint64_t high, uint32_t owner)
{
	struct ps_span *last = out->n ? &out->spans[out->n - 1] : NULL;

	if (last && last->high == low && last->owner == owner)
		last->high = high;
	else
		out->spans[out->n++] = (struct ps_span){ low, high, owner };
}

/* Sweeps from left to right, between the points where a range begins or the top one ends. */
static void sweep_spans(const struct ps_spans *in, struct ps_spans *out, struct heap *heap)
{
	uint64_t at = 0;

	for (size_t i = 0; i < in->n || heap->n;) {
		uint64_t next;

		if (!heap->n)
			at = in->spans[i].low;
		while (i < in->n && in->spans[i].low <= at)
			push_owner(heap, &in->spans[i++]);
		while (heap->n && heap->spans[0].high <= at)
			pop_owner(heap);
		if (!heap->n)
			continue;
		next = heap->spans[0].high;
		if (i < in->n && in->spans[i].low < next)
			next = in->spans[i].low;
		emit_span(out, at, next, heap->spans[0].owner);
		at = next;
	}
}

bool ps_spans_finish(struct ps_spans *spans)
{
	struct ps_spans out = { 0 };
	struct heap heap = { 0 };

	if (!spans->n)
		return true;
	qsort(spans->spans, spans->n, sizeof(*spans->spans), compare_lows);
	/* each range begins once and ends once */
	out.spans = reallocarray(NULL, spans->n, 2 * sizeof(*out.spans));
	heap.spans = reallocarray(NULL, spans->n, sizeof(*heap.spans));
	if (out.spans && heap.spans) {
		sweep_spans(spans, &out, &heap);
		free(spans->spans);
		spans->spans = reallocarray(out.spans, out.n, sizeof(*out.spans));
		if (!spans->spans)
			spans->spans = out.spans;
		spans->n = spans->capacity = out.n;
		free(heap.spans);
		return true;
	}
	free(out.spans);
	free(heap.spans);
	ps_spans_deinit(spans);
	return false;
}

uint32_t ps_spans_find(const struct ps_spans *spans, uint64_t address)
{
	size_t low = 0, high = spans->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans->spans[middle].high <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == spans->n || address < spans->spans[low].low)
		return PS_NO_OWNER;
	return spans->spans[low].owner;
}

void ps_spans_deinit(struct ps_spans *spans)
{
	free(spans->spans);
	*spans = (struct ps_spans){ 0 };
}
