#include "resolver.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "fields.h"
#include "internal.h"
#include "machine.h"

struct pm_resolver *pm_resolver_create(struct pm_system *system)
{
	struct pm_resolver *r = calloc(1, sizeof(*r));

	if (r)
		r->system = system;
	return r;
}

void pm_resolver_destroy(struct pm_resolver *r)
{
	if (!r)
		return;
	pm_unwinder_destroy(r->unwinder);
	pm_messages_destroy(r);
	pm_instructions_destroy(r->instructions);
	pb_set_deinit(&r->branches);
	pm_stitches_deinit(&r->stitches);
	pb_string_deinit(&r->text);
	free(r);
}

void pm_resolver_use_later_names(struct pm_resolver *r)
{
	r->later_names = true;
}

struct pm_system *pm_resolver_system(const struct pm_resolver *r)
{
	return r->system;
}

/* Returns what the patterns of a store say of a function. */
static struct pm_match_memo match_patterns(const struct ps_chain_options *patterns,
					   const struct ps_symbol *symbol)
{
	struct pm_match_memo match = { .symbol = symbol };

	if (patterns && patterns->parent)
		match.is_parent = regexec(patterns->parent, symbol->name, 0, NULL, 0) == 0;
	else /* see default_parent_pattern, tools/perf/util/sort.c */
		match.is_parent = strncmp(symbol->name, "sys_", 4) == 0 ||
				  strncmp(symbol->name, "do_page_fault", 13) == 0;
	if (patterns && patterns->root)
		match.is_root = regexec(patterns->root, symbol->name, 0, NULL, 0) == 0;
	return match;
}

static const struct pm_match_memo *find_match(struct pm_resolver *r,
					      const struct ps_symbol *symbol)
{
	struct pm_match_memo *memo =
		&r->matches[pb_scatter((uintptr_t)symbol) >> 40 & (PM_MATCH_MEMOS - 1)];

	if (memo->symbol != symbol)
		*memo = match_patterns(r->system->binaries.options.chains, symbol);
	return memo;
}

bool pm_has_roots(const struct pm_resolver *r)
{
	return r->system->binaries.options.chains && r->system->binaries.options.chains->root;
}

enum ps_inlined pm_exact_inlined(const struct pm_resolver *r)
{
	const struct ps_chain_options *options = r->system->binaries.options.chains;

	return options ? options->inlined : PS_INLINED_NONE;
}

bool pm_has_lbr_leaf(const struct pm_resolver *r)
{
	const struct ps_chain_options *options = r->system->binaries.options.chains;

	return options && options->lbr_leaf;
}

bool pm_is_root(struct pm_resolver *r, const struct ps_symbol *symbol)
{
	return symbol && find_match(r, symbol)->is_root;
}

bool pm_is_parent(struct pm_resolver *r, const struct ps_symbol *symbol)
{
	return symbol && find_match(r, symbol)->is_parent;
}
