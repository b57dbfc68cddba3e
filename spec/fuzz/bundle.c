/*
 * A bundle: the section as it is, and its parts, as a binary of each kind reads them. The first
 * byte of the input chooses the kind.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "symbols/bundle.h"
#include "symbols/code.h"
#include "symbols/jit/jitdump.h"
#include "symbols/lines/lines.h"
#include "symbols/source.h"
#include "symbols/symbols.h"
#include "common.h"

#define NAME   "/a"
#define SOURCE "/src/g.c"

/* String 1 is the name, string 4 the source file. */
static const char strings[] = NAME "\0f\0g.c\0" SOURCE;

/* Returns the section with these parts, and sets *size. The caller frees it. */
static uint8_t *make_section(const uint8_t *parts, size_t n, size_t *size)
{
	size_t bound = ZSTD_compressBound(n);
	uint8_t *section = calloc(1, PS_BUNDLE_HEADER + bound);

	FUZZ_CHECK(section);
	memcpy(section, PS_BUNDLE_MAGIC, 8);
	section[8] = PS_BUNDLE_VERSION;
	*size = PS_BUNDLE_HEADER +
		ZSTD_compress(section + PS_BUNDLE_HEADER, bound, parts, n, 1);
	return section;
}

static size_t put_number(uint8_t *at, size_t number)
{
	size_t n = 0;

	for (; number >= 0x80; number >>= 7)
		at[n++] = (uint8_t)(number | 0x80);
	at[n++] = (uint8_t)number;
	return n;
}

/*
 * Returns parts with the strings, a binary, whose identity is followed by the input, and a
 * source file, whose path is followed by it.
 */
static uint8_t *make_parts(enum ps_kind kind, const uint8_t *bytes, size_t n, size_t *size)
{
	uint8_t id[23] = { (uint8_t)kind, 0, 1 };
	uint8_t *parts = malloc(2 * n + sizeof(strings) + sizeof(id) + 64);
	size_t at = 0;

	FUZZ_CHECK(parts);
	parts[at++] = PS_BUNDLE_STRINGS;
	at += put_number(parts + at, sizeof(strings));
	memcpy(parts + at, strings, sizeof(strings));
	at += sizeof(strings);
	parts[at++] = PS_BUNDLE_DSO;
	at += put_number(parts + at, 2 + sizeof(id) + n);
	parts[at++] = PS_PACKED_ID;
	parts[at++] = sizeof(id);
	memcpy(parts + at, id, sizeof(id));
	memcpy(parts + at + sizeof(id), bytes, n);
	at += sizeof(id) + n;
	parts[at++] = PS_BUNDLE_SOURCE;
	at += put_number(parts + at, 1 + n);
	parts[at++] = 4;
	memcpy(parts + at, bytes, n);
	*size = at + n;
	return parts;
}

static void check_lines(struct ps_dso *dso, uint64_t address)
{
	const struct ps_line *lines;
	size_t n = ps_dso_lines(dso, address, &lines);

	FUZZ_CHECK(n <= 256);
	for (size_t i = 0; i < n; i++)
		FUZZ_CHECK(!lines[i].srcline ||
			   strlen(lines[i].srcline) > strlen(lines[i].srcfile));
}

static void check_cfi(struct ps_dso *dso, uint64_t address)
{
	struct ps_cfi *cfi = ps_cfi_create(dso);
	const struct ps_row *row = cfi ? ps_cfi_row(cfi, address) : NULL;
	uint8_t bytes[8];

	if (row) {
		const struct ps_op *ops = ps_row_ops(row);

		FUZZ_CHECK(row->n_rules <= PS_REGISTERS && row->ra < PS_REGISTERS);
		for (size_t i = 0; i < row->n_rules; i++) {
			const struct ps_rule *rule = &row->rules[i];

			FUZZ_CHECK(rule->reg < PS_REGISTERS);
			FUZZ_CHECK(rule->kind >= PS_EXPRESSION || rule->from < PS_REGISTERS);
			if (rule->kind >= PS_EXPRESSION)
				FUZZ_CHECK((const char *)(ops + rule->value + rule->n_ops) <=
					   (const char *)row + row->size);
		}
	}
	if (cfi)
		ps_cfi_bytes(cfi, address, bytes, sizeof(bytes));
	ps_cfi_destroy(cfi);
}

static void check_code(struct ps_dso *dso, const struct ps_symbol *symbol)
{
	struct ps_code code;
	const char *reason = NULL;

	if (ps_dso_code(dso, symbol, &code, &reason)) {
		FUZZ_CHECK(code.path && code.size && code.bytes);
		FUZZ_CHECK(code.size <= symbol->end - symbol->start);
	} else {
		FUZZ_CHECK(reason && *reason);
	}
	ps_code_deinit(&code);
}

static void check_source(struct ps_store *store)
{
	const char *reason = NULL;
	struct ps_source *source = ps_source_open(store, SOURCE, &reason);

	FUZZ_CHECK(source || (reason && *reason));
	for (uint32_t line = 0; source && line < 32; line++) {
		size_t n;
		const char *text = ps_source_line(source, line, &n);

		FUZZ_CHECK(!text || (line && strlen(text) == n));
	}
	ps_source_destroy(source);
}

static void read_binary(struct ps_dso *dso)
{
	uint64_t elf;

	ps_dso_load(dso);
	for (size_t i = 0; i < dso->table.n; i++) {
		const struct ps_symbol *symbol = &dso->table.symbols[i];

		FUZZ_CHECK(symbol->start < symbol->end && *symbol->name);
		FUZZ_CHECK(strlen(symbol->name) == symbol->length);
		FUZZ_CHECK(ps_dso_symbol(dso, symbol->start));
		ps_dso_elf_address(dso, symbol->start, &elf);
		check_lines(dso, symbol->start);
		check_code(dso, symbol);
	}
	for (size_t i = 0; dso->jitdump && i < dso->jitdump->n; i++)
		FUZZ_CHECK(ps_dso_symbol_at(dso, dso->jitdump->spans[i].start, UINT64_MAX));
	for (uint64_t address = 0; address < 8; address++) {
		check_lines(dso, address);
		check_cfi(dso, address);
	}
	check_code(dso, &(struct ps_symbol){ .end = 8 });
}

static void read_section(enum ps_kind kind, const uint8_t *section, size_t n)
{
	const struct ps_options options = { .symfs = "/nonexistent",
					    .buildid_dir = "/nonexistent" };
	const struct ps_dso_id id = { .kind = kind, .name = NAME };
	struct ps_store *store = ps_store_create(&options);
	const char *reason = NULL;

	FUZZ_CHECK(store);
	if (ps_store_set_bundle(store, section, n, &reason)) {
		read_binary(ps_store_dso(store, &id));
		check_source(store);
	} else {
		FUZZ_CHECK(reason && *reason);
	}
	ps_store_end_lines(store);
	ps_store_destroy(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const enum ps_kind kinds[] = { PS_USER, PS_KERNEL, PS_MODULE, PS_VDSO, PS_JIT };
	enum ps_kind kind;
	uint8_t *parts, *section;
	size_t size, n_section;

	if (!n)
		return 0;
	kind = kinds[*bytes % (sizeof(kinds) / sizeof(*kinds))];
	read_section(kind, bytes + 1, n - 1);
	section = make_section(bytes + 1, n - 1, &n_section);
	read_section(kind, section, n_section);
	free(section);
	parts = make_parts(kind, bytes + 1, n - 1, &size);
	section = make_section(parts, size, &n_section);
	read_section(kind, section, n_section);
	free(section);
	free(parts);
	return 0;
}
