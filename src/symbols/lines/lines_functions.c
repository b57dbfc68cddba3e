#include "lines_functions.h"

#include <dwarf.h>
#include <stdlib.h>

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
