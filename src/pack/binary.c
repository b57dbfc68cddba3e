#include "binary.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbols/bundle.h"
#include "symbols/internal.h"
#include "symbols/jit/jitdump.h"
#include "symbols/lines/lines.h"
#include "symbols/symbols.h"

static int compare_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return (x[1] > y[1]) - (x[1] < y[1]);
}

/* Returns the items of a set in order; they begin with two numbers. NULL: no memory. */
static void *sort_items(const struct pb_set *set)
{
	char *items = malloc(set->n * set->size + 1);

	if (items && set->n) {
		memcpy(items, set->items, set->n * set->size);
		qsort(items, set->n, set->size, compare_first);
	}
	return items;
}

static void put_rule(struct pb_string *out, const struct ps_rule *rule)
{
	const char bytes[] = { (char)rule->reg, (char)rule->kind, (char)rule->from,
			       (char)rule->n_ops };

	pb_string_add(out, bytes, sizeof(bytes));
	pk_put(out, (uint32_t)rule->value);
}

static void put_row(struct pb_string *out, const struct ps_row *row)
{
	const struct ps_op *ops = ps_row_ops(row);
	size_t n = (row->size - sizeof(*row) - row->n_rules * sizeof(row->rules[0])) /
		   sizeof(*ops);
	const char bytes[] = { (char)row->n_rules, (char)n, (char)row->ra, (char)row->signal };

	pb_string_add(out, bytes, sizeof(bytes));
	pk_put(out, row->lost);
	put_rule(out, &row->cfa);
	for (size_t i = 0; i < row->n_rules; i++)
		put_rule(out, &row->rules[i]);
	for (size_t i = 0; i < n; i++) {
		pk_put(out, ops[i].atom);
		pk_put(out, ops[i].number);
		pk_put(out, ops[i].number2);
		pk_put(out, ops[i].offset);
	}
}

/* Puts the rows, numbered as their first addresses come, then the addresses. */
static bool put_rows(const struct ps_asked *asked, struct pb_string *part)
{
	struct ps_asked_row *at = sort_items(&asked->rows_at);
	uint64_t *numbers = calloc(asked->n_rows + 1, sizeof(*numbers)), n = 0, before = 0;
	struct pb_string rows = { 0 };
	bool ok = at && numbers;

	for (size_t i = 0; ok && i < asked->rows_at.n; i++) {
		if (numbers[at[i].row])
			continue;
		numbers[at[i].row] = ++n;
		put_row(&rows, asked->rows[at[i].row]);
	}
	pk_put(part, n);
	pk_append(part, &rows);
	pk_put(part, asked->rows_at.n);
	for (size_t i = 0; ok && i < asked->rows_at.n; i++) {
		pk_put(part, at[i].address - before);
		pk_put(part, numbers[at[i].row] - 1);
		before = at[i].address;
	}
	pb_string_deinit(&rows);
	free(numbers);
	free(at);
	return ok;
}

static bool put_pieces(const struct ps_asked *asked, struct pb_string *part)
{
	struct ps_asked_bytes *pieces = sort_items(&asked->bytes);
	uint64_t before = 0;

	if (!pieces)
		return false;
	pk_put(part, asked->bytes.n);
	for (size_t i = 0; i < asked->bytes.n; i++) {
		pk_put(part, pieces[i].address - before);
		pk_put(part, pieces[i].n);
		pb_string_add(part, (const char *)pieces[i].bytes, pieces[i].n);
		before = pieces[i].address;
	}
	free(pieces);
	return true;
}

/*
 * Adds the call frame information that was asked for, if any, as symbols/cfi.c reads it.
 * Returns false without memory.
 */
static bool put_cfi(const struct ps_asked *asked, struct pb_string *part)
{
	if (!asked->machine)
		return true;
	pk_put(part, asked->machine);
	return put_rows(asked, part) && put_pieces(asked, part);
}

