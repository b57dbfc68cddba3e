#include "resolver.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vector.h"
#include "perfdata/tracepoint/message.h"
#include "fields.h"
#include "internal.h"
#include "machine.h"

/*
 * Makes the texts of tracepoints, and looks up what their print formats need of the recording.
 */

/* Finds the kernel function at `address`, as of the record that is printed. */
static const char *find_kernel_function(void *arg, uint64_t address, uint64_t *start)
{
	struct pm_resolver *r = arg;
	struct pm_addr_context context;
	struct pm_location location;

	pm_addr_context_of(r->system, r->messages.rec, &context);
	context.mode = PD_CPUMODE_KERNEL;
	pm_location_at(r, &context, address, &location);
	if (!location.symbol)
		return NULL;
	*start = address - pm_location_offset(&location);
	return location.symbol->name;
}

/* Returns the printer of a recording; NULL: no memory. */
static struct pd_printer *get_printer(struct pm_resolver *r, uint32_t source,
				      const struct pd_tracing *tracing)
{
	struct pd_printer **printer;

	if (source >= r->messages.n &&
	    !pb_extend(r->messages.printers, r->messages.n, (size_t)source + 1))
		return NULL;
	printer = &r->messages.printers[source];
	if (!*printer)
		*printer = pd_printer_create(tracing, r->messages.text, find_kernel_function,
					     r);
	return *printer;
}

/* Destroys the printers. */
static void destroy_messages(struct pm_resolver *r)
{
	for (size_t i = 0; i < r->messages.n; i++)
		pd_printer_destroy(r->messages.printers[i]);
	free(r->messages.printers);
	r->messages.printers = NULL;
	r->messages.n = 0;
}

bool pm_message(struct pm_resolver *r, const struct pd_record *rec, unsigned text,
		struct pd_text *out)
{
	const struct pd_tracepoint *tracepoint = pd_tracepoint_of_record(rec);
	struct pd_printer *printer;
	const uint8_t *raw;
	uint32_t n;

	if (!tracepoint || !pd_args_raw(rec, &raw, &n))
		return false;
	if (text != r->messages.text) {
		destroy_messages(r);
		r->messages.text = text;
	}
	printer = get_printer(r, rec->source, tracepoint->tracing);
	r->messages.rec = rec;
	return printer && pd_message(printer, tracepoint, raw, n, out);
}

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
	destroy_messages(r);
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

const struct ps_chain_options *pm_named_callers(const struct pm_resolver *r)
{
	const struct ps_chain_options *options = r->system->binaries.options.chains;

	return options && options->is_named ? options : NULL;
}

enum ps_inlined pm_exact_inlined(const struct pm_resolver *r)
{
	const struct ps_chain_options *options = r->system->binaries.options.chains;

	return options ? options->inlined : PS_INLINED_NONE;
}

bool pm_is_root(struct pm_resolver *r, const struct ps_symbol *symbol)
{
	return symbol && find_match(r, symbol)->is_root;
}

bool pm_is_parent(struct pm_resolver *r, const struct ps_symbol *symbol)
{
	return symbol && find_match(r, symbol)->is_parent;
}

static bool asks_data_address(const struct pd_asked *asked)
{
	return asked->field == PD_SYS_SYMBOL_DADDR || asked->field == PD_SYS_SYMOFF_DADDR ||
	       asked->field == PD_SYS_DSO_DADDR;
}

/*
 * Finds the address that is asked about, the record's ip or addr unless `asked` names one, and
 * its context. Returns false if the record has none.
 */
static bool find_asked_address(const struct pm_resolver *r, const struct pd_record *rec,
			       const struct pd_asked *asked, struct pm_addr_context *context,
			       uint64_t *address)
{
	const struct pm_field_ids *ids = &r->system->ids;
	bool data = asks_data_address(asked);
	int64_t v;

	pm_addr_context_of(r->system, rec, context);
	if (asked->of_address) {
		context->mode = (enum pd_cpumode)asked->mode;
		*address = asked->address;
		if (asked->is_implied)
			context->mode = pm_implied_mode(r->system, context, *address);
		return true;
	}
	context->any_mode = data;
	if (!pm_integer(rec, data ? ids->addr : ids->ip, &v))
		return false;
	*address = (uint64_t)v;
	return true;
}

static bool find_dso_address(struct pm_resolver *r, const struct pd_record *rec,
			     const struct pd_asked *asked, struct pm_dso_address *at)
{
	struct pm_addr_context context;
	uint64_t address;

	if (!find_asked_address(r, rec, asked, &context, &address))
		return false;
	pm_dso_at(r, &context, address, at);
	return true;
}

const struct pm_dso_address *pm_own_dso(struct pm_resolver *r, const struct pd_record *rec)
{
	static const struct pd_asked own_ip = { .field = PD_SYS_DSO };
	uint64_t revision = r->system->revision;

	if (!pm_is_at_position(&r->own.position, rec) || r->own.revision != revision) {
		r->own.position.is_set = false;
		if (!find_dso_address(r, rec, &own_ip, &r->own.at))
			return NULL;
		pm_set_position(&r->own.position, rec);
		r->own.revision = revision;
	}
	return &r->own.at;
}

bool pm_asked_dso(struct pm_resolver *r, const struct pd_record *rec,
		  const struct pd_asked *asked, struct pm_dso_address *at)
{
	const struct pm_dso_address *own;

	if (asked->of_address || asks_data_address(asked))
		return find_dso_address(r, rec, asked, at);
	own = pm_own_dso(r, rec);
	if (own)
		*at = *own;
	return own != NULL;
}

const struct ps_symbol *pm_asked_symbol(struct pm_resolver *r, const struct pd_record *rec,
					const struct pd_asked *asked, struct pm_dso_address *at)
{
	return pm_asked_dso(r, rec, asked, at) && at->dso ?
		       pm_symbol_at(r, at->dso, at->address, at->time) :
		       NULL;
}

const struct pm_map *pm_asked_map(struct pm_resolver *r, const struct pd_record *rec,
				  const struct pd_asked *asked)
{
	struct pm_addr_context context;
	uint64_t address;

	if (!find_asked_address(r, rec, asked, &context, &address))
		return NULL;
	return pm_map_at(r->system, &context, address);
}

const struct ps_line *pm_asked_line(struct pm_resolver *r, const struct pd_record *rec,
				    const struct pd_asked *asked)
{
	const struct ps_line *lines;
	struct pm_dso_address at;
	size_t n = 0;

	if (pm_asked_dso(r, rec, asked, &at) && at.dso)
		n = ps_dso_lines(at.dso, at.address, &lines);
	return n ? &lines[asked->of_address ? n - 1 : 0] : NULL;
}

size_t pm_inlined(struct pm_resolver *r, const struct pd_record *rec,
		  const struct pd_asked *asked, const struct ps_line **lines)
{
	struct pm_dso_address at;
	size_t n = 0;

	if (pm_asked_dso(r, rec, asked, &at) && at.dso)
		n = ps_dso_lines(at.dso, at.address, lines);
	return n ? n - 1 : 0; /* the last one is not inlined */
}
