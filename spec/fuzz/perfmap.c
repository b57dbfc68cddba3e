/* Perf maps: the text, and the table that is made of it. */
#include <string.h>

#include "symbols/jit/perfmap.h"
#include "common.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct ps_table table = { 0 };

	FUZZ_CHECK(ps_perfmap_parse(&table, (const char *)bytes, n));
	FUZZ_CHECK(table.n <= n / 5);
	for (size_t i = 0; i < table.n; i++) {
		const struct ps_symbol *symbol = &table.symbols[i];

		FUZZ_CHECK(symbol->length && strlen(symbol->name) == symbol->length);
		FUZZ_CHECK(!i || symbol[-1].start < symbol->start);
		ps_table_find(&table, symbol->start);
	}
	ps_table_deinit(&table);
	return 0;
}