/* A binary, and its addresses that were looked up, in order. */
struct binary {
	struct ps_dso *dso;
	uint64_t *addresses; /* [n] */
	size_t n;
	struct pk_texts *texts;
	struct pk_summary *summary;
	struct pb_string *out, part;
};

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Returns whether one of the addresses is in a range. */
static bool is_asked(const struct binary *b, uint64_t start, uint64_t end)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->addresses[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < b->n && b->addresses[low] < end;
}

static void put_symbol(struct binary *b, const struct ps_symbol *symbol, uint64_t before)
{
	pk_put(&b->part, symbol->start - before);
	pk_put(&b->part, symbol->end - symbol->start);
	pk_put_text(&b->part, b->texts, symbol->name);
	pk_put(&b->part, symbol->binding | (symbol->function ? PS_PACKED_FUNCTION : 0) |
				 (symbol->label ? PS_PACKED_LABEL : 0));
	b->summary->symbols++;
}

/*
 * Marks the symbols at the addresses, and those that begin inside marked ones: of nested
 * symbols the inner one counts. Returns their number.
 */
static size_t mark_symbols(const struct binary *b, bool *marks)
{
	const struct ps_table *table = &b->dso->table;
	uint64_t reach = 0;
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct ps_symbol *symbol = ps_table_find(table, b->addresses[i]);

		if (symbol)
			marks[symbol - table->symbols] = true;
	}
	for (size_t i = 0; i < table->finished; i++) {
		const struct ps_symbol *symbol = &table->symbols[i];

		marks[i] = symbol->end > symbol->start && (marks[i] || symbol->start < reach);
		if (marks[i] && symbol->end > reach)
			reach = symbol->end;
		n += marks[i];
	}
	return n;
}

/* Adds the symbols, as packed.c reads them. */
static bool put_symbols(struct binary *b)
{
	const struct ps_table *table = &b->dso->table;
	bool *marks = calloc(table->finished + 1, sizeof(*marks));
	uint64_t before = 0;
	size_t n;

	if (!marks)
		return false;
	n = mark_symbols(b, marks);
	if (n || b->dso->state == PS_LOADED)
		pk_put(&b->part, n);
	for (size_t i = 0; i < table->finished; i++) {
		if (!marks[i])
			continue;
		put_symbol(b, &table->symbols[i], before);
		before = table->symbols[i].start;
	}
	free(marks);
	pk_put_part(b->out, PS_PACKED_SYMBOLS, &b->part);
	return true;
}

/* Adds the ranges of a jitdump that have one of the addresses at any time. */
static void put_jit(struct binary *b)
{
	const struct ps_jitdump *dump = b->dso->jitdump;
	struct pb_string ranges = { 0 };
	uint64_t before = 0, n = 0;

	for (size_t i = 0; dump && i < dump->n; i++) {
		const struct ps_jit_span *span = &dump->spans[i];

		if (span->end <= span->start || !is_asked(b, span->start, span->end))
			continue;
		put_symbol(b, &dump->table.symbols[span->symbol], before);
		pk_put(&b->part, span->from);
		pk_put(&b->part, span->order);
		before = span->start;
		n++;
	}
	if (n) {
		ranges = b->part;
		b->part = (struct pb_string){ 0 };
		pk_put(&b->part, dump->machine);
		pk_put(&b->part, dump->is_big);
		pk_put(&b->part, n);
		pk_append(&b->part, &ranges);
		pb_string_deinit(&ranges);
	}
	pk_put_part(b->out, PS_PACKED_JIT, &b->part);
}

/*
 * Adds the segments with the addresses, as far as they are asked for:
 * ranges with one distance.
 */
