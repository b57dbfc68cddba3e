/* Copies of /proc/kallsyms: the kernel's symbols, moved or not, and those of modules. */
#include <string.h>

#include "symbols/kallsyms.h"
#include "common.h"

static void check_table(const struct ps_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct ps_symbol *symbol = &table->symbols[i];

		FUZZ_CHECK(strlen(symbol->name) == symbol->length);
		FUZZ_CHECK(symbol->start <= symbol->end);
		FUZZ_CHECK(!i || symbol[-1].start < symbol->start);
		ps_table_find(table, symbol->start);
	}
}

static void read_module(const struct ps_kallsyms *kallsyms, uint64_t start, uint64_t len)
{
	struct ps_table table = { 0 };

	FUZZ_CHECK(ps_kallsyms_module(kallsyms, "[m]", start, len, &table));
	check_table(&table);
	for (size_t i = 0; i < table.n; i++)
		FUZZ_CHECK(table.symbols[i].start < len);
	ps_table_deinit(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct ps_reference references[] = {
		{ NULL, 0 },
		{ "_text", 0 },
		{ "_text", UINT64_C(0xffffffff81000000) },
		{ "_stext", 1 },
	};

	for (size_t i = 0; i < sizeof(references) / sizeof(*references); i++) {
		struct ps_kallsyms kallsyms;
		const char *reason = NULL;

		if (!ps_kallsyms_parse(&kallsyms, (const char *)bytes, n, references[i], NULL,
				       &reason)) {
			FUZZ_CHECK(reason && *reason);
			continue;
		}
		check_table(&kallsyms.kernel);
		check_table(&kallsyms.modules);
		read_module(&kallsyms, 0, UINT64_MAX);
		read_module(&kallsyms, UINT64_C(0xffffffffa0000000), 0x1000);
		ps_table_deinit(&kallsyms.kernel);
		ps_table_deinit(&kallsyms.modules);
	}
	return 0;
}
