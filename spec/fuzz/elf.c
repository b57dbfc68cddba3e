/*
 * An ELF file, or what is compressed: every question about one, and tables of its symbols.
 */
#include <string.h>
#include <unistd.h>

#include "symbols/dso.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/elf_placing.h"
#include "symbols/store.h"
#include "common.h"

/* Checks what holds for every table, whatever is in it. */
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

/* Places the segments of a debug file by mappings that the first of them fit. */
static void place_segments(struct ps_dso *dso, struct ps_elf *elf)
{
	struct ps_parts parts;

	if (!ps_parts_init(&parts, elf->elf))
		return;
	for (size_t i = 0; i < parts.n_segments && i < 8; i++) {
		const struct ps_segment *segment = &parts.segments[i];
		uint64_t from = segment->address & ~UINT64_C(4095);
		uint64_t to = segment->address + segment->size + 4095;
		const struct ps_mapping mapping = {
			.pgoff = i << 12,
			.len = (to & ~UINT64_C(4095)) - from,
			.executable = segment->flags & PF_X,
		};

		FUZZ_CHECK(ps_dso_add_mapping(dso, &mapping));
	}
	FUZZ_CHECK(ps_place_segments(elf->elf, dso->mappings, dso->n_mappings, NULL,
				     &dso->segments, &dso->n_segments));
	FUZZ_CHECK(dso->n_segments <= parts.n_segments);
	ps_parts_deinit(&parts);
}

static void read_symbols(struct ps_elf *syms, struct ps_elf *runtime,
			 enum ps_addresses addresses, bool mangled)
{
	const struct ps_options options = { .symfs = "/nonexistent", .mangled = mangled };
	struct ps_store *store = ps_store_create(&options);
	struct ps_target target = { .addresses = addresses, .mangled = mangled };
	struct ps_dso *dso;

	FUZZ_CHECK(store);
	dso = ps_store_dso(store, &(struct ps_dso_id){ .kind = PS_USER, .name = "/a" });
	FUZZ_CHECK(dso);
	if (runtime->is_debug && addresses == PS_FILE_OFFSETS)
		place_segments(dso, runtime);
	target.table = &dso->table;
	target.segments = dso->segments;
	target.n_segments = dso->n_segments;
	if (ps_elf_add_symbols(&target, syms, runtime) && ps_table_finish(&dso->table, PS_FILE))
		check_table(&dso->table);
	ps_store_destroy(store);
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
	if (ps_elf_open(&elf, NULL, path, &reason)) {
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