static void put_segments(struct binary *b)
{
	struct ps_segment segment = { .size = 0 };
	struct pb_string ranges = { 0 };
	uint64_t before = 0, n = 0;

	if (b->dso->id.kind == PS_KERNEL)
		return;
	for (size_t i = 0; i <= b->n; i++) {
		uint64_t at = i < b->n ? b->addresses[i] : 0, address = 0;
		bool known = i < b->n && ps_dso_elf_address(b->dso, at, &address);

		if (segment.size && known && address - segment.address == at - segment.offset) {
			segment.size = at - segment.offset + 1;
			continue;
		}
		if (segment.size && (known || i == b->n)) {
			pk_put(&ranges, segment.offset - before);
			pk_put(&ranges, segment.size);
			pk_put(&ranges, segment.address);
			before = segment.offset;
			n++;
		}
		if (known)
			segment = (struct ps_segment){ address, at, 1, 0 };
	}
	if (n) {
		pk_put(&b->part, n);
		pk_append(&b->part, &ranges);
	}
	pb_string_deinit(&ranges);
	pk_put_part(b->out, PS_PACKED_SEGMENTS, &b->part);
}

/* Adds the lines of the addresses, as lines.c reads them. */
static void put_lines(struct binary *b)
{
	struct pb_string lines = { 0 };
	uint64_t before = 0, n = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct ps_line *found;
		size_t n_found = ps_dso_lines(b->dso, b->addresses[i], &found);

		if (!n_found)
			continue;
		pk_put(&lines, b->addresses[i] - before);
		pk_put(&lines, n_found);
		for (size_t k = 0; k < n_found; k++) {
			pk_put_text(&lines, b->texts, found[k].function);
			pk_put_text(&lines, b->texts, found[k].file);
			pk_put_text(&lines, b->texts, found[k].srcfile);
			pk_put(&lines, found[k].line);
		}
		before = b->addresses[i];
		n++;
	}
	if (n) {
		pk_put(&b->part, n);
		pk_append(&b->part, &lines);
	}
	b->summary->lines += n;
	pb_string_deinit(&lines);
	pk_put_part(b->out, PS_PACKED_LINES, &b->part);
}

static int compare_codes(const void *a, const void *b)
{
	const struct ps_asked_code *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->size > y->size) - (x->size < y->size);
}

/* Adds the code that was read, as code.c reads it. */
static void put_code(struct binary *b)
{
	struct ps_asked *asked = b->dso->asked;

	if (asked->n_codes) {
		qsort(asked->codes, asked->n_codes, sizeof(*asked->codes), compare_codes);
		pk_put(&b->part, asked->n_codes);
	}
	for (size_t i = 0; i < asked->n_codes; i++) {
		const struct ps_asked_code *function = &asked->codes[i];

		pk_put(&b->part, function->start);
		pk_put(&b->part, function->size);
		pk_put(&b->part, function->code.address);
		pk_put(&b->part, function->code.machine);
		pk_put(&b->part,
		       (function->code.is_64 ? 1u : 0u) | (function->code.is_big ? 2u : 0u));
		pk_put_text(&b->part, b->texts, function->path);
		pk_put(&b->part, (uint64_t)function->code.written);
		pk_put(&b->part, function->code.size);
		pb_string_add(&b->part, (const char *)function->code.bytes,
			      function->code.size);
		b->summary->functions++;
	}
	pk_put_part(b->out, PS_PACKED_CODE, &b->part);
}

static const struct {
	const char *named, *build_id, *nothing;
	const char *of[PS_DATA + 1]; /* by kind */
} proofs = {
	"the file that was named for the kernel",
	"its build-id",
	"nothing (any binary was believed)",
	{
		[PS_USER] = "the host, its kernel, and the file's device and inode",
		[PS_KERNEL] = "the kernel, which ran and lay there",
		[PS_MODULE] = "the kernel, which ran and lay there",
		[PS_VDSO] = "the kernel, which ran there",
		[PS_JIT] = "the host and its kernel",
	},
};

/* Returns what proves that the symbols of a binary are its own. */
static const char *name_proof(const struct ps_dso *dso)
{
	const struct ps_options *options = &dso->store->options;

	if (dso->id.kind == PS_KERNEL && !dso->id.guest &&
	    (options->kallsyms || options->vmlinux))
		return proofs.named;
	if (dso->id.build_id.size)
		return proofs.build_id;
	return options->symfs || options->any_binary ? proofs.nothing : proofs.of[dso->id.kind];
}

