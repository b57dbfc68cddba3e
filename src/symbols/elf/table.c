#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

#define PAGE	  UINT64_C(4096)
#define ASK_EVERY 1024 /* symbols between two calls of ps_interrupted */

bool ps_table_add(struct ps_table *table, const struct ps_symbol *symbol, uint64_t size)
{
	struct ps_symbol *added;
	const char *name;

	if (table->n % ASK_EVERY == 0 && ps_interrupted(table->interrupt))
		return false;
	if (!pb_reserve(table->symbols, table->n, table->capacity))
		return false;
	name = pb_arena_text(&table->names, symbol->name, symbol->length);
	if (!name)
		return false;
	added = &table->symbols[table->n++];
	*added = *symbol;
	added->name = name;
	added->end = symbol->start + size < symbol->start ? UINT64_MAX : symbol->start + size;
	return true;
}

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

/* Sorts by one digit of the addresses, as a round of a stable radix sort. */
static void sort_by_digit(struct ps_symbol *to, const struct ps_symbol *from, size_t n,
			  uint64_t base, unsigned shift)
{
	uint32_t at[DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[(from[i].start - base) >> shift & (DIGITS - 1)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		uint32_t count = at[i];

		at[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[(from[i].start - base) >> shift & (DIGITS - 1)]++] = from[i];
}

static bool sort_symbols(struct ps_table *table)
{
	uint64_t low = UINT64_MAX, high = 0;
	struct ps_symbol *spare;
	bool sorted = true;

	for (size_t i = 0; i < table->n; i++) {
		uint64_t start = table->symbols[i].start;

		sorted = sorted && start >= high;
		low = start < low ? start : low;
		high = start > high ? start : high;
	}
	if (sorted)
		return true;
	spare = pb_array(table->n, sizeof(*spare));
	if (!spare)
		return false;
	for (unsigned shift = 0; shift < 64 && (high - low) >> shift; shift += DIGIT_BITS) {
		struct ps_symbol *from = table->symbols;

		sort_by_digit(spare, from, table->n, low, shift);
		table->symbols = spare;
		spare = from;
		table->capacity = table->n;
	}
	free(spare);
	return true;
}

static uint64_t get_page_end(uint64_t address)
{
	uint64_t page = address & ~(PAGE - 1);

	if (page != address)
		page += PAGE;
	return page + PAGE > address ? page + PAGE : UINT64_MAX;
}

/*
 * Returns true if the next symbol is of another module, or of none. The module's name begins at
 * the bracket.
 */
static bool is_border(const struct ps_symbol *symbol, const struct ps_symbol *next)
{
	const char *module = strchr(symbol->name, '['), *next_module = strchr(next->name, '[');

	return !module != !next_module || (module && strcmp(module, next_module) != 0);
}

/* Drops unsized symbols that begin inside others, as eu-addr2line and gdb do. */
static void drop_inner_unsized(struct ps_table *table)
{
	/* ends of the others: of those that begin below `start`, and of all so far */
	uint64_t reach = 0, next_reach = 0, start = 0;
	size_t kept = 0;

	for (size_t i = 0; i < table->n; i++) {
		const struct ps_symbol *symbol = &table->symbols[i];

		if (symbol->start != start)
			reach = next_reach;
		start = symbol->start;
		if (symbol->unsized && start < reach)
			continue;
		if (!symbol->unsized && symbol->end > next_reach)
			next_reach = symbol->end;
		table->symbols[kept++] = *symbol;
	}
	table->n = kept;
}

static void give_ends(struct ps_table *table, enum ps_of kind)
{
	for (size_t i = 0; i < table->n; i++) {
		struct ps_symbol *symbol = &table->symbols[i];

		if (symbol->end != symbol->start)
			continue;
		if (i + 1 == table->n || (kind == PS_SYSTEM && is_border(symbol, symbol + 1)))
			symbol->end = get_page_end(symbol->start);
		else
			symbol->end = symbol[1].start;
	}
}

static size_t count_underscores(const struct ps_symbol *symbol)
{
	return strspn(symbol->name, "_");
}

static bool name_begins(const struct ps_symbol *symbol, const char *with)
{
	return strncmp(symbol->name, with, strlen(with)) == 0;
}

/*
 * Returns true if the later of two symbols at one address is to be kept: see
 * choose_best_symbol, tools/perf/util/symbol.c.
 */
static bool is_better(const struct ps_symbol *later, const struct ps_symbol *sooner)
{
	bool empty = sooner->end == sooner->start;
	size_t a, b;

	if (empty != (later->end == later->start))
		return empty;
	if (sooner->label != later->label)
		return sooner->label;
	if ((sooner->binding == PS_WEAK) != (later->binding == PS_WEAK))
		return sooner->binding == PS_WEAK;
	if ((sooner->binding == PS_GLOBAL) != (later->binding == PS_GLOBAL))
		return later->binding == PS_GLOBAL;
	a = count_underscores(sooner);
	b = count_underscores(later);
	if (a != b)
		return b < a;
	if (sooner->length != later->length)
		return later->length > sooner->length;
	/* aliases of system calls, which nobody uses */
	return name_begins(sooner, "SyS") || name_begins(sooner, "compat_SyS");
}

static void keep_one(struct ps_table *table, enum ps_of kind)
{
	size_t kept = 0;

	for (size_t i = 1; i < table->n; i++) {
		struct ps_symbol *symbol = &table->symbols[i], *last = &table->symbols[kept];

		if (symbol->start != last->start)
			table->symbols[++kept] = *symbol;
		else if (kind == PS_NEWEST || is_better(symbol, last))
			*last = *symbol;
	}
	if (table->n)
		table->n = kept + 1;
}

/*
 * Fills starts and owners. Symbols may nest and overlap: the one that began last counts, and
 * after its end the one around it. So a stack holds the symbols that have begun.
 */
static void lay_spans(struct ps_table *table, uint32_t *stack)
{
	const struct ps_symbol *symbols = table->symbols;
	size_t depth = 0, n = 0;

	for (size_t i = 0; i <= table->n; i++) {
		uint64_t start = i < table->n ? symbols[i].start : UINT64_MAX;

		while (depth && symbols[stack[depth - 1]].end <= start) {
			uint64_t end = symbols[stack[--depth]].end;

			while (depth && symbols[stack[depth - 1]].end <= end)
				depth--;
			if (depth && end < start) {
				table->starts[n] = end;
				table->owners[n++] = stack[depth - 1];
			}
		}
		if (i == table->n)
			break;
		table->starts[n] = start;
		table->owners[n++] = (uint32_t)i;
		stack[depth++] = (uint32_t)i;
	}
	table->n_spans = n;
}

static bool make_spans(struct ps_table *table)
{
	size_t n = table->n;
	uint32_t *stack = malloc((n + 1) * sizeof(*stack));

	/* each symbol begins once, and is returned to at most once for each that ends in it */
	table->starts = pb_array(2 * n + 1, sizeof(*table->starts));
	table->owners = pb_array(2 * n + 1, sizeof(*table->owners));
	if (!table->starts || !table->owners || !stack) {
		free(stack);
		return false;
	}
	lay_spans(table, stack);
	free(stack);
	if (table->n_spans == n) {
		free(table->owners);
		table->owners = NULL;
	}
	return true;
}

/*
 * Builds the buckets, of about one start each if starts are spread evenly; else a bucket is
 * searched.
 */
static bool make_address_buckets(struct ps_table *table)
{
	uint64_t low = table->starts[0], range = table->starts[table->n_spans - 1] - low;
	size_t at = 0;

	while (range >> table->shift > table->n_spans)
		table->shift++;
	table->n_buckets = (size_t)(range >> table->shift) + 1;
	table->buckets = pb_array(table->n_buckets + 1, sizeof(*table->buckets));
	if (!table->buckets)
		return false;
	for (size_t i = 0; i < table->n_buckets; i++) {
		while (table->starts[at] - low < (uint64_t)i << table->shift)
			at++;
		table->buckets[i] = (uint32_t)at;
	}
	table->buckets[table->n_buckets] = (uint32_t)table->n_spans;
	return true;
}

static void forget_spans(struct ps_table *table)
{
	free(table->starts);
	free(table->owners);
	free(table->buckets);
	table->starts = NULL;
	table->owners = table->buckets = NULL;
	table->n_spans = table->n_buckets = 0;
	table->shift = 0;
}

bool ps_table_finish(struct ps_table *table, enum ps_of kind)
{
	if (table->n == table->finished)
		return true;
	forget_spans(table);
	if (!sort_symbols(table)) {
		ps_table_deinit(table);
		return false;
	}
	drop_inner_unsized(table);
	give_ends(table, kind);
	keep_one(table, kind);
	if (!make_spans(table) || !make_address_buckets(table)) {
		ps_table_deinit(table);
		return false;
	}
	table->finished = table->n;
	return true;
}

void ps_table_move(struct ps_table *table, uint64_t by)
{
	for (size_t i = 0; i < table->n; i++) {
		table->symbols[i].start += by;
		table->symbols[i].end += by;
	}
	table->finished = 0;
}

/* Returns the last span that begins at or before an address; SIZE_MAX: none does. */
static inline size_t find_span(const struct ps_table *table, uint64_t address)
{
	size_t low, high;
	uint64_t bucket;

	if (!table->n_spans || address < table->starts[0])
		return SIZE_MAX;
	bucket = (address - table->starts[0]) >> table->shift;
	if (bucket >= table->n_buckets)
		bucket = table->n_buckets - 1;
	/* the last start at or before the address may be the last of an earlier bucket */
	low = table->buckets[bucket];
	high = table->buckets[bucket + 1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->starts[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

static inline const struct ps_symbol *symbol_of_span(const struct ps_table *table, size_t span)
{
	return &table->symbols[table->owners ? table->owners[span] : span];
}

const struct ps_symbol *ps_table_find(const struct ps_table *table, uint64_t address)
{
	size_t span = find_span(table, address);
	const struct ps_symbol *symbol;

	if (span == SIZE_MAX)
		return NULL;
	symbol = symbol_of_span(table, span);
	return address < symbol->end ? symbol : NULL;
}

const struct ps_symbol *ps_table_find_range(const struct ps_table *table, uint64_t address,
					    struct ps_range *ret)
{
	size_t span = find_span(table, address), next = span + 1; /* 0: the first one */
	const struct ps_symbol *symbol;

	ret->first = 0;
	ret->last = next < table->n_spans ? table->starts[next] - 1 : UINT64_MAX;
	if (span == SIZE_MAX)
		return NULL;
	symbol = symbol_of_span(table, span);
	if (address >= symbol->end) {
		ret->first = symbol->end;
		return NULL;
	}
	ret->first = table->starts[span];
	if (symbol->end - 1 < ret->last)
		ret->last = symbol->end - 1;
	return symbol;
}

void ps_table_around(const struct ps_table *table, uint64_t address,
		     const struct ps_symbol **before, const struct ps_symbol **after)
{
	size_t low = 0, high = table->finished;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	*after = low < table->finished ? &table->symbols[low] : NULL;
	while (low && table->symbols[low - 1].start == address)
		low--;
	*before = low ? &table->symbols[low - 1] : NULL;
}

void ps_table_deinit(struct ps_table *table)
{
	pb_arena_deinit(&table->names);
	free(table->symbols);
	forget_spans(table);
	*table = (struct ps_table){ .interrupt = table->interrupt };
}
