/*
 * An ELF file, or what is compressed: all that is asked of one, and tables of its symbols.
 */
#include <string.h>
#include <unistd.h>

#include "../../src/symbols/elf.h"
#include "common.h"

/* What holds for every table, whatever is in it. */
static void check_table(const struct ps_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct ps_symbol *symbol = &table->symbols[i], *found;

		FUZZ_CHECK(strlen(symbol->name) == symbol->length);
		FUZZ_CHECK(symbol->start <= symbol->end);
		FUZZ_CHECK(!i || symbol[-1].start < symbol->start);
		found = ps_table_find(table, symbol->start);
		FUZZ_CHECK(found == symbol || symbol->start == symbol->end);
		found = ps_table_find(table, symbol->end);
		FUZZ_CHECK(!found || (found->start <= symbol->end && symbol->end < found->end));
		if (symbol->end > symbol->start) {
			found = ps_table_find(table, symbol->end - 1);
			FUZZ_CHECK(found && found >= symbol && found->end >= symbol->end);
		}
	}
	FUZZ_CHECK(!table->n || !table->symbols[0].start ||
		   !ps_table_find(table, table->symbols[0].start - 1));
}

static void read_symbols(struct ps_elf *syms, struct ps_elf *runtime,
			 enum ps_addresses addresses, bool mangled)
{
	struct ps_table table = { 0 };

	if (ps_elf_add_symbols(&table, syms, runtime, addresses, mangled) &&
	    ps_table_finish(&table, PS_FILE))
		check_table(&table);
	ps_table_deinit(&table);
}

static void read_all(struct ps_elf *elf)
{
	char link[256];
	uint64_t address;

	FUZZ_CHECK(elf->build_id.size <= PS_MAX_BUILD_ID);
	if (ps_elf_debuglink(elf, link, sizeof(link)))
		FUZZ_CHECK(*link && strlen(link) < sizeof(link));
	ps_elf_symbol_address(elf, "main", &address);
	for (uint64_t offset = 0; offset < 1 << 16; offset += 256)
		ps_elf_address(elf, offset, &address);
	for (int i = PS_FILE_OFFSETS; i <= PS_VIRTUAL; i++)
		read_symbols(elf, elf, (enum ps_addresses)i, i == PS_VIRTUAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char path[FUZZ_PATH];
	int fd = fuzz_file(bytes, n, path);
	struct ps_elf elf, inner;
	const char *reason = NULL;

	if (fd < 0)
		return 0;
	if (ps_elf_open(&elf, path, &reason)) {
		read_all(&elf);
		if (ps_elf_open_debugdata(&inner, &elf)) {
			read_symbols(&inner, &elf, PS_FILE_OFFSETS, false);
			ps_elf_close(&inner);
		}
		ps_elf_close(&elf);
	} else {
		FUZZ_CHECK(reason && *reason);
	}
	close(fd);
	return 0;
}