bool pk_is_proof(const char *text)
{
	for (unsigned kind = 0; kind <= PS_DATA; kind++)
		if (proofs.of[kind] && strcmp(text, proofs.of[kind]) == 0)
			return true;
	return strcmp(text, proofs.named) == 0 || strcmp(text, proofs.build_id) == 0 ||
	       strcmp(text, proofs.nothing) == 0;
}

/* Returns the source of the path that the symbols were read from; NULL: it is not known. */
static const char *name_source(const struct ps_dso *dso, const char *path)
{
	for (size_t i = 0; path && i < dso->n_tried; i++)
		if (strcmp(dso->tried[i].path, path) == 0 && dso->tried[i].where)
			return dso->tried[i].where;
	return NULL;
}

/* Adds the identity of the binary, and where its names come from, as bundle.c reads it. */
static void put_id(struct binary *b)
{
	const struct ps_dso *dso = b->dso;
	const struct ps_dso_id *id = &dso->id;
	const struct ps_packed *packed = dso->packed;
	const char *path = dso->list ? dso->list : dso->path;
	char debug[PATH_MAX];
	bool has_debug = ps_dso_debug_file(b->dso, debug, sizeof(debug));

	pk_put(&b->part, id->kind);
	pk_put(&b->part, id->guest);
	pk_put_text(&b->part, b->texts, id->name);
	pk_put_text(&b->part, b->texts, id->shown);
	pk_put(&b->part, id->build_id.size);
	pb_string_add(&b->part, (const char *)id->build_id.bytes, id->build_id.size);
	pk_put(&b->part, id->file.major);
	pk_put(&b->part, id->file.minor);
	pk_put(&b->part, id->file.inode);
	pk_put(&b->part, id->file.generation);
	pk_put(&b->part, id->file.is_ambiguous);
	pk_put(&b->part, id->start);
	pk_put(&b->part, id->len);
	pk_put_text(&b->part, b->texts, id->reference);
	pk_put(&b->part, id->reference_address);
	pk_put(&b->part, (uint32_t)id->pid);
	pk_put(&b->part, dso->bias);
	pk_put(&b->part, dso->listed);
	pk_put_text(&b->part, b->texts, packed ? packed->proof : name_proof(dso));
	pk_put_text(&b->part, b->texts, path);
	pk_put_text(&b->part, b->texts, packed ? packed->where : name_source(dso, path));
	pk_put_text(&b->part, b->texts, packed ? packed->runtime : dso->runtime);
	pk_put_text(&b->part, b->texts, has_debug ? debug : packed ? packed->debug : NULL);
	pk_put_part(b->out, PS_PACKED_ID, &b->part);
}

bool pk_put_binary(struct ps_dso *dso, struct pk_texts *texts, struct pb_string *out,
		   struct pk_summary *summary)
{
	const struct ps_asked *asked = dso->asked;
	struct binary b = { .dso = dso, .texts = texts, .summary = summary, .out = out };
	bool ok;

	if (!asked || asked->failed)
		return asked == NULL;
	b.n = asked->addresses.n;
	if ((!b.n && !asked->machine) || dso->id.kind == PS_BPF || dso->id.kind == PS_DATA)
		return true;
	b.addresses = malloc((b.n + 1) * sizeof(*b.addresses));
	ok = b.addresses;
	if (ok) {
		if (b.n)
			memcpy(b.addresses, asked->addresses.items, b.n * sizeof(*b.addresses));
		qsort(b.addresses, b.n, sizeof(*b.addresses), compare_addresses);
		ok = put_symbols(&b);
		put_jit(&b);
		put_segments(&b);
		put_lines(&b);
		ok = ok && put_cfi(asked, &b.part);
		pk_put_part(out, PS_PACKED_CFI, &b.part);
		put_code(&b);
	}
	if (ok && out->n) {
		put_id(&b);
		summary->binaries++;
	}
	free(b.addresses);
	pb_string_deinit(&b.part);
	return ok && !out->failed && !texts->bytes.failed;
}
